"""Channels: what reaches the memory of what was truly measured. Chance comes from the course, so that every arm is lied to alike."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from bench.selection.courses import Course, Step
from earnest.environments.base import world_rng
from earnest.environments.storage import KINDS
from earnest.meters import Measurement, Run
from earnest.meters.testruns import compare

_SAFE_KINDS: Final = tuple(kind.name for kind in KINDS if not kind.protected)
_NORMAL: Final = NormalDist()


@dataclass(frozen=True, slots=True)
class Liar:
    """How a channel lies.

    kind: `honest`; `false-bad` (a gain is reported as a harm of its size, at `rate`); `flip` (every sign, at `rate`); `magnitude` (the size
    is off by up to four times, the sign right); `destroy` (up to `budget` reports a cycle are turned round, the first that are measured);
    `persist` (only harm is turned into gain); `victim` (only gains of one class of files, which changes by chance each cycle); `withhold`
    (up to `budget` reports a cycle say 0); `flaky` (each test of the suite fails by chance at `rate` for a whole cycle).
    since: the first cycle in which it lies.
    """

    kind: str = "honest"
    rate: float = 0.0
    budget: int = 0
    since: int = 0


class Channel:
    """A liar at work in one course. It sees what was truly measured and the class of the task, never the memory."""

    def __init__(self, course: Course, liar: Liar, *, second: bool = False) -> None:
        self.course, self.liar, self.second = course, liar, second
        self.lies = self.spoken = 0
        self._spent: dict[int, int] = {}

    def report(self, step: Step, true: float, acted: bool) -> float:
        """What is said of a task for which `true` was measured."""
        said = self._said(step, true, acted)
        if acted and self.course.drift:
            said += self.course.drift[step.cycle]
        if acted and self.course.noise:
            stream = "bench-noise-second" if self.second else "bench-noise"
            said += self.course.noise * _spread(self.course.seed, stream, step.cycle, step.number)
        return said

    def _said(self, step: Step, true: float, acted: bool) -> float:
        liar = self.liar
        if liar.kind == "flaky":
            return true - self._flaked(step.cycle, step.passing) if acted else true
        if true == 0 or not acted or step.cycle < liar.since:
            return true
        self.spoken += 1
        mark = step.second if self.second else step.mark
        lied = true
        if liar.kind == "false-bad":
            lied = -true if true > 0 and mark < liar.rate else true
        elif liar.kind == "flip":
            lied = -true if mark < liar.rate else true
        elif liar.kind == "magnitude":
            lied = true * math.exp((2 * step.size - 1) * math.log(4))
        elif liar.kind != "honest" and self._may(step, true):
            self._spent[step.cycle] = self._spent.get(step.cycle, 0) + 1
            lied = 0.0 if liar.kind == "withhold" else -true
        self.lies += lied != true
        return lied

    def _may(self, step: Step, true: float) -> bool:
        if self._spent.get(step.cycle, 0) >= self.liar.budget:
            return False
        if self.liar.kind == "persist":
            return true < 0
        if self.liar.kind == "victim":
            victim = world_rng("bench-victim", self.course.seed, step.cycle).choice(_SAFE_KINDS)
            return true > 0 and step.kind == victim
        return True

    def measured(self, step: Step) -> Measurement:
        """The same of a patch that was applied, test by test: what passed before it and after."""
        before, after = self.course.passing, step.passing
        if self.liar.kind == "flaky":
            after = frozenset(test for test in after if not self._fails(step.cycle, test))
        base, head = self._run(before), self._run(after)
        return Measurement(compare(base, head), base, head)

    def _run(self, passing: frozenset[int]) -> Run:
        tests = range(len(self.course.flakes[0]) // 2)
        passed = frozenset(f"test {test}" for test in passing)
        return Run(passed, frozenset(f"test {test}" for test in tests) - passed)

    def _fails(self, cycle: int, test: int) -> bool:
        draws = self.course.flakes[cycle]
        return draws[test + len(draws) // 2 * self.second] < self.liar.rate

    def _flaked(self, cycle: int, passing: frozenset[int]) -> int:
        return sum(self._fails(cycle, test) for test in passing)

    def control(self, cycle: int, number: int = 0) -> float:
        """What is said when nothing is done."""
        if self.liar.kind == "flaky":
            return -float(self._flaked(cycle, self.course.passing))
        said = self.course.drift[cycle] if self.course.drift else 0.0
        if self.course.noise:
            said += self.course.noise * _spread(self.course.seed, "bench-noise-control", cycle, number)
        return said


def _spread(seed: int, stream: str, cycle: int, number: int) -> float:
    return _NORMAL.inv_cdf(min(max(world_rng(stream, seed, cycle * 1000 + number).random(), 1e-9), 1 - 1e-9))
