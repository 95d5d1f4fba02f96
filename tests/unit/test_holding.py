"""What holds until a day is not recalled after it, unless somebody asks about its time; nothing of it is lost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from earnest import Memory
from earnest.testing import ManualClock

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ASK = "What is the code of the harbour gate?"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[Memory]:
    with Memory.open(clock=clock, embedder="none") as made:
        yield made


def test_what_has_expired_is_not_recalled_by_any_verb(memory: Memory, clock: ManualClock) -> None:
    entry = memory.add("The code of the harbour gate is 4711.", valid_to=NOW + timedelta(days=30))
    assert memory.search(ASK) and memory.answer(ASK) and memory.prefetch(ASK).entries
    clock.advance(days=30)
    assert not memory.search(ASK) and not memory.answer(ASK) and memory.decide(ASK).id is None and not memory.prefetch(ASK).entries
    assert [one.id for one in memory.list()] == [entry.id] and memory.get(entry.id).standing == "active"
    memory.update(entry.id, valid_to=NOW + timedelta(days=90))
    assert memory.answer(ASK).deciding is not None


def test_who_asks_about_its_time_finds_it(memory: Memory, clock: ManualClock) -> None:
    entry = memory.add("The code of the harbour gate is 4711.", valid_from="2026-03-01", valid_to="2026-03-20")
    clock.advance(days=60)
    found = [
        memory.search(ASK, as_of="2026-03-10"),
        memory.search(ASK, since="2026-02-01"),
        memory.search(ASK, until="2026-03-10"),
        memory.search("What was the code of the harbour gate in March 2026?"),
    ]
    assert [[hit.entry.id for hit in hits] for hits in found] == [[entry.id]] * 4
    assert not memory.search(ASK)


def test_any_number_of_expired_entries_hides_none_that_holds(memory: Memory, clock: ManualClock) -> None:
    memory.add_many([{"text": f"The code of the harbour gate is {n}.", "valid_to": NOW + timedelta(days=1)} for n in range(300)])
    kept = memory.add_many([{"text": f"A long note on the harbour, which speaks of a gate by the way, number {n}."} for n in range(5)])
    clock.advance(days=2)
    assert {hit.entry.id for hit in memory.search(ASK, 5)} == {entry.id for entry in kept}
    assert len(memory.search(ASK, 3)) == 3


def test_an_event_goes_on_having_happened(memory: Memory, clock: ManualClock) -> None:
    memory.add("The harbour gate was painted.", kind="episodic", valid_from=NOW, valid_to=NOW + timedelta(days=2))
    clock.advance(days=60)
    assert memory.search("Was the harbour gate painted?")


def test_what_is_said_to_be_outdated_decides_no_more(memory: Memory, clock: ManualClock) -> None:
    old = memory.add("The code of the harbour gate is 4711.")
    clock.advance(days=1)
    memory.feedback(old.id, "outdated")
    assert memory.answer(ASK).silent and not memory.search(ASK)


def test_the_moment_itself_is_over(memory: Memory, clock: ManualClock) -> None:
    memory.add("The code of the harbour gate is 4711.", valid_to=NOW + timedelta(seconds=1))
    assert memory.search(ASK)
    clock.advance(seconds=1)
    assert not memory.search(ASK)


def test_what_is_said_again_after_its_day_holds_again(memory: Memory, clock: ManualClock) -> None:
    said = "The code of the harbour gate is 4711."
    old = memory.add(said, valid_to=NOW + timedelta(days=1))
    assert memory.add(said, valid_to=NOW + timedelta(hours=1)).id == old.id, "it says no more than what is there"
    clock.advance(days=2)
    new = memory.add(said, valid_to=NOW + timedelta(days=9))
    assert new.id != old.id and [hit.entry.id for hit in memory.search(ASK)] == [new.id]
    assert memory.add(said, valid_to=NOW + timedelta(days=9)).id == new.id
    assert memory.add(said).id not in (old.id, new.id) and memory.check().ok


def test_what_harm_suspended_does_not_come_back_by_holding_longer(memory: Memory, clock: ManualClock) -> None:
    said = "Delete the harbour archive when the disk is full."
    old = memory.add(said, valid_to=NOW + timedelta(days=9))
    for _ in range(4):
        ticket = memory.decide("Shall I delete the harbour archive when the disk is full?")
        if ticket.id is None:
            break
        memory.settle(ticket.id, delta=-5.0, meter="disk", scale=1)
    assert memory.get(old.id).standing == "suspended"
    again = memory.add(said)
    assert memory.get(again.id).standing == "suspended" and memory.check().ok
