"""A store that lives through the facts of a text form again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from earnest.core import check
from earnest.core.analysis import Analyser
from earnest.core.entry import CAUSES, NewEntry, StoredEntry
from earnest.core.events import moment
from earnest.core.lesson_turns import Turns
from earnest.core.lessons import Lessons
from earnest.core.settings import Settings
from earnest.core.tallies import lengthened
from earnest.core.ticket import TIERS
from earnest.core.uplift import ARMS, Draw
from earnest.core.write_gate import Gate
from earnest.errors import InvalidInput
from earnest.ledger import decisions, door, lifecycle, looks, revocation, ticking
from earnest.ledger.book import Book
from earnest.ledger.gathering import CHANNEL, stand_in
from earnest.protocols import Author, Reading, Rng, Writing


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
    turns: Turns
    """In what order; made from the lessons."""
    steps: Callable[[Lessons, Turns], Iterator[tuple[Any, ...]]] = lambda *_: iter(())
    """More steps of that kind, of parts that this one knows nothing of."""
    heard: Callable[[Writing, Settings, str], object] = lambda *_: None
    """What else listens to the outcome of a ticket."""
    trial: Callable[[str, int], int | None] = lambda *_: None
    """The number of a rule's trial here, by when it began there."""

    def run(self, slot: Callable[[datetime], str | None], remember: Callable[[Writing, str, Any], None]) -> None:
        """Live through everything.

        slot: what names the last step of the clock, so that it is not made twice; `remember` keeps it.
        """
        rng = _NoChance(self.rng)
        self._meters()
        tick, last = 0, self.now
        steps = sorted((*self._steps(), *self.steps(self.lessons, self.turns)), key=lambda step: step[:4])
        end = (self.lessons.tick, None)
        for at_tick, _, _, _, act, channel, at in [*steps, (*end, 0, "", None, CHANNEL, None)]:
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
                actor, over = channel if isinstance(channel, tuple) else ("lessons", channel)
                with self.write(Author(last, actor, over)) as tx:
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
        """(tick and time of its turn, order within, name, what is done, channel, its own time) of every fact."""
        turns = self.turns
        for name, said in self.lessons.entries.items():
            yield *turns.birth(name), 0, name, self._birth(name, said), CHANNEL, said.get("created") or 0
        for fact in self.lessons.open.values():
            ticket, _, at, decider, supporting, query, more = fact
            yield *turns.decision(ticket), 1, ticket, self._decision(ticket, decider, supporting, query, more), CHANNEL, at
        for fact in self.lessons.ended.values():
            ticket, decider, _, at, end, ended, state, more = fact
            yield *turns.decision(ticket), 1, ticket, self._decision(ticket, decider, (), more.get("asked"), more), CHANNEL, at
            yield *turns.end(ticket, end, ended), 2, ticket, self._end(ticket, state), CHANNEL, ended
        for fact in self.lessons.settled.values():
            ticket, decider, _, at, end, ended, meter, delta, more = fact
            others, channel = more.get("cited", ()) if decider else (), more.get("channel", CHANNEL)
            yield *turns.decision(ticket), 1, ticket, self._decision(ticket, decider, others, more.get("asked"), more), CHANNEL, at
            yield *turns.end(ticket, end, ended), 2, ticket, self._outcome(ticket, meter, delta, more), channel, ended
        for each in self.lessons.looks:
            _, ticket, tick, at, meter, delta, more = json.loads(each)
            act, channel = self._look(ticket, meter, delta, more), more.get("channel", CHANNEL)
            yield *turns.look(ticket, tick, at), 3, ticket, act, channel, at
        for each in self.lessons.controls:
            _, tick, at, meter, delta, more = json.loads(each)
            yield tick, at, 4, each, self._control(meter, delta, more), more.get("channel", CHANNEL), at

    def _birth(self, name: str, said: Mapping[str, Any]) -> Callable[[Writing, Settings, Rng], None]:
        fields = {key: said[key] for key in ("text", "cue", "kind", "origin", "scope", "sources", "tags", "importance", "confidence",
                                             "metadata", "valid_from", "valid_to") if key in said}  # fmt: skip
        new = door.checked_entry(self.rng, "earned", {**fields, "retention": said.get("retention", "earned")})
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
        if query is not None:
            query = check.text("query", query)
        for part in ("cited", "beside", "withheld", "draws"):
            if not isinstance(more.get(part, []), list):
                raise InvalidInput("lessons", name, f"has {part} that are no list: nothing can be drawn or named by it")

        def act(tx: Writing, settings: Settings, rng: Rng) -> None:
            first = tx.entry(decider) if decider else None
            if decider and first is None:
                raise InvalidInput("lessons", name, f"was decided by {decider!r}, which no line tells of")
            cited = _named(tx, more.get("cited", ())) if first is None else []
            rules, withheld = _named(tx, more.get("beside", ())), _named(tx, more.get("withheld", ()))
            draws = [self._draw(tx, name, each) for each in more.get("draws", ())]
            asked = stand_in(first) if query is None else Gate.of(settings.redact, settings.quarantine).passed(query).text
            decisions.open_ticket(
                tx,
                rng,
                query=asked,
                answer=first.entry.text if first else "",
                deciding=first,
                supporting=_named(tx, others),
                withheld=withheld,
                exposure=exposure,
                draw=next((draw for draw in draws if draw.trial is None), None),
                cited=cited,
                rules=rules,
                trials=[draw for draw in draws if draw.trial is not None],
                name=name,
            )

        return act

    def _draw(self, tx: Writing, name: str, said: Any) -> Draw:
        """A coin from what the text says of it. Raises InvalidInput."""
        try:
            entry, arm, shown, alone, withheld, rival, begun = said
            drawn, other = tx.entry(str(entry)), tx.entry(str(rival)) if rival else None
            shown, alone, withheld = (check.number("draw", each, low=0.0, high=1.0) for each in (shown, alone, withheld))
            known = check.choice("arm", arm, ARMS)
        except (ValueError, TypeError) as error:
            raise InvalidInput("lessons", name, f"was drawn in a way that cannot be: {error}") from None
        trial = None if begun is None else self.trial(str(entry), begun)
        if drawn is None or abs(shown + alone + withheld - 1.0) > 1e-9 or (begun is not None and trial is None):
            raise InvalidInput("lessons", name, "was drawn for an entry or a trial that no line tells of, or with odds that are none")
        return Draw(drawn.row, known, shown, alone, withheld, None if other is None else other.row, trial)

    def _end(self, name: str, state: str) -> Callable[..., None]:
        ended = check.choice("end", state, ("abandoned", "expired"))

        def act(tx: Writing, settings: Settings, rng: Rng) -> None:
            ticket = tx.ticket(name)
            if ticket is not None and ticket.state == "pending":
                decisions.end_without_outcome(tx, settings, ticket, ended)

        return act

    def _outcome(self, name: str, meter: str, delta: float, more: Mapping[str, Any]) -> Callable[..., None]:
        try:
            note = lengthened(more.get("note", ""), delta)
        except ValueError as error:
            raise InvalidInput("lessons", name, f"has an outcome with something that is no note: {error}") from None
        cited = more.get("cited") if self._decider(name) else None
        outcome = decisions.checked_outcome(delta, meter, more.get("scale", 1.0), more.get("acted"), note, cited)
        channel = check.label("channel", more.get("channel", CHANNEL), limit=50)

        def act(tx: Writing, settings: Settings, rng: Rng) -> None:
            passed = Gate.of(settings.redact, settings.quarantine).passed(outcome["detail"]).text
            if decisions.settle(tx, settings, rng, channel, name, **{**outcome, "detail": passed}).landed:
                self.heard(tx, settings, name)

        return act

    def _decider(self, name: str) -> str:
        return str(self.lessons.settled[name][1])

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
        """What somebody wanted, and what no outcome tells: who was forgotten, who was brought back, whose meter was revoked; and links."""
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
                parents = [one.row for one in _named(tx, said.get("from", ())) if one.row != stored.row]
                if parents and not tx.lineage(stored.row):
                    tx.add_lineage(stored.row, [(row, "experience", 0) for row in parents])


def _named(reading: Reading, names: Any) -> list[StoredEntry]:
    """The entries of these ids, as far as they are there."""
    return [stored for each in names if isinstance(each, str) and (stored := reading.entry(each)) is not None]


def _name(value: str) -> str:
    """An entry's id as it may come from outside: those that a store makes are letters and digits."""
    if not value.isascii() or not value.isalnum() or len(value) > 100:
        raise InvalidInput("id", value, "must be an entry's id: letters and digits")
    return value
