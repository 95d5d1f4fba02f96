"""The power goes at any operation of the disk: nothing acknowledged is lost, no verb is half done, nothing happens twice."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import apsw
import pytest

from earnest.errors import EarnestError
from earnest.stores.sqlite import SqliteStore
from tests.crash.disk import Disk, Operation
from tests.crash.script import STEPS, again, everything, opened, play, shape

QUICK: Final = 100


@dataclass(frozen=True)
class Story:
    """What the script makes when nothing goes wrong: the store and its shape before the first step and after each."""

    states: tuple[dict[str, list[Any]], ...]
    shapes: tuple[dict[str, Any], ...]
    begins: tuple[int, ...]
    changes: int


@cache
def story() -> Story:
    disk, states, shapes, begins = Disk(), [], [], []
    with opened(disk) as stage:
        for step in range(len(STEPS) + 1):
            states.append(everything(stage.store))
            shapes.append(shape(stage.memory))
            begins.append(disk.changes)
            if step < len(STEPS):
                play(stage, step)
        assert stage.memory.check().ok
    return Story(tuple(states), tuple(shapes), tuple(begins), disk.changes)


def spread(count: int, whole: int) -> list[int]:
    """So many numbers from 1 to `whole`, evenly apart."""
    return sorted({1 + round(i * (whole - 1) / (count - 1)) for i in range(count)})


@dataclass(frozen=True)
class Cut:
    """What a run saw before the power went: steps that were acknowledged, and the disk as it was then."""

    acknowledged: int
    disk: Disk


def played_until(point: int, prepare: Callable[[SqliteStore], None] | None = None) -> Cut:
    """Plays until the operation of that number cuts the power. Only typed errors come out of a verb."""
    disk = Disk()
    disk.cut_after = point
    acknowledged = 0
    try:
        with opened(disk, prepare=prepare) as stage:
            for step in range(len(STEPS)):
                play(stage, step)
                if disk.dead:
                    break
                acknowledged += 1
    except EarnestError:
        assert disk.dead
    assert disk.dead
    return Cut(acknowledged, disk)


def looked_at(cut: Cut, seed: int) -> tuple[Disk, int | None]:
    """The disk after the power is back, and which state of the story the store on it is in (None: in none)."""
    survivor = cut.disk.surviving(random.Random(seed))
    with opened(survivor, seed=1000 + seed) as stage:
        checked = stage.memory.check()
        assert checked.ok, checked.problems
        state = everything(stage.store)
        # Twice the same state: a step may change nothing. The latest is meant.
        return survivor, next((i for i in reversed(range(len(STEPS) + 1)) if story().states[i] == state), None)


def verified(point: int, seed: int, *, to_the_end: bool) -> None:
    cut = played_until(point)
    survivor, state = looked_at(cut, seed)
    step = cut.acknowledged
    where = f"point {point}, seed {seed}: {step} steps acknowledged, found in state {state}"
    if step < len(STEPS):
        where += f", cut during {STEPS[step][0]!r}"
    allowed = {i for i in (step, step + 1) if i <= len(STEPS)}
    same = {i for i in range(len(STEPS) + 1) if any(story().states[i] == story().states[j] for j in allowed)}
    assert state in same, where
    with opened(survivor, seed=2000 + seed) as stage:
        if step < len(STEPS):
            again(stage, step)
            assert shape(stage.memory) == story().shapes[step + 1], f"{where}: asked again, it is not there exactly once"
        if to_the_end:
            for later in range(step + 1, len(STEPS)):
                play(stage, later)
            assert shape(stage.memory) == story().shapes[-1], f"{where}: the rest of the script went another way"
        checked = stage.memory.check()
        assert checked.ok, (where, checked.problems)


def test_the_script_is_the_same_every_time() -> None:
    disk = Disk()
    with opened(disk) as stage:
        for step in range(len(STEPS)):
            play(stage, step)
        assert everything(stage.store) == story().states[-1]
    assert len(STEPS) > 25 and story().changes > 800


@pytest.mark.parametrize("part", range(4))
def test_power_cut_at_spread_points(part: int) -> None:
    for place, point in enumerate(spread(QUICK, story().changes)[part::4]):
        verified(point, point * 7 + part, to_the_end=place % 5 == 0)


@pytest.mark.full
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", range(10))
def test_power_cut_at_every_operation(seed: int) -> None:
    for point in range(1, story().changes + 1):
        verified(point, seed * 100_003 + point, to_the_end=(point + seed) % 20 == 0)


def lost(pragma: str) -> int:
    """How many acknowledged settlements the same rig loses when SQLite syncs less."""

    def weaken(store: SqliteStore) -> None:
        store._writing_connection().execute(pragma)

    settling = [step for step, (name, _) in enumerate(STEPS) if name.startswith("settle")]
    count = 0
    for point in range(story().begins[settling[0]], story().begins[settling[-1] + 2], 13):
        cut = played_until(point, weaken)
        survivor = cut.disk.surviving(random.Random(point))
        try:
            with opened(survivor, seed=1) as stage:
                found = stage.memory.stats().settled
        except EarnestError:
            count += 1
            continue
        acknowledged = sum(step < cut.acknowledged for step in settling if STEPS[step][0] != "settle too late")
        count += found < acknowledged
    return count


@pytest.mark.parametrize("level", ["NORMAL", "OFF", "FULL"])
def test_the_rig_has_teeth(level: str) -> None:
    found = lost(f"PRAGMA synchronous = {level}")
    assert found == 0 if level == "FULL" else found > 5


@pytest.mark.parametrize("drop", [False, True], ids=["pages stay dirty", "pages are dropped"])
def test_a_failed_sync_loses_nothing_that_is_acknowledged(drop: bool, full: bool) -> None:
    first, last = _syncs()
    for nth in range(first + 1, last + 1, 1 if full else 4):
        disk = Disk()
        disk.failed_syncs_drop = drop
        with opened(disk) as stage:
            disk.fault = _failing("sync", nth)
            for step in range(len(STEPS)):
                try:
                    play(stage, step)
                except EarnestError:
                    # The commit may have been complete, and what failed was moving old pages home after it.
                    now = everything(stage.store)
                    assert now in (story().states[step], story().states[step + 1]), f"sync {nth}: {STEPS[step][0]} is half done"
                    again(stage, step)
                    assert shape(stage.memory) == story().shapes[step + 1], f"sync {nth}, {STEPS[step][0]}"
            disk.dead = True
            with suppress(EarnestError):
                stage.store.close()
        with opened(disk.surviving(random.Random(nth)), seed=7) as stage:
            assert shape(stage.memory) == story().shapes[-1], f"sync {nth}: the end of the script is gone"
            checked = stage.memory.check()
            assert checked.ok, checked.problems


def _failing(operation: Operation, nth: int) -> Callable[[Operation, int], int | None]:
    return lambda what, n: apsw.SQLITE_IOERR_FSYNC if (what, n) == (operation, nth) else None


@cache
def _syncs() -> tuple[int, int]:
    """The number of syncs when the store has been opened, and at the end of the script."""
    disk = Disk()
    with opened(disk) as stage:
        first = disk.count["sync"]
        for step in range(len(STEPS)):
            play(stage, step)
        return first, disk.count["sync"]
