"""What the meters' latest words make of their lie rates, learned by expectation and maximisation. Pure functions over plain values.

The rule is that of `core.evidence`; here it is carried out over many entries at once. What an entry's words come to depends on little of
them: histories that say the same are folded once and counted as often as they occur, and gains that follow each other are one sum. The
result is that of folding every word of every entry, up to rounding (a property test holds the two together).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from earnest.core.evidence import (
    RULE,
    UNKNOWN,
    Belief,
    Beliefs,
    EvidenceRule,
    Heard,
    Tally,
    Word,
    WordRow,
    heard,
    line,
    runs,
    sigmoid,
    tallied,
)
from earnest.core.sizes import (
    LEAST_SPREAD,
    MARGIN,
    NOISE_FULL,
    NOISE_MARGIN,
    PRIOR_COUNT,
    PRIOR_MEAN,
    PRIOR_SPREAD,
    STEEPNESS,
    Law,
    Sizes,
    worth,
)

Windows = Mapping[str, tuple[int, int]]
"""For each meter the first and the last event whose words count in its lie rate."""


@dataclass(frozen=True, slots=True)
class History:
    """The words of one entry or, where several entries' words come to the same, of all of these: `words` of the first, `rows` of all."""

    words: Sequence[Word]
    rows: Sequence[int]


def histories(said: Iterable[WordRow], windows: Windows, *, apart: bool = False) -> list[History]:
    """The words of entries, with histories that come to the same joined. `said` is ordered by entry, then by decision.

    Two come to the same if their words agree in order, meter, size, part, second measurement, in being borrowed, in whether they lie in
    their meters' windows, and in which harms share a tick. Other ticks and numbers do not matter while no meter has a baseline and none
    was revoked; else keep them `apart`.
    """
    made: dict[tuple[object, ...], list[int]] = {}
    firsts: dict[tuple[object, ...], list[WordRow]] = {}
    nowhere = (1, 0)
    cells: list[object] = []
    words: list[WordRow] = []
    ticks: dict[int, int] = {}

    def close() -> None:
        key = (words[0][0],) if apart else tuple(cells)
        if key in made:
            made[key].append(words[0][0])
        else:
            made[key], firsts[key] = [words[0][0]], words

    for word in said:
        if words and word[0] != words[0][0]:
            close()
            cells, words, ticks = [], [], {}
        words.append(word)
        first, last = windows.get(word[4], nowhere)
        # Harms of one tick may be a run: which of them share one is told by numbering the ticks that have any.
        harmed = word[5] < 0.0 or (word[7] is not None and word[7] < 0.0)
        shared = ticks.setdefault(word[3], len(ticks)) if harmed else -1
        cell = (word[4], word[5], word[6], word[10], first <= word[2] <= last, shared)
        if word[8] is None:
            cells.append(cell)
        else:
            first, last = windows.get(word[8], nowhere)
            cells.append((cell, word[7], word[8], first <= word[9] <= last))
    if words:
        close()
    return [History([word_of(word) for word in firsts[key]], rows) for key, rows in made.items()]


def word_of(row: WordRow) -> Word:
    """The word that such a row is."""
    return Word(row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], bool(row[10]))


Term = tuple[int, float, float | None, bool]
"""(place of its meter, what is weighed, log of its size if it is a harm whose size counts, whether the odds are bounded after it)."""
Ear = tuple[float, float, float, float, float, float]
"""How a meter is listened to: lie rate, weight of an ordinary word, and the four of the law of its sizes."""

_PRIOR_TOTAL: Final = PRIOR_COUNT * PRIOR_MEAN
_PRIOR_SQUARE: Final = PRIOR_COUNT * (PRIOR_MEAN * PRIOR_MEAN + PRIOR_SPREAD * PRIOR_SPREAD)
_ROOT: Final = math.sqrt(2.0)


