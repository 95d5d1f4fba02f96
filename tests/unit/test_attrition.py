"""When `doctor` says that withheld decisions end without an outcome at another rate than the others; and groups of near-duplicates."""

from __future__ import annotations

import pytest

from earnest import Memory
from earnest.core.settings import Settings
from earnest.ledger import consolidation, uplift
from earnest.testing import ManualClock, SeededRng


@pytest.mark.parametrize(
    ("shown", "withheld", "lost_shown", "lost_withheld", "told"),
    [
        # Three standard errors of two shares of 100, pooled: 0.2079 where 50 and 70 are lost, 0.2074 where 50 and 71 are.
        (100, 100, 50, 70, False),
        (100, 100, 50, 71, True),
        (100, 100, 71, 50, True),
        # Of 900 three standard errors are 0.04: what counts then is whether a tenth more are lost.
        (900, 900, 0, 90, False),
        (900, 900, 0, 91, True),
        (19, 400, 19, 0, False),
        (20, 400, 20, 0, True),
        (400, 20, 0, 20, True),
        (400, 19, 0, 19, False),
    ],
)
def test_withheld_decisions_that_end_without_an_outcome_a_tenth_more_often_are_told(
    shown: int, withheld: int, lost_shown: int, lost_withheld: int, told: bool
) -> None:
    totals = {"drawn:shown": shown, "drawn:all": withheld, "drawn_lost:shown": lost_shown, "drawn_lost:all": lost_withheld}
    alone = {"drawn:shown": shown, "drawn:alone": withheld, "drawn_lost:shown": lost_shown, "drawn_lost:alone": lost_withheld}
    with Memory.open(":memory:", clock=ManualClock(), embedder="none") as memory, memory._store.read() as reading:
        for counted in (totals, alone):
            found = [one.code for one in uplift.findings(reading, Settings(holdout=0.1), counted)]
            assert ("holdout_attrition" in found) is told


@pytest.mark.parametrize("richer", ["first", "second", "neither"])
def test_of_near_duplicates_the_richer_leads_and_of_equals_the_older(richer: str) -> None:
    with Memory.open(":memory:", clock=ManualClock(), rng=SeededRng(1), embedder="none") as memory:
        texts = {
            "first": "Old log files under logs/ may be deleted after seven days.",
            "second": "Old log files under logs/ may be deleted after seven days now.",
        }
        made = {name: memory.add(text) for name, text in texts.items()}
        if richer != "neither":
            with memory._writing() as tx:
                stored = tx.entry(made[richer].id)
                assert stored is not None
                tx.change_entry(stored.row, balance=2_000_000)
        with memory._store.read() as reading:
            groups, refused = consolidation.groups(reading, memory._analyser, 0.6)
        assert refused == [] and len(groups) == 1
        assert groups[0][0].entry.id == made["first" if richer == "neither" else richer].id


def test_twenty_withheld_decisions_are_enough_for_doctor_to_say_that_memory_does_not_pay_and_nineteen_are_not() -> None:
    economy = {"rule": "classic", "rent": 0.0, "stake": 500.0, "cap": 500.0, "holdout": 0.5, "holdout_entry": 0.0}
    with Memory.open(":memory:", clock=ManualClock(), rng=SeededRng(3), embedder="none", settings=economy) as memory:
        memory.add("Old log files under logs/ may be deleted after seven days.")
        withheld = 0
        said: dict[int, bool] = {}
        while withheld < 20:
            ticket = memory.decide("May old log files under logs/ be deleted?")
            withheld += ticket.holdout
            memory.settle(str(ticket.id), delta=1.0 if ticket.holdout else -1.0, meter="disk")
            said[withheld] = "memory_does_not_pay" in {finding.code for finding in memory.doctor().findings}
        assert said[19] is False and said[20] is True
