"""Operations on the clock, the meters, second looks and the envelope."""

from __future__ import annotations

from typing import Final

from earnest.core.reports import ConsolidationReport, MaintenanceReport, TickReport
from earnest.core.ticket import Meter, Revocation, SecondLook
from earnest.http import shapes
from earnest.http.answers import AppealPage, MeterList, Recorded, Undone
from earnest.http.asking import DECISION, refused
from earnest.http.entries import ROOT
from earnest.http.operations import Call, Operation
from earnest.http.shapes_life import Upkeep

METER: Final = ROOT + "/meters/{meter}"


def _tick(call: Call) -> TickReport:
    return call.memory.tick(slot=call.body.slot or call.key, expire_after=call.body.expire_after)


def _control(call: Call) -> Recorded:
    body: shapes.Measurement = call.body
    event = call.memory.control(**body.model_dump(), key=call.key)
    told = call.memory.events(after=event - 1, limit=1)[0].data
    return Recorded(event, body.delta, told["meter"], told["tier"])


def _remeasure(call: Call) -> SecondLook:
    body: shapes.SecondMeasurement = call.body
    made = call.memory.remeasure(call.path["ticket"], **body.model_dump(), key=call.key)
    if not made.landed:
        raise refused(call, made.reason)
    return made


def _appeals(call: Call) -> AppealPage:
    asked: shapes.Page = call.query
    found = call.memory.appeals(after=asked.after, limit=asked.limit + 1)
    page = found[: asked.limit]
    return AppealPage(page, page[-1].ticket if len(found) > len(page) else None)


def _add(call: Call) -> Meter:
    body: shapes.NewMeter = call.body
    return call.memory.meters.add(body.name, unit=body.unit, scale=body.scale, tier=body.tier)


def _revoke(call: Call) -> Revocation:
    return call.memory.meters.revoke(call.path["meter"], since=call.body.since)


def _undo(call: Call) -> Undone:
    event = call.number("event")
    return Undone(event, [*call.memory.undo(event, key=call.key)])


OPERATIONS: Final = (
    Operation(
        "POST", ROOT + "/ticks", "tick", "Move the clock one step; a slot, or a key, ticks once", _tick, TickReport,
        body=shapes.NewTick, access="write", failures=(404,), keyed=True, span="earnest.tick", theme="ledger",
    ),
    Operation(
        "GET", ROOT + "/meters", "listMeters", "Every meter, and what was learned of it",
        lambda call: MeterList(call.memory.meters.list()), MeterList,
        theme="ledger",
    ),
    Operation(
        "POST", ROOT + "/meters", "addMeter", "Make a meter, or change one of that name", _add, Meter,
        body=shapes.NewMeter, access="make", who="operator", status=201, theme="ledger",
    ),
    Operation(
        "POST", METER + "/bindings", "bindMeter", "Let a meter's own tier hold on a channel",
        lambda call: call.memory.meters.bind(call.path["meter"], channel=call.body.channel), Meter,
        body=shapes.Binding, access="write", who="operator", failures=(404,), theme="ledger",
    ),
    Operation(
        "POST", METER + "/revocation", "revokeMeter", "Fold history again without a meter's words", _revoke, Revocation,
        body=shapes.RevokedSince, access="write", who="operator", failures=(404,), theme="ledger",
    ),
    Operation(
        "POST", ROOT + "/controls", "control", "Record what a meter shows when nothing is done", _control, Recorded,
        body=shapes.Measurement, access="write", status=201, failures=(404,), keyed=True, span="earnest.control", theme="ledger",
    ),
    Operation(
        "POST", DECISION + "/remeasurement", "remeasure", "Record a second, independent measurement of a settled decision",
        _remeasure, SecondLook,
        body=shapes.SecondMeasurement, access="write", failures=(404, 409), keyed=True, span="earnest.remeasure", theme="ledger",
    ),
    Operation(
        "GET", ROOT + "/appeals", "listAppeals", "The second looks that are wanted", _appeals, AppealPage,
        query=shapes.Page, theme="ledger",
    ),
    Operation(
        "POST", ROOT + "/events/{event}/undo", "undo", "Take back an event", _undo, Undone,
        body=shapes.Nothing, access="write", who="operator", failures=(404, 409), keyed=True, span="update_memory", theme="ledger",
    ),
    Operation(
        "POST", ROOT + "/consolidation", "consolidate", "Merge near-duplicates that agree",
        lambda call: call.memory.consolidate(dry_run=call.body.dry_run), ConsolidationReport,
        body=shapes.CleanupAsked, access="write", who="operator", failures=(404,), slow=True, theme="ledger",
    ),
    Operation(
        "POST", ROOT + "/maintenance", "maintain", "Do what is due in keeping the memory tidy, inside the envelope",
        lambda call: call.memory.maintain(dry_run=call.body.dry_run, llm=call.body.llm or None, key=call.key), MaintenanceReport,
        body=Upkeep, access="write", who="operator", failures=(404, 409), keyed=True, slow=True, theme="ledger",
    ),
)  # fmt: skip
"""Every operation on the ledger."""
