"""Relevance: one pure function scores the candidates of every engine, so that ranking is the same on all of them.

BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with ``idf = ln(1 + (N - df + .5)/(df + .5))``.
A word of the question is one unit however many forms of it match. No function here is given a balance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, overload

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


class Terms(Sequence[str]):
    """The terms of a text as an index keeps them: one text, with a space between them. Cut up when somebody looks at one of them: most
    candidates are only counted in, and to make and drop their terms takes longer than that."""

    __slots__ = ("_cut", "joined")

    def __init__(self, joined: str) -> None:
        """`joined` are the terms with one space between each; a term holds none."""
        self.joined = joined
        self._cut: list[str] | None = None

    def _all(self) -> list[str]:
        if self._cut is None:
            self._cut = self.joined.split(" ")
        return self._cut

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self._all()[place]

    def __len__(self) -> int:
        return self.joined.count(" ") + 1

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and self._all() == [*other]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Terms({self.joined!r})"


def _form(term: str) -> tuple[str, str]:
    """A term as it is counted in a text of terms with spaces around each, and two of it in a row: the space between them belongs to both,
    so that a count then misses one."""
    return f" {term} ", f" {term} {term} "


def _often(alone: str, twice: str, text: str) -> int:
    """How often such a text holds a term."""
    return text.split(" ").count(alone[1:-1]) if twice in text else text.count(alone)


def _size(text: str, terms: Sequence[str]) -> int:
    """How many terms there are, of which `text` is made."""
    return text.count(" ") - 1 if len(text) > 2 else len(terms)


class Candidate(NamedTuple):
    """An entry that matched at least one term, with its own terms. (A tuple: a search makes hundreds, in a third of the time.)"""

    row: int
    text_terms: Sequence[str]
    cue_terms: Sequence[str]


# Past the constructor of a named tuple, which is written in Python and takes eight times as long.
_new: Final = tuple.__new__


def candidates_of(rows: Iterable[tuple[int, str, str]]) -> list[Candidate]:
    """Candidates from the rows of an index: (row, terms of the text, terms of the cue), the terms joined by single spaces. O(rows)."""
    return [_new(Candidate, (row, Terms(text), Terms(cue) if cue else ())) for row, text, cue in rows]


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's relevance. `covered` is the part of the question's information that it matched, 0 to 1; `parts` are what the
    score is made of, by name, where a ranking tells."""

    row: int
    score: float
    covered: float
    matched: tuple[str, ...]
    parts: tuple[tuple[str, float], ...] = ()


class Matched(NamedTuple):
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
    matched: Sequence[Matched] = ()


_NONE: Final[frozenset[int]] = frozenset()


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

    `related[i]` are terms that count `part` of word `i` where they give more than the word itself. A term holds no space.
    """
    words = [(word, idf(statistics, word.terms)) for word in question.words]
    # Squared, so that several words that many entries have do not add up to the one that the question is about.
    wanted = sum(word.weight * weight**2 for word, weight in words)
    whole = sum(max(word.weight, HELPER) * weight for word, weight in words) or 1.0
    weighed = [
        (
            place,
            *_form(word.terms[0]),
            [_form(term) for term in word.terms[1:]],
            max(word.weight, HELPER) * weight / whole,
            [f" {term} " for term in related[place]] if related else (),
        )
        for place, (word, weight) in enumerate(words)
    ]
    mean = max(statistics.mean_length, 1.0)
    made = []
    for candidate in candidates:
        row, texts, cues = candidate
        in_text = f" {texts.joined if isinstance(texts, Terms) else ' '.join(texts)} "
        in_cue = "" if cues == () else f" {cues.joined if isinstance(cues, Terms) else ' '.join(cues)} "
        gains: dict[int, float] = {}
        lent: set[int] | None = None
        norm = 0.0
        for place, alone, twice, stems, gain, others in weighed:
            # Most words are not in most texts: that is told without a call.
            frequency: float = _often(alone, twice, in_text) if alone in in_text else 0
            if in_cue:
                frequency += CUE_WEIGHT * _often(alone, twice, in_cue)
            for stem, stem_twice in stems:
                stemmed: float = _often(stem, stem_twice, in_text) if stem in in_text else 0
                if in_cue:
                    stemmed += CUE_WEIGHT * _often(stem, stem_twice, in_cue)
                stemmed *= STEM_ONLY
                if stemmed > frequency:
                    frequency = stemmed
            if frequency or (others and any(other in in_text or other in in_cue for other in others)):
                norm = norm or K1 * (1 - B + B * (_size(in_text, texts) + (_size(in_cue, cues) if in_cue else 0)) / mean)
                if frequency:
                    gains[place] = gain * frequency / (frequency + norm)
                else:
                    gains[place] = part * gain / (1 + norm)
                    lent = {*(lent or ()), place}
        if gains:
            made.append(_new(Matched, (row, gains, frozenset(lent) if lent else _NONE)))
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
