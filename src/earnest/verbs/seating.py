"""Who decides: relevance ranks the texts, standing says which of them may, and what was executed goes on guarding its question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from earnest.core.decision import decision_polarity
from earnest.core.entry import Entry
from earnest.core.evidence import Seat, choose
from earnest.core.settings import Settings
from earnest.core.ticket import Answer
from earnest.ledger.testimony import Testimony
from earnest.protocols import Reading
from earnest.recall.search import DEPTH, Found

PROTECTS: Final = 0.5
"""Relevance, against a text that did harm, from which advice to hold back decides in its place."""

GUARDS: Final = DEPTH // 8
"""Executed texts that a question is ranked against at most."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Who decides, first among what the answer is made of. `found` is empty on silence.

    A re-trial is a suspended entry that chance let decide once more; `exposure` is how probable this was.
    """

    found: list[Found]
    retrial: bool = False
    exposure: float = 1.0


@dataclass(frozen=True, slots=True)
class Seating:
    """What a question found, with the seat of each: the living and, among them by rank, the executed that guard it."""

    found: Sequence[Found]
    guards: Sequence[Found]
    seats: Mapping[int, Seat]
    pass_over: float

    def ranked_anew(self, found: Sequence[Found], k: int) -> Seating:
        """The same seats under other scores, best first; of the living only the first `k`."""
        living, guards = ([f for f in found if f.stored.entry.alive is alive] for alive in (True, False))
        seats = {f.stored.row: replace(self.seats[f.stored.row], score=f.score) for f in (*living[:k], *guards)}
        return Seating(living[:k], guards, seats, self.pass_over)

    def chosen(self, without: int | None = None, draw: Callable[[], float] | None = None) -> Chosen:
        """Who decides, leaving out the entry in row `without`. Nobody is tried again unless `draw` gives chance."""
        ranked = sorted(
            (found for found in (*self.found, *self.guards) if found.stored.row != without),
            # Of a living text and an executed one that rank alike, the living one comes first: it was cleared, or has yet to be judged.
            key=lambda found: (-found.score, not found.stored.entry.alive),
        )
        seats = [self.seats[found.stored.row] for found in ranked]
        if draw is None:
            seats = [replace(seat, retrial=0.0) for seat in seats]
        place, retrial, exposure = choose(seats, self.pass_over, draw or _never)
        if place is None:
            place = _protector(ranked, seats)
        if place is None:
            return Chosen([], False, exposure)
        decider = ranked[place]
        first = (
            replace(decider, stored=replace(decider.stored, entry=replace(decider.stored.entry, standing="active"))) if retrial else decider
        )
        # What its standing would let decide, but evidence or open tickets do not, supports nothing either.
        passed = {row for row, seat in self.seats.items() if not seat.decides}
        rest = [
            f
            for f in self.found
            if f.stored.row not in (without, decider.stored.row) and not (f.stored.may_decide and f.stored.row in passed)
        ]
        return Chosen([first, *rest], retrial, exposure)


def _protector(ranked: Sequence[Found], seats: Sequence[Seat]) -> int | None:
    """Who says why not, where memory would be silent because what ranks first advised to act and did harm.

    Advice to hold back is passed over to sooner than other advice: following it does nothing, as silence would, even if it was meant for
    a neighbouring matter. And being asked is what it lives from.
    """
    if not ranked or seats[0].decides or decision_polarity(ranked[0].stored.entry.text) is not True:
        return None
    near = (place for place, seat in enumerate(seats) if seat.decides and seat.alive and seat.score >= PROTECTS * seats[0].score)
    return next((place for place in near if decision_polarity(ranked[place].stored.entry.text) is False), None)


def _never() -> float:
    return 1.0


def as_then(reading: Reading, settings: Settings, found: Sequence[Found]) -> tuple[list[Found], dict[str, Entry]]:
    """What a question about an earlier time found, with what was superseded since in the standing that it had; and by its id each of
    these as it is now. What harm had suspended stays out: it would not have decided then either."""
    made: list[Found] = []
    since: dict[str, Entry] = {}
    testimony = Testimony(reading, settings)
    for hit in found:
        entry = hit.stored.entry
        if entry.cause not in ("superseded", "merged"):
            made.append(hit)
        elif testimony.active(hit.stored):
            since[entry.id] = entry
            # Its balance went to what took its place; whether it could have paid its rent is not asked of the past.
            then = replace(entry, standing="active", balance=max(entry.balance, 1))
            made.append(replace(hit, stored=replace(hit.stored, entry=then, probation=0)))
    return made, since


def as_now(said: Answer, since: Mapping[str, Entry]) -> Answer:
    """An answer about an earlier time, with its entries as they are now; it says what took their place."""
    if not since or said.silent:
        return said
    shaping = (*([said.deciding] if said.deciding else []), *said.supporting)
    gone = [since[entry.id] for entry in shaping if entry.id in since]
    if not gone:
        return said
    told = [f"(entry {entry.id} was {entry.cause} since{_into(entry)})" for entry in gone]
    return replace(
        said,
        deciding=None if said.deciding is None else since.get(said.deciding.id, said.deciding),
        supporting=tuple(since.get(entry.id, entry) for entry in said.supporting),
        annotated="\n".join([said.annotated, *told]),
    )


def _into(entry: Entry) -> str:
    if entry.heir is None:
        return ""
    return f", by entry {entry.heir}" if entry.cause == "superseded" else f", into entry {entry.heir}"


def guarding(reading: Reading, settings: Settings) -> int:
    """How many executed texts a question is to be ranked against: none where nothing was executed."""
    return GUARDS if settings.rule != "classic" and reading.counter("dead:executed") else 0


def seated(reading: Reading, settings: Settings, found: Sequence[Found]) -> Seating:
    """The seats of what a question found, executed texts among it. O(what was found)."""
    testimony = Testimony(reading, settings)
    living, guards = ([f for f in found if f.stored.entry.alive is alive] for alive in (True, False))
    seats = {f.stored.row: Seat(f.score, testimony.may_decide(f.stored), retrial=testimony.retrial(f.stored)) for f in living}
    seats |= {f.stored.row: Seat(f.score, False, alive=False) for f in guards}
    return Seating(living, guards, seats, settings.pass_over)
