"""Every verb with a clock that is set back, and on, by seconds, days and years between any two: nothing becomes unreadable by any way out.

The way out of a store is `check`, `export` and `import_`, a text of lessons that is saved, loaded, joined and lived through again, the
revocation of a meter, and the undoing of what was done.
"""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest

from earnest import Memory
from earnest.errors import EarnestError, StoreError
from earnest.testing import ManualClock, SeededRng
from earnest.verbs.lessons import merge_lessons, read_lessons
from tests.unit.test_calendar_ends import TODAY, VERBS, Place

JUMPS = [timedelta(**{unit: sign * size}) for unit, size in (("seconds", 3), ("days", 2), ("days", 800)) for sign in (-1, -1, 1)]
SLOW = {"check_archive", "archive", "calibrate", "compact", "backup", "restore_backup"}
"""Verbs that need a long log or a copy of the whole store, or close the text form for good; they have tests of their own."""
OFTEN = ("decide", "settle", "settle", "remeasure", "tick", "add", "feedback", "rules.verify", "rules.trial", "update", "merge", "undo")


def refused(error: EarnestError) -> bool:
    """Whether an error says that something may not be done now, and not that something is broken."""
    return not isinstance(error, StoreError)


def lived(place: Place, chance: random.Random, steps: int) -> None:
    """So many verbs, with the clock set to another time before each."""
    names = sorted(VERBS.keys() - SLOW)
    for _ in range(steps):
        now = place.clock.now() + chance.choice(JUMPS)
        place.clock.set(now if abs(now - TODAY) < timedelta(days=7_000) else TODAY)
        verb = chance.choice(OFTEN) if chance.random() < 0.6 else chance.choice(names)
        try:
            VERBS[verb](place)
        except EarnestError as error:
            assert refused(error), verb
        found = place.memory.check()
        assert found.ok, (verb, found.problems)


def loaded(path: Path, clock: ManualClock, into: Path) -> Path:
    """The text of a store that was made of a text."""
    with Memory.open(clock=clock, rng=SeededRng(8), embedder="none") as again:
        again.load_lessons(path)
        assert again.check().ok
        again.save_lessons(into)
    return into


@pytest.mark.parametrize("seed", range(10))
def test_whatever_the_clock_did_a_store_stays_readable_by_every_way_out(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    place = Place(tmp_path, TODAY)
    with place.memory as memory:
        memory.rules.trial(place.waiting, decisions=100)
        lived(place, chance, 24)
        one = place.path(".jsonl")
        memory.save_lessons(one)
        second = loaded(one, place.clock, place.path(".jsonl"))
        third = loaded(second, place.clock, place.path(".jsonl"))
        told, again, still = (read_lessons(path) for path in (one, second, third))
        assert again.settled.keys() == told.settled.keys() and again.open.keys() == told.open.keys()
        assert again.rules == told.rules and again.looks == told.looks
        assert still.rules == again.rules and still.entries == again.entries and still.settled == again.settled
        lived(place, chance, 8)
        other = place.path(".jsonl")
        memory.save_lessons(other)
        merge_lessons(second, other, place.path(".joined"), base=one)
        merge_lessons(second, other, joined := place.path(".joined"))
        loaded(joined, place.clock, place.path(".jsonl"))
        memory.export(whole := place.path(".jsonl"))
        with Memory.open(clock=place.clock, rng=SeededRng(9), embedder="none") as copy:
            copy.import_(whole)
            assert copy.check().ok
        for event in reversed(memory.events(limit=1_000)):
            try:
                memory.undo(event.seq)
            except EarnestError as error:
                assert refused(error), event.kind
        assert memory.check().ok
        for meter in ("disk", "disk-2"):
            memory.meters.revoke(meter, since=place.clock.now() - timedelta(days=2))
            assert memory.check().ok


def test_a_meter_is_revoked_from_a_moment_on_though_the_clock_was_set_back_after_it() -> None:
    clock = ManualClock(TODAY)
    with Memory.open(clock=clock, rng=SeededRng(1), embedder="none") as memory:
        entry = memory.add("Log files may be deleted after seven days.", retention="kept")
        memory.add("The canteen opens at noon.")
        since = clock.now() + timedelta(days=3)
        for step in (timedelta(days=4), timedelta(days=-30), timedelta(days=1), timedelta(days=1)):
            clock.set(clock.now() + step)
            ticket = memory.decide("May log files be deleted after seven days?")
            assert memory.settle(str(ticket.id), delta=-3.0, meter="disk", acted=True).landed or ticket.silent
        assert memory.get(entry.id).standing == "suspended"
        assert memory.meters.revoke("disk", since=since).cleared == (entry.id,)
        assert memory.get(entry.id).standing == "active" and memory.check().ok
