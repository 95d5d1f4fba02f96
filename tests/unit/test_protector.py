"""Where what ranks first did harm, advice to hold back may say why not; any other advice only if it is about as relevant."""

from __future__ import annotations

import pytest

from earnest import Memory
from earnest.testing.clock import ManualClock, SeededRng

HARM = "The database files under data/ are redundant copies and safe to delete at any time."
QUESTION = "Are the database files under data/ safe to delete?"


def store(beside: str, harmed: bool = True) -> Memory:
    memory = Memory.open(clock=ManualClock(), rng=SeededRng(1))
    memory.add_many([{"text": f"Report {n} concerns subject{n}."} for n in range(12)])
    memory.add(HARM)
    memory.add(beside)
    if harmed:
        ticket = memory.decide(QUESTION)
        assert ticket.text == HARM
        memory.settle(str(ticket.id), delta=-3.0, meter="disk", acted=True)
    return memory


def test_advice_to_hold_back_on_the_same_matter_decides_in_the_place_of_what_did_harm() -> None:
    kept = "Each database file under data/ is protected and must be kept."
    memory = store(kept)
    ticket = memory.decide(QUESTION)
    assert ticket.text == kept and ticket.id is not None
    memory.settle(ticket.id, delta=0.0, meter="disk", acted=False)
    memory.tick()
    assert memory.get(ticket.deciding.id if ticket.deciding else "").balance == 1_000_000, "being asked is what it lives from"


@pytest.mark.parametrize(
    "beside",
    [
        "Each database file under data/ may be moved to tape.",
        "Each database file under data/ is backed up every night.",
        "Printers must be kept switched on.",
    ],
)
def test_neither_other_advice_nor_another_matter_does(beside: str) -> None:
    assert store(beside).decide(QUESTION).silent


def test_as_long_as_nothing_did_harm_relevance_decides() -> None:
    assert store("Each database file under data/ is protected and must be kept.", harmed=False).decide(QUESTION).text == HARM
