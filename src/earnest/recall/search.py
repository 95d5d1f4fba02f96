"""From a question to ranked entries, and to the one that decides. Nothing here is given a balance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Final, Protocol, TypeVar

from earnest.core import analysis, context, cues, fusion, ranking, thesaurus, timewords
from earnest.core.analysis import Analyser, Question, Wanted
from earnest.core.context import Placed, Surroundings
from earnest.core.entry import StoredEntry
from earnest.core.filters import Filter
from earnest.core.ranking import Candidate, Scored
from earnest.core.standins import widened
from earnest.core.timewords import Span
from earnest.core.vectors import Asked
from earnest.protocols import Reading

DEPTH: Final = 256
"""Candidates that are scored for each hit asked for: deep enough that the engine's own order does not decide."""

NEAR: Final = 128
"""Entries that are looked at because they are near in meaning, where there are vectors."""

FAR: Final = 0.5
"""The part of the cosine at which two texts are about the same matter below which nearness alone makes no hit: other words for the same
thing lie well above it with the models that were looked at, and two texts at random below."""

TIMELY: Final = 64
"""Entries that are looked at for each stretch of time that the question names, whatever they say."""

SKIM: Final = 0.2
"""A search without a floor first looks by the words that tell this much of the question, and by all of them if that finds too little."""

FEW: Final = 64
"""Where there may be turns of conversations, in a store of at most `SMALL` entries, fewer candidates than these by the telling words are
too few as well: what is said around a turn is often said in common words, and there they are read in a millisecond or two."""
SMALL: Final = 20_000

RERANKER: Final = "reranker"
"""The part of a hit that a reranker's own score is told as."""

EXECUTED: Final = 256
"""Executed texts, the latest, that are looked at for their meaning or their place in a conversation, whatever their words."""

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
    parts: tuple[tuple[str, float], ...] = ()
    via: int | None = None
    """The row of the hit that lent it relevance along a link, where one did."""
    weights: tuple[tuple[str, float], ...] = ()
    """What its relevance was multiplied by, by name, where that was asked for."""

    @property
    def why(self) -> str:
        """What made it rank, in words: the words it matches, and what else there was, with its part of the score."""
        share = f"({self.covered:.0%} of what the question asks for)"
        made = [f"matches {', '.join(self.matched[:8])} {share}"] if self.matched else [f"matches no word of it itself {share}"]
        anew = [score for name, score in self.parts if name == RERANKER]
        parts = [(name, part) for name, part in self.parts if name != RERANKER]
        whole = sum(part for _, part in parts) or 1.0
        told = [(name, part / whole) for name, part in parts if name != "words" and part >= 0.005 * whole]
        if told:
            made.append("and by " + ", ".join(f"{name} {part:.0%}" for name, part in told))
        made += [f"times {share:.2f} for {name}" for name, share in self.weights]
        # On a scale of its own: no part of the relevance.
        made += [f"placed by the reranker, which gave it {score:.4g}" for score in anew]
        return "; ".join(made)


_Ranked = TypeVar("_Ranked", Scored, Found)


class Retriever(Protocol):
    """Ranks candidates. A user's own takes the place of the built-in ranking; it sees texts and terms, never a balance."""

    def rank(self, question: Question, statistics: ranking.Statistics, candidates: Sequence[Candidate]) -> list[Scored]:
        """The candidates by relevance, best first, with scores of 0 or more and `covered` between 0 and 1."""
        ...


class KeywordRetriever:
    """BM25 over the analyser's terms and nothing else: no context, no times, no meaning."""

    def rank(self, question: Question, statistics: ranking.Statistics, candidates: Sequence[Candidate]) -> list[Scored]:
        """See `Retriever.rank`."""
        return ranking.score(question, statistics, candidates)


