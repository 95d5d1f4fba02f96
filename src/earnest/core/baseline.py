"""What a meter shows when nothing is done, learned from controls and holdouts. Pure.

A resource that moves by itself would credit or blame whoever decided while it moved. The baseline is a kernel mean of the controls
near the tick in question, on both sides, shrunk towards nothing (a Nadaraya-Watson estimate with one pseudo-control of zero). Where the
very tick has a control, a control variate is taken as well: the tick's own noise, as far as it is known to be shared (slope `rho`, a
regression through the entries' own means; Lavenberg and Welch 1981).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

DECAY: Final = 0.5 ** (1 / 50)
"""Weight of a control one tick further away: a half-life of 50 ticks."""
SHRINK: Final = 1.0
"""Pseudo-controls of zero: one control alone is half believed."""
PRIOR_SLOPE: Final = 0.5
"""The slope before anything is known of how far a tick's noise is shared."""
PRIOR_WEIGHT: Final = 5.0
"""How many controls' worth of variance that prior slope weighs."""
FEW: Final = 3
"""Outcomes that an entry must have for its own mean to be a yardstick."""
SPAN: Final = 400
"""Ticks beyond which a control weighs less than a half of a hundredth; stores need not read further."""


@dataclass(frozen=True, slots=True)
class Control:
    """The controls of one tick: their sum in units of the meter's scale, and how many there were."""

    tick: int
    total: float
    count: int


class Baseline:
    """What one meter shows by itself, for any tick. Building is O(controls); asking is O(log controls)."""

    __slots__ = ("_back", "_fore", "_means", "_ticks", "rho")

    def __init__(self, controls: Sequence[Control] = (), rho: float = PRIOR_SLOPE) -> None:
        """`controls`: at most one a tick, in any order. `rho`: how much of a tick's own control is taken, 0 to 1."""
        ordered = sorted(controls, key=lambda c: c.tick)
        self.rho = rho
        self._ticks = [c.tick for c in ordered]
        self._means = [c.total / c.count for c in ordered]
        # Sums over the controls up to, and from, each one, as they weigh at its tick.
        self._fore = _sums(ordered)
        self._back = _sums([Control(-c.tick, c.total, c.count) for c in reversed(ordered)])[::-1]

    def __bool__(self) -> bool:
        return bool(self._ticks)

    def at(self, tick: int) -> float:
        """The baseline at a tick, in scales; 0 without controls."""
        if not self._ticks:
            return 0.0
        place = bisect_left(self._ticks, tick)
        total = count = 0.0
        if place > 0:
            faded = DECAY ** (tick - self._ticks[place - 1])
            total += faded * self._fore[place - 1][0]
            count += faded * self._fore[place - 1][1]
        if place < len(self._ticks):
            faded = DECAY ** (self._ticks[place] - tick)
            total += faded * self._back[place][0]
            count += faded * self._back[place][1]
        mean = total / (count + SHRINK)
        if place < len(self._ticks) and self._ticks[place] == tick:
            mean += self.rho * (self._means[place] - mean)
        return mean

    def control_at(self, tick: int) -> float | None:
        """The mean of the tick's own controls; None if it had none."""
        place = bisect_left(self._ticks, tick)
        return self._means[place] if place < len(self._ticks) and self._ticks[place] == tick else None

    @property
    def mean(self) -> float:
        """The mean of the controls' ticks; 0 without any."""
        return sum(self._means) / len(self._means) if self._means else 0.0


def _sums(ordered: Sequence[Control]) -> list[tuple[float, float]]:
    made: list[tuple[float, float]] = []
    total = count = 0.0
    last = None
    for control in ordered:
        if last is not None:
            faded = DECAY ** (control.tick - last)
            total, count = total * faded, count * faded
        total, count, last = total + control.total, count + control.count, control.tick
        made.append((total, count))
    return made


NO_CONTROLS: Final = Baseline()
"""The baseline of a meter that was never seen doing nothing: 0 at every tick."""


def slope(baseline: Baseline, histories: Sequence[Sequence[tuple[int, float]]]) -> float:
    """How much of a tick's control an outcome of the same tick shares, 0 to 1.

    `histories`: for each entry the (tick, reported size) of its outcomes. Near 1 when a tick's noise is shared by everything measured in
    it (a flaky suite), near 0 when each measurement has its own.
    """
    if not baseline:
        return PRIOR_SLOPE
    centre = baseline.mean
    sxx = sxy = 0.0
    pairs = 0
    for history in histories:
        if len(history) < FEW:
            continue
        mean = sum(size for _, size in history) / len(history)
        for tick, size in history:
            control = baseline.control_at(tick)
            if control is not None:
                apart = control - centre
                sxx += apart * apart
                sxy += apart * (size - mean)
                pairs += 1
    if not pairs:
        return PRIOR_SLOPE
    prior = PRIOR_WEIGHT * sxx / pairs
    return min(1.0, max(0.0, (PRIOR_SLOPE * prior + sxy) / (prior + sxx))) if sxx else PRIOR_SLOPE


def by_tick(readings: Mapping[int, tuple[float, int]]) -> list[Control]:
    """Controls from sums by tick."""
    return [Control(tick, total, count) for tick, (total, count) in sorted(readings.items())]
