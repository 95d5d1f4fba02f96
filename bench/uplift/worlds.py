"""Worlds with a known effect: for each decision, who would decide, how probable it is to be shown, and both outcomes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

ENTRIES: Final = 20
LIFE: Final = 2_000
"""Decisions after which the worlds that change have changed."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision before the coin is thrown. `effect` is what showing it changes on average, given who would decide."""

    stratum: int
    exposure: float
    shown: float
    withheld: float
    effect: float


World = Callable[[random.Random], Iterator[Decision]]


def _yes(rng: random.Random, p: float) -> float:
    return float(rng.random() < p)


def successes(base: float, effect: float, holdout: float) -> World:
    """Success or failure, `base` without memory and `base + effect` with it."""

    def world(rng: random.Random) -> Iterator[Decision]:
        while True:
            chance = rng.random()
            # The same luck with and without: nothing of the interval may depend on their being independent.
            yield Decision(rng.randrange(ENTRIES), 1 - holdout, float(chance < base + effect), float(chance < base), effect)

    return world


def signs(holdout: float) -> World:
    """Gains and losses of a whole scale, by a coin; memory changes nothing."""

    def world(rng: random.Random) -> Iterator[Decision]:
        while True:
            yield Decision(0, 1 - holdout, 2 * _yes(rng, 0.5) - 1, 2 * _yes(rng, 0.5) - 1, 0.0)

    return world


def learning(holdout: float) -> World:
    """Memory harms at first and helps in the end, while everything gets better anyway."""

    def world(rng: random.Random) -> Iterator[Decision]:
        at = 0
        while True:
            age = min(1.0, at / LIFE)
            base, effect = 0.3 + 0.3 * age, -0.25 + 0.5 * age
            yield Decision(at % ENTRIES, 1 - holdout, _yes(rng, base + effect), _yes(rng, base), effect)
            at += 1

    return world


def entries(holdout: float) -> World:
    """Entries differ widely, good ones among bad ones; questions come to them unevenly."""

    def world(rng: random.Random) -> Iterator[Decision]:
        bases = [rng.uniform(0.1, 0.6) for _ in range(ENTRIES)]
        effects = [rng.choice((-0.1, 0.0, 0.1, 0.4)) for _ in range(ENTRIES)]
        while True:
            who = min(int(rng.expovariate(0.2)), ENTRIES - 1)
            yield Decision(who, 1 - holdout, _yes(rng, bases[who] + effects[who]), _yes(rng, bases[who]), effects[who])

    return world


def rare_harm(holdout: float) -> World:
    """Memory gains a little nearly always and loses a whole scale one time in fifty."""

    def world(rng: random.Random) -> Iterator[Decision]:
        while True:
            yield Decision(0, 1 - holdout, -1.0 if rng.random() < 0.02 else 0.1, 0.05, 0.98 * 0.1 - 0.02 - 0.05)

    return world


def changed_rate() -> World:
    """Even draws at first, then one in ten."""

    def world(rng: random.Random) -> Iterator[Decision]:
        at = 0
        while True:
            yield Decision(at % ENTRIES, 0.5 if at < LIFE // 4 else 0.9, _yes(rng, 0.6), _yes(rng, 0.5), 0.1)
            at += 1

    return world


COVERAGE: Final[dict[str, World]] = {
    "no effect at .5, half withheld": successes(0.5, 0.0, 0.5),
    "no effect at .5, 10 % withheld": successes(0.5, 0.0, 0.1),
    "no effect, gains and losses, 2 % withheld": signs(0.02),
    "+5 points at .9, half withheld": successes(0.9, 0.05, 0.5),
    "+5 points at .9, 10 % withheld": successes(0.9, 0.05, 0.1),
    "memory learns, 20 % withheld": learning(0.2),
    "entries differ, 25 % withheld": entries(0.25),
    "rare harm, 10 % withheld": rare_harm(0.1),
    "rate lowered from half to 10 %": changed_rate(),
}
"""Worlds in which the interval must hold."""

POWER: Final[dict[str, World]] = {
    f"+5 points at {base:g}, {share}": successes(base, 0.05, holdout)
    for share, holdout in (("half withheld", 0.5), ("10 % withheld", 0.1))
    for base in (0.5, 0.7, 0.9)
}
"""Worlds in which an effect must be found."""
