"""What measured outcomes say of an entry: the odds that following it helps, under meters that may lie. Pure functions over plain values.

The rule, its constants and how each was found: `docs/evidence.md`. Words used here: a *word* is what one settlement said of one entry; its
*size* is the measured change in units of the meter's scale; its *effect* is the size less the meter's baseline, softly clipped.
Evidence is a function of an entry's words and of what is believed of their meters now: words are folded in the order of the decisions
that they settle, so that the order in which outcomes arrive does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from earnest.core.baseline import NO_CONTROLS, Baseline
from earnest.core.sizes import NO_SIZES, Law, Sizes, likelihood


@dataclass(frozen=True, slots=True)
class EvidenceRule:
    """The constants of the rule. What was seen of those that were varied stands in `docs/benchmark.md`."""

    clip: float = 4.0
    """Effects are ``clip * tanh(size / clip)``: wide, so that a harm of three ordinary effects weighs about two and a half of them and
    one bad act is enough, while a lie about a small gain is not."""
    prior_odds: float = 0.8 * math.log(9.0)
    """Log-odds of an entry that nothing is known of: 0.9 to 0.1, shrunk by 0.8 so that one harm of about an ordinary effect, from a meter
    of average honesty, makes harm the better bet."""
    limit: float = 16.0
    """Log-odds stay within plus and minus this: even an old favourite falls after a few harms (a CUSUM that forgets; Page 1954)."""
    limit_learning: float = 60.0
    """The same while lie rates are learned: there a long good record is not forgotten over a sudden run of lies, or the entries would be
    condemned together and their meter believed."""
    prior_lies: float = 1.0
    """Lies of the prior Beta(1, 9) on a meter's lie rate: one in ten until it is known better."""
    prior_words: float = 10.0
    """Words of that prior, lies and truths together."""
    rate_low: float = 0.02
    """No meter is believed to lie less often than this."""
    rate_least: float = 0.0001
    """Nor is a harm that is too large for a lie believed less."""
    rate_high: float = 0.5
    """At this rate a meter carries no information; more is not read backwards."""
    silent_effect: float = 0.02
    """Effects smaller than this contradict nobody and are not counted in a lie rate."""
    window: int = 400
    """Words of one meter that its lie rate is learned from, the latest."""
    memory: int = 64
    """Words of one entry that its odds are folded from, the latest by decision: enough to reach `limit` from a meter that lies in four of
    ten, and a bound on what a settlement costs."""
    reach: int = 256
    """Words of one entry that are looked at for those, the latest by decision: silent ones count here."""
    passes: int = 4
    """Passes of expectation and maximisation (Dempster, Laird, Rubin 1977) at a tick."""
    alarm: float = 0.4
    """Lie rate from which a meter is in alarm: it tells hardly anything."""
    alarm_share: float = 0.5
    """While a meter is in alarm, what it spoke of has to keep this share of the prior log-odds to go on deciding."""
    sure: float = 0.95
    """A word is a caught lie when it contradicts an entry that is this probably good, or this probably harmful."""
    horizon: float = 40.0
    """How many gains a re-trial may hope for when it is weighed against the harm that the entry did."""
    retrial: float = 0.5
    """Probability of a re-trial when lies are caught at `retrial_rate` or more; it falls to nothing with them."""
    retrial_rate: float = 0.05
    """Share of caught lies from which a re-trial has its full probability."""
    gain_prior: float = 0.5
    """Size of an ordinary gain before any was seen."""
    gain_words: float = 4.0
    """Weight of that prior, in gains."""
    first_looks: int = 2
    """Second measurements that every entry's first outcomes get where there is an independent instrument: who is trusted from the
    start is judged from the start."""
    appeal_looks: int = 3
    """Outcomes that are measured again when an entry's standing changed."""
    random_look: float = 0.05
    """Probability of a second measurement of any other outcome, drawn after the report is in, so that no report can foresee it."""
    contradicted: float = 0.5
    """How much of a report still counts that an independent look contradicts: it was asked for in doubt."""
    run: float = 2.0
    """Of a run of ordinary harms of one entry, in one tick and by one meter, the largest counts in full and the k-th largest 1/k to this
    power: what strikes at once has one cause, be it a liar, a flaky run or an outage. A harm too large for a lie counts in full anyway."""
    run_most: int = 4
    """Harms that one run holds; the next begins a new one, so that an old favourite that turned bad falls within a tick too."""
    run_rate: float = 0.2
    """Lie rate from which a run is discounted in full; below it the power is less in proportion, so that harms by a meter that hardly ever
    errs are believed one by one: an old favourite that turned bad falls after as many of them as ever."""
    learn: bool = True
    """Whether lie rates are learned; else the prior's mean is kept."""
    leave_one_out: bool = True
    """Whether an entry's own words are left out of the lie rate that its words are weighed by."""
    weigh_sizes: bool = True
    """Whether a harm far larger than the gains of others is held to be no lie."""


