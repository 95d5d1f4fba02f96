"""Operations that look and change nothing, and those on the settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from earnest.core.reports import Audit, Check, Stats
from earnest.core.survey import Balances, History
from earnest.core.uplift import Uplift
from earnest.http import shapes
from earnest.http.answers import AccountsNow, EventPage, Health, SettingsNow, UpliftList
from earnest.http.entries import ROOT
from earnest.http.operations import Call, Operation


def _events(call: Call) -> EventPage:
    asked: shapes.Log = call.query
    if not call.there:
        # That an empty memory was opened to answer from is nothing that happened to this agent.
        return EventPage([], None)
    found = call.memory.events(entry=asked.entry, kind=asked.kind, after=asked.after, limit=asked.limit + 1, newest=asked.newest)
    page = found[: asked.limit]
    return EventPage(page, page[-1].seq if len(found) > len(page) else None)


def _audit(call: Call) -> Audit:
    return call.memory.audit(after=call.query.after, limit=call.query.limit)


def _accounts(call: Call) -> AccountsNow:
    stats = call.memory.stats()
    held = {"entries": stats.energy, **stats.accounts}
    return AccountsNow(held, sum(held.values()))


def _doctor(call: Call) -> Health:
    found = call.memory.doctor()
    return Health(found.healthy, found.failing, [*found.findings])


def _uplift(call: Call) -> Uplift:
    asked: shapes.UpliftOf = call.query
    return call.memory.uplift(asked.meter, entry=asked.entry, rule=asked.rule, against=asked.against, alpha=asked.alpha)


def _uplifts(call: Call) -> UpliftList:
    asked: shapes.UpliftsOf = call.query
    if asked.by == "entry":
        return UpliftList([*call.memory.uplifts(asked.meter)])
    meters = call.memory.uplift_meters() if asked.meter is None else (asked.meter,)
    return UpliftList([call.memory.uplift(meter) for meter in meters])


def _history(call: Call) -> History:
    return call.memory.history(ticks=call.query.ticks, before=call.query.before)


def _configure(call: Call) -> SettingsNow:
    body: shapes.SettingChanges = call.body
    return SettingsNow(asdict(call.memory.configure(**(body.model_extra or {}))))


OPERATIONS: Final = (
    Operation("GET", ROOT + "/stats", "stats", "Counts and sums", lambda call: call.memory.stats(), Stats, theme="looking"),
    Operation(
        "GET", ROOT + "/accounts", "accounts", "The accounts of energy, apart from resources", _accounts, AccountsNow, theme="looking",
    ),
    Operation(
        "GET", ROOT + "/events", "listEvents", "The event log, of one entry or kind if named", _events, EventPage,
        query=shapes.Log, failures=(404,), theme="looking",
    ),
    Operation("GET", ROOT + "/audit", "audit", "A digest of the log", _audit, Audit, query=shapes.Window, theme="looking"),
    Operation("GET", ROOT + "/doctor", "doctor", "What is wrong with how this memory is used", _doctor, Health, theme="looking"),
    Operation(
        "GET", ROOT + "/uplift", "uplift", "What memory, an entry or a rule changes, from withheld decisions", _uplift, Uplift,
        query=shapes.UpliftOf, failures=(404,), theme="looking",
    ),
    Operation(
        "GET", ROOT + "/uplifts", "uplifts", "The uplift by each meter, or of each entry at once", _uplifts, UpliftList,
        query=shapes.UpliftsOf, failures=(404,), theme="looking",
    ),
    Operation(
        "GET", ROOT + "/history", "history", "Population, energy, deaths and what was measured, by tick", _history, History,
        query=shapes.Ticks, theme="looking",
    ),
    Operation(
        "GET", ROOT + "/balances", "balances", "How many living entries hold how much",
        lambda call: call.memory.balances(buckets=call.query.buckets), Balances, query=shapes.Buckets, theme="looking",
    ),
    Operation(
        "GET", ROOT + "/settings", "getSettings", "The settings in force",
        lambda call: SettingsNow(asdict(call.memory.settings)), SettingsNow,
        theme="looking",
    ),
    Operation(
        "PATCH", ROOT + "/settings", "changeSettings", "Change settings for every process", _configure, SettingsNow,
        body=shapes.SettingChanges, access="make", who="operator", theme="looking",
    ),
    Operation(
        "GET", ROOT + "/check", "check", "Whether the store is whole; reads all of it", lambda call: call.memory.check(), Check,
        who="operator", slow=True, theme="looking",
    ),
)  # fmt: skip
"""Every operation that looks."""
