"""What a store learned, as the facts of its text form: what was known, decided and measured, and no balances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from earnest.core.entry import StoredEntry
from earnest.core.events import micros
from earnest.core.filters import Filter
from earnest.core.lessons import Fact, Lessons, line
from earnest.core.settings import NAMES
from earnest.core.tallies import shortened
from earnest.core.ticket import StoredTicket
from earnest.errors import NotAllowed
from earnest.ledger import walks
from earnest.protocols import Reading

CHANNEL: Final = "settle-ci"
"""The channel that is meant where a fact names none."""
_LIVING: Final = ("active", "suspended")
_LEFT_OUT: Final = ("embedder",)
UNASKED: Final = "(the question is not kept)"
"""The question of a decision that ended, where no entry decided whose own question could stand for it."""


def gathered(reading: Reading, agent: str) -> Lessons:
    """What a store holds, as facts.

    Steps of rules are not among them: `rules.replaying` tells those.

    Raises:
        NotAllowed: Part of its log was archived.
    """
    if reading.counter("archived"):
        raise NotAllowed("part of this store's log was archived, and the text form is made from all of it: use `earnest export`")
    everyone = Filter(scopes=None, standings=("active", "suspended", "dead"), rules=True)
    every = {stored.entry.id: stored for stored in walks.entries(reading, everyone)}
    entries = {name: stored for name, stored in every.items() if stored.entry.cause != "erased"}
    opened, settled, ended = _decided(reading, entries)
    named = {name for fact in opened.values() for name in (fact[3], *fact[4], *_beside(fact))}
    named |= {name for fact in (*settled.values(), *ended.values()) for name in (fact[1], *_beside(fact))}
    kept = {
        name: _entry(stored)
        for name, stored in entries.items()
        if stored.entry.alive or stored.entry.cause == "executed" or (name in named and stored.entry.cause != "merged")
    }
    ticked = walks.latest(reading, "tick")
    known = reading.settings()
    return Lessons(
        agent,
        tick=reading.counter("tick"),
        ticked=0 if ticked is None else micros(ticked.at),
        settings={name: known[name] for name in NAMES if name in known and name not in _LEFT_OUT},
        meters={meter.name: (meter.name, meter.unit, meter.scale, meter.tier, sorted(meter.channels), _revoked(reading, meter.revoked))
                for meter in reading.meters()},
        entries=kept,
        open=opened,
        settled=settled,
        looks=frozenset(_measured(reading, "remeasure", settled)),
        controls=frozenset(_measured(reading, "control", settled)),
        links=_links(reading, entries),
        ended=ended,
        erased=frozenset(every) - frozenset(entries),
    )  # fmt: skip


def stand_in(decider: StoredEntry | None) -> str:
    """The question of a decision that ended, where its text keeps none: the one that its decider answers."""
    return UNASKED if decider is None else decider.entry.cue or decider.entry.text[:200]


def _links(reading: Reading, entries: Mapping[str, StoredEntry]) -> dict[tuple[str, str, str], Fact]:
    """The links that somebody stated between the living; those that were found are found again."""
    names = {stored.row: name for name, stored in entries.items()}
    made: dict[tuple[str, str, str], Fact] = {}
    for link in walks.links(reading):
        if link.stated and link.entry in names and link.other in names:
            one, other = sorted((names[link.entry], names[link.other]))
            made[one, other, link.kind] = (one, other, link.kind, link.weight, link.reason)
    return made


def _beside(fact: Fact) -> Iterator[str]:
    """Whom a decision names beside its decider and supporters."""
    more = fact[-1]
    for role in ("cited", "beside", "withheld"):
        yield from more.get(role, ())
    for entry, _, _, _, _, rival, _ in more.get("draws", ()):
        yield from (entry, rival) if rival else (entry,)


def _revoked(reading: Reading, since: int | None) -> int | None:
    if since is None:
        return None
    event = reading.event(since)
    return 0 if since == 0 or event is None else event.tick


def _entry(stored: StoredEntry) -> dict[str, Any]:
    entry = stored.entry
    said: dict[str, Any] = {
        "text": entry.text,
        "born": entry.born_tick,
        "created": None if entry.created is None else micros(entry.created),
    }
    others: dict[str, tuple[Any, Any]] = {
        "cue": (entry.cue, None), "kind": (entry.kind, "semantic"), "origin": (entry.origin, "explicit"), "scope": (entry.scope, ""),
        "sources": ([*entry.sources], []), "tags": ([*entry.tags], []), "importance": (entry.importance, 0.5),
        "confidence": (entry.confidence, 1.0), "retention": (entry.retention, "earned"), "pinned": (entry.pinned, False),
        "metadata": (dict(entry.metadata), {}), "version": (entry.version, 1), "probation": (stored.probation, 0),
        "end": (entry.cause, None),
        "valid_from": (None if entry.valid_from is None else entry.valid_from.isoformat(), None),
        "valid_to": (None if entry.valid_to is None else entry.valid_to.isoformat(), None),
    }  # fmt: skip
    return said | {name: value for name, (value, usual) in others.items() if value != usual}


def _decided(reading: Reading, entries: Mapping[str, StoredEntry]) -> tuple[dict[str, Fact], dict[str, Fact], dict[str, Fact]]:
    """The decisions that are open, that were settled, and those with draws that ended without an outcome."""
    opened: dict[str, Fact] = {}
    settled: dict[str, Fact] = {}
    ended: dict[str, Fact] = {}
    rows = {stored.row: name for name, stored in entries.items()}
    for event in walks.events(reading, "decide"):
        ticket = reading.ticket(event.ticket or "")
        if ticket is None:
            continue
        decider, roles = _roles(entries, ticket)
        draws = _draws(reading, entries, rows, ticket)
        if not decider and not draws and not roles["cited"] and not roles["beside"]:
            continue
        more: dict[str, Any] = {role: names for role in ("beside", "withheld") if (names := roles[role])}
        more |= ({"draws": draws} if draws else {}) | ({} if ticket.exposure == 1.0 else {"exposure": ticket.exposure})
        if ticket.state == "pending":
            more |= {"cited": roles["cited"]} if roles["cited"] and not decider else {}
            helping = roles["supporting"] + (roles["cited"] if decider else [])
            opened[ticket.id] = (ticket.id, ticket.opened_tick, micros(ticket.opened), decider, helping, ticket.query, more)
            continue
        more |= {"cited": roles["cited"]} if roles["cited"] else {}
        more |= {"asked": ticket.query} if ticket.query not in ("", stand_in(entries.get(decider))) else {}
        begun = (ticket.id, decider, ticket.opened_tick, micros(ticket.opened))
        if ticket.state == "settled":
            settled[ticket.id] = (*begun, *_outcome(reading, ticket, more))
        elif draws and ticket.resolved_event is not None and (end := reading.event(ticket.resolved_event)) is not None:
            ended[ticket.id] = (*begun, end.tick, micros(end.at), ticket.state, more)
    return opened, settled, ended


def _roles(entries: Mapping[str, StoredEntry], ticket: StoredTicket) -> tuple[str, dict[str, list[str]]]:
    """Who decided, "" if nobody did, and the other entries by their part; each entry once, and what was merged as its heir."""
    decider = next((_heir(entries, share.entry_id) or "" for share in ticket.shares if share.role == "deciding"), "")
    made: dict[str, list[str]] = {"cited": [], "supporting": [], "beside": [], "withheld": []}
    taken = {decider}
    for wanted in ("cited", "supporting", "withheld"):
        for share in ticket.shares:
            name = _heir(entries, share.entry_id) if share.role == wanted else None
            if name is not None and name not in taken:
                taken.add(name)
                made["beside" if wanted == "supporting" and entries[name].entry.kind == "rule" else wanted].append(name)
    return decider, made | {role: sorted(made[role]) for role in ("beside", "withheld")}


def _draws(reading: Reading, entries: Mapping[str, StoredEntry], rows: Mapping[int, str], ticket: StoredTicket) -> list[list[Any]]:
    """The coins that were thrown for a decision, as facts."""
    made: list[list[Any]] = []
    for draw in reading.draws_of(ticket.row):
        name = _heir(entries, rows.get(draw.entry_row, ""))
        if name is None or name in [each[0] for each in made]:
            continue
        rival = None if draw.rival_row is None else _heir(entries, rows.get(draw.rival_row, ""))
        trial = None if draw.trial is None else reading.trial(draw.trial)
        begun = None if trial is None else reading.event(trial.begun)
        made.append([name, draw.arm, draw.shown, draw.alone, draw.all, rival or "", None if begun is None else micros(begun.at)])
    # Rows are a store's own; the order of ids is everybody's.
    return sorted(made, key=lambda said: str(said[0]))


def _heir(entries: Mapping[str, StoredEntry], name: str) -> str | None:
    """The entry that an outcome counts for now: what was merged lives on in its heir."""
    for _ in range(len(entries)):
        stored = entries.get(name)
        if stored is None:
            return None
        if stored.entry.cause != "merged" or stored.entry.heir is None:
            return name
        name = stored.entry.heir
    return None


def _outcome(reading: Reading, ticket: StoredTicket, more: dict[str, Any]) -> Fact:
    found = reading.settlement(ticket.id)
    assert found is not None
    usual: dict[str, tuple[Any, Any]] = {
        "scale": (found.scale, 1.0), "channel": (found.channel, CHANNEL), "acted": (found.acted, None),
        "note": (shortened(found.detail, found.delta), ""),
    }  # fmt: skip
    more = more | {name: value for name, (value, without) in usual.items() if value != without}
    return found.tick, micros(found.at), found.meter, _plain(found.delta), more


def _plain(value: float) -> int | float:
    """A whole number without its point: shorter, and the same."""
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def _measured(reading: Reading, kind: str, settled: Mapping[str, Fact]) -> Iterator[str]:
    for event in walks.events(reading, kind):
        more = {} if event.data["scale"] == 1.0 else {"scale": event.data["scale"]}
        if event.channel != CHANNEL:
            more["channel"] = event.channel
        said = [event.tick, micros(event.at), event.data["meter"], _plain(event.data["delta"]), more]
        if kind == "control":
            yield line(["control", *said])
        elif event.ticket in settled:
            yield line(["look", event.ticket, *said])
