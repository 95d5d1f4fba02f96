"""Earnest as a user has it: a real `Memory`, decision by decision; and StorageEnv on a real disk. They must give the replay's rows."""

from __future__ import annotations

from bench.selection.arms import CONSOLIDATE_EVERY, Cast, K
from bench.selection.corpus import Line
from bench.selection.courses import FILES, Step
from bench.selection.evidence_arm import METER
from bench.selection.live import Measure, Measured, Said
from earnest import Memory, Task
from earnest.environments import StorageEnv


class MemoryArm:
    """A store with the whole corpus in it, in memory or in a file."""

    holds_out = False

    def __init__(self, cast: Cast, rule: str, path: str = ":memory:") -> None:
        self.cast = cast
        self.memory = Memory.open(path, settings={"rule": rule})
        for line in cast.corpus.lines:
            self.memory.add(line.text, sources=[line.source])

    def decide(self, prompt: str) -> Said | None:
        """See `Arm.decide`."""
        ticket = self.memory.decide(prompt, k=K)
        if ticket.id is None or ticket.deciding is None:
            return None
        return Said(ticket.text, ticket.deciding.sources, ticket.id)

    def settled(self, said: Said, measured: Measured) -> None:
        """See `Arm.settled`."""
        self.memory.settle(str(said.token), delta=measured.delta, meter=METER, scale=self.cast.scale, acted=measured.acted)

    def control(self, delta: float, *, second: bool = False) -> None:
        """See `Arm.control`."""
        self.memory.control(delta=delta, meter=METER, scale=self.cast.scale)

    def cycle_ended(self, cycle: int) -> None:
        """See `Arm.cycle_ended`."""
        self.memory.tick()
        if (cycle + 1) % CONSOLIDATE_EVERY == 0:
            self.memory.consolidate()

    def arrived(self, lines: tuple[Line, ...]) -> None:
        """See `Arm.arrived`."""
        for line in lines:
            self.memory.add(line.text, sources=[line.source])

    def answer(self, prompt: str) -> Said | None:
        """See `Arm.answer`."""
        said = self.memory.answer(prompt, k=K)
        return Said(said.text, said.deciding.sources) if said.deciding is not None else None

    def held(self) -> list[tuple[tuple[str, ...], bool]]:
        """See `Arm.held`."""
        living = [*self.memory.list(standing="active"), *self.memory.list(standing="suspended")]
        return [(entry.sources, entry.standing == "active") for entry in living]

    def told(self) -> dict[str, float]:
        """See `Arm.told`."""
        rates = {meter.name: meter.lie_rate for meter in self.memory.meters.list()}
        return {"rate": rates.get(METER) or 0.0}


def on_disk(env: StorageEnv) -> Measure:
    """Acts on the real files of an environment."""
    if env.files != FILES:
        raise ValueError(f"courses have {FILES} files a cycle, and the environment {env.files}")
    made: dict[int, list[Task]] = {}

    def measure(step: Step, text: str) -> tuple[float, bool]:
        if step.cycle not in made:
            made.clear()
            made[step.cycle] = env.tasks(step.cycle)
        outcome = env.verify(made[step.cycle][step.number], text)
        return outcome.delta, bool(outcome.acted)

    return measure