RULE: Final = EvidenceRule()
"""The rule as it ships."""

APPEAL_WAIT: Final = 5
"""Ticks that a burial for harm waits for second measurements that were asked for, where a second instrument was ever heard. After that
the entry is buried on the words there are; revoking the meter still brings it back."""


@dataclass(frozen=True, slots=True)
class Word:
    """What one settlement said of one entry.

    place: the number of the decision, which orders words. event: the number of the settlement in the log. size: the change in units of the
    meter's scale. part: the share of the decision that is this entry's, 1 for the one that decided. A second measurement takes the place
    of the report when there is one; `second_event` is its number in the log. A `borrowed` word judges this entry, but was said of
    another, and is not counted in its meter's lie rate a second time.
    """

    place: int
    event: int
    tick: int
    meter: str
    size: float
    part: float = 1.0
    second: float | None = None
    second_meter: str | None = None
    second_event: int = 0
    borrowed: bool = False


WordRow = tuple[int, int, int, int, str, float, float, float | None, str | None, int, int]
"""The row of an entry, and the fields of one `Word` of it, in their order."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of one meter now, as the last tick learned it.

    lies, words: expected lies and words, prior included, over the settlements `since` to `through` (event numbers). caught, counted: lies
    caught for certain, and words counted, there. gain: the size of an ordinary gain.
    """

    lies: float = RULE.prior_lies
    words: float = RULE.prior_words
    caught: float = 0.0
    counted: float = 0.0
    gain: float = RULE.gain_prior
    since: int = 0
    through: int = 0
    baseline: Baseline = NO_CONTROLS
    sizes: Sizes = NO_SIZES
    """Sizes of its effects on entries that are believed to be good."""

    @property
    def rate(self) -> float:
        """The lie rate, 0 to 1/2: a meter that lies more often tells nothing, and is not read backwards."""
        return min(self.lies / self.words, RULE.rate_high)


Beliefs = Mapping[str, Belief]
UNKNOWN: Final = Belief()
"""What is believed of a meter that nothing was learned about."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an entry's words come to.

    odds: log-odds that following it helps. line: what they must exceed for it to decide (0, more in an alarm). harm: its largest harm, in
    scales. caught, counted: lies caught and words counted on other entries by the meter that spoke last. gain: that meter's ordinary gain.
    """

    odds: float
    line: float = 0.0
    words: int = 0
    harm: float = 0.0
    caught: float = 0.0
    counted: float = 0.0
    gain: float = RULE.gain_prior
    noise: float = 0.0

    @property
    def active(self) -> bool:
        """Whether helping is the better bet."""
        return self.odds > self.line

    @property
    def probability(self) -> float:
        """The probability that following it helps."""
        return sigmoid(self.odds)


def sized(delta: float, scale: float) -> float:
    """A measured change in units of the meter's scale, kept within a million of them so that sums stay numbers."""
    return max(-1e6, min(1e6, delta / scale))


