"""How large the effects of good entries are, and so which harms are too large to be a gain with the wrong sign. Pure.

A meter that errs in the sign alone reports harms no larger than the gains that it turns round. The sizes of effects are taken to be
log-normal (Aitchison and Brown 1957), with the mean and spread of what the meter said of entries believed to be good, weighted by that
belief, and of a prior. A harm far out in that tail is no likely lie, however often the meter lies: this is what tells one credible disaster
from many refuted small losses, and what a liar who protects a harmful entry for weeks cannot talk away with gains.

Where the sizes scatter far more than effects do, they are not effects with an error in the sign but noise round small ones: a gain may be
followed by a harm three times as large that means as little. The more they scatter, the further out a harm has to be to be believed.
What a noisy word is worth is then a matter of the noise that it stands out of, and not of the scale that somebody chose for the meter.
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
NOISE_FULL: Final = 0.9
"""Spread from which sizes are those of noise: the logarithm of the size of a normal variable scatters by 1.1. Sizes that scatter no more
than the prior's 0.6 are those of effects."""
NOISE_MARGIN: Final = 2.5
"""How far the margin is widened in noise: there harms beyond about ten ordinary effects are believed whatever the meter's record."""


NOISE_HALF: Final = 0.5
"""How far sizes have to be those of noise before words are weighed in units of it, from there on more and more: lies scatter sizes a
little as well, and where most words are lies a good deal."""
NOISE_UNIT: Final = 0.5
"""The logarithm of noise's spread above the mean of those of its sizes: 0.635 for a normal variable round nothing, 0.51 round half of its
spread."""


class Law(NamedTuple):
    """How large harms are judged.

    bound: the size beyond which a harm is doubted to be a lie, as a logarithm. steepness: how fast belief in a lie falls from there. noise:
    how far the sizes are those of noise, 0 to 1. worth: what an effect of one scale counts for: 1, and in noise one over its spread.
    """

    bound: float
    steepness: float
    noise: float = 0.0
    worth: float = 1.0


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

    def law(self) -> Law:
        """What these sizes, and the prior's, say of how large a harm can be that is a gain with the wrong sign."""
        count = self.weight + PRIOR_COUNT
        mean = (self.total + PRIOR_COUNT * PRIOR_MEAN) / count
        square = (self.square + PRIOR_COUNT * (PRIOR_MEAN * PRIOR_MEAN + PRIOR_SPREAD * PRIOR_SPREAD)) / count
        spread = math.sqrt(max(square - mean * mean, LEAST_SPREAD * LEAST_SPREAD))
        noise = min(1.0, max(0.0, (spread - PRIOR_SPREAD) / (NOISE_FULL - PRIOR_SPREAD)))
        bound = mean + MARGIN * (1.0 + (NOISE_MARGIN - 1.0) * noise)
        return Law(bound, STEEPNESS / (spread * math.sqrt(2.0)), noise, worth(mean, noise))


def worth(mean: float, noise: float) -> float:
    """What an effect of one scale counts for, by the mean of the logarithms of sizes and how far they are noise."""
    if noise <= NOISE_HALF:
        return 1.0
    return 1.0 + (noise - NOISE_HALF) / (1.0 - NOISE_HALF) * (math.exp(-mean - NOISE_UNIT) - 1.0)


NO_SIZES: Final = Sizes()
"""What is known of a meter that said nothing yet."""


def likelihood(size: float, law: Law) -> float:
    """How much less likely than an ordinary one a harm of this size is a gain with the wrong sign: 1 up to the bound, then falling to 0."""
    beyond = math.log(size) - law.bound
    return 1.0 if beyond <= 0.0 else math.erfc(beyond * law.steepness)
