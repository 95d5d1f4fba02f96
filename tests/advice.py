"""Two pieces of advice that have nothing in common, a memory of its own, and outcomes: what laws of the ledger are told with."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from earnest import Memory
from earnest.testing import ManualClock, SeededRng

ADVICE: Final = "Old log files under logs/ may be deleted after seven days."
ASKED: Final = "May old log files under logs/ be deleted?"
OTHER: Final = "The printer on the third floor takes recycled paper."
OTHER_ASKED: Final = "Does the printer on the third floor take recycled paper?"


def opened(path: str | Path = ":memory:", **more: Any) -> Memory:
    """A memory that nobody else has, by a clock that stands still and the same chance each time."""
    return Memory.open(path, clock=ManualClock(), rng=SeededRng(1), embedder="none", **more)


def settle(memory: Memory, question: str, delta: float, meter: str = "disk", **more: Any) -> str:
    """Asks, and tells how it went; the id of the ticket."""
    ticket = memory.decide(question)
    assert ticket.id is not None and memory.settle(ticket.id, delta=delta, meter=meter, **more).landed
    return ticket.id