def sigmoid(odds: float) -> float:
    """The probability that these log-odds stand for."""
    if odds >= 0:
        return 1.0 / (1.0 + math.exp(-odds))
    grown = math.exp(odds)
    return grown / (1.0 + grown)


def effect(size: float, rule: EvidenceRule = RULE) -> float:
    """The effect of a size that the baseline was taken off."""
    return rule.clip * math.tanh(size / rule.clip)


def weight(rate: float, rule: EvidenceRule = RULE) -> float:
    """What a word of effect 1 adds to the log-odds: the log-likelihood ratio of a report that is wrong with probability `rate`."""
    held = min(max(rate, rule.rate_low), rule.rate_high)
    return math.log((1.0 - held) / held)


class Heard:
    """A word with its effects: what each of its meters said of the entry.

    said: (meter, effect, event) of the report and, if there is one, of the second measurement. contradicted: what still counts of a report
    that a second measurement contradicts: no more than that one says itself. size: the change without the baseline, by the second
    measurement if there is one.
    """

    __slots__ = ("contradicted", "said", "size", "telling", "word")

    def __init__(self, word: Word, beliefs: Beliefs, rule: EvidenceRule) -> None:
        self.word = word
        self.size = _without_baseline(word.size, word.meter, word.tick, beliefs)
        reported = effect(self.size, rule)
        self.said: list[tuple[str, float, int]] = [(word.meter, reported, word.event)]
        self.telling = abs(reported) > rule.silent_effect
        self.contradicted: float | None = None
        if word.second is not None and word.second_meter is not None:
            self.size = _without_baseline(word.second, word.second_meter, word.tick, beliefs)
            again = effect(self.size, rule)
            self.said.append((word.second_meter, again, word.second_event))
            self.telling = self.telling or abs(again) > rule.silent_effect
            if reported * again < 0:
                self.contradicted = rule.contradicted * math.copysign(min(abs(reported), abs(again)), reported)

    @property
    def meter(self) -> str:
        """Whose word counts most: the second look's, if there is one."""
        return self.said[-1][0]


def _without_baseline(size: float, meter: str, tick: int, beliefs: Beliefs) -> float:
    baseline = beliefs.get(meter, UNKNOWN).baseline
    return size - baseline.at(tick) if baseline else size


def heard(words: Sequence[Word], beliefs: Beliefs, rule: EvidenceRule = RULE) -> list[Heard]:
    """An entry's words in the order of their decisions, with their effects; only the latest that tell something."""
    made = [Heard(word, beliefs, rule) for word in sorted(words, key=lambda word: (word.place, word.event))[-rule.reach :]]
    return [one for one in made if one.telling][-rule.memory :]


@dataclass(frozen=True, slots=True)
class Own:
    """What an entry's words add to a meter's belief, so that they can be left out of it: lies, words, caught lies, sizes."""

    lies: float = 0.0
    words: float = 0.0
    caught: float = 0.0
    sizes: Sizes = NO_SIZES


NOTHING_OWN: Final = Own()
Ear = tuple[float, float, Law]
"""How a meter is listened to: its lie rate, the weight of an ordinary word of it, and the law of its sizes."""


def left_out(belief: Belief, own: Own = NOTHING_OWN, rule: EvidenceRule = RULE) -> Ear:
    """How a meter is listened to without an entry's own words: its own harm cannot be its own excuse, nor its own gains make it likely."""
    sizes = belief.sizes.without(own.sizes)
    if not rule.learn:
        rate = rule.prior_lies / rule.prior_words
    elif not rule.leave_one_out:
        rate = belief.lies / belief.words
    else:
        rate = max(belief.lies - own.lies, 0.0) / max(belief.words - own.words, rule.prior_words)
    rate = min(max(rate, rule.rate_low), rule.rate_high)
    law = sizes.law()
    return rate, weight(rate, rule) * (law.worth if rule.weigh_sizes else 1.0), law