class _Folded:
    """One history made ready to be folded many times."""

    __slots__ = ("count", "gains", "harms", "last", "looks", "names", "said", "tallies", "terms")

    def __init__(self, said: Sequence[Heard], count: int, start: Beliefs, rule: EvidenceRule) -> None:
        self.count = count
        self.last = said[-1].meter
        """Who spoke last."""
        self.names = list(dict.fromkeys(meter for one in said for meter, _, _ in one.said))
        places = {name: place for place, name in enumerate(self.names)}
        self.terms, harms = _terms(said, places, rule)
        meeting = _meeting(said)
        self.said = said if meeting else ()
        self.harms = harms if meeting else {}
        """Places of the terms that are harms, where some may come in a run: which do depends on how their meters are listened to."""
        self.tallies = [(places[meter], meter, tally) for meter, tally in tallied(said, start, rule).items()]
        self.gains: dict[str, tuple[float, int]] = {}
        self.looks: dict[str, tuple[int, int]] = {}
        for one in said:
            word = one.word
            belief = start.get(word.meter)
            if belief is not None and one.size > 0 and belief.since <= word.event <= belief.through:
                total, many = self.gains.get(word.meter, (0.0, 0))
                self.gains[word.meter] = (total + one.size, many + 1)
            if len(one.said) == 2 and not word.borrowed and abs(one.said[0][1]) > rule.silent_effect:
                lies, looks = self.looks.get(word.meter, (0, 0))
                self.looks[word.meter] = (lies + (one.said[0][1] * one.said[1][1] < 0), looks + 1)

    def odds(self, ears: Sequence[Ear], limit: float, rule: EvidenceRule) -> float:
        """The log-odds that the words come to when their meters are listened to like this; see `core.evidence.folded`."""
        odds, least = rule.prior_odds, rule.rate_least
        terms = self._weakened(ears, rule) if self.harms else self.terms
        for place, value, size, bounded in terms:
            ear = ears[place]
            beyond = 0.0 if size is None else size - ear[2]
            if beyond > 0.0:
                rate = max(ear[0] * math.erfc(beyond * ear[3]), least)
                odds += math.log((1.0 - rate) / rate) * ear[5] * value
            else:
                odds += ear[1] * value
            if bounded:
                if odds > limit:
                    odds = limit
                elif odds < -limit:
                    odds = -limit
        return odds

    def _weakened(self, ears: Sequence[Ear], rule: EvidenceRule) -> Sequence[Term]:
        """The terms, with those harms that come in a run counted in part."""
        laws = {name: (ear[0], ear[1], Law(*ear[2:])) for name, ear in zip(self.names, ears, strict=True)}
        weaker = runs(self.said, laws, rule)
        if not weaker:
            return self.terms
        made = [*self.terms]
        for key, part in weaker.items():
            for at in self.harms[key]:
                place, value, size, bounded = made[at]
                made[at] = (place, value * part, size, bounded)
        return made


def _meeting(said: Sequence[Heard]) -> bool:
    """Whether two harms of one meter share a tick, so that they may be a run."""
    seen: set[tuple[str, int]] = set()
    for one in said:
        if one.contradicted is None:
            for meter, x, _ in one.said:
                if x < 0.0:
                    if (meter, one.word.tick) in seen:
                        return True
                    seen.add((meter, one.word.tick))
    return False


def _terms(said: Sequence[Heard], places: Mapping[str, int], rule: EvidenceRule) -> tuple[list[Term], dict[tuple[int, str], list[int]]]:
    """What is added to the odds, in order, and where among it the harms stand, by their word's place and their meter.

    Gains of one meter that follow each other are one term: only a fall can lie between bounds.
    """
    made: list[Term] = []
    harms: dict[tuple[int, str], list[int]] = {}
    rising = -1
    for at, one in enumerate(said):
        part = one.word.part
        if one.contradicted is None:
            terms = [(meter, x) for meter, x, _ in one.said]
        else:
            (reporter, _, _), (witness, again, _) = one.said
            made.append((places[reporter], one.contradicted * part, None, False))
            terms = [(witness, again)]
        gain = len(one.said) == 1 and terms[0][1] >= 0.0
        for number, (meter, x) in enumerate(terms, 1):
            size = math.log(-x) if x < 0.0 and rule.weigh_sizes else None
            place, value = places[meter], x * part
            if gain and place == rising:
                value += made.pop()[1]
            elif x < 0.0:
                harms.setdefault((at, meter), []).append(len(made))
            made.append((place, value, size, number == len(terms)))
        rising = made[-1][0] if gain else -1
    return made, harms


