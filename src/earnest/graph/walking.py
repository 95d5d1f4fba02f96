"""Walking over links: what is related to an entry, and what recall may take in along a link. Every walk ends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from earnest.core import links
from earnest.core.entry import StoredEntry
from earnest.core.filters import Filter
from earnest.core.links import Link
from earnest.core.reports import Related
from earnest.core.settings import Settings
from earnest.protocols import Reading
from earnest.recall.search import Found

SUPERSESSION: Final = "supersession"

SPREAD: Final = 0.1
"""Part of its score that a hit passes on where links are asked for and the setting `spread` names no other: chosen on the two tuning
conversations of `bench/recall`."""

SURE: Final = 0.5
"""Part of how sure a hit is that it lends, times the link's weight: what is reached along a link is an answer only if the hit is."""

_LINEAGE: Final = {
    "version": "an earlier version of it",
    "merge": "was merged into it",
    "compression": "is summed up by it",
    "experience": "it was learned from it",
}

LENDERS: Final = 16
"""Best hits that lend to what they are linked with."""


@dataclass(frozen=True, slots=True)
class Step:
    """The last link on a way from an entry: what is left of its score, and the row that the link came from."""

    score: float
    kind: str
    weight: float
    reason: str
    hops: int
    via: int


def related(
    reading: Reading, settings: Settings, start: StoredEntry, k: int, hops: int, kinds: Collection[str] | None, now: datetime
) -> list[Related]:
    """The entries that are linked with one, most closely first, each once however many ways lead there. Cost: as `reached`."""
    ranked = sorted(reached(reading, settings, start, hops, kinds, now).items(), key=lambda pair: (-pair[1].score, pair[0]))[:k]
    entries = {stored.row: stored.entry for stored in reading.entries([*(row for row, _ in ranked), *(step.via for _, step in ranked)])}
    return [Related(entries[row], step.kind, step.score, step.weight, step.reason, step.hops, entries[step.via].id) for row, step in ranked]


def reached(
    reading: Reading, settings: Settings, start: StoredEntry, hops: int, kinds: Collection[str] | None, now: datetime
) -> dict[int, Step]:
    """The rows that links lead to from an entry, each with the best way there.

    Cost: at most `links.MOST_NODES` entries and their links, whatever the hops.
    """
    made: dict[int, Step] = {}
    frontier: dict[int, float] = {start.row: 1.0}
    for hop in range(1, hops + 1):
        steps: dict[int, Step] = {}
        for row, step in _steps(reading, settings, frontier, hop, kinds, now):
            if row != start.row and row not in made and (row not in steps or step.score > steps[row].score):
                steps[row] = step
        if hop == 1 and (kinds is None or SUPERSESSION in kinds):
            for row, step in _lineage(reading, start):
                steps.setdefault(row, step)
        room = links.MOST_NODES - len(made)
        best = sorted(steps.items(), key=lambda pair: (-pair[1].score, pair[0]))[:room]
        made.update(best)
        frontier = {row: step.score for row, step in best}
        if not frontier or room <= len(best):
            break
    return made


def _steps(
    reading: Reading, settings: Settings, frontier: dict[int, float], hop: int, kinds: Collection[str] | None, now: datetime
) -> Sequence[tuple[int, Step]]:
    made: list[tuple[int, Step]] = []
    for link in reading.links_of([*frontier]):
        if kinds is not None and link.kind not in kinds:
            continue
        weight = links.weight(link, now, settings.decay_half_life)
        for row in (link.entry, link.other):
            if row in frontier:
                score = frontier[row] * weight * (1.0 if hop == 1 else links.HOP)
                made.append((link.end(row), Step(score, link.kind, weight, link.reason, hop, row)))
    return made


def _lineage(reading: Reading, start: StoredEntry) -> list[tuple[int, Step]]:
    """What an entry took the place of, and what took its place."""
    made = [(parent, Step(1.0, SUPERSESSION, 1.0, _LINEAGE.get(how, how), 1, start.row)) for parent, how, _ in reading.lineage(start.row)]
    heir = reading.entry(start.entry.heir) if start.entry.heir else None
    if heir is not None:
        made.append((heir.row, Step(1.0, SUPERSESSION, 1.0, "took its place", 1, start.row)))
    return made


def spread(
    reading: Reading, settings: Settings, found: Sequence[Found], chosen: Filter, *, part: float, floor: float, now: datetime, k: int
) -> list[Found]:
    """The `k` best living hits and what they are linked with, one hop away: a hit lends `part` of its score times the link's weight.

    Only what passes the filter and clears the floor is taken in. What harm has suspended lends nothing. One query for the links of the
    best hits, one for those they lead to.
    """
    lenders = {f.stored.row: f for f in found[:LENDERS] if f.stored.entry.standing == "active"}
    lent: dict[int, tuple[float, Link, Found]] = {}
    for link in reading.links_of([*lenders]) if lenders else []:
        weight = links.weight(link, now, settings.decay_half_life)
        for row in (link.entry, link.other):
            if row in lenders:
                end, lender = link.end(row), lenders[row]
                if link.kind == "temporal" and lender.stored.entry.kind == "episodic":
                    # The turns around a turn have lent to it already, word by word; once more was measured to do harm.
                    continue
                if end not in lent or weight * lender.score > lent[end][0] * lent[end][2].score:
                    lent[end] = (weight, link, lender)
    here = {f.stored.row: f for f in found}
    fresh = [place.row for place in reading.placed([row for row in lent if row not in here], chosen)]
    terms = {c.row: frozenset((*c.text_terms, *c.cue_terms)) for c in reading.indexed(fresh)}
    made: list[Found] = []
    for f in found:
        made.append(_lifted(f, part, lent[f.stored.row]) if f.stored.row in lent else f)
    for stored in reading.entries(fresh):
        bare = Found(stored, 0.0, 0.0, (), terms.get(stored.row, frozenset()))
        taken = _lifted(bare, part, lent[stored.row])
        if taken.covered >= floor:
            made.append(taken)
    made.sort(key=lambda f: (-f.score, -f.stored.row))
    living = [f.stored.row for f in made if f.stored.entry.alive][:k]
    kept = set(living)
    return [f for f in made if f.stored.row in kept or not f.stored.entry.alive]


def _lifted(f: Found, part: float, lent: tuple[float, Link, Found]) -> Found:
    weight, link, lender = lent
    gain = part * weight * lender.score
    covered = max(f.covered, SURE * weight * lender.covered)
    return Found(
        f.stored, min(1.0, f.score + gain), covered, f.matched, f.terms, (*f.parts, (f"{link.kind} link", gain)), lender.stored.row
    )