def listened(x: float, ear: Ear, rule: EvidenceRule = RULE) -> float:
    """What an effect adds to the log-odds: its size times the log-likelihood ratio of a report with its meter's lie rate. A harm that is
    larger than a gain with the wrong sign could be is a lie so much less often."""
    if x >= 0.0 or not rule.weigh_sizes:
        return ear[1] * x
    doubt = likelihood(-x, ear[2])
    if doubt >= 1.0:
        return ear[1] * x
    rate = max(ear[0] * doubt, rule.rate_least)
    return math.log((1.0 - rate) / rate) * ear[2].worth * x


def runs(said: Sequence[Heard], ears: Mapping[str, Ear], rule: EvidenceRule = RULE) -> Mapping[tuple[int, str], float]:
    """How much of a harm counts that is one of a run, by its place among the words and its meter; what is not named counts in full.

    A run is what one meter says of the entry within one tick without a gain between: up to `run_most` harms of ordinary size, of which the
    largest counts in full and the k-th largest 1 / k^(run · min(1, r / run_rate)), where r is how often the meter is believed to lie.
    Ranked by size, so that a small harm cannot make a large one count less. O(words · log words).
    """
    going: dict[str, tuple[int, list[tuple[float, int]]]] = {}
    found: list[tuple[str, list[tuple[float, int]]]] = []
    for place, one in enumerate(said):
        if one.contradicted is not None:
            continue
        for meter, x, _ in one.said:
            if x >= 0.0:
                going.pop(meter, None)
            elif not rule.weigh_sizes or math.log(-x) <= ears[meter][2].bound:
                run = going.get(meter)
                if run is not None and run[0] == one.word.tick and len(run[1]) < rule.run_most:
                    run[1].append((x, place))
                    if len(run[1]) == 2:
                        found.append((meter, run[1]))
                else:
                    going[meter] = (one.word.tick, [(x, place)])
    powers = {meter: _run_power(ears[meter], rule) for meter, _ in found}
    return {(at, meter): rank ** powers[meter] for meter, harms in found for rank, (_, at) in enumerate(sorted(harms), 1)}


def _run_power(ear: Ear, rule: EvidenceRule) -> float:
    """By which power of its rank a harm in a run counts: none where the meter hardly ever errs, or where what it says is noise."""
    quiet = 1.0 - ear[2].noise if rule.weigh_sizes else 1.0
    return -rule.run * min(1.0, ear[0] / rule.run_rate) * quiet


def folded(said: Sequence[Heard], ears: Mapping[str, Ear], limit: float, rule: EvidenceRule = RULE) -> float:
    """The log-odds that words come to when their meters are listened to like this.

    A report and a second measurement both count, as far as their meters are believed: two that agree weigh more than one, two equals that
    contradict each other tell nothing, and a liar that is found out weighs nothing. Harms that come in a run share a cause: see `runs`.
    """
    odds = rule.prior_odds
    weaker = runs(said, ears, rule)
    for place, one in enumerate(said):
        part = one.word.part
        if one.contradicted is None:
            for meter, x, _ in one.said:
                odds += listened(x, ears[meter], rule) * part * (weaker.get((place, meter), 1.0) if x < 0.0 else 1.0)
        else:
            (reporter, _, _), (witness, again, _) = one.said
            odds += (ears[reporter][1] * one.contradicted + listened(again, ears[witness], rule)) * part
        if odds > limit:
            odds = limit
        elif odds < -limit:
            odds = -limit
    return odds


class Tally(NamedTuple):
    """What one meter said of an entry, of the words that its belief was learned from: gains, harms, and sums over the logarithms of the
    sizes of their effects and over the squares of those."""

    gains: int
    harms: int
    total: float
    square: float


