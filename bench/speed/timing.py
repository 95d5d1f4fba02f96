"""Taking times: wall and processor, one sample an operation."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from bench.selection.statistics import quantile

T = TypeVar("T")


@dataclass(slots=True)
class Samples:
    """Milliseconds of one operation of one side: wall, and processor time of the whole process."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float | int]:
        """What is kept of them, to a microsecond."""
        made = {"min": min(self.wall), "p50": quantile(self.wall, 0.5), "p95": quantile(self.wall, 0.95), "max": max(self.wall)}
        if self.cpu:
            made["cpu_p50"] = quantile(self.cpu, 0.5)
        return {"n": len(self.wall)} | {name: round(value, 3) for name, value in made.items()}


class Stopwatch:
    """Collects samples by name."""

    def __init__(self) -> None:
        self.samples: dict[str, Samples] = defaultdict(Samples)

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        """Time a block."""
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        yield
        after, spent = time.perf_counter_ns(), time.process_time_ns()
        self.samples[name].wall.append((after - wall) / 1e6)
        self.samples[name].cpu.append((spent - cpu) / 1e6)

    def time(self, name: str, act: Callable[[], T]) -> T:
        """Time a call, and give back what it gave."""
        with self.timing(name):
            return act()

    def note(self, name: str, milliseconds: float) -> None:
        """Take in a wall time that was measured elsewhere."""
        self.samples[name].wall.append(milliseconds)

    def summaries(self) -> dict[str, dict[str, float | int]]:
        """Every operation that was timed."""
        return {name: samples.summary() for name, samples in self.samples.items()}
