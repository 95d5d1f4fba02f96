"""`doctor`: every code with a failure that was staged, and silence where all is well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from earnest import Memory
from earnest.core.reports import Finding
from earnest.testing.clock import ManualClock, SeededRng


def opened(path: str | Path = ":memory:", **more: Any) -> Memory:
    return Memory.open(path, clock=ManualClock(), rng=SeededRng(1), **more)


def codes(memory: Memory) -> list[str]:
    return [finding.code for finding in memory.doctor().findings]


def found(memory: Memory, code: str) -> Finding:
    [finding] = [f for f in memory.doctor().findings if f.code == code]
    assert finding.summary and finding.evidence and finding.fix
    return finding


def settled(memory: Memory, delta: float, query: str = "zebra", **more: Any) -> None:
    assert memory.settle(str(memory.decide(query).id), delta=delta, **more).landed


def working(**more: Any) -> Memory:
    """A store that does what it should: measured, paid, ticking with its outcomes."""
    memory = opened(**more)
    memory.add("The zebra is striped.")
    memory.add("The horse is brown.")
    for n in range(12):
        settled(memory, 1.0, "zebra" if n % 2 else "horse")
        memory.tick()
    return memory


def test_a_store_that_works_raises_no_alarm() -> None:
    memory = working()
    assert memory.doctor().findings == ()
    assert memory.doctor().healthy and not memory.doctor().failing


def test_an_unmeasured_store_is_not_called_clean() -> None:
    memory = opened()
    assert found(memory, "nothing_measured").severity == "info"
    assert memory.doctor().healthy
    memory.add("The zebra is striped.")
    memory.decide("zebra")
    assert "1 decisions" in found(memory, "nothing_measured").evidence
    settled(memory, 1.0)
    assert "nothing_measured" not in codes(memory)


def test_a_store_of_pure_silence_is_an_error() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    for _ in range(9):
        memory.decide("quantum chromodynamics")
    settled(memory, 1.0)  # what was noted about use rides with the next write
    assert found(memory, "silent_majority").severity == "error"
    assert memory.doctor().failing and "9 of 10" in found(memory, "silent_majority").evidence


def test_a_few_silences_are_none_of_its_business() -> None:
    memory = working()
    for _ in range(12):
        memory.decide("quantum chromodynamics")
    memory.tick()
    assert memory.doctor().findings == ()


def test_outcomes_of_zero_only_are_an_error() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    for n in range(5):
        assert ("never_paid" in codes(memory)) is False, f"{n} outcomes say nothing yet"
        settled(memory, 0.0)
    assert found(memory, "never_paid").severity == "error"
    settled(memory, 1.0)
    assert "never_paid" not in codes(memory)


def test_dying_of_hunger_before_anything_was_paid_is_an_error() -> None:
    memory = opened()
    for n in range(3):
        memory.add(f"fact number {n}")
    for _ in range(20):
        memory.tick()
    finding = found(memory, "starvation_cliff")
    assert finding.severity == "error" and "3 of 3" in finding.evidence and "20 ticks" in finding.evidence


def test_starving_beside_entries_that_earn_is_selection_not_a_cliff() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    for n in range(4):
        memory.add(f"fact number {n}")
    for _ in range(21):
        settled(memory, 1.0)
        memory.tick()
    assert memory.stats().by_cause == {"starved": 4}
    assert memory.doctor().findings == ()


def test_a_clock_that_runs_on_after_the_earning_stopped_is_a_warning() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    settled(memory, 0.1)
    for n in range(12):
        assert "ticking_without_evidence" not in codes(memory), n
        memory.tick()
        if n >= 10:
            break
    for _ in range(8):
        memory.tick()
    finding = found(memory, "ticking_without_evidence")
    assert finding.severity == "warning" and memory.doctor().healthy is False and memory.doctor().failing is False


def test_an_extinct_store_that_earned_once_is_told_so() -> None:
    memory = opened()
    memory.add("The zebra is striped.")
    settled(memory, 0.1)
    for _ in range(40):
        memory.tick()
    assert memory.stats().alive == 0 and "ticking_without_evidence" in codes(memory)


@pytest.mark.parametrize("rent", [0.0, 0])
def test_where_no_rent_is_charged_the_clock_can_starve_nobody(rent: float) -> None:
    memory = opened(settings={"rent": rent})
    memory.add("The zebra is striped.")
    settled(memory, 1.0)
    for _ in range(100):
        memory.tick()
    assert memory.doctor().findings == ()


def test_a_tiny_rent_raises_no_alarm() -> None:
    memory = opened(settings={"rent": 1e-5})
    memory.add("The zebra is striped.")
    settled(memory, 1.0)
    for _ in range(12):
        memory.tick()
    assert memory.doctor().findings == ()
    memory.configure(rent=0.000001)
    assert memory.doctor().findings == ()


def test_tickets_that_nobody_settles_are_a_warning() -> None:
    memory = opened()
    memory.pin(memory.add("The zebra is striped.").id)
    settled(memory, 1.0)
    memory.decide("zebra")
    for _ in range(51):
        memory.tick(expire_after=1_000)
    finding = found(memory, "tickets_stale")
    assert finding.severity == "warning" and "1 open tickets, the oldest for 51 ticks" in finding.evidence
    memory.abandon(memory.pending()[0].id)
    assert "tickets_stale" not in codes(memory)


def test_many_settlements_of_closed_tickets_are_a_warning() -> None:
    memory = working()
    ticket = str(memory.decide("zebra").id)
    memory.settle(ticket, delta=1.0)
    for n in range(5):
        assert "settlements_dropped" not in codes(memory), n
        memory.settle(ticket, delta=1.0)
    assert "5 dropped, 13 landed" in found(memory, "settlements_dropped").evidence


def test_a_few_duplicate_deliveries_are_normal() -> None:
    memory = working()
    memory.settle("nope", delta=1.0)
    memory.settle("nope", delta=1.0)
    assert memory.doctor().findings == ()


def test_outcomes_that_people_typed_are_marked() -> None:
    memory = opened(channel="cli")
    memory.add("The zebra is striped.")
    settled(memory, 1.0)
    assert "1 of 1 settlements are marked operator" in found(memory, "operator_settled").evidence


def test_outcomes_that_agents_claimed_are_marked() -> None:
    memory = opened(channel="mcp")
    memory.add("The zebra is striped.")
    settled(memory, 1.0)
    assert "1 of 1 settlements are marked claimed" in found(memory, "agent_settled").evidence
    assert "operator_settled" not in codes(memory)


def test_a_meter_bound_to_the_channel_is_measured_and_no_cause_for_alarm() -> None:
    memory = opened(channel="mcp")
    memory.meters.add("ci", tier="measured")
    memory.meters.bind("ci", channel="mcp")
    memory.add("The zebra is striped.")
    settled(memory, 1.0, meter="ci")
    assert memory.doctor().findings == ()


def test_a_damaged_index_is_an_error(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        memory.add("The zebra is striped.")
        settled(memory, 1.0)
        assert memory.doctor().findings == ()
    broken = apsw.Connection(str(tmp_path / "m.db"))
    broken.execute("DELETE FROM terms")
    broken.close()
    with opened(tmp_path / "m.db") as memory:
        assert found(memory, "index_damaged").severity == "error"
        assert memory.check(repair=True).ok
        assert memory.doctor().findings == ()


def test_the_worst_is_told_first() -> None:
    memory = opened(channel="cli")
    for n in range(3):
        memory.add(f"fact number {n}")
    for _ in range(5):
        settled(memory, 0.0, "fact")
    for _ in range(20):
        memory.tick()
    severities = [finding.severity for finding in memory.doctor().findings]
    assert severities == sorted(severities, key=("error", "warning", "info").index)
    assert {"never_paid", "starvation_cliff", "operator_settled"} <= set(codes(memory))
