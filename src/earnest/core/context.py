"""What surrounds a turn of a conversation, and what that says about its relevance.

A turn is seldom self-contained: the question before it says what it is about. So a word of the question that the turns around it
hold counts for it too, less the further they are away; a turn that answers a matching question, stands in a session about the
matter, or is said by the one who is asked about, ranks higher, and one that only asks ranks lower. The weights are few, set by hand and
rounded; they were chosen on two of the ten conversations that `bench/recall` reports (the others had no say). Entries that are
no turns are not touched where there are no turns among the candidates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nlargest
from typing import Final

from earnest.core.analysis import folded
from earnest.core.cues import Cues
from earnest.core.fusion import in_order, normalised, sure
from earnest.core.patterns import lazily
from earnest.core.ranking import Candidate, Matched, Scored, Words
from earnest.core.thesaurus import RELATED
from earnest.core.timewords import Span, closeness

BEFORE: Final = (0.6, 0.3)
"""What a word counts that the previous turn holds, and the one before that: a turn answers what was said before it."""
AFTER: Final = (0.3, 0.1)
"""The same for the next turn and the one after it."""
REACH: Final = max(len(BEFORE), len(AFTER))
ANSWERS: Final = 0.2
"""A turn right after one that asks gets so much of that one's own relevance once more."""
ANSWERED: Final = 0.9
"""How much of what a turn asks about the turn after it covers, for how sure a match is: its answer is about the same."""
SESSION: Final = 0.1
"""Weight of what the session as a whole matches."""
SPEAKER: Final = 0.1
"""Bonus for a turn of the one that the question names. More would hurt questions that name the wrong one."""
CUE: Final = 0.1
"""Bonus for a turn that holds the kind of answer that is asked for: a time for "when", a number for "how many"."""
ASKS: Final = 0.9
"""Factor on a turn that asks: it holds no answer."""
TIME: Final = 0.2
"""Bonus for what lies in the time that the question names."""
MEANING: Final = 0.25
"""Weight of nearness in meaning beside the words, where there are vectors."""
MEANING_BEFORE: Final = 0.2
"""What the nearness of the previous turn counts for a turn."""
MEANING_SESSION: Final = 0.075
"""Weight of the nearness of the session as a whole: the mean of its `NEAREST` nearest turns."""
NEAREST: Final = 3
STRANGER: Final = 0.5
"""Factor on how sure any match is where the question names somebody that memory never heard of."""
CENTRES: Final = 32
"""How many of the best-matching turns lend relevance to those around them."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where an entry stands in time, and in a conversation if it is a turn of one.

    `session` is an opaque name, the same for all turns of one session of one scope, and "" for an entry that is no turn. `before` and
    `after` are rows of the turns around it, nearest first, as far as they were asked for. `happened` is None where the age is unknown.
    """

    row: int
    happened: datetime | None
    session: str = ""
    speaker: str = ""
    asks: bool = False
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that `ranked` needs to know beside the words."""

    placed: Mapping[int, Placed] = field(default_factory=dict)
    terms: Mapping[int, Candidate] = field(default_factory=dict)
    cues: Cues = field(default_factory=Cues)
    spans: Sequence[Span] = ()
    meaning: Mapping[int, float] = field(default_factory=dict)
    """Cosines with the question by row; empty without vectors."""
    near: float = 0.0
    """The cosine from which nearness counts for how sure a match is; see `fusion.sure`."""
    stranger: bool = False
    """Whether the question names somebody or something that no entry names."""

    @property
    def turns(self) -> bool:
        """Whether any of the candidates is a turn."""
        return any(place.session for place in self.placed.values())


_PREFIX: Final = lazily(r"^\s*([^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}) ?[:：]\s")
_REMARKS: Final = lazily(r"(?:\s*[\[(【（][^\])】）]*[\])】）])+\s*$")
_MARKS: Final = "?？؟՞"
_ASKS: Final = lazily(rf"[{_MARKS}][^\w]*$")


def speaker_of(named: object, text: str) -> str:
    """Who says a turn: by name if the entry carries one, else by a `Name:` at the head of its text, else ""."""
    if isinstance(named, str) and named.strip():
        return named.strip()
    found = _PREFIX.match(text[:80])
    return found[1] if found else ""


def asks(ending: str) -> bool:
    """Whether a text ends in a question; a remark in brackets behind it (a picture's caption) does not count."""
    if not any(mark in ending for mark in _MARKS):
        return False
    return _ASKS.search(_REMARKS.sub("", ending)) is not None


def ranked(words: Words, around: Surroundings) -> Iterator[Scored]:
    """Candidates and the turns around them by relevance, best first; scores are 0 to 1. O(candidates × words).

    An iterator, because telling what a score is made of costs more than the score, and few rows are wanted.
    """
    ranking = _Ranking(words, around)
    return map(ranking.scored, in_order(ranking.totals()))


def rejoined(placed: Mapping[int, Placed], known: Collection[int], dead: Collection[int]) -> dict[int, Placed]:
    """Places as they were when the turns in the rows `dead` lived, so that what is said next to a dead turn counts for it, and the other
    way round, as it did. `known` are the rows that came with the turns around them: the others stay as they are. O(known × dead)."""
    made = dict(placed)
    gone = [placed[row] for row in dead if row in placed and placed[row].session]
    for row in known if gone else ():
        mine = placed[row]
        others = [each for each in gone if each.session == mine.session and each.row != row]
        if mine.session and others:
            here, nearby = _when(mine), {each.row: each for each in others}
            nearby.update((near, placed[near]) for near in (*mine.before, *mine.after) if near in placed)
            order = sorted(nearby.values(), key=_when)
            before = tuple(each.row for each in reversed(order) if _when(each) < here)[:REACH]
            made[row] = replace(mine, before=before, after=tuple(each.row for each in order if _when(each) > here)[:REACH])
    return made


def _when(place: Placed) -> tuple[float, int]:
    """By what turns of a session are in order: when they were said, then their age."""
    return 0.0 if place.happened is None else place.happened.timestamp(), place.row


class _Ranking:
    """One question's evidence, laid out by row."""

    def __init__(self, words: Words, around: Surroundings) -> None:
        self.words, self.around, self.placed = words, around, around.placed
        self.turns = around.turns
        self.own = {each.row: each for each in words.matched}
        self.lent = _lent(words.matched, self.placed)
        self.answers = {
            place.after[0]: self.own[row].total for row, place in self.placed.items() if place.asks and place.after and row in self.own
        }
        self.sessions = _sessions(words.matched, self.placed)
        self.speakers = _asked_speakers(words.forms, self.placed.values())
        self.called = {part for speaker in self.speakers for part in folded(speaker).split()}
        self.meaning = normalised(_near_in_meaning(around.meaning, self.placed))
        self.near_sessions = _near_sessions(self.meaning, self.placed)
        # All that there is to gain, so that a score lies between 0 and 1.
        self.full = 1.0 + (ANSWERS + SESSION if self.turns else 0.0) + (SPEAKER if self.speakers else 0.0)
        self.full += (CUE if self.turns and around.cues.any else 0.0) + (TIME if around.spans else 0.0)
        self.full += MEANING + (MEANING_SESSION if self.turns else 0.0) if self.meaning else 0.0

    def totals(self) -> dict[int, float]:
        """The score of every row that anything speaks for."""
        made: dict[int, float] = {}
        own_session = 1.0 + SESSION if self.turns else 1.0
        near = MEANING + MEANING_SESSION / NEAREST if self.turns else MEANING
        for row, mine in self.own.items():
            if row in self.placed:
                continue
            # What is no turn, or too weak a match to look around it, has its words and its meaning alone.
            total = own_session * mine.total
            if self._named(None, mine.gains):
                total += SPEAKER
            if row in self.meaning:
                total += near * self.meaning[row]
            made[row] = total / self.full
        for row, value in self.meaning.items():
            if row not in made and row not in self.placed:
                made[row] = near * value / self.full
        for row in self.placed:
            made[row] = sum(self.parts(row).values()) / self.full
        return {row: total for row, total in made.items() if total > 0}

    def scored(self, row: int) -> Scored:
        """A row with what its score is made of."""
        mine, parts = self.own.get(row), self.parts(row)
        covered: dict[int, float] = {w: factor for w, (_, factor) in self.lent.get(row, {}).items()}
        if mine:
            covered.update((w, 1.0) for w in mine.gains if w not in mine.related)
            covered.update((w, max(covered.get(w, 0.0), RELATED)) for w in mine.related)
        certain = sure(
            min(1.0, sum(self.words.shares[w] * factor for w, factor in covered.items())),
            self.around.meaning.get(row, 0.0),
            self.around.near,
        )
        return Scored(
            row,
            sum(parts.values()) / self.full,
            certain * (STRANGER if self.around.stranger else 1.0),
            tuple(self.words.forms[w][0] for w in mine.gains) if mine else (),
            tuple((name, value / self.full) for name, value in parts.items() if value > 0),
        )

    def parts(self, row: int) -> dict[str, float]:
        """What speaks for a row, by name."""
        place, mine = self.placed.get(row), self.own.get(row)
        gains = mine.gains if mine else {}
        turn = place is not None and place.session != ""
        parts = {"words": mine.total if mine else 0.0}
        if self.turns:
            lent = sum(max(0.0, gain - gains.get(w, 0.0)) for w, (gain, _) in self.lent.get(row, {}).items())
            parts["neighbour"] = lent + ANSWERS * self.answers.get(row, 0.0)
            # An entry that is no turn is a session of its own.
            parts["session"] = SESSION * (self.sessions.get(place.session, 0.0) if place and turn else parts["words"])
            alone = self.meaning.get(row, 0.0) / NEAREST
            parts["session"] += MEANING_SESSION * (self.near_sessions.get(place.session, 0.0) if place and turn else alone)
            if self._named(place, gains):
                parts["speaker"] = SPEAKER
            if turn and self.around.cues.any and self.around.cues.met(self.around.terms.get(row)):
                parts["kind of answer"] = CUE
        if row in self.meaning:
            parts["meaning"] = MEANING * self.meaning[row]
        if place and place.asks:
            parts = {name: ASKS * value for name, value in parts.items()}
        if place and place.happened and self.around.spans:
            parts["time"] = TIME * closeness(self.around.spans, place.happened)
        return parts

    def _named(self, place: Placed | None, gains: Mapping[int, float]) -> bool:
        """Whether a turn is said by one of the speakers that are asked about, or another entry names one."""
        if place and place.session:
            return place.speaker in self.speakers
        return bool(self.called) and any(not self.called.isdisjoint(self.words.forms[w]) for w in gains)


def _lent(matched: Sequence[Matched], placed: Mapping[int, Placed]) -> dict[int, dict[int, tuple[float, float]]]:
    """What turns lend to those near them: for each row and word the most that it gains, and the factor that it is lent at."""
    made: dict[int, dict[int, tuple[float, float]]] = {}
    if not placed:
        return made
    for each in matched:
        place = placed.get(each.row)
        if place is None:
            continue
        # What this turn holds lends to those after it as *their* previous turn.
        for rows, weights in ((place.after, BEFORE), (place.before, AFTER)):
            for near, weight in zip(rows, weights, strict=False):
                if near not in placed:
                    continue
                covers = ANSWERED if place.asks and place.after and near == place.after[0] else weight
                theirs = made.setdefault(near, {})
                for w, gain in each.gains.items():
                    known = theirs.get(w, (0.0, 0.0))
                    factor = covers * RELATED if w in each.related else covers
                    theirs[w] = (max(known[0], gain * weight), max(known[1], factor))
    return made


def _near_in_meaning(cosines: Mapping[int, float], placed: Mapping[int, Placed]) -> dict[int, float]:
    """Cosines with the question, each with a part of what the turn before it has."""
    if not placed:
        return {row: max(0.0, cosine) for row, cosine in cosines.items()}
    previous = {p.after[0]: p.row for p in placed.values() if p.after}
    previous.update((p.row, p.before[0]) for p in placed.values() if p.before)
    return {
        row: max(0.0, cosine) + MEANING_BEFORE * max(0.0, cosines.get(previous[row], 0.0) if row in previous else 0.0)
        for row, cosine in cosines.items()
    }


def _sessions(matched: Sequence[Matched], placed: Mapping[int, Placed]) -> dict[str, float]:
    """What each session matches: every word once, by the turn of it that gains most from it."""
    best: dict[str, dict[int, float]] = {}
    if not placed:
        return {}
    for each in matched:
        place = placed.get(each.row)
        if place and place.session:
            mine = best.setdefault(place.session, {})
            for w, gain in each.gains.items():
                if gain > mine.get(w, 0.0):
                    mine[w] = gain
    return {session: sum(gains.values()) for session, gains in best.items()}


def _near_sessions(meaning: Mapping[int, float], placed: Mapping[int, Placed]) -> dict[str, float]:
    """How near each session is: the mean of its nearest turns, of which one that has fewer lacks some."""
    near: dict[str, list[float]] = {}
    for row, place in placed.items():
        if place.session and row in meaning:
            near.setdefault(place.session, []).append(meaning[row])
    return {session: sum(nlargest(NEAREST, values)) / NEAREST for session, values in near.items()}


def _asked_speakers(forms: Sequence[Sequence[str]], placed: Iterable[Placed]) -> frozenset[str]:
    """The speakers that the question names, by any part of their name; none if it names all that are there, which tells nothing."""
    speakers = {place.speaker for place in placed if place.session and place.speaker}
    named = {form for word in forms for form in word}
    asked = frozenset(speaker for speaker in speakers if not named.isdisjoint(folded(speaker).split()))
    return asked if len(asked) < len(speakers) else frozenset()