def _ear(belief: Belief, lies: float, words: float, sizes: Sizes | None, rule: EvidenceRule) -> Ear:
    """How a meter is listened to without an entry's own lies and words; see `core.evidence.left_out`.

    `sizes` are those of its effects on the others; None where they do not count.
    """
    if rule.learn and rule.leave_one_out:
        rate = max(belief.lies - lies, 0.0) / max(belief.words - words, rule.prior_words)
    elif rule.learn:
        rate = belief.lies / belief.words
    else:
        rate = rule.prior_lies / rule.prior_words
    rate = min(max(rate, rule.rate_low), rule.rate_high)
    weight = math.log((1.0 - rate) / rate)
    if sizes is None:
        return rate, weight, math.inf, 0.0, 0.0, 1.0
    count = sizes.weight + PRIOR_COUNT
    mean = (sizes.total + _PRIOR_TOTAL) / count
    spread = math.sqrt(max((sizes.square + _PRIOR_SQUARE) / count - mean * mean, LEAST_SPREAD * LEAST_SPREAD))
    noise = min(1.0, max(0.0, (spread - PRIOR_SPREAD) / (NOISE_FULL - PRIOR_SPREAD)))
    each = worth(mean, noise)
    return rate, weight * each, mean + MARGIN * (1.0 + (NOISE_MARGIN - 1.0) * noise), STEEPNESS / (spread * _ROOT), noise, each


class _Sums:
    """What the entries add to one meter in one pass."""

    __slots__ = ("caught", "lies", "sizes", "square", "total", "words")

    def __init__(self, rule: EvidenceRule) -> None:
        self.lies, self.words, self.caught = rule.prior_lies, rule.prior_words, 0.0
        self.sizes = self.total = self.square = 0.0

    def add(self, tally: Tally, probability: float, count: int, rule: EvidenceRule) -> None:
        """Entries that are good with this probability: a word that goes against one is a lie; see `core.evidence.contributions`."""
        gains, harms, total, square = tally
        against, words = 1.0 - probability, gains + harms
        self.lies += count * (probability * harms + against * gains)
        self.words += count * words
        self.caught += count * (harms if probability > rule.sure else gains if against > rule.sure else 0)
        good = count * probability
        self.sizes += good * words
        self.total += good * total
        self.square += good * square


