"""The measured gate: what a trial says of a rule, on terms that were fixed before it began.

In a trial a rule is shown in a random half of the decisions that it matches. Outcomes with it and without it are compared by the
e-process of `core.uplift`: a bet against "on average it does not help" that is fair while this is true, so that its capital ever
reaches 1 / alpha with probability alpha at most (Ville 1939), however often one looks.

Many rules are tried in a store's life, and the best of many looks good by luck. The i-th trial therefore gets its own share of alpha,
fixed when it begins, by e-LOND (Xu and Ramdas, "Online multiple testing with e-values", 2024):

    alpha_i = alpha * g_i * (1 + rules proved before it began),     g_i = 10 / ((i + 9) (i + 10)),  which sum up to 1

Of all rules that trials ever make active, at most the part alpha is expected to be worthless, whatever depends on what, also if trials
overlap: a rule that is proved counts among those proved, at least one more than before its trial began.

After that a rule is watched. Outcomes with it are bet against having become worse than they were, in a capital that never falls
below 1 (an e-detector: Shin, Ramdas and Rinaldo, "E-detectors", 2024; CUSUM in the form of Page 1954). Where nothing changes, it
reaches `1 / WATCH_ALPHA` once in at least that many outcomes on average. It is no proof of harm; it sends the rule back to be measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from earnest.core.uplift import Comparison, Drawn

Verdict = Literal["open", "proved", "harmful", "unproven"]
VERDICTS: Final[tuple[Verdict, ...]] = ("proved", "harmful", "unproven")
"""The verdicts that end a trial."""

ALPHA: Final = 0.05
"""The part of the rules made active by trials that may be worthless, as an expectation over a store's life."""
SPREAD: Final = 10
"""About so many trials share the first half of alpha."""
SHARE: Final = 0.5
"""Probability with which a rule on trial is shown: an even draw finds an effect soonest."""
DECISIONS: Final = 1_000
"""Settled decisions after which a trial that has shown nothing ends."""
MOST_DECISIONS: Final = 100_000
WORTH: Final = 0.05
"""An effect below this, in units of the bound on outcomes, is none that a rule is kept for: once that much is refuted, a trial ends."""
HARM_ALPHA: Final = 0.05
"""How often a trial may call a rule harmful that is not, or worth less than `WORTH` that is worth more: neither makes a rule active."""
EVERY: Final = 8
"""A trial is judged after each so many outcomes, and at its end. The test is valid at any moment; this only saves work."""
SKEW: Final = 0.1
"""Difference in the share of decisions without outcome between the arms from which, if it is also three standard errors, nothing is
proved: those that came back are no fair sample."""
SKEW_FROM: Final = 20

WATCH_FIRST: Final = 30
"""Outcomes that tell how things go with a rule that a person accepted; a trial has told it already."""
WATCH_SLACK: Final = 0.1
"""How much worse than that the mean may become, in units of the bound, before it is bet against."""
WATCH_BET: Final = 0.25
WATCH_ALPHA: Final = 0.001


@dataclass(frozen=True, slots=True)
class Terms:
    """What is fixed before a trial begins.

    alpha: its share of `ALPHA`. decisions: settled ones after which it ends. worth: the least effect that is worth a rule, and bound: the
    scales that an outcome counts as at most. meter: whose outcomes count; None: every measured one, in its own meter's scale.
    """

    alpha: float
    decisions: int = DECISIONS
    worth: float = WORTH
    bound: float = 1.0
    meter: str | None = None
    share: float = SHARE


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a trial has shown so far.

    effect, low, high: the average change of an outcome, in the meter's scale, and an interval that holds it with probability 1 - 2 alpha
    at all times; None before both arms have an outcome. strength: the logarithm of the e-value that it helps, to be compared with
    log(1 / alpha). mean: of the outcomes with the rule, in units of the bound.
    """

    verdict: Verdict
    effect: float | None
    low: float | None
    high: float | None
    shown: int
    withheld: int
    strength: float = 0.0
    mean: float = 0.0
    reason: str = ""

    @property
    def decisions(self) -> int:
        """How many outcomes there are."""
        return self.shown + self.withheld


def alpha_of(number: int, proved_before: int, alpha: float = ALPHA) -> float:
    """The share of alpha that the trial of that number in a store's life gets, counted from 1, if so many rules were proved before."""
    share = SPREAD / ((number + SPREAD - 1) * (number + SPREAD))
    return min(alpha, alpha * share * (1 + proved_before))