def tallied(said: Sequence[Heard], beliefs: Beliefs, rule: EvidenceRule = RULE) -> dict[str, Tally]:
    """What each meter said of an entry, in numbers. O(words)."""
    sums: dict[str, list[float]] = {}
    for one in said:
        if one.word.borrowed:
            continue
        for meter, x, event in one.said:
            belief = beliefs.get(meter, UNKNOWN)
            if abs(x) <= rule.silent_effect or not belief.since <= event <= belief.through:
                continue
            own = sums.setdefault(meter, [0, 0, 0.0, 0.0])
            log = math.log(abs(x))
            own[x < 0] += 1
            own[2] += log
            own[3] += log * log
    return {meter: Tally(int(gains), int(harms), total, square) for meter, (gains, harms, total, square) in sums.items()}


def contributions(tallies: Mapping[str, Tally], probability: float, rule: EvidenceRule = RULE) -> dict[str, Own]:
    """What an entry that is good with this probability adds to each meter: a word that goes against it is a lie."""
    against = 1.0 - probability
    made = {}
    for meter, (gains, harms, total, square) in tallies.items():
        caught = harms if probability > rule.sure else gains if against > rule.sure else 0
        sizes = Sizes(probability * (gains + harms), probability * total, probability * square)
        made[meter] = Own(probability * harms + against * gains, float(gains + harms), float(caught), sizes)
    return made


def judged(
    said: Sequence[Heard],
    tallies: Mapping[str, Tally],
    beliefs: Beliefs,
    rule: EvidenceRule = RULE,
    limit: float | None = None,
) -> tuple[float, dict[str, Own]]:
    """The log-odds of an entry, and what its own words, in numbers, added to its meters.

    Twice folded: with the meters as they are, to see how much of them is this entry's own, and then without that.
    """
    if not said:
        return rule.prior_odds, {}
    bound = rule.limit if limit is None else limit
    names = {meter for one in said for meter, _, _ in one.said}
    first = folded(said, {name: left_out(beliefs.get(name, UNKNOWN), rule=rule) for name in names}, bound, rule)
    own = contributions(tallies, sigmoid(first), rule)
    if not (rule.learn and rule.leave_one_out) or not own:
        return first, own
    without = {name: left_out(beliefs.get(name, UNKNOWN), own.get(name, NOTHING_OWN), rule) for name in names}
    return folded(said, without, bound, rule), own


def without_revoked(word: Word, revoked: Mapping[str, int]) -> Word | None:
    """A word as it stands without what revoked meters said from an event on; None if nothing is left of it.

    A report of a revoked meter that an independent one measured again stands on that second measurement.
    """
    if word.second_meter is not None and word.second_event >= revoked.get(word.second_meter, word.second_event + 1):
        word = replace(word, second=None, second_meter=None, second_event=0)
    if word.meter in revoked and word.event >= revoked[word.meter]:
        if word.second is None or word.second_meter is None:
            return None
        word = replace(
            word, meter=word.second_meter, size=word.second, event=word.second_event, second=None, second_meter=None, second_event=0
        )
    return word


def weigh(words: Sequence[Word], beliefs: Beliefs, rule: EvidenceRule = RULE) -> Evidence:
    """What an entry's words come to. O(the words given)."""
    said = heard(words, beliefs, rule)
    if not said:
        return Evidence(rule.prior_odds)
    odds, own = judged(said, tallied(said, beliefs, rule), beliefs, rule)
    meter = said[-1].meter
    belief = beliefs.get(meter, UNKNOWN)
    mine = own.get(meter, NOTHING_OWN)
    return Evidence(
        odds=odds,
        line=line(belief, rule),
        words=len(said),
        harm=max(0.0, max(-one.size for one in said)),
        caught=max(0.0, belief.caught - mine.caught),
        counted=max(0.0, belief.counted - mine.words),
        gain=belief.gain,
        noise=belief.sizes.without(mine.sizes).law().noise if rule.weigh_sizes else 0.0,
    )


def alarmed(belief: Belief, rule: EvidenceRule = RULE) -> bool:
    """Whether a meter carries hardly any information."""
    return rule.learn and belief.rate > rule.alarm


