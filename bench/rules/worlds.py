"""Worlds in which what each rule changes is known, and one life in them: every rule on trial at once, judged as the product judges."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from earnest.core.gate import EVERY, WATCH_FIRST, Terms, alpha_of, verdict_of, watched
from earnest.core.uplift import Comparison, Drawn


@dataclass(frozen=True, slots=True)
class World:
    """Decisions that succeed (+1) or fail (-1). `effects` is what each rule adds to the probability of success while it is shown.

    matches: how probable it is that a decision calls for a rule. lost: how probable it is that a decision without, and with, a rule ends
    without an outcome. shift: the decision from which the effects are turned round, in the watch that follows the trials; 0: never.
    """

    effects: tuple[float, ...]
    base: float = 0.6
    matches: float = 0.5
    decisions: int = 1_000
    lost: tuple[float, float] = (0.0, 0.0)


NOTHING: Final = (0.0,) * 8
WORLDS: Final[Mapping[str, World]] = {
    "one helps, one harms, eight do nothing": World((0.15, -0.15, *NOTHING)),
    "the same, small effects": World((0.05, -0.05, *NOTHING)),
    "the same, at 90 % success": World((0.08, -0.15, *NOTHING), base=0.9),
    "ten that do nothing": World((0.0, 0.0, *NOTHING)),
    "fifty that do nothing": World((0.0,) * 50, matches=0.2),
    "the same as the first, one decision in four is lost where a rule was withheld": World((0.15, -0.15, *NOTHING), lost=(0.25, 0.0)),
}


@dataclass(slots=True)
class Lived:
    """How one life went: the verdict on each rule, and the outcomes of its trial by then."""

    verdicts: list[str] = field(default_factory=list)
    needed: list[int] = field(default_factory=list)


def live(world: World, seed: str) -> Lived:
    """Puts all rules of a world on trial at once, until each has its verdict. The coin and the outcomes come from the seed."""
    rng = random.Random(seed)
    count = len(world.effects)
    terms = [Terms(alpha_of(number, 0), world.decisions) for number in range(1, count + 1)]
    running = [Comparison() for _ in range(count)]
    lost = [[0, 0] for _ in range(count)]
    made = Lived(["open"] * count, [0] * count)
    kept: set[int] = set()
    while "open" in made.verdicts:
        called = [rule for rule in range(count) if rng.random() < world.matches]
        drawn = {rule: rng.random() < terms[rule].share for rule in called if made.verdicts[rule] == "open"}
        shown = [rule for rule in called if drawn.get(rule, rule in kept)]
        chance = min(0.98, max(0.02, world.base + sum(world.effects[rule] for rule in shown)))
        outcome = 1.0 if rng.random() < chance else -1.0
        gone = rng.random() < (world.lost[0] if any(not here for here in drawn.values()) else world.lost[1])
        for rule, here in drawn.items():
            if gone:
                lost[rule][0 if here else 1] += 1
                continue
            comparison = running[rule]
            comparison.add(Drawn(0, here, terms[rule].share, outcome))
            if comparison.decisions % EVERY == 0 or comparison.decisions >= world.decisions:
                verdict, _ = verdict_of(comparison, terms[rule], (lost[rule][0], lost[rule][1]))
                if verdict != "open":
                    made.verdicts[rule], made.needed[rule] = verdict, comparison.decisions
                    if verdict == "proved":
                        kept.add(rule)
    return made


@dataclass(frozen=True, slots=True)
class Shift:
    """A proved rule whose effect becomes another after `calm` outcomes; it is watched for `most` in all."""

    effect: float
    after: float
    base: float = 0.6
    proof: int = 150
    calm: int = 0
    most: int = 1_000


SHIFTS: Final[Mapping[str, Shift]] = {
    "nothing changes, 1,000 outcomes": Shift(0.15, 0.15),
    "it ceases to help after 500": Shift(0.15, 0.0, calm=500, most=2_500),
    "it begins to harm after 500": Shift(0.15, -0.15, calm=500, most=2_500),
}


def watch(shift: Shift, seed: str) -> int:
    """Watches a rule; returns the outcome at which it is sent back, 0 if it is not. Its level comes from its trial, with its own error."""
    rng = random.Random(seed)
    level = sum(1.0 if rng.random() < shift.base + shift.effect else -1.0 for _ in range(shift.proof)) / shift.proof
    heard, alarm = WATCH_FIRST, 0.0
    for at in range(1, shift.most + 1):
        chance = shift.base + (shift.effect if at <= shift.calm or not shift.calm else shift.after)
        heard, level, alarm, worse = watched(heard, level, alarm, 1.0 if rng.random() < chance else -1.0)
        if worse:
            return at
    return 0
