"""Earnest as a user has it: a `Memory` with its default settings, and its own `SurvivalLoop`."""

from __future__ import annotations

from typing import Any

from bench.selection.arms import CONSOLIDATE_EVERY, Cast, K
from bench.selection.world import Scene
from earnest import Memory, SurvivalConfig, SurvivalLoop, Ticket
from earnest.core.entry import Entry


class _Watched(Memory):
    """A memory that tells the scene whose advice is about to be followed."""

    scene: Scene | None = None

    def decide(self, query: str | None, k: int = 3, **how: Any) -> Ticket:
        """See `Memory.decide`."""
        ticket = super().decide(query, k, **how)
        if self.scene is not None:
            self.scene.deciding = ticket.deciding.sources if ticket.deciding is not None else ()
        return ticket


class EarnestArm:
    """A store in memory with the whole corpus in it."""

    def __init__(self, cast: Cast, rule: str) -> None:
        self.cast = cast
        self.memory = _Watched.open(":memory:", settings={"rule": rule})
        for line in cast.corpus.lines:
            self.memory.add(line.text, sources=[line.source])

    def live(self, scene: Scene, cycles: int) -> list[int]:
        """See `Arm.live`."""
        self.memory.scene = scene
        config = SurvivalConfig(cycles=cycles, k=K, consolidate_every=CONSOLIDATE_EVERY, write_experience=False, meter="disk")
        report = SurvivalLoop(self.memory, scene, config).run()
        self.memory.scene = None
        return [cycle.population for cycle in report.stats]

    def answer(self, prompt: str) -> str:
        """See `Arm.answer`."""
        return self.memory.answer(prompt, k=K).text

    def poison(self) -> tuple[int, int]:
        """See `Arm.poison`."""
        held: list[Entry] = [e for e in self.memory.list() if e.alive and self.cast.corpus.is_poisoned(e.sources)]
        return sum(entry.standing == "active" for entry in held), len(held)