def line(belief: Belief, rule: EvidenceRule = RULE) -> float:
    """The log-odds that an entry has to exceed to decide, by the meter that spoke of it last."""
    return rule.alarm_share * rule.prior_odds if alarmed(belief, rule) else 0.0


def retrial_probability(evidence: Evidence, rule: EvidenceRule = RULE) -> float:
    """How likely a suspended entry is tried once more: only where its meter was caught lying about others, and where that is worth it.

    Worth it: ``P * gain * horizon > (1 - P) * harm``. Never under a meter that was not caught.
    """
    if evidence.active or evidence.caught < 1.0 or evidence.counted <= 0:
        return 0.0
    chance = sigmoid(evidence.odds - evidence.line)
    if chance * evidence.gain * rule.horizon * (1.0 - evidence.noise) <= (1.0 - chance) * evidence.harm:
        return 0.0
    return rule.retrial * min(1.0, evidence.caught / evidence.counted / rule.retrial_rate)


@dataclass(frozen=True, slots=True)
class Seat:
    """One of the ranked texts that a question found. `alive` is false for one that was executed: it guards its question for ever."""

    score: float
    decides: bool
    alive: bool = True
    retrial: float = 0.0


class Choice(NamedTuple):
    """Who decides: its place in the list (None: silence), whether that is a re-trial, and how probable this was by the chance drawn."""

    place: int | None
    retrial: bool = False
    exposure: float = 1.0


def choose(ranked: Sequence[Seat], pass_over: float, draw: Callable[[], float]) -> Choice:
    """Which of the ranked texts decides.

    The best-ranked active one decides. The first that may not sets a bar, `pass_over` times its score: below it memory is silent, or a
    neighbour's rule would be applied to the wrong thing. A suspended one may be tried again; `draw` is asked for chance only then.
    """
    bar, exposure = 0.0, 1.0
    for place, seat in enumerate(ranked):
        if seat.score < bar:
            break
        if seat.decides and seat.alive:
            return Choice(place, False, exposure)
        if seat.alive and seat.retrial > 0.0:
            if draw() < seat.retrial:
                return Choice(place, True, exposure * seat.retrial)
            exposure *= 1.0 - seat.retrial
        bar = max(bar, pass_over * seat.score)
    return Choice(None, False, exposure)


def looks_wanted(
    words: Sequence[Word],
    place: int,
    changed: bool,
    draw: Callable[[], float],
    rule: EvidenceRule = RULE,
) -> list[tuple[int, str]]:
    """Which outcomes are to be measured again after the one at `place` was settled: (place, why), oldest first.

    `words` are the entry's, the new one included; `changed` tells whether its standing changed. The random draw is made only after the
    report is in, and only if nothing else asks for a look.
    """
    measured = sum(1 for word in words if word.second is not None)
    if measured < rule.first_looks:
        return [(place, "first")] if any(word.place == place and word.second is None for word in words) else []
    if changed:
        return appeal(words, rule)
    if draw() < rule.random_look:
        return [(place, "random")] if any(word.place == place and word.second is None for word in words) else []
    return []


def appeal(words: Sequence[Word], rule: EvidenceRule = RULE) -> list[tuple[int, str]]:
    """The last outcomes of an entry that were not measured twice yet, which decide its case: (place, why), oldest first."""
    open_ = [word.place for word in sorted(words, key=lambda word: word.place) if word.second is None]
    return [(place, "appeal") for place in open_[len(open_) - min(rule.appeal_looks, len(open_)) :]]


def runway(size: float, gain: float, rate: float = 0.0, rule: EvidenceRule = RULE) -> float:
    """What a gain of this size (its baseline taken off) pays an entry, in energy; harm takes nothing (it suspends).

    A meter with a lie `rate` that leaves its words no information pays nothing.
    """
    return gain * math.tanh(size) if size > 0 and rate < rule.rate_high else 0.0
