"""A store's lessons as facts, and a store that lives through such facts again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from earnest.core import check
from earnest.core.analysis import Analyser
from earnest.core.entry import CAUSES, NewEntry, StoredEntry
from earnest.core.events import Event, micros, moment
from earnest.core.filters import Filter
from earnest.core.lessons import Fact, Lessons
from earnest.core.settings import NAMES, Settings
from earnest.core.ticket import TIERS, StoredTicket
from earnest.errors import InvalidInput, NotAllowed
from earnest.ledger import decisions, lifecycle, looks, revocation, ticking
from earnest.ledger.book import Book
from earnest.protocols import Author, Reading, Rng, Writing

CHANNEL: Final = "settle-ci"
"""The channel that is meant where a fact names none."""
_PAGE: Final = 1_000
_LIVING: Final = ("active", "suspended")
_LEFT_OUT: Final = ("embedder",)


def gathered(reading: Reading, agent: str) -> Lessons:
    """What a store holds, as facts.

    Raises:
        NotAllowed: It holds randomised decisions, which this form cannot say, or part of its log was archived.
    """
    if reading.counter("drawn:all"):
        raise NotAllowed("this store holds randomised decisions (holdout), which the text form cannot hold: use `earnest export`")
    if reading.counter("archived"):
        raise NotAllowed("part of this store's log was archived, and the text form is made from all of it: use `earnest export`")
    entries = {stored.entry.id: stored for stored in _entries(reading)}
    opened, settled = _decided(reading, entries)
    named = {name for fact in opened.values() for name in (fact[3], *fact[4])} | {fact[1] for fact in settled.values()}
    named |= {name for fact in settled.values() for name in fact[8].get("cited", ())}
    kept = {
        name: _entry(stored)
        for name, stored in entries.items()
        if stored.entry.alive or stored.entry.cause == "executed" or (name in named and stored.entry.cause != "merged")
    }
    ticked = reading.events(entry=None, kind="tick", after=0, limit=1, newest=True)
    known = reading.settings()
    return Lessons(
        agent,
        tick=reading.counter("tick"),
        ticked=micros(ticked[0].at) if ticked else 0,
        settings={name: known[name] for name in NAMES if name in known and name not in _LEFT_OUT},
        meters={meter.name: (meter.name, meter.unit, meter.scale, meter.tier, sorted(meter.channels), _revoked(reading, meter.revoked))
                for meter in reading.meters()},
        entries=kept,
        open=opened,
        settled=settled,
        looks=frozenset(_measured(reading, "remeasure", settled)),
        controls=frozenset(_measured(reading, "control", settled)),
    )  # fmt: skip


def _revoked(reading: Reading, since: int | None) -> int | None:
    if since is None:
        return None
    event = reading.event(since)
    return 0 if since == 0 or event is None else event.tick


def _entries(reading: Reading) -> Iterator[StoredEntry]:
    chosen = Filter(scopes=None, standings=("active", "suspended", "dead"))
    after: str | None = None
    while page := reading.page(chosen, after, _PAGE):
        yield from (stored for stored in page if stored.entry.cause != "erased")
        after = page[-1].entry.id


def _events(reading: Reading, kind: str) -> Iterator[Event]:
    after = 0
    while page := reading.events(entry=None, kind=kind, after=after, limit=_PAGE, newest=False):
        yield from page
        after = page[-1].seq


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


def _decided(reading: Reading, entries: Mapping[str, StoredEntry]) -> tuple[dict[str, Fact], dict[str, Fact]]:
    opened: dict[str, Fact] = {}
    settled: dict[str, Fact] = {}
    for event in _events(reading, "decide"):
        ticket = reading.ticket(event.ticket or "")
        if ticket is None or ticket.state not in ("pending", "settled"):
            continue
        decider = next((_heir(entries, share.entry_id) for share in ticket.shares if share.role == "deciding"), None)
        if decider is None:
            continue
        if ticket.state == "pending":
            opened[ticket.id] = _open(ticket, decider)
        else:
            settled[ticket.id] = _settled(reading, ticket, decider)
    return opened, settled


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


def _open(ticket: StoredTicket, decider: str) -> Fact:
    supporting = [share.entry_id for share in ticket.shares if share.role in ("supporting", "cited") and share.entry_id != decider]
    more = {} if ticket.exposure == 1.0 else {"exposure": ticket.exposure}
    return ticket.id, ticket.opened_tick, micros(ticket.opened), decider, supporting, ticket.query, more


def _settled(reading: Reading, ticket: StoredTicket, decider: str) -> Fact:
    found = reading.settlement(ticket.id)
    assert found is not None
    usual: dict[str, tuple[Any, Any]] = {
        "scale": (found.scale, 1.0), "channel": (found.channel, CHANNEL), "acted": (found.acted, None),
        "exposure": (ticket.exposure, 1.0), "cited": ([share.entry_id for share in ticket.shares if share.role == "cited"], []),
    }  # fmt: skip
    more = {name: value for name, (value, without) in usual.items() if value != without}
    return (
        ticket.id,
        decider,
        ticket.opened_tick,
        micros(ticket.opened),
        found.tick,
        micros(found.at),
        found.meter,
        _plain(found.delta),
        more,
    )


def _plain(value: float) -> int | float:
    """A whole number without its point: shorter, and the same."""
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def _measured(reading: Reading, kind: str, settled: Mapping[str, Fact]) -> Iterator[str]:
    from earnest.core.lessons import line

    for event in _events(reading, kind):
        more = {} if event.data["scale"] == 1.0 else {"scale": event.data["scale"]}
        if event.channel != CHANNEL:
            more["channel"] = event.channel
        said = [event.tick, micros(event.at), event.data["meter"], _plain(event.data["delta"]), more]
        if kind == "control":
            yield line(["control", *said])
        elif event.ticket in settled:
            yield line(["look", event.ticket, *said])


# living through it again


class _NoChance(Rng):
    """Draws nothing: what chance decided is among the facts already. Names still come from the store's own source."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng

    def random(self) -> float:
        """Never below a probability."""
        return 1.0 - 2**-53

    def token(self, size: int) -> bytes:
        """As the store's own source."""
        return self._rng.token(size)


