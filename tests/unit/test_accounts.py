"""The accounts of energy as they are told: together they hold nothing, whether or not accrued rent was booked."""

from __future__ import annotations

from pathlib import Path

from earnest import Memory
from earnest.testing import ManualClock
from tests.rest import client


def owing(memory: Memory, rounds: int) -> None:
    """Measure one entry again and again, so that all of them owe rent, and only it has paid."""
    memory.add_many([{"text": f"The cache of service {n} may be deleted after {n + 2} days."} for n in range(6)])
    for _ in range(rounds):
        ticket = memory.decide("May the cache of service 1 be deleted?")
        memory.settle(ticket.id or "", delta=900.0, meter="disk", scale=1_000, acted=True)
        memory.tick()


def test_all_accounts_together_hold_nothing_while_the_living_owe_rent(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", clock=ManualClock(), embedder="none", settings={"rent": 0.05}) as memory:
        owing(memory, 1)
        memory.pin(memory.list()[5].id)
        for rounds in (1, 30):
            owing(memory, rounds)
            stats = memory.stats()
            assert sum(stats.accounts.values()) + stats.energy == 0
        assert stats.accounts["rent"] > 1_000_000 and memory.check().ok


def test_the_service_tells_accounts_that_sum_to_nothing_while_rent_is_owed(tmp_path: Path) -> None:
    with Memory.open(tmp_path, "ops", embedder="none") as memory:
        owing(memory, 3)
    with client(tmp_path) as web:
        told = web.get("/v1/agents/ops/accounts").json()
        assert told["sum"] == sum(told["accounts"].values()) == 0 and told["accounts"]["rent"] > 0
