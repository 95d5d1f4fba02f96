"""Ranking by more than relevance, only where it was asked for, and never by what a reader can inflate."""

from __future__ import annotations

from typing import Any

import pytest

from earnest import Memory
from earnest.errors import InvalidInput
from earnest.testing.clock import ManualClock, SeededRng

QUESTION = "Where does the walrus sleep in the room four?"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(clock: ManualClock) -> Memory:
    memory = Memory.open(clock=clock, rng=SeededRng(1))
    memory.add("The walrus sleeps in room four.", confidence=0.4)
    clock.advance(days=90)
    memory.add("A walrus sleeps near the room of the keeper.")
    return memory


def ranked(memory: Memory, **how: Any) -> list[tuple[str, float]]:
    return [(hit.entry.text[:5], hit.score) for hit in memory.search(QUESTION, **how)]


def test_relevance_alone_ranks_unless_more_is_asked_for(memory: Memory) -> None:
    [(first, best), (second, other)] = ranked(memory)
    assert (first, second) == ("The w", "A wal") and best > other
    assert ranked(memory, weigh=[]) == ranked(memory)


def test_each_weight_multiplies_and_says_so(memory: Memory) -> None:
    plain = dict(ranked(memory))
    assert dict(ranked(memory, weigh="confidence")) == pytest.approx({"The w": 0.4 * plain["The w"], "A wal": plain["A wal"]})
    assert dict(ranked(memory, weigh=["recency"])) == pytest.approx({"The w": 0.5 * plain["The w"], "A wal": plain["A wal"]})
    assert dict(ranked(memory, weigh="importance")) == pytest.approx({name: 0.5 * score for name, score in plain.items()})
    assert [name for name, _ in ranked(memory, weigh=["confidence", "recency"])] == ["A wal", "The w"]
    assert "times 0.40 for confidence" in memory.search(QUESTION, weigh="confidence", k=2)[1].why


def test_importance_is_earned_by_outcomes_and_not_by_being_read_or_praised(memory: Memory) -> None:
    before = ranked(memory, weigh="importance")
    for hit in memory.search(QUESTION):
        memory.feedback(hit.entry.id, "helpful")
        memory.recalled([hit.entry.id])
    memory.tick()
    assert ranked(memory, weigh="importance") == before
    ticket = memory.decide(QUESTION, k=1).id
    assert ticket is not None
    memory.settle(ticket, delta=5.0, meter="zoo")
    assert dict(ranked(memory, weigh="importance"))["The w"] > dict(before)["The w"]


def test_the_setting_holds_for_the_store_and_a_call_can_leave_it(memory: Memory) -> None:
    memory.configure(weigh="confidence, recency")
    assert memory.settings.weigh == "confidence,recency"
    assert [name for name, _ in ranked(memory)] == ["A wal", "The w"]
    assert memory.answer(QUESTION).text.startswith("A walrus") and memory.answer(QUESTION, weigh=[]).text.startswith("The walrus")
    assert memory.decide(QUESTION, weigh=[]).text.startswith("The walrus")


@pytest.mark.parametrize("bad", ["balance", 5, ["recency", "energy"], True, {"recency": 1}])
def test_what_cannot_weigh_is_refused(memory: Memory, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="weigh"):
        memory.search(QUESTION, weigh=bad)
    with pytest.raises(InvalidInput, match="weigh"):
        memory.configure(weigh=bad)
