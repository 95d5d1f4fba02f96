"""Any single operation of the disk fails: one typed error, nothing half done, and the same request then succeeds exactly once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Final

import apsw
import pytest

from earnest.errors import EarnestError, StoreBusy, StoreError, StoreFull
from tests.crash.disk import Disk, Operation
from tests.crash.script import STEPS, again, everything, opened, play, shape
from tests.crash.test_power import spread, story

FAULTS: Final[dict[str, tuple[Operation, int]]] = {
    "write error": ("write", apsw.SQLITE_IOERR_WRITE),
    "disk full": ("write", apsw.SQLITE_FULL),
    "read error": ("read", apsw.SQLITE_IOERR_READ),
    "sync error": ("sync", apsw.SQLITE_IOERR_FSYNC),
    "truncate error": ("truncate", apsw.SQLITE_IOERR_TRUNCATE),
    "cannot open": ("open", apsw.SQLITE_CANTOPEN),
    "delete error": ("delete", apsw.SQLITE_IOERR_DELETE),
    "busy": ("lock", apsw.SQLITE_BUSY),
    "locks refused": ("lock", apsw.SQLITE_IOERR_LOCK),
}
QUICK: Final = {"write error": 20, "disk full": 12, "read error": 8, "sync error": 8}


@cache
def operations(operation: Operation) -> int:
    """How many operations of a kind the opening and the whole script have."""
    disk = Disk()
    with opened(disk) as stage:
        for step in range(len(STEPS)):
            play(stage, step)
        return disk.count[operation]


def points(name: str, full: bool) -> Iterator[int]:
    whole = operations(FAULTS[name][0])
    count = whole if full else min(whole, QUICK.get(name, whole))
    yield from spread(count, whole) if count > 1 else range(1, whole + 1)


def failed_at(name: str, nth: int) -> None:
    operation, code = FAULTS[name]
    disk = Disk()

    def fault(what: Operation, n: int) -> int | None:
        # A lock that is taken stays taken until somebody lets go; everything else fails once.
        hit = what == operation and (n >= nth if code == apsw.SQLITE_BUSY else n == nth)
        if hit:
            hits.append(n)
        return code if hit else None

    hits: list[int] = []
    disk.fault = fault
    try:
        with opened(disk, timeout=0.0) as stage:
            for step in range(len(STEPS)):
                try:
                    play(stage, step)
                except EarnestError as error:
                    _typed(name, error)
                    disk.fault = None
                    now = everything(stage.store)
                    assert now in (story().states[step], story().states[step + 1]), f"{name} {nth}: {STEPS[step][0]} is half done"
                    again(stage, step)
                    assert shape(stage.memory) == story().shapes[step + 1], f"{name} {nth}: {STEPS[step][0]} is not there exactly once"
            disk.fault = None
            assert shape(stage.memory) == story().shapes[-1], f"{name} {nth}"
    except EarnestError as error:
        # It could not be opened: nothing of it stands in the way of the next attempt.
        _typed(name, error)
        disk.fault = None
        with opened(disk) as stage:
            assert everything(stage.store) == story().states[0], f"{name} {nth}: a failed opening left something"
    assert hits, f"{name} {nth} never came"
    with opened(Disk({file: bytes(content.now) for file, content in disk.files.items()}), seed=random.Random(nth).randint(10, 99)) as stage:
        checked = stage.memory.check()
        assert checked.ok, (name, nth, checked.problems)


def _typed(name: str, error: EarnestError) -> None:
    assert isinstance(error, StoreError), repr(error)
    if name == "busy":
        assert isinstance(error, StoreBusy), repr(error)
    if name == "disk full":
        assert isinstance(error, StoreFull), repr(error)
    assert "\n" not in str(error) and str(error).startswith("memory.db: ")


@pytest.mark.parametrize("name", FAULTS)
def test_one_operation_fails(name: str, full: bool) -> None:
    for nth in points(name, full):
        failed_at(name, nth)