def judged(outcomes: Iterable[Drawn], terms: Terms, lost: tuple[int, int] = (0, 0), *, open_too: bool = True) -> Judgement:
    """What a trial says, from its outcomes in the order of their settlement, in units of the bound. O(outcomes).

    `lost` are the decisions that ended without an outcome, with the rule and without it. An interval takes as long as a hundred outcomes:
    without `open_too` it is left out while the trial is open.
    """
    comparison, total = Comparison(), 0.0
    for one in outcomes:
        comparison.add(one)
        total += max(-1.0, min(1.0, one.outcome)) if one.shown else 0.0
    verdict, reason = verdict_of(comparison, terms, lost)
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    if comparison.shown and comparison.withheld and (open_too or verdict != "open"):
        # The test looks at one side: at twice alpha the interval lies above zero just when the rule is proved.
        least, most = comparison.interval(min(0.5, 2 * terms.alpha))
        low, high = least * terms.bound, most * terms.bound
        effect = min(max(comparison.effect * terms.bound, low), high)
    mean = total / comparison.shown if comparison.shown else 0.0
    return Judgement(verdict, effect, low, high, comparison.shown, comparison.withheld, comparison.above(0.0), mean, reason)


def verdict_of(comparison: Comparison, terms: Terms, lost: tuple[int, int] = (0, 0)) -> tuple[Verdict, str]:
    """The verdict on a trial so far, and why. O(1)."""
    over = comparison.decisions >= terms.decisions
    if not comparison.shown or not comparison.withheld:
        return ("unproven", f"{comparison.decisions:,} outcomes, all of one arm") if over else ("open", "")
    harm = -math.log(HARM_ALPHA)
    if comparison.below(0.0) >= harm:
        return "harmful", "outcomes are worse with it"
    if comparison.above(0.0) >= -math.log(terms.alpha):
        if not skewed((comparison.shown, comparison.withheld), lost):
            return "proved", "outcomes are better with it"
        return ("unproven", "decisions with and without it end without an outcome at different rates") if over else ("open", "")
    if comparison.below(terms.worth) >= harm:
        return "unproven", f"if it helps, it is by less than {terms.worth * terms.bound:g} scale"
    return ("unproven", f"{comparison.decisions:,} outcomes did not show that it helps") if over else ("open", "")


def skewed(settled: tuple[int, int], lost: tuple[int, int]) -> bool:
    """Whether one arm loses so many more outcomes than the other that what is left is no fair sample."""
    sizes = tuple(a + b for a, b in zip(settled, lost, strict=True))
    if min(sizes) < SKEW_FROM:
        return False
    apart = lost[0] / sizes[0] - lost[1] / sizes[1]
    pooled = sum(lost) / sum(sizes)
    return abs(apart) > SKEW and apart**2 > 9 * pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1])


def watched(heard: int, level: float, alarm: float, outcome: float) -> tuple[int, float, float, bool]:
    """One outcome with an active rule, in units of the bound: the new (heard, level, alarm), and whether things have become worse.

    The first `WATCH_FIRST` outcomes make the level, of a proved rule its trial did; `alarm` is the logarithm of the capital. O(1).
    """
    y = max(-1.0, min(1.0, outcome))
    if heard < WATCH_FIRST:
        return heard + 1, level + (y - level) / (heard + 1), 0.0, False
    alarm = max(0.0, alarm) + math.log1p(WATCH_BET * (level - WATCH_SLACK - y))
    return heard + 1, level, alarm, alarm >= -math.log(WATCH_ALPHA)