class Learning:
    """Histories made ready to be learned from and then judged by what was learned.

    said: for each history its words and of how many entries they are; see `histories`. known: the meters with their baselines; what was
    believed of their honesty is not used, so that the result is a function of the words alone. windows: whose words count.
    """

    def __init__(self, said: Sequence[tuple[Sequence[Word], int]], known: Beliefs, windows: Windows, rule: EvidenceRule = RULE) -> None:
        self._rule = rule
        self._start = {
            name: Belief(rule.prior_lies, rule.prior_words, 0.0, 0.0, belief.gain, *windows.get(name, (1, 0)), belief.baseline)
            for name, belief in known.items()
        }
        self._all: list[_Folded | None] = []
        for words, count in said:
            told = heard(words, self._start, rule)
            self._all.append(_Folded(told, count, self._start, rule) if told else None)
        self._said = [one for one in self._all if one is not None]
        self.beliefs = self._learned()
        """What is believed of the meters now."""

    def _learned(self) -> dict[str, Belief]:
        rule = self._rule
        made = self._first()
        for step in range(max(1, rule.passes)):
            sums = {name: _Sums(rule) for name in made}
            # In the first pass nothing was learned from anybody yet, so that there is nothing of one's own to leave out.
            for one, odds in zip(self._said, self._judged(made, rule.limit_learning, own=step > 0), strict=True):
                probability = sigmoid(odds)
                for _, name, tally in one.tallies:
                    sums[name].add(tally, probability, one.count, rule)
            made = {
                name: replace(
                    belief, lies=sums[name].lies, words=sums[name].words, caught=sums[name].caught,
                    counted=sums[name].words - rule.prior_words, gain=rule.gain_prior,
                    sizes=Sizes(sums[name].sizes, sums[name].total, sums[name].square),
                )
                for name, belief in self._start.items()
            }  # fmt: skip
        gains = dict.fromkeys(made, (rule.gain_words * rule.gain_prior, rule.gain_words))
        for one in self._said:
            for name, (total, many) in one.gains.items():
                before = gains[name]
                gains[name] = (before[0] + one.count * total, before[1] + one.count * many)
        return {name: replace(belief, gain=gains[name][0] / gains[name][1]) for name, belief in made.items()}

    def _first(self) -> dict[str, Belief]:
        """Where learning starts: a meter that was measured again lies as often as the independent look contradicted it. Without one, as
        the prior says. This decides between the mirror solutions where it can be decided.
        """
        rule = self._rule
        made = {name: Belief(rule.prior_lies, rule.prior_words, baseline=belief.baseline) for name, belief in self._start.items()}
        for one in self._said:
            for name, (lies, looks) in one.looks.items():
                if name in made:
                    known = made[name]
                    made[name] = replace(known, lies=known.lies + one.count * lies, words=known.words + one.count * looks)
        return made

    def _judged(self, beliefs: Beliefs, limit: float, *, own: bool) -> Iterable[float]:
        """The log-odds of each history; with `own`, without what its own words added to its meters. See `core.evidence.judged`."""
        rule = self._rule
        own = own and rule.learn and rule.leave_one_out
        plain: dict[str, Ear] = {}
        for one in self._said:
            ears = []
            for name in one.names:
                if name not in plain:
                    belief = beliefs.get(name, UNKNOWN)
                    plain[name] = _ear(belief, 0.0, 0.0, belief.sizes if rule.weigh_sizes else None, rule)
                ears.append(plain[name])
            odds = one.odds(ears, limit, rule)
            if own and one.tallies:
                probability = sigmoid(odds)
                against = 1.0 - probability
                for place, name, (gains, harms, total, square) in one.tallies:
                    words, belief = gains + harms, beliefs.get(name, UNKNOWN)
                    sizes = None
                    if rule.weigh_sizes:
                        sizes = belief.sizes.without(Sizes(probability * words, probability * total, probability * square))
                    ears[place] = _ear(belief, probability * harms + against * gains, words, sizes, rule)
                odds = one.odds(ears, limit, rule)
            yield odds

    def active(self) -> list[bool]:
        """For each history, whether an entry of it may decide by what is believed now."""
        rule, beliefs = self._rule, self.beliefs
        odds = iter(self._judged(beliefs, rule.limit, own=True))
        made = []
        for one in self._all:
            made.append(rule.prior_odds > 0.0 if one is None else next(odds) > line(beliefs.get(one.last, UNKNOWN), rule))
        return made


def learn(said: Sequence[Sequence[Word]], known: Beliefs, windows: Windows, rule: EvidenceRule = RULE) -> Beliefs:
    """What the meters' latest words make of their lie rates, by expectation and maximisation.

    Args:
        said: The words of each entry that one of the windows names; whole, for an entry is judged by all of its words.
        known: The meters with their baselines; what was believed of their honesty is not used, so that the result is a function of the
            words alone.
        windows: For each meter the first and last event whose words count.

    A word that goes against its entry is a lie with the probability that the entry is good, and the other way round. Cost: passes times
    words. EM has a mirror solution (most words are lies, about entries that are the opposite): the prior decides between them.
    """
    return Learning([(words, 1) for words in said], known, windows, rule).beliefs