def find(
    reading: Reading,
    analyser: Analyser,
    retriever: Retriever | None,
    query: str,
    chosen: Filter,
    *,
    k: int,
    floor: float,
    half_life: float | None = None,
    now: datetime | None = None,
    asked: Asked | None = None,
    near: float = 0.0,
    mode: str = "auto",
    guards: int = 0,
    past: bool = False,
) -> list[Found]:
    """The `k` most relevant entries that pass the filter and clear the floor, best first.

    Args:
        retriever: Takes the place of the built-in ranking; it is given the candidates by keyword alone.
        half_life: Halves a score for every so many ticks since the entry was last settled (or born, if it never was).
        now: The moment that times in the question are counted from; None: they are not looked for.
        asked: The question as a vector; None: by keyword only.
        near: The cosine from which nearness in meaning counts towards the floor; 0: it does not.
        guards: At most so many texts that were executed are ranked among the living, and come with `k` of these: they go on
            guarding their question.
        past: Whether entries that were superseded since `chosen.as_of` are looked at too, by their words.
        mode: "auto" and "hybrid" join words and meaning; "rrf" joins their ranks alone; "keyword" and "dense" take one of them.

    Cost: one index query, a scan of vectors where there are any, and O(k) entries, whatever the size of the store.
    """
    typed = analyser.question(query)
    if not typed.words and asked is None:
        return []
    question = widened(typed, analyser.stems, lambda terms: reading.known(terms, chosen), reading.vocabulary)
    search = _Search(reading, analyser, chosen, max(DEPTH, 4 * k), floor, None if mode == "keyword" else asked, near, guards, past)
    scored: Iterable[Scored]
    if retriever is not None:
        scored = search.by(retriever, question, k)
    elif mode == "dense":
        scored = search.dense(question)
    else:
        spans = timewords.spans(query, now) if now is not None else []
        quiet = _quieter(question, spans, analyser)
        scored = search.rrf(quiet, k) if mode == "rrf" else search.joined(typed, quiet, k, spans, query)
    passing = (s for s in scored if s.covered >= floor and s.score > 0)
    scored = list(passing if half_life is not None else _until(passing, k, search.guards))
    by_row = {stored.row: stored for stored in reading.entries([s.row for s in scored])}
    terms = search.terms
    found = [Found(by_row[s.row], s.score, s.covered, s.matched, _of(terms.get(s.row)), s.parts) for s in scored if s.row in by_row]
    if half_life is not None:
        tick = reading.counter("tick")
        found = sorted((_aged(f, tick, half_life) for f in found), key=lambda f: (-f.score, -f.stored.row))
        found = list(_until(found, k, search.guards))
    return found


def _until(ranked: Iterable[_Ranked], k: int, guards: Collection[int]) -> Iterator[_Ranked]:
    """The best-ranked up to the `k`th that is alive; the `guards` among them do not count."""
    for one in ranked:
        if k <= 0:
            return
        yield one
        row = one.row if isinstance(one, Scored) else one.stored.row
        k -= row not in guards