@dataclass(slots=True)
class Replay:
    """A new store that lives through facts. `write` begins a transaction that is stamped with a time, an author and a channel."""

    lessons: Lessons
    write: Callable[[Author], AbstractContextManager[Writing]]
    settings: Callable[[Reading], Settings]
    analyser: Callable[[], Analyser]
    rng: Rng
    now: datetime

    def run(self, slot: Callable[[datetime], str | None], remember: Callable[[Writing, str, Any], None]) -> None:
        """Live through everything.

        slot: what names the last step of the clock, so that it is not made twice; `remember` keeps it.
        """
        rng = _NoChance(self.rng)
        self._meters()
        tick, last = 0, self.now
        steps = sorted(self._steps(), key=lambda step: step[:4])
        end = (self.lessons.tick, None)
        for at_tick, at, *_, act, channel in [*steps, (*end, 0, "", None, CHANNEL)]:
            while tick < min(at_tick, self.lessons.tick):
                tick += 1
                when = moment(self.lessons.ticked) if tick == self.lessons.tick and self.lessons.ticked else last
                with self.write(Author(when, "lessons", CHANNEL)) as tx:
                    settings = self.settings(tx)
                    report = ticking.tick(tx, settings, settings.expire_after)
                    name = slot(when) if tick == self.lessons.tick else None
                    if name is not None:
                        remember(tx, name, report)
            if act is not None:
                last = moment(at) if at else last
                with self.write(Author(last, "lessons", channel)) as tx:
                    act(tx, self.settings(tx), rng)
        self._reconcile()

    def _meters(self) -> None:
        for name, unit, scale, tier, channels, _ in self.lessons.meters.values():
            with self.write(Author(self.now, "lessons", CHANNEL)) as tx:
                checked = check.label("meter", name, limit=100)
                tx.put_meter(
                    checked,
                    unit=check.label("unit", unit, limit=50, blank=True),
                    scale=None if scale is None else check.scale("scale", scale),
                    tier=check.choice("tier", tier, TIERS),
                )
                tx.append("meter", data={"meter": checked, "tier": tier, "scale": scale})
                for channel in channels:
                    tx.bind_meter(checked, check.label("channel", channel, limit=50))
                    tx.append("bind", data={"meter": checked, "channel": channel})

    def _steps(self) -> Iterator[tuple[Any, ...]]:
        """(tick, time, order within, name, what is done, channel) of every fact."""
        for name, said in self.lessons.entries.items():
            yield said.get("born", 0), said.get("created") or 0, 0, name, self._birth(name, said), CHANNEL
        for fact in self.lessons.open.values():
            ticket, tick, at, decider, supporting, query, more = fact
            yield tick, at, 1, ticket, self._decision(ticket, decider, supporting, query, more), CHANNEL
        for fact in self.lessons.settled.values():
            ticket, decider, tick, at, end, ended, meter, delta, more = fact
            yield tick, at, 1, ticket, self._decision(ticket, decider, more.get("cited", ()), None, more), CHANNEL
            yield end, ended, 2, ticket, self._outcome(ticket, meter, delta, more), more.get("channel", CHANNEL)
        for each in self.lessons.looks:
            _, ticket, tick, at, meter, delta, more = json.loads(each)
            yield tick, at, 3, ticket, self._look(ticket, meter, delta, more), more.get("channel", CHANNEL)
        for each in self.lessons.controls:
            _, tick, at, meter, delta, more = json.loads(each)
            yield tick, at, 4, each, self._control(meter, delta, more), more.get("channel", CHANNEL)

    def _birth(self, name: str, said: Mapping[str, Any]) -> Callable[[Writing, Settings, Rng], None]:
        fields = {key: said[key] for key in ("text", "cue", "kind", "origin", "scope", "sources", "tags", "importance", "confidence",
                                             "metadata", "valid_from", "valid_to") if key in said}  # fmt: skip
        new = lifecycle.checked_entry(self.rng, "earned", {**fields, "retention": said.get("retention", "earned")})
        made: NewEntry = replace(
            new,
            id=_name(name),
            version=max(1, said.get("version", 1)),
            created=None if said.get("created") is None else moment(said["created"]),
        )

        def act(tx: Writing, settings: Settings, rng: Rng) -> None:
            analyser = self.analyser()
            stored = lifecycle.insert(tx, settings, rng, made, (analyser.terms(made.text), analyser.terms(made.cue) if made.cue else []))
            if said.get("pinned"):
                lifecycle.pin(tx, settings, stored.entry.id, True)

        return act

    def _decision(self, name: str, decider: str, others: Any, query: str | None, more: Mapping[str, Any]) -> Callable[..., None]:
        decisions.ticket_id(name)
        exposure = check.number("exposure", more.get("exposure", 1.0), low=1e-300, high=1.0)

        def act(tx: Writing, settings: Settings, rng: Rng) -> None:
            first = tx.entry(decider)
            if first is None:
                raise InvalidInput("lessons", name, f"was decided by {decider!r}, which no line tells of")
            supporting = [stored for each in others if isinstance(each, str) and (stored := tx.entry(each)) is not None]
            asked = first.entry.cue or first.entry.text[:200] if query is None else query
            decisions.open_ticket(
                tx,
                rng,
                query=check.text("query", asked),
                answer=first.entry.text,
                deciding=first,
                supporting=supporting,
                exposure=exposure,
                name=name,
            )

        return act

    def _outcome(self, name: str, meter: str, delta: float, more: Mapping[str, Any]) -> Callable[..., None]:
        outcome = decisions.checked_outcome(delta, meter, more.get("scale", 1.0), more.get("acted"), "", more.get("cited"))
        channel = check.label("channel", more.get("channel", CHANNEL), limit=50)

        def act(tx: Writing, settings: Settings, rng: Rng) -> None:
            decisions.settle(tx, settings, rng, channel, name, **outcome)

        return act

    def _look(self, name: str, meter: str, delta: float, more: Mapping[str, Any]) -> Callable[..., None]:
        given = looks.checked_reading(delta, meter, more.get("scale", 1.0), "")
        channel = check.label("channel", more.get("channel", CHANNEL), limit=50)

        def act(tx: Writing, settings: Settings, rng: Rng) -> None:
            looks.remeasure(tx, settings, channel, name, **given)

        return act

    def _control(self, meter: str, delta: float, more: Mapping[str, Any]) -> Callable[..., None]:
        given = looks.checked_reading(delta, meter, more.get("scale", 1.0), "")
        channel = check.label("channel", more.get("channel", CHANNEL), limit=50)

        def act(tx: Writing, settings: Settings, rng: Rng) -> None:
            looks.control(tx, channel, **given)

        return act

    def _reconcile(self) -> None:
        """What somebody wanted, and what no outcome tells: who was forgotten, who was brought back, whose meter was revoked."""
        for name, *_, since in self.lessons.meters.values():
            if since is not None:
                with self.write(Author(self.now, "lessons", CHANNEL)) as tx:
                    start = revocation.first_event(tx, since) if since else 0
                    revocation.revoke(tx, self.settings(tx), self.analyser(), name, start)
        for name, said in self.lessons.entries.items():
            end = said.get("end")
            with self.write(Author(self.now, "lessons", CHANNEL)) as tx:
                stored = tx.entry(_name(name))
                if stored is None or end == "?":
                    continue
                if end is not None and stored.entry.alive and not stored.open_tickets:
                    Book(tx, self.settings(tx)).bury(stored, check.choice("end", end, CAUSES))
                elif end is None and not stored.entry.alive:
                    lifecycle.restore(tx, self.settings(tx), self.analyser(), stored.entry.id)
                if end is None and said.get("probation"):
                    tx.change_entry(stored.row, probation=check.integer("probation", said["probation"], low=0, high=1_000))


def _name(value: str) -> str:
    """An entry's id as it may come from outside: those that a store makes are letters and digits."""
    if not value.isascii() or not value.isalnum() or len(value) > 100:
        raise InvalidInput("id", value, "must be an entry's id: letters and digits")
    return value
