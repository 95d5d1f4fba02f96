"""Who starves next is kept in a column and in three running numbers: both follow every change of an account, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from earnest import Memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(embedder="none", settings={"rent": 0.01}) as opened:
        yield opened


def connection(memory: Memory) -> Any:
    return memory._store._writing_connection()  # type: ignore[attr-defined]


def sound(memory: Memory) -> None:
    """The column is what the account says; the running numbers are sums over those who pay."""
    db = connection(memory)
    accounts = db.execute("SELECT standing, retention, pinned, balance, rent_mark, starves_at FROM entries").fetchall()
    paying = [standing != "dead" and retention == "earned" and not pinned for standing, retention, pinned, *_ in accounts]
    assert [account[5] for account in accounts] == [a[3] + a[4] if pays else None for a, pays in zip(accounts, paying, strict=True)]
    held = [(balance, mark) for (*_, balance, mark, _), pays in zip(accounts, paying, strict=True) if pays]
    sums = len(held), sum(balance for balance, _ in held), sum(mark for _, mark in held)
    kept = dict(db.execute("SELECT name, value FROM counters").fetchall())
    assert tuple(kept.get(name, 0) for name in ("payers", "held", "marks")) == sums
    assert memory.check().ok


CHANGES: dict[str, Callable[[Memory, str], Any]] = {
    "recalled": lambda memory, name: memory.answer("what may be deleted?"),
    "pinned": lambda memory, name: memory.pin(name),
    "pinned and unpinned": lambda memory, name: (memory.pin(name), memory.tick(), memory.unpin(name)),
    "made fading": lambda memory, name: memory.update(name, retention="fading"),
    "made fading and earned again": lambda memory, name: (
        memory.update(name, retention="fading"),
        memory.tick(),
        memory.update(name, retention="earned"),
    ),
    "given another importance": lambda memory, name: memory.update(name, importance=0.9),
    "found helpful": lambda memory, name: memory.feedback(name, "helpful"),
    "forgotten": lambda memory, name: memory.forget(name),
    "forgotten and restored": lambda memory, name: (memory.forget(name), memory.tick(), memory.restore(name)),
    "superseded": lambda memory, name: memory.update(name, text="Old log files may be deleted after nine days."),
    "settled for good": lambda memory, name: settled(memory, 1.0),
    "settled for ill": lambda memory, name: settled(memory, -5.0),
    "starved": lambda memory, name: (memory.configure(rent=1.0), settled(memory, 1.0), memory.tick(), settled(memory, 1.0), memory.tick()),
}


def settled(memory: Memory, delta: float) -> bool:
    ticket = memory.decide("what log files may be deleted?")
    return ticket.id is not None and memory.settle(ticket.id, delta=delta, meter="disk", scale=1.0, acted=True).landed


@pytest.mark.parametrize("change", CHANGES)
def test_the_order_of_starving_follows_whatever_becomes_of_an_entry(memory: Memory, change: str) -> None:
    entry = memory.add("Old log files may be deleted after seven days.")
    memory.add_many([{"text": f"Log files of kind {number} are kept."} for number in range(5)])
    settled(memory, 1.0)
    memory.tick()
    CHANGES[change](memory, entry.id)
    memory.add("One more, so that what was noted is written.")
    sound(memory)


def test_a_change_that_moves_no_account_writes_no_order_of_starving(memory: Memory) -> None:
    entry = memory.add("Old log files may be deleted after seven days.")
    db, said = connection(memory), list[str]()

    def heard(_cursor: Any, sql: str, _values: Any) -> bool:
        said.append(sql)
        return True

    db.exec_trace = heard
    memory.update(entry.id, importance=0.9)
    memory.pin(entry.id)
    db.exec_trace = None
    edited, pinned = [sql for sql in said if sql.startswith("UPDATE entries SET") and "seal" not in sql]
    assert "starves_at" not in edited
    assert "starves_at" in pinned
