"""Intervals and tests over seeds. Only the standard library; everything is seeded, so that a report can be made again."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import mul
from typing import Final

RESAMPLES: Final = 4_000
EXACT_UP_TO: Final = 14
"""Differences up to which every assignment of signs is tried; beyond, signs are drawn."""
DRAWS: Final = 4_000
_SEED: Final = "earnest-bench"


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; not a number for nothing."""
    return math.fsum(values) / len(values) if values else math.nan


def quantile(values: Sequence[float], q: float) -> float:
    """The `q` quantile (0 to 1) with linear interpolation between neighbours; not a number for nothing."""
    if not values:
        return math.nan
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def bootstrap(values: Sequence[float], *, level: float = 0.95, resamples: int = RESAMPLES) -> tuple[float, float]:
    """A percentile bootstrap interval of the mean. The unit that is resampled is the value, so give one value a seed.

    Cost: O(resamples × values).
    """
    if not values:
        return math.nan, math.nan
    rng = random.Random(f"{_SEED}:bootstrap:{len(values)}")
    means = [mean(rng.choices(values, k=len(values))) for _ in range(resamples)]
    tail = (1 - level) / 2
    return quantile(means, tail), quantile(means, 1 - tail)


def sign_flip(differences: Sequence[float]) -> float:
    """The two-sided p of a paired sign-flip permutation test on the mean difference.

    Exact over all 2^n assignments up to `EXACT_UP_TO` pairs; beyond, over `DRAWS` seeded draws and the one that was seen. As
    extreme as what was seen counts as extreme.
    """
    if not differences:
        return math.nan
    seen = abs(math.fsum(differences))
    edge = seen - 1e-12 * max(1.0, math.fsum(abs(d) for d in differences))
    if len(differences) <= EXACT_UP_TO:
        signs = itertools.product((1, -1), repeat=len(differences))
        found = sum(abs(math.fsum(s * d for s, d in zip(row, differences, strict=True))) >= edge for row in signs)
        return float(found / 2 ** len(differences))
    drawn = sum(abs(sum(map(mul, row, differences))) >= edge for row in _signs(len(differences)))
    return float((1 + drawn) / (DRAWS + 1))


@lru_cache(maxsize=8)
def _signs(count: int) -> tuple[tuple[int, ...], ...]:
    rng = random.Random(f"{_SEED}:signs:{count}")
    return tuple(tuple(rng.choice((1, -1)) for _ in range(count)) for _ in range(DRAWS))


def holm(ps: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjustment over a whole grid of tests, by name."""
    made: dict[str, float] = {}
    worst = 0.0
    for rank, (name, p) in enumerate(sorted(ps.items(), key=lambda item: item[1])):
        worst = max(worst, min(1.0, (len(ps) - rank) * p))
        made[name] = worst
    return {name: made[name] for name in ps}
