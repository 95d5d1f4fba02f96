"""The arms: what may be left of the corpus after each outcome, by whose rule."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from bench.selection.corpus import Corpus, Line
from bench.selection.ranking import SharedRanking
from bench.selection.world import Scene
from earnest.environments.storage import KINDS

K: Final = 3
"""Entries that a decision may draw on: the decider and two supporters."""
CONSOLIDATE_EVERY: Final = 5
"""Cycles between consolidations, in the arms that have one."""


class Arm(Protocol):
    """A memory with a rule, on one copy of the corpus."""

    def live(self, scene: Scene, cycles: int) -> list[int]:
        """Live through the cycles; the population after each."""
        ...

    def answer(self, prompt: str) -> str:
        """What it says now; nothing is learned from it."""
        ...

    def poison(self) -> tuple[int, int]:
        """Entries with a lying source that may still decide, and those that are alive at all."""
        ...


@dataclass(frozen=True, slots=True)
class Cast:
    """What an arm is made from. `deaths` are earnest-classic's in the same seed, cycle by cycle."""

    corpus: Corpus
    ranking: SharedRanking
    seed: int
    deaths: tuple[int, ...] = ()


class Flock:
    """A memory without an economy: the best match decides, and a subclass says who is struck out."""

    def __init__(self, cast: Cast) -> None:
        self.cast = cast
        self.lines: list[Line] = list(cast.corpus.lines)

    def live(self, scene: Scene, cycles: int) -> list[int]:
        """See `Arm.live`."""
        population: list[int] = []
        for cycle in range(cycles):
            for task in scene.tasks(cycle):
                said = self._decider(task.prompt)
                scene.deciding = (said.source,) if said else ()
                outcome = scene.verify(task, said.text if said else "")
                if said is not None:
                    self.settled(said, outcome.delta)
            self.cycle_ended(cycle)
            population.append(len(self.lines))
        return population

    def _decider(self, prompt: str) -> Line | None:
        ranked = self.cast.ranking.rank(prompt, [line.text for line in self.lines])
        return self.lines[ranked[0][0]] if ranked else None

    def answer(self, prompt: str) -> str:
        """See `Arm.answer`."""
        said = self._decider(prompt)
        return said.text if said else ""

    def poison(self) -> tuple[int, int]:
        """See `Arm.poison`."""
        held = sum(self.cast.corpus.is_poisoned((line.source,)) for line in self.lines)
        return held, held

    def settled(self, line: Line, delta: float) -> None:
        """An entry decided, and this came of it."""

    def cycle_ended(self, cycle: int) -> None:
        """The cycle is over."""


class KeepEverything(Flock):
    """Nothing ever goes."""


class StrikeOnce(Flock):
    """The decider of one measured harm goes at the end of the cycle."""

    def __init__(self, cast: Cast) -> None:
        super().__init__(cast)
        self.struck: set[str] = set()

    def settled(self, line: Line, delta: float) -> None:
        """See `Flock.settled`."""
        if delta < 0:
            self.struck.add(line.id)

    def cycle_ended(self, cycle: int) -> None:
        """See `Flock.cycle_ended`."""
        self.lines = [line for line in self.lines if line.id not in self.struck]


class StrikeOnceAtSettle(StrikeOnce):
    """The decider of one measured harm goes at once."""

    def settled(self, line: Line, delta: float) -> None:
        """See `Flock.settled`."""
        super().settled(line, delta)
        super().cycle_ended(-1)


class RandomMatched(Flock):
    """As many die in each cycle as in earnest-classic's run of the same seed, but chance chooses whom."""

    def cycle_ended(self, cycle: int) -> None:
        """See `Flock.cycle_ended`."""
        rng = random.Random(f"random-matched:{self.cast.seed}:{cycle}")
        victims = {line.id for line in rng.sample(self.lines, min(self.cast.deaths[cycle], len(self.lines)))}
        self.lines = [line for line in self.lines if line.id not in victims]


class Oracle:
    """Knows which files are protected: the most that can be earned. It stands outside the corpus and the retriever."""

    def __init__(self, cast: Cast) -> None:
        self.cast = cast

    def live(self, scene: Scene, cycles: int) -> list[int]:
        """See `Arm.live`."""
        for cycle in range(cycles):
            for task in scene.tasks(cycle):
                scene.verify(task, self.answer(task.prompt))
        return [0] * cycles

    def answer(self, prompt: str) -> str:
        """See `Arm.answer`."""
        kept = any(kind.described in prompt for kind in KINDS if kind.protected)
        return "No, it must be kept." if kept else "Yes, it is safe to delete."

    def poison(self) -> tuple[int, int]:
        """See `Arm.poison`."""
        return 0, 0


def _earnest_classic(cast: Cast) -> Arm:
    from bench.selection.earnest_arm import EarnestArm

    return EarnestArm(cast, "classic")


def _darwin_memo(cast: Cast) -> Arm:
    from bench.selection.darwin_arm import DarwinArm

    return DarwinArm(cast)


def _darwin_memo_ledger(cast: Cast) -> Arm:
    from bench.selection.darwin_arm import DarwinLedgerArm

    return DarwinLedgerArm(cast)


ARMS: Final[Mapping[str, Callable[[Cast], Arm]]] = {
    "oracle": Oracle,
    "earnest-classic": _earnest_classic,
    "darwin-memo": _darwin_memo,
    "darwin-memo-ledger": _darwin_memo_ledger,
    "strike-once": StrikeOnce,
    "strike-once-at-settle": StrikeOnceAtSettle,
    "random-matched": RandomMatched,
    "keep-everything": KeepEverything,
}
"""Every arm, by the name that it is reported under."""

SUBJECT: Final = "earnest-classic"
"""The arm that the others are held against, and whose deaths random-matched repeats."""


def deaths(start: int, population: Sequence[int]) -> tuple[int, ...]:
    """How many left in each cycle of a run without births."""
    return tuple(before - after for before, after in zip([start, *population[:-1]], population, strict=True))