class _Search:
    """One search: gathers candidates by word, by meaning, by time and by what stands around them, and ranks them."""

    def __init__(
        self,
        reading: Reading,
        analyser: Analyser,
        chosen: Filter,
        depth: int,
        floor: float,
        asked: Asked | None,
        near: float,
        guards: int,
        past: bool,
    ) -> None:
        self._reading, self._analyser, self._chosen, self._asked, self._near = reading, analyser, chosen, asked, near
        self._most_guards = guards
        self.guards: set[int] = set()
        """Rows of the executed texts that were found."""
        self._dead: set[int] = set()
        """Rows of all that was found and lives no more."""
        self._past = past and chosen.as_of is not None
        """Whether what was superseded since the time that is asked about is looked at too."""
        self._depth, self._floor = depth, floor
        self._turns = reading.counter("kind:episodic") > 0 and chosen.kinds_allow("episodic")
        """Whether there may be turns of conversations among what is searched."""
        self.terms: dict[int, Candidate] = {}

    def by(self, retriever: Retriever, question: Question, k: int) -> list[Scored]:
        """Ranked by a user's own retriever."""
        candidates, statistics = self._worded(question, k)
        return retriever.rank(question, statistics, candidates)

    def dense(self, question: Question) -> list[Scored]:
        """Ranked by meaning alone."""
        near = self._near_ones(self._depth)
        self._take([row for row in near if row not in self.terms])
        _, statistics = self._reading.candidates(question, self._chosen, 1, 1.0)  # of these only the statistics are wanted
        near |= self._meaning(near, [c.row for c in self._guarding(question)])
        words = {s.row: s for s in ranking.score(question, statistics, [self.terms[row] for row in near if row in self.terms])}
        made = []
        for row in fusion.in_order(near):
            by_words = words.get(row)
            covered = by_words.covered if by_words else 0.0
            # Who asks for meaning alone is answered by it, also where nobody knows what cosine is near.
            covered = fusion.sure(covered, near[row], self._near) if self._near else max(covered, near[row])
            made.append(
                Scored(row, max(near[row], 0.0), min(1.0, covered), by_words.matched if by_words else (), (("meaning", near[row]),))
            )
        return made

    def rrf(self, question: Question, k: int) -> list[Scored]:
        """Ranked by reciprocal ranks of words and meaning."""
        candidates, statistics = self._worded(question, k)
        near = self._near_ones(NEAR)
        near |= self._meaning(near, [*self.guards])
        self._take([row for row in near if row not in self.terms])
        words = ranking.score(question, statistics, self._with(candidates, near))
        scores = fusion.reciprocal([[s.row for s in words], fusion.in_order(near)])
        known = {s.row: s for s in words}
        made = []
        for row in fusion.in_order(scores):
            by_words = known.get(row)
            covered = by_words.covered if by_words else 0.0
            matched = by_words.matched if by_words else ()
            told = (("words", by_words.score if by_words else 0.0), ("meaning", max(0.0, near.get(row, 0.0))))
            made.append(Scored(row, scores[row], covered, matched, told))
        return made

    def joined(self, typed: Question, question: Question, k: int, spans: Sequence[Span], query: str) -> Iterator[Scored]:
        """Ranked by all there is: words, meaning, what stands around a turn, and time."""
        question, related = self._widened(question)
        candidates, statistics = self._worded(question, k)
        if len(candidates) < k and any(related):
            candidates = self._by_related(candidates, related)
        near = self._near_ones(NEAR)
        timely = [row for span in spans if span.weight >= 1 for row in self._reading.within(self._chosen, span.start, span.end, TIMELY)]
        self._take([row for row in dict.fromkeys([*near, *timely]) if row not in self.terms])
        every = self._with(candidates, [*near, *timely])
        words = ranking.matches(question, statistics, every, related, thesaurus.RELATED)
        placed = self._placed(words.matched, [*near], spans, [c.row for c in every])
        meaning = self._meaning(near, [*{**self.terms, **placed}])
        stranger = _strange(query, typed, question, statistics)
        ranked = context.ranked(words, Surroundings(placed, self.terms, cues.cues(query), spans, meaning, self._near, stranger))
        if not meaning or not self._near:
            return ranked
        # Some entry is always the nearest, whatever is asked; that alone makes no hit of one that is far.
        far = FAR * self._near
        return (s for s in ranked if s.covered > 0 or meaning.get(s.row, 0.0) >= far or any(name == "time" for name, _ in s.parts))

    # gathering

    def _widened(self, question: Question) -> tuple[Question, tuple[tuple[str, ...], ...]]:
        """The question with the irregular forms of its words, and the related words, where English is spoken."""
        if "english" not in self._analyser.languages:
            return question, ()
        return thesaurus.widened(question, self._analyser.terms)

    def _by_related(self, candidates: list[Candidate], related: Sequence[Sequence[str]]) -> list[Candidate]:
        """The candidates and those that hold a related word: a question whose own words find too little is asked in other words too."""
        terms = tuple(dict.fromkeys(term for others in related for term in others))[: analysis.MAX_QUERY_TERMS]
        found, _ = self._reading.candidates(Question((Wanted(terms, 1.0),)), self._chosen, self._depth)
        self.terms.update((c.row, c) for c in found)
        return [*{c.row: c for c in (*candidates, *found)}.values()]

    def _worded(self, question: Question, k: int) -> tuple[list[Candidate], ranking.Statistics]:
        """Candidates by keyword, and the statistics to score them by."""
        # What is lent to a turn counts for the floor too, so that a turn may clear it whose own words alone do not.
        share = SKIM if self._turns else max(self._floor, SKIM)
        candidates, statistics = self._reading.candidates(question, self._chosen, self._depth, share)
        counter = self._reading.counter
        wide = self._turns and counter("alive") + counter("suspended") <= SMALL
        few, every = (max(k, FEW), 0.0) if wide else (k, self._floor)
        if every < SKIM and len(candidates) < few:
            candidates, statistics = self._reading.candidates(question, self._chosen, self._depth, every)
        candidates = [*candidates, *self._guarding(question)]
        if self._past:
            past = self._reading.past(question, self._chosen, self._depth, self._dead_share)[0]
            self._dead.update(c.row for c in past)
            candidates += past
        self.terms.update((c.row, c) for c in candidates)
        return candidates, statistics

    # the dead among the living

    @property
    def _dead_share(self) -> float:
        """What the words of a dead text must tell of the question to be looked at. A turn is lent some, dead or alive."""
        return 0.0 if self._turns else self._floor

    def _guarding(self, question: Question) -> list[Candidate]:
        """The executed texts that hold the question's words."""
        found = self._reading.guards(question, self._chosen, self._most_guards, self._dead_share)[0] if self._most_guards else []
        self._guard(found)
        return found

    def _guard(self, found: Iterable[Candidate]) -> None:
        for candidate in found:
            self.terms[candidate.row] = candidate
            self.guards.add(candidate.row)
            self._dead.add(candidate.row)

    @cached_property
    def _executed(self) -> dict[int, Candidate]:
        """The latest of the executed texts, whatever they say."""
        return {c.row: c for c in self._reading.executed(self._chosen, EXECUTED)} if self._most_guards else {}

    def _near_ones(self, limit: int) -> dict[int, float]:
        """The nearest in meaning, nearest first, with the executed texts that would be among them if they lived."""
        near = dict(self._nearest(limit))
        if self._asked is None or not near or not self._executed:
            return near
        cosines = self._reading.cosines(self._asked.model, self._asked.vector, [*self._executed])
        least = min(near.values()) if len(near) >= limit else -1.0
        close = [row for row in fusion.in_order(cosines) if cosines[row] >= least][: self._most_guards]
        self._guard(self._executed[row] for row in close)
        near.update((row, cosines[row]) for row in close)
        return {row: near[row] for row in fusion.in_order(near)}

    def _beside(self, placed: Mapping[int, Placed]) -> list[Placed]:
        """Where the latest executed turns stand that were not found, and are among the turns around those in `placed`."""
        unseen = [row for row in self._executed if row not in self.guards][: self._most_guards]
        there = self._reading.placed(unseen, self._everyone, context.REACH)
        found = [place for place in there if not placed.keys().isdisjoint((*place.before, *place.after))]
        self._guard(self._executed[place.row] for place in found)
        return found

    @property
    def _everyone(self) -> Filter:
        """The filter, letting the dead pass as well."""
        return replace(self._chosen, standings=(*self._chosen.standings, "dead"))

    # gathering, by row

    def _with(self, candidates: Sequence[Candidate], rows: Iterable[int]) -> list[Candidate]:
        """These candidates and those in these rows, each once, as far as their terms are known."""
        return [*{c.row: c for c in (*candidates, *(self.terms[row] for row in rows if row in self.terms))}.values()]

    def _nearest(self, limit: int) -> list[tuple[int, float]]:
        if self._asked is None:
            return []
        return self._reading.nearest(self._asked.model, self._asked.vector, self._chosen, limit)

    def _meaning(self, near: dict[int, float], rows: Sequence[int]) -> dict[int, float]:
        """The cosine of every candidate that has a vector."""
        if self._asked is None or not near:
            return {}
        missing = [row for row in rows if row not in near]
        return {**near, **self._reading.cosines(self._asked.model, self._asked.vector, missing)}

    def _take(self, rows: Sequence[int]) -> None:
        """Read the terms of rows that were not found by keyword."""
        self.terms.update((c.row, c) for c in self._reading.indexed(rows))

    def _placed(
        self, matched: Sequence[ranking.Matched], near: Sequence[int], spans: Sequence[Span], rows: Sequence[int]
    ) -> dict[int, Placed]:
        """Where the best candidates stand, with the turns around them; where there can be no turns and no times, nothing is read."""
        placed: dict[int, Placed] = {}
        if self._turns:
            best = fusion.in_order({each.row: each.total for each in matched})[: context.CENTRES]
            centres = [*dict.fromkeys([*best, *near[: context.CENTRES]])]
            chosen = self._everyone if self._dead else self._chosen
            placed = {p.row: p for p in self._reading.placed(centres, chosen, context.REACH)}
            placed.update((p.row, p) for p in self._beside(placed))
            known = [*placed]
            around = {row for p in placed.values() for row in (*p.before, *p.after)} - placed.keys()
            placed.update((p.row, p) for p in self._reading.placed(sorted(around), self._chosen))
            self._take([row for row in placed if row not in self.terms])
            placed = context.rejoined(placed, known, self._dead)
        if spans:
            others = [row for row in rows if row not in placed]
            placed.update((p.row, p) for p in self._reading.placed(others, self._everyone if self._dead else self._chosen))
        return placed


