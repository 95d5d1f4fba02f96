"""Relevance: one pure function scores the candidates of every engine, so that ranking is the same on all of them.

BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with ``idf = ln(1 + (N - df + .5)/(df + .5))``.
A word of the question is one unit however many forms of it match. No function here is given a balance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from earnest.core.analysis import Question

# Measured on turns of conversations (a long text repeats its words for no reason): low saturation, hardly any length penalty.
K1: Final = 0.6
B: Final = 0.25
# A cue is the question that an entry answers: a match there says more than one in the text.
CUE_WEIGHT: Final = 1.5
# A form that only helps to rank still adds a little to the score.
HELPER: Final = 0.3
# An exact form beats a match by stem alone.
STEM_ONLY: Final = 0.9


# A store of three entries says nothing about how common a word is: none counts as common that a store of so many would not.
FEW: Final = 4


@dataclass(frozen=True, slots=True)
class Statistics:
    """What an engine knows of the searched part of the store: entries, their mean length in terms, entries holding each term."""

    entries: int
    mean_length: float
    holding: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that matched at least one term, with its own terms."""

    row: int
    text_terms: Sequence[str]
    cue_terms: Sequence[str]


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's relevance. `covered` is the part of the question's information that it matched, 0 to 1; `parts` are what the
    score is made of, by name, where a ranking tells."""

    row: int
    score: float
    covered: float
    matched: tuple[str, ...]
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Matched:
    """A candidate with what each word of the question gives it: `gains[i]` for word `i`, in shares of all there is to gain (0 to 1
    together); words without a match are not there."""

    row: int
    gains: Mapping[int, float]
    related: frozenset[int] = frozenset()
    """Those words of which it holds only a related one."""

    @property
    def total(self) -> float:
        """Its relevance by its own words, 0 to 1."""
        return sum(self.gains.values())


@dataclass(frozen=True, slots=True)
class Words:
    """A question's words as they are scored: their forms, and the share of the question's information that each of them is."""

    forms: tuple[tuple[str, ...], ...]
    shares: tuple[float, ...]
    matched: Sequence[Matched] = field(default=())


def idf(statistics: Statistics, terms: Sequence[str]) -> float:
    """The information in a word, by its most common form: a rare variant of a common word is still a common word."""
    held = min(max((statistics.holding.get(term, 0) for term in terms), default=0), statistics.entries)
    entries = max(statistics.entries, FEW)
    return math.log(1 + (entries - held + 0.5) / (held + 0.5))


def telling(question: Question, statistics: Statistics, share: float) -> tuple[str, ...]:
    """The terms that an entry must hold one of to match `share` of the question: the commonest words that fall short of it together
    are left out. An index that looks for these alone reads short lists, and misses nothing that clears a floor of `share`."""
    if share <= 0:
        return question.terms
    words = sorted(((word.weight * idf(statistics, word.terms) ** 2, word) for word in question.words), key=lambda pair: pair[0])
    short, kept = share * sum(weight for weight, _ in words), []
    for weight, word in words:
        short -= weight
        if short <= 0:
            kept.append(word)
    return Question(tuple(kept)).terms


def matches(
    question: Question,
    statistics: Statistics,
    candidates: Sequence[Candidate],
    related: Sequence[Sequence[str]] = (),
    part: float = 0.0,
) -> Words:
    """What each word gives to each candidate that holds any, in the order given. O(candidates × words).

    `related[i]` are terms that count `part` of word `i` where they give more than the word itself.
    """
    words = [(word, idf(statistics, word.terms)) for word in question.words]
    # Squared, so that several words that many entries have do not add up to the one that the question is about.
    wanted = sum(word.weight * weight**2 for word, weight in words)
    whole = sum(max(word.weight, HELPER) * weight for word, weight in words) or 1.0
    weighed = [
        (place, word.terms[0], word.terms[1:], max(word.weight, HELPER) * weight / whole, related[place] if related else ())
        for place, (word, weight) in enumerate(words)
    ]
    mean = max(statistics.mean_length, 1.0)
    made = []
    for candidate in candidates:
        in_text, in_cue = candidate.text_terms, candidate.cue_terms
        norm = K1 * (1 - B + B * (len(in_text) + len(in_cue)) / mean)
        gains: dict[int, float] = {}
        held: frozenset[str] | None = None
        lent: set[int] = set()
        for place, surface, stems, gain, others in weighed:
            frequency: float = in_text.count(surface)
            if in_cue:
                frequency += CUE_WEIGHT * in_cue.count(surface)
            for stem in stems:
                stemmed = STEM_ONLY * (in_text.count(stem) + (CUE_WEIGHT * in_cue.count(stem) if in_cue else 0))
                if stemmed > frequency:
                    frequency = stemmed
            if frequency:
                gains[place] = gain * frequency / (frequency + norm)
            elif others:
                held = held or frozenset((*in_text, *in_cue))
                if not held.isdisjoint(others):
                    gains[place] = part * gain / (1 + norm)
                    lent.add(place)
        if gains:
            made.append(Matched(candidate.row, gains, frozenset(lent)))
    shares = tuple(word.weight * weight**2 / wanted if wanted else 0.0 for word, weight in words)
    return Words(tuple(word.terms for word, _ in words), shares, made)


def score(question: Question, statistics: Statistics, candidates: Sequence[Candidate]) -> list[Scored]:
    """Scores for all candidates, 0 to 1, best first; ties go to the later row, the newer entry. O(candidates × words)."""
    words = matches(question, statistics, candidates)
    made = [
        Scored(each.row, each.total, sum(words.shares[w] for w in each.gains), tuple(words.forms[w][0] for w in each.gains))
        for each in words.matched
    ]
    made.sort(key=lambda s: (-s.score, -s.row))
    return made


def similarity(first: Iterable[str], second: Iterable[str]) -> float:
    """How alike two texts are: Jaccard over their sets of terms, 0 to 1."""
    a = first if isinstance(first, frozenset) else frozenset(first)
    b = second if isinstance(second, frozenset) else frozenset(second)
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if a or b else 0.0
