"""How large the effects of good entries are, and so which harms are too large to be a gain with the wrong sign. Pure.

A meter that errs in the sign alone reports harms no larger than the gains that it turns round. The sizes of effects are taken to be
log-normal (Aitchison and Brown 1957), with the mean and spread of what the meter said of entries believed to be good, weighted by that
belief, and of a prior. A harm far out in that tail is no likely lie, however often the meter lies: this is what tells one credible disaster
from many refuted small losses, and what a liar who protects a harmful entry for weeks cannot talk away with gains.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

PRIOR_COUNT: Final = 6.0
"""Effects that the prior weighs: about what one entry gathers while it is new."""
PRIOR_MEAN: Final = math.log(0.5)
"""An ordinary gain is half of the meter's scale before any was seen."""
PRIOR_SPREAD: Final = 0.6
"""Two thirds of ordinary gains lie within a factor of 1.8 of it."""
LEAST_SPREAD: Final = 0.1
"""Effects are never taken to be more alike than this."""
MARGIN: Final = 0.9
"""Harms up to e^0.9, about two and a half, ordinary gains are not doubted at all: entries differ in what they bring. On the tuning seeds 0
and 0.7 lost good entries under heavy noise; 1.1 leaves harms of three gains, of which the benchmark has many, in doubt."""
STEEPNESS: Final = 4.0
"""How fast belief in a mere lie falls beyond that: the tail of a spread a quarter as wide. With 2, more protected poison got by."""


class Sizes(NamedTuple):
    """Sums over effects: how many (weighted), of the logarithms of their sizes, and of the squares of those."""

    weight: float = 0.0
    total: float = 0.0
    square: float = 0.0

    def and_(self, other: Sizes) -> Sizes:
        """These and others."""
        return Sizes(self.weight + other.weight, self.total + other.total, self.square + other.square)

    def without(self, other: Sizes) -> Sizes:
        """These without others that are among them."""
        return Sizes(max(0.0, self.weight - other.weight), self.total - other.total, max(0.0, self.square - other.square))

    def law(self) -> tuple[float, float]:
        """The size beyond which a harm is doubted to be a lie, as a logarithm, and how fast belief in that falls from there."""
        count = self.weight + PRIOR_COUNT
        mean = (self.total + PRIOR_COUNT * PRIOR_MEAN) / count
        square = (self.square + PRIOR_COUNT * (PRIOR_MEAN * PRIOR_MEAN + PRIOR_SPREAD * PRIOR_SPREAD)) / count
        spread = math.sqrt(max(square - mean * mean, LEAST_SPREAD * LEAST_SPREAD))
        return mean + MARGIN, STEEPNESS / (spread * math.sqrt(2.0))


NO_SIZES: Final = Sizes()
"""What is known of a meter that said nothing yet."""


def likelihood(size: float, law: tuple[float, float]) -> float:
    """How much less likely than an ordinary one a harm of this size is a gain with the wrong sign: 1 up to the bound, then falling to 0."""
    beyond = math.log(size) - law[0]
    return 1.0 if beyond <= 0.0 else math.erfc(beyond * law[1])