def _of(candidate: Candidate | None) -> frozenset[str]:
    return frozenset((*candidate.text_terms, *candidate.cue_terms)) if candidate else frozenset()


def _strange(query: str, typed: Question, question: Question, statistics: ranking.Statistics) -> bool:
    """Whether a question is about something that nothing searched here holds: it names somebody who is named nowhere, or most of its words
    are unknown. Who is asked about John is not answered with what Jon did as if that were sure; nor does a word that looks like an
    unknown one make sense of nonsense.

    `typed` is the question before other forms stood in for unknown words: those weigh less.
    """
    asked = [word for word in typed.words if word.weight >= 0.5]
    unknown = [word for word in asked if not _held(word, question, statistics)]
    if len(unknown) > len(asked) / 2:
        return True
    named = cues.names(query) if unknown else []
    return any(name in word.terms for word in unknown for name in named)


def _held(word: Wanted, question: Question, statistics: ranking.Statistics) -> bool:
    """Whether an entry holds a word itself, or the same word in full or in short."""
    return any(
        other.weight >= word.weight and any(statistics.holding.get(term, 0) for term in other.terms)
        for other in question.words
        if word.terms[0] in other.terms
    )


def _quieter(question: Question, spans: Sequence[Span], analyser: Analyser) -> Question:
    """A question whose words for times only help to rank: an entry is from May 2023 by its date, whether or not it says so."""
    if not spans:
        return question
    named = {term for span in spans for term in analyser.question(span.said).terms}
    quiet = tuple(Wanted(w.terms, 0.0) if w.terms[0] in named else w for w in question.words)
    # A question that names a time and nothing else asks for what says so.
    return Question(quiet) if any(w.weight > 0 for w in quiet) else question


def _aged(found: Found, now: int, half_life: float) -> Found:
    entry = found.stored.entry
    last = entry.last_settled_tick if entry.last_settled_tick is not None else entry.born_tick
    return replace(found, score=found.score * 0.5 ** (max(0, now - last) / half_life))


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
