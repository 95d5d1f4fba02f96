"""Does memory help? What randomly withheld decisions say about it, with an interval that holds however often it is looked at.

Each randomised decision `i` either followed memory (probability `p`) or had it withheld (`1 - p`), by a coin of our own. With
predictions `m1` and `m0` of both outcomes that use earlier decisions alone, the doubly robust score

    X = m1 - m0 + (y - m1) / p  if it was shown,    X = m1 - m0 - (y - m0) / (1 - p)  if it was withheld

has the effect `t` of this decision as its mean, whatever the predictions are worth (Robins, Rotnitzky and Zhao 1994); good ones
only make it less noisy. Outcomes are bounded, so that a bet `1 + b (X - c)` with `c = m1 - m0` cannot lose everything if `b` is small
enough. Its mean is `1 + b (t - c) <= exp(b (t - c))`. So for each fixed `b` the product of all bets, times `exp(-b sum(t - c))`, is a
non-negative supermartingale, and so is any fixed mixture over `b`. By Ville's inequality it ever exceeds `2 / alpha` with
probability `alpha / 2` at most. What it depends on is only the *sum* of the effects: the mean effects for which it is still below
are an interval that covers the average effect over the decisions so far, at all times together, also if the effect changes while
memory learns. One side is bet on `y`, the other on `-y`.

Betting intervals: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (2024). Time-uniform mixtures
and randomised experiments: Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence
sequences" (2021). That form of the bet keeps the time-varying mean of the second with the tightness of the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal, NamedTuple

Arm = Literal["shown", "alone", "all"]
ARMS: Final[tuple[Arm, ...]] = ("shown", "alone", "all")
"""What a draw can come to: memory answers; the deciding entry alone is withheld; all of memory is withheld."""

STAKE_MOST: Final = 0.75
"""The largest part of the capital that one bet may lose. 0.7 to 0.85 found effects soonest: at 0.95 one unlucky outcome undoes many, and
at 0.5 the predictions are bent more than it is worth."""
BET_CENTRE: Final = 0.07
"""The size of bet that the mixture favours. It is the best one for two thousand decisions at a standard deviation of 1 each
(`sqrt(2 * 5 / 2000)`), which lies between even draws of outcomes at 0.9 and rare draws of outcomes at 0.5."""
BET_SPREAD: Final = 1.2
"""Standard deviation of the mixture in natural logarithms: within two, the bets are good from forty decisions to a hundred thousand."""
BETS: Final = tuple(1.2 * 2 ** (-step / 2) for step in range(21))
"""The bets of the mixture, from 1.2 to 0.001. Neighbours differ by the square root of two, about as much as a bet tolerates, `1 / z`."""
_WEIGHTS: Final = tuple(math.exp(-0.5 * (math.log(bet / BET_CENTRE) / BET_SPREAD) ** 2) for bet in BETS)
_LOG_WEIGHTS: Final = tuple(math.log(weight / math.fsum(_WEIGHTS)) for weight in _WEIGHTS)

PRIOR: Final = 5.0
"""Outcomes that a prediction begins with: an arm is predicted by the mean of both arms until it has about as many of its own."""
STRATUM_PRIOR: Final = 10.0
"""The same for one entry within its arm: entries differ, and a prediction that knows them leaves less noise."""

WORTH_SEEING: Final = 0.05
"""The effect for which "needs about N more decisions" is worked out where a smaller one is seen, in units of the bound."""


class Drawn(NamedTuple):
    """One randomised decision with its outcome.

    `stratum` tells the entries apart that would have decided; `exposure` is the probability with which it was shown, given that
    it was shown or withheld as it was; `outcome` is the delta in units of the bound, and is cut to -1 … 1.
    """

    stratum: int
    shown: bool
    exposure: float
    outcome: float


Against = Literal["nothing", "rival"]
AGAINST: Final[tuple[Against, ...]] = ("nothing", "rival")
"""What shown decisions are compared with: those without any memory, or those that the next best entry made."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The coin that was thrown for a decision: the entry that it was about, what it came to, and how probable each arm was.

    `rival_row` is the entry that answers where this one alone is withheld; None if nobody does, and then withholding it alone is
    withholding all. `trial` is the trial of a rule that it belongs to; a holdout of memory belongs to none.
    """

    entry_row: int
    arm: Arm
    shown: float
    alone: float
    all: float
    rival_row: int | None = None
    trial: int | None = None

    @property
    def exposure(self) -> float:
        """How probable it was that this arm came up."""
        return {"shown": self.shown, "alone": self.alone, "all": self.all}[self.arm]


class SettledDraw(NamedTuple):
    """A draw with the outcome of its decision."""

    draw: Draw
    delta: float
    scale: float
    tier: str


@dataclass(frozen=True, slots=True)
class Uplift:
    """What memory changes, measured on decisions that were withheld at random.

    effect, low, high: the average change of the outcome by a decision, in the meter's scale (an outcome of +1 is a gain of one
    ordinary effect), and the interval that covers it with probability 1 - `alpha` at all times together. None if unmeasured.
    decisions: randomised decisions whose outcome this meter settled; holdouts: how many of them were withheld.
    verdict: "helps", "harms", "no difference found yet (…)" or "unmeasured (…)".
    shown_mean, withheld_mean: the plain means of the two arms, not cut, in the meter's scale; for reading, not for deciding.
    cut: outcomes beyond the bound, which counted as the bound. lost: decisions of each arm that ended without an outcome.
    tiers: outcomes by the trust they were settled with.
    """

    effect: float | None
    low: float | None
    high: float | None
    decisions: int
    holdouts: int
    verdict: str
    meter: str | None = None
    entry: str | None = None
    against: Against = "nothing"
    alpha: float = 0.05
    bound: float = 1.0
    shown_mean: float | None = None
    withheld_mean: float | None = None
    cut: int = 0
    lost_shown: int = 0
    lost_withheld: int = 0
    tiers: Mapping[str, int] = field(default_factory=dict)

    @property
    def measured(self) -> bool:
        """Whether there is an interval at all."""
        return self.effect is not None

    @property
    def found(self) -> int:
        """1 if memory helps, -1 if it harms, 0 if neither has been shown."""
        if self.low is None or self.high is None:
            return 0
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


@lru_cache(maxsize=256)
def _limits(p: float) -> tuple[tuple[float, float, float, float], ...]:
    """For each bet at a probability of being shown: the highest prediction of a shown outcome and the lowest of a withheld one with which
    it cannot lose more than its stake, and what a surprise of 1 is worth to it in either arm."""
    q = 1.0 - p
    return tuple((p * STAKE_MOST / bet - 1.0, 1.0 - q * STAKE_MOST / bet, bet / p, bet / q) for bet in BETS)


class _Side:
    """The mixture of bets that the mean effect lies above a value: a lower bound of it."""

    def __init__(self) -> None:
        self._grown = [0.0] * len(BETS)
        self._centres = [0.0] * len(BETS)

    def add(self, shown: bool, p: float, y: float, with_it: float, without: float) -> None:
        """Takes in one outcome. Each bet uses predictions that keep what it may lose within its stake."""
        grown, centres, log1p = self._grown, self._centres, math.log1p
        for k, (most, least, by_shown, by_withheld) in enumerate(_limits(p)):
            m1 = with_it if with_it < most else most
            m0 = without if without > least else least
            grown[k] += log1p(by_shown * (y - m1) if shown else by_withheld * (m0 - y))
            centres[k] += m1 - m0

    def capital(self, total: float) -> float:
        """The logarithm of what the bets have made, if the effects so far sum up to `total`."""
        logs = [
            weight + grown + bet * (centre - total)
            for weight, grown, bet, centre in zip(_LOG_WEIGHTS, self._grown, BETS, self._centres, strict=True)
        ]
        top = max(logs)
        return top + math.log(math.fsum(math.exp(log - top) for log in logs))

    def least(self, count: int, alpha: float) -> float:
        """The smallest mean effect that is not refuted at `alpha`, from -2 to 2."""
        threshold = -math.log(alpha)
        low, high = -2.0, 2.0
        if not count or self.capital(low * count) < threshold:
            return low
        # The capital falls with the value. 50 halvings reach the last bits of a float.
        for _ in range(50):
            middle = (low + high) / 2
            if self.capital(middle * count) >= threshold:
                low = middle
            else:
                high = middle
        return low


class Comparison:
    """The running comparison of shown and withheld decisions. Add them in the order in which they were settled.

    O(1) for an outcome (42 bets), O(1) for an interval; it holds a few sums, and two numbers for each stratum.
    """

    def __init__(self) -> None:
        self.shown = 0
        self.withheld = 0
        self._lower, self._upper = _Side(), _Side()
        self._totals = [0.0, 0.0]
        self._strata: dict[int, list[float]] = {}
        self._scores = 0.0
        self._spread = 0.0

    @property
    def decisions(self) -> int:
        """How many outcomes it has taken in."""
        return self.shown + self.withheld

    def predictions(self, stratum: int) -> tuple[float, float]:
        """What is expected of a decision of this stratum if it is withheld, and if it is shown, from what came before."""
        pooled = math.fsum(self._totals) / (self.decisions + PRIOR)
        counts = (self.withheld, self.shown)
        arms = [(PRIOR * pooled + total) / (PRIOR + count) for total, count in zip(self._totals, counts, strict=True)]
        own = self._strata.get(stratum)
        if own is None:
            return arms[0], arms[1]
        made = [(STRATUM_PRIOR * arm + own[i]) / (STRATUM_PRIOR + own[i + 2]) for i, arm in enumerate(arms)]
        return made[0], made[1]

    def add(self, drawn: Drawn) -> None:
        """Takes in one decision. `exposure` lies strictly between 0 and 1."""
        y = max(-1.0, min(1.0, drawn.outcome))
        p, shown = drawn.exposure, drawn.shown
        without, with_it = self.predictions(drawn.stratum)
        self._lower.add(shown, p, y, with_it, without)
        self._upper.add(shown, p, -y, -with_it, -without)
        surprise = (y - with_it) / p if shown else (without - y) / (1.0 - p)
        self._scores += with_it - without + surprise
        self._spread += surprise * surprise
        arm = int(shown)
        self._totals[arm] += y
        own = self._strata.setdefault(drawn.stratum, [0.0, 0.0, 0.0, 0.0])
        own[arm] += y
        own[arm + 2] += 1
        if shown:
            self.shown += 1
        else:
            self.withheld += 1

    def interval(self, alpha: float) -> tuple[float, float]:
        """The interval that covers the average effect so far with probability 1 - alpha at all times together, within -2 … 2.

        It always holds the estimate: where draws came up as they hardly ever do, it is widened to it.
        """
        middle = max(-2.0, min(2.0, self.effect))
        low = self._lower.least(self.decisions, alpha / 2)
        high = -self._upper.least(self.decisions, alpha / 2)
        return min(low, middle), max(high, middle)

    def above(self, value: float) -> float:
        """The logarithm of the evidence (an e-value) that the average effect lies above a value."""
        return self._lower.capital(value * self.decisions)

    def below(self, value: float) -> float:
        """The logarithm of the evidence (an e-value) that the average effect lies below a value."""
        return self._upper.capital(-value * self.decisions)

    @property
    def effect(self) -> float:
        """The mean of the scores; 0 before the first outcome."""
        return self._scores / self.decisions if self.decisions else 0.0

    def needed(self, alpha: float) -> int:
        """About how many decisions in all would show the effect that is seen, or `WORTH_SEEING` if that is less. A guess, not a promise.

        From the spread of the scores so far and the width of such an interval, `sqrt(2 v (ln(2 / alpha) + 1.4) / n)`; one that
        lies half a standard error off is caught too.
        """
        if not self.decisions:
            return 0
        variance = (self._spread + PRIOR) / (self.decisions + PRIOR)
        wanted = max(abs(self.effect), WORTH_SEEING)
        z = math.sqrt(2 * (math.log(2 / alpha) + 1.4)) + 0.5
        return math.ceil(variance * (z / wanted) ** 2)


def compared(rows: Iterable[Drawn]) -> Comparison:
    """The comparison of decisions that come in the order in which they were settled. O(rows)."""
    made = Comparison()
    for row in rows:
        made.add(row)
    return made


def verdict(comparison: Comparison, low: float, high: float, alpha: float, holdout: float) -> str:
    """What the comparison says, in plain words. `holdout` is the rate that is in force."""
    if low > 0:
        return "helps"
    if high < 0:
        return "harms"
    if not holdout:
        return "no difference found yet (holdout is 0, so none will be)"
    more = comparison.needed(alpha) - comparison.decisions
    return f"no difference found yet (needs about {_rounded(max(more, 10)):,} more decisions)"


def _rounded(count: int) -> int:
    """To one figure, upwards: it is a guess."""
    step = int(10 ** (len(str(count)) - 1))
    return -(-count // step) * step
