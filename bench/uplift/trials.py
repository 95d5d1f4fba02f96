"""One life in one world: when an interval missed the truth, when it said something, and when the effect was found."""

from __future__ import annotations

import math
import random
from typing import Final

from bench.uplift.worlds import LIFE, World
from earnest.core.uplift import Comparison, Drawn

ALPHA: Final = 0.05
MILESTONES: Final = (100, 500, LIFE)
"""Decisions after which somebody looks once."""
NAIVE_FROM: Final = 30
"""Outcomes of each kind from which the textbook interval is taken for good."""
_Z: Final = 1.959964
_THRESHOLD: Final = math.log(2 / ALPHA)


def coverage(world: World, seed: str) -> list[int]:
    """Lives `LIFE` decisions and looks after each.

    Returns [first look at which the truth was outside (0: never), first look with a verdict (0: none), that verdict (1 or -1),
    whether the truth was outside at it, whether at each of the `MILESTONES`, first look at which the textbook interval missed].
    """
    rng = random.Random(seed)
    comparison, textbook = Comparison(), _Textbook()
    total, missed, said, sign, missed_then, naive = 0.0, 0, 0, 0, 0, 0
    at_milestones = []
    for at, decision in zip(range(1, LIFE + 1), world(rng), strict=False):
        shown = rng.random() < decision.exposure
        outcome = decision.shown if shown else decision.withheld
        comparison.add(Drawn(decision.stratum, shown, decision.exposure, outcome))
        textbook.add(shown, outcome)
        total += decision.effect
        truth = total / at
        outside = comparison.above(truth) >= _THRESHOLD or comparison.below(truth) >= _THRESHOLD
        if outside and not missed:
            missed = at
        if not said:
            sign = (comparison.above(0.0) >= _THRESHOLD) - (comparison.below(0.0) >= _THRESHOLD)
            if sign:
                said, missed_then = at, int(outside)
        if at in MILESTONES:
            at_milestones.append(int(outside))
        if not naive and textbook.misses(truth):
            naive = at
    return [missed, said, sign, missed_then, *at_milestones, naive]


def found(world: World, seed: str, most: int, every: int) -> int:
    """The decision after which memory is said to help, looking after every so many; 0 if not within `most`."""
    rng = random.Random(seed)
    comparison = Comparison()
    for at, decision in zip(range(1, most + 1), world(rng), strict=False):
        shown = rng.random() < decision.exposure
        comparison.add(Drawn(decision.stratum, shown, decision.exposure, decision.shown if shown else decision.withheld))
        if at % every == 0 and comparison.above(0.0) >= _THRESHOLD:
            return at
    return 0


class _Textbook:
    """The difference of two means with its 95 % interval for one look, as it is often looked at many times."""

    def __init__(self) -> None:
        self.sums = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]

    def add(self, shown: bool, y: float) -> None:
        arm = self.sums[shown]
        arm[0] += 1
        arm[1] += y
        arm[2] += y * y

    def misses(self, truth: float) -> bool:
        (n0, s0, q0), (n1, s1, q1) = self.sums
        if min(n0, n1) < NAIVE_FROM:
            return False
        variance = (q0 / n0 - (s0 / n0) ** 2) / (n0 - 1) + (q1 / n1 - (s1 / n1) ** 2) / (n1 - 1)
        return abs(s1 / n1 - s0 / n0 - truth) > _Z * math.sqrt(max(variance, 0.0))
