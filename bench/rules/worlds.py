"""Worlds in which what each rule changes is known, and one life in them: every rule on trial at once, judged as the product judges."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from earnest.core.gate import ALPHA, EVERY, WATCH_FIRST, Terms, alpha_of, verdict_of, watched
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
    seeds: int = 200


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


def watch(effect: float, after: float, seed: str, *, base: float = 0.6, proof: int = 150, calm: int = 500, most: int = 3_000) -> int:
    """Watches a proved rule whose effect is another after `calm` outcomes; returns the outcome at which it is sent back, 0 if it is not.

    The level comes from `proof` outcomes of the trial, with its own error.
    """
    rng = random.Random(seed)
    level = sum(1.0 if rng.random() < base + effect else -1.0 for _ in range(proof)) / proof
    heard, alarm = WATCH_FIRST, 0.0
    for at in range(1, most + 1):
        chance = base + (effect if at <= calm else after)
        heard, level, alarm, worse = watched(heard, level, alarm, 1.0 if rng.random() < chance else -1.0)
        if worse:
            return at
    return 0


def proved(lives: Sequence[Sequence[str]], rule: int) -> float:
    """The share of lives in which a rule was proved."""
    return sum(verdicts[rule] == "proved" for verdicts in lives) / len(lives)


def false_activations(lives: Sequence[Sequence[str]], effects: Sequence[float]) -> tuple[float, float]:
    """The share of lives in which any rule that does not help was proved, and the mean share of such rules among those proved."""
    worthless = [rule for rule, effect in enumerate(effects) if effect <= 0]
    wrong = [sum(verdicts[rule] == "proved" for rule in worthless) for verdicts in lives]
    all_ = [sum(verdict == "proved" for verdict in verdicts) for verdicts in lives]
    return sum(w > 0 for w in wrong) / len(lives), sum(w / a for w, a in zip(wrong, all_, strict=True) if a) / len(lives)


REACH: Final = ALPHA
