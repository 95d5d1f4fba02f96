"""Merges lose nothing: not a fact, not energy below the cap, not what was measured; and they are taken apart again exactly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earnest import Memory
from earnest.core.entry import Entry
from earnest.errors import NotUndoable
from earnest.ledger import testimony
from earnest.testing.clock import ManualClock, SeededRng

LOGS = "Old log files under logs/ may be deleted after a week."
CACHE = "Everything under cache/ can go at any time."


def opened(**more: Any) -> Memory:
    return Memory.open(clock=ManualClock(), rng=SeededRng(1), settings=more)


def settled(memory: Memory, question: str, delta: float, meter: str = "disk") -> str:
    ticket = memory.decide(question, 1)
    assert ticket.id is not None and memory.settle(ticket.id, delta=delta, meter=meter, acted=True).landed
    return ticket.id


def odds(memory: Memory, entry: str) -> float:
    """Log-odds that following it helps, from its words as the store has them."""
    with memory._store.read() as reading:
        stored = reading.entry(entry)
        assert stored is not None
        return testimony.Testimony(reading, memory.settings).weigh(stored.row).odds


def words(memory: Memory, entry: str) -> list[tuple[int, float]]:
    """What was measured of an entry and counts: (decision, size)."""
    with memory._store.read() as reading:
        stored = reading.entry(entry)
        assert stored is not None
        return [(word.place, word.size) for word in reading.words_of(stored.row, 100) if not word.borrowed]


def pair(memory: Memory) -> tuple[Entry, Entry]:
    return memory.add(LOGS), memory.add(CACHE)


def test_the_heirs_outcomes_are_those_of_its_members_in_the_order_of_their_decisions() -> None:
    memory = opened()
    logs, cache = pair(memory)
    settled(memory, "old log files", 1.0)
    settled(memory, "cache", 0.5)
    settled(memory, "old log files", -0.2)
    said = sorted(words(memory, logs.id) + words(memory, cache.id))
    before = odds(memory, logs.id) + odds(memory, cache.id)
    heir = memory.merge([logs.id, cache.id])
    assert words(memory, heir.id) == said and words(memory, logs.id) == words(memory, cache.id) == []
    prior = odds(memory, memory.add("Something else altogether.").id)
    assert odds(memory, heir.id) == pytest.approx(before - prior)
    assert memory.check().problems == ()


def test_a_meter_is_not_judged_twice_by_what_a_merge_copied() -> None:
    merged, plain = opened(), opened()
    for memory in (merged, plain):
        pair(memory)
        for n in range(12):
            settled(memory, "old log files" if n % 2 else "cache", -0.1 if n == 5 else 1.0)
    merged.merge([entry.id for entry in merged.list()])
    for memory in (merged, plain):
        memory.tick()
    one, two = (memory._store.read() for memory in (merged, plain))
    with one as a, two as b:
        assert a.beliefs()["disk"][0].words == b.beliefs()["disk"][0].words == 10 + 12


def test_harm_does_not_get_lost_in_a_merge() -> None:
    memory = opened()
    logs, cache = pair(memory)
    settled(memory, "cache", 0.3)
    settled(memory, "old log files", -0.5)
    assert memory.get(logs.id).standing == "active", "one small harm is not yet the better bet"
    heir = memory.merge([logs.id, cache.id])
    memory.tick()  # within one tick the two harms might be one event
    settled(memory, "old log files", -0.8)
    assert memory.get(heir.id).standing == "suspended"


def test_an_untouched_merge_is_undone_to_the_unit_and_to_the_word() -> None:
    memory = opened()
    logs, cache = pair(memory)
    settled(memory, "old log files", 1.0)
    settled(memory, "cache", -0.3)
    before = {entry.id: (entry.balance, entry.standing, words(memory, entry.id), odds(memory, entry.id)) for entry in memory.list()}
    heir = memory.merge([logs.id, cache.id])
    memory.undo(memory.events(kind="merge")[0].seq)
    assert {entry.id: (entry.balance, entry.standing, words(memory, entry.id), odds(memory, entry.id)) for entry in memory.list()} == before
    assert words(memory, heir.id) == [] and memory.check().problems == ()


def test_later_outcomes_go_to_the_member_whose_text_decided() -> None:
    memory = opened()
    logs, cache = pair(memory)
    heir = memory.merge([logs.id, cache.id])
    settled(memory, "May old log files be deleted?", 1.0)
    settled(memory, "Can everything under cache/ go?", -0.4)
    settled(memory, "Are old log files under logs/ to be deleted?", 0.5)
    memory.undo(memory.events(kind="merge")[0].seq)
    assert [size for _, size in words(memory, logs.id)] == [1.0, 0.5]
    assert [size for _, size in words(memory, cache.id)] == [-0.4]
    [event] = memory.events(entry=heir.id, kind="forget")
    assert sorted(count for _, count in event.data["words"]) == [1, 2] and memory.check().problems == ()


def test_a_member_that_later_did_harm_comes_out_suspended_and_the_other_does_not() -> None:
    memory = opened()
    logs, cache = pair(memory)
    memory.merge([logs.id, cache.id])
    settled(memory, "Can everything under cache/ go?", -3.0)
    memory.undo(memory.events(kind="merge")[0].seq)
    assert (memory.get(logs.id).standing, memory.get(cache.id).standing) == ("active", "suspended")
    assert memory.decide("Can everything under cache/ go?").silent and memory.decide("old log files").text == LOGS


def test_a_merge_that_was_merged_on_is_not_undone_and_the_later_one_is_named() -> None:
    memory = opened()
    logs, cache = pair(memory)
    heir = memory.merge([logs.id, cache.id])
    first = memory.events(kind="merge")[0].seq
    memory.merge([heir.id, memory.add("Temporary files may be deleted.").id])
    second = memory.events(kind="merge")[1].seq
    with pytest.raises(NotUndoable, match=f"since event {second}"):
        memory.undo(first)
    memory.undo(second)
    memory.undo(first)
    assert {logs.id, cache.id} <= {entry.id for entry in memory.list()} and memory.check().problems == ()


def test_a_merge_of_merges_carries_every_word() -> None:
    memory = opened()
    logs, cache = pair(memory)
    settled(memory, "old log files", 1.0)
    heir = memory.merge([logs.id, cache.id])
    settled(memory, "Can everything under cache/ go?", 0.5)
    other = memory.add("Temporary files under tmp/ may be removed.")
    settled(memory, "temporary files under tmp/", 0.25)
    last = memory.merge([heir.id, other.id])
    assert [size for _, size in words(memory, last.id)] == [1.0, 0.5, 0.25]
    memory.undo(memory.events(kind="merge")[1].seq)
    assert [size for _, size in words(memory, heir.id)] == [1.0, 0.5] and [size for _, size in words(memory, other.id)] == [0.25]
    memory.undo(memory.events(kind="merge")[0].seq)
    assert [size for _, size in words(memory, logs.id)] == [1.0] and [size for _, size in words(memory, cache.id)] == [0.5]
    assert memory.check().problems == ()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.floats(-1, 1)), max_size=8),
    st.lists(st.tuples(st.booleans(), st.floats(-1, 1)), max_size=6),
)
def test_merging_and_undoing_conserves_energy_and_words(before: list[tuple[bool, float]], after: list[tuple[bool, float]]) -> None:
    with opened() as memory:
        logs, cache = pair(memory)
        said = 0
        for steps in (before, after):
            for about_logs, delta in steps:
                ticket = memory.decide("old log files" if about_logs else "Can everything under cache/ go?", 1)
                if ticket.id is not None:
                    memory.settle(ticket.id, delta=delta, meter="disk")
                    said += 1
            if steps is before:
                standings = {memory.get(entry.id).standing for entry in (logs, cache)}
                if len(standings) > 1:
                    return
                heir = memory.merge([logs.id, cache.id])
                assert heir.balance == min(5_000_000, memory.stats().energy) and len(words(memory, heir.id)) == said
        held = memory.stats().energy
        memory.undo(memory.events(kind="merge")[0].seq)
        assert memory.stats().energy == held == sum(memory.get(entry.id).balance for entry in (logs, cache))
        assert len(words(memory, logs.id)) + len(words(memory, cache.id)) == said
        assert memory.check().problems == ()
