"""What taking back gives back: what an entry left, or a fresh stake; and which later event stands in the way of it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from earnest import Memory
from earnest.core.amounts import micro
from earnest.errors import NotAllowed
from earnest.testing import ManualClock, SeededRng

ADVICE: Final = "Old log files under logs/ may be deleted after seven days."
ASKED: Final = "May old log files under logs/ be deleted?"
OTHER: Final = "The printer on the third floor takes recycled paper."
OTHER_ASKED: Final = "Does the printer on the third floor take recycled paper?"


def opened(**more: Any) -> Memory:
    return Memory.open(":memory:", clock=ManualClock(), rng=SeededRng(1), embedder="none", **more)


def settle(memory: Memory, question: str, delta: float, meter: str = "disk") -> None:
    ticket = memory.decide(question)
    assert ticket.id is not None and memory.settle(ticket.id, delta=delta, meter=meter).landed


@pytest.mark.parametrize("ticks", [0, 1, 4])
def test_what_was_forgotten_comes_back_with_what_it_held_and_what_starved_with_a_fresh_stake(ticks: int) -> None:
    with opened(settings={"rule": "classic", "stake": 0.25, "rent": 0.05}) as memory:
        entry = memory.add(ADVICE)
        for _ in range(ticks):
            memory.tick()
        held = memory.get(entry.id).balance
        assert held == micro(0.25) - ticks * micro(0.05)
        memory.forget(entry.id, reason="by mistake")
        [event] = memory.events(kind="forget")
        memory.undo(event.seq)
        assert memory.get(entry.id).balance == held
        while memory.get(entry.id).alive:
            memory.tick()
        [death] = memory.events(kind="death")
        memory.undo(death.seq)
        assert memory.get(entry.id).balance == micro(0.25) and memory.check().problems == ()


def test_a_revocation_is_taken_back_unless_the_same_meter_was_revoked_again_since() -> None:
    with opened() as memory:
        one, other = memory.add(ADVICE), memory.add(OTHER)
        settle(memory, ASKED, -2.0, "a")
        settle(memory, OTHER_ASKED, -2.0, "b")
        first, second = memory.meters.revoke("a"), memory.meters.revoke("b")
        assert {memory.get(each.id).standing for each in (one, other)} == {"active"}
        memory.undo(first.event)
        assert [memory.get(each.id).standing for each in (one, other)] == ["suspended", "active"], "of the other meter nothing changed"
        again = memory.meters.revoke("b")
        with pytest.raises(NotAllowed, match=f"event {again.event} revoked the meter again later"):
            memory.undo(second.event)
        memory.undo(again.event)
        memory.undo(second.event)
        assert [memory.get(each.id).standing for each in (one, other)] == ["suspended", "suspended"]
        assert memory.check().problems == ()
