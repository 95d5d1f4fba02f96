"""Idempotency keys: honoured for ninety days at least, forgotten by upkeep then, and never all that keeps an outcome single."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from earnest import Memory
from earnest.errors import KeyReused, NotAllowed
from earnest.testing import ManualClock, SeededRng
from earnest.verbs.base import KEYS_KEPT

UPKEEP: dict[str, Callable[[Memory], object]] = {"maintain": lambda memory: memory.maintain(), "compact": lambda memory: memory.compact()}


def opened(path: Path, clock: ManualClock) -> Memory:
    return Memory.open(path, embedder="none", clock=clock, rng=SeededRng(1))


def keys(path: Path) -> set[str]:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return {key for (key,) in db.execute("SELECT key FROM keys")}
    finally:
        db.close()


@pytest.mark.parametrize("upkeep", UPKEEP)
def test_keys_are_honoured_for_ninety_days_and_forgotten_then(tmp_path: Path, upkeep: str) -> None:
    clock, path = ManualClock(), tmp_path / "a.db"
    with opened(path, clock) as memory:
        first = memory.add("The door is green.", key="green")
        memory.tick(slot="one")
        clock.advance(days=KEYS_KEPT - 1)
        memory.add("The window is blue.", key="blue")
        UPKEEP[upkeep](memory)
        assert memory.add("The door is green.", key="green").id == first.id, "a day before"
        with pytest.raises(KeyReused):
            memory.add("The door is red.", key="green")
        clock.advance(days=1, seconds=1)
        UPKEEP[upkeep](memory)
        assert keys(path) == {"blue"}
        assert memory.add("The door is red.", key="green").text == "The door is red.", "a request of its own now"
        assert memory.check().ok


def test_an_outcome_lands_once_however_old_its_key(tmp_path: Path) -> None:
    clock, path = ManualClock(), tmp_path / "a.db"
    with opened(path, clock) as memory:
        memory.meters.add("ci")
        memory.meters.bind("ci", channel="python")
        memory.add("Close the file.", cue="How is the file read?")
        ticket = memory.decide("How is the file read?").id or ""
        memory.settle(ticket, delta=1.0, meter="ci", key="run-1")
        memory.remeasure(ticket, delta=1.0, meter="second", key="look-1")
        memory.control(delta=0.5, meter="ci", key="control-1")
        before = [(m.settlements, m.total, m.baseline) for m in memory.meters.list()]
        clock.advance(days=5 * KEYS_KEPT)
        memory.compact()
        assert keys(path) == {"control-1"}
        again = memory.settle(ticket, delta=1.0, meter="ci", key="run-1")
        assert not again.landed and "lands once" in again.reason
        with pytest.raises(NotAllowed):
            memory.remeasure(ticket, delta=1.0, meter="second", key="look-1")
        memory.control(delta=0.5, meter="ci", key="control-1")
        assert [(m.settlements, m.total, m.baseline) for m in memory.meters.list()] == before


def test_a_key_whose_result_was_erased_brings_nothing_back(tmp_path: Path) -> None:
    clock, path = ManualClock(), tmp_path / "a.db"
    with opened(path, clock) as memory:
        memory.add("Ada lives in the green house.", sources=["ada"], key="ada-1")
        memory.erase(source="ada")
        clock.advance(days=2 * KEYS_KEPT)
        memory.compact()
        with pytest.raises(KeyReused):
            memory.add("Ada lives in the green house.", sources=["ada"], key="ada-1")


def test_many_old_keys_are_forgotten_in_short_transactions(tmp_path: Path) -> None:
    clock, path = ManualClock(), tmp_path / "a.db"
    with opened(path, clock) as memory:
        for number in range(2_500):
            memory.tick(slot=f"slot {number}")
        clock.advance(days=KEYS_KEPT + 1)
        seen = memory.stats().tick
        memory.compact()
        assert keys(path) == set() and memory.stats().tick == seen
