"""From a question to ranked entries, and to the one that decides. Nothing here is given a balance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from earnest.core import ranking
from earnest.core.analysis import Analyser, Question
from earnest.core.entry import StoredEntry
from earnest.core.filters import Filter
from earnest.core.ranking import Candidate, Scored
from earnest.protocols import Reading

DEPTH: Final = 256
"""Candidates that are scored for each hit asked for: deep enough that the engine's own order does not decide."""

SKIM: Final = 0.2
"""A search without a floor first looks by the words that tell this much of the question, and by all of them if that finds too little."""

EXTRA: Final = 8
"""Hits beyond `k` that a decision looks at, to pass over the suspended and to see conflicts."""


@dataclass(frozen=True, slots=True)
class Found:
    """A ranked entry: what it scored, and the terms that it was scored by."""

    stored: StoredEntry
    score: float
    covered: float
    matched: tuple[str, ...]
    terms: frozenset[str]

    @property
    def why(self) -> str:
        """What made it rank, in words."""
        return f"matches {', '.join(self.matched[:8])} ({self.covered:.0%} of what the question asks for)"


class Retriever(Protocol):
    """Ranks candidates. A user's own takes the place of the built-in one; it sees texts and terms, never a balance."""

    def rank(self, question: Question, statistics: ranking.Statistics, candidates: Sequence[Candidate]) -> list[Scored]:
        """The candidates by relevance, best first, with scores of 0 or more and `covered` between 0 and 1."""
        ...


class KeywordRetriever:
    """BM25 over the analyser's terms."""

    def rank(self, question: Question, statistics: ranking.Statistics, candidates: Sequence[Candidate]) -> list[Scored]:
        """See `Retriever.rank`."""
        return ranking.score(question, statistics, candidates)


def find(
    reading: Reading,
    analyser: Analyser,
    retriever: Retriever,
    query: str,
    chosen: Filter,
    *,
    k: int,
    floor: float,
    half_life: float | None = None,
) -> list[Found]:
    """The `k` most relevant entries that pass the filter and clear the floor, best first.

    `half_life` halves a score for every so many ticks since the entry was last settled (or born, if it never was).
    Cost: one index query and O(k) entries.
    """
    question = analyser.question(query)
    if not question.words:
        return []
    candidates, statistics = reading.candidates(question, chosen, max(DEPTH, 4 * k), max(floor, SKIM))
    if floor < SKIM and len(candidates) < k:
        candidates, statistics = reading.candidates(question, chosen, max(DEPTH, 4 * k), floor)
    scored = [s for s in retriever.rank(question, statistics, candidates) if s.covered >= floor and s.score > 0]
    if half_life is None:
        scored = scored[:k]
    by_row = {stored.row: stored for stored in reading.entries([s.row for s in scored])}
    terms = {c.row: frozenset((*c.text_terms, *c.cue_terms)) for c in candidates}
    found = [Found(by_row[s.row], s.score, s.covered, s.matched, terms[s.row]) for s in scored if s.row in by_row]
    if half_life is not None:
        now = reading.counter("tick")
        found = sorted((_aged(f, now, half_life) for f in found), key=lambda f: (-f.score, -f.stored.row))[:k]
    return found


def _aged(found: Found, now: int, half_life: float) -> Found:
    entry = found.stored.entry
    last = entry.last_settled_tick if entry.last_settled_tick is not None else entry.born_tick
    return Found(found.stored, found.score * 0.5 ** (max(0, now - last) / half_life), found.covered, found.matched, found.terms)


def decider(found: Sequence[Found], pass_over: float) -> Found | None:
    """The best-ranked entry that may decide.

    One that may not (suspended, on probation, empty) is passed over only for an entry about as relevant as itself: below
    `pass_over` times its score, memory is silent, or a neighbour's rule would be applied to the wrong thing.
    """
    bar = 0.0
    for candidate in found:
        if candidate.score < bar:
            return None
        if candidate.stored.may_decide:
            return candidate
        bar = max(bar, pass_over * candidate.score)
    return None
