"""Ten thousand entries with a life behind them: moved whole, with the same digest, the same head and nothing for `check` to find."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from earnest import ALL, Memory
from earnest.testing import ManualClock, SeededRng

SERVICES = ("gateway", "cache", "queue", "index", "mailer", "billing", "search", "login")


def lived(path: Path, count: int) -> Memory:
    """A store of many entries in several scopes, with decisions, deaths, links, merges, rules and idempotency keys."""
    clock = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))
    memory = Memory.open(path, agent="ops", embedder="none", clock=clock, rng=SeededRng(4), settings={"holdout": 0.1})
    memory.meters.add("ci", unit="tests", scale=1)
    memory.meters.bind("ci", channel="python")
    made = memory.add_many(
        {
            "text": f"The {SERVICES[n % 8]} of team {n // 8} listens on port {1_000 + n} — since release {n % 97}. 端口 {n}",
            "cue": f"Which port has the {SERVICES[n % 8]} of team {n // 8}?" if n % 3 else None,
            "sources": [f"doc-{n % 50}"],
            "tags": [f"tag-{n % 9}"],
            "scope": ("", "alice", "bob")[n % 3 if n % 7 == 0 else 0],
            "metadata": {"n": n, "half": n / 2},
        }
        for n in range(count)
    )
    for n in range(0, min(count, 600) // 2, 2):
        ticket = memory.decide(f"Which port has the {SERVICES[n % 8]} of team {n // 8}?", key=f"ask {n}")
        clock.advance(seconds=7)
        if ticket.id is not None and n % 10:
            memory.settle(ticket.id, delta=(1.0, 0.0, -1.0, 2.5)[n % 4], meter="ci", detail=f"run {n}", key=f"settle {n}")
        if n % 40 == 0:
            memory.tick(slot=f"slot {n}")
    for first, second in zip(made[0:200:10], made[1:201:10], strict=True):
        if first.scope == second.scope:
            memory.link(first.id, second.id, reason="beside it")
    waiting = {name for ticket in memory.pending() for name in (ticket.deciding, *ticket.supporting)}
    for entry in made[-100:-40:5]:
        if entry.id not in waiting:
            memory.forget(entry.id, reason="moved")
    for entry in made[-30:-10:4]:
        memory.update(entry.id, text=entry.text + " It was moved.")
    memory.rules.add("avoid", trigger="asking for ports", action="Never guess a port.")
    return memory


def moved(tmp_path: Path, count: int) -> None:
    """Out by an export and a backup, in again, and compared."""
    with lived(tmp_path / "a.db", count) as memory:
        first = memory.export(tmp_path / "x.jsonl")
        seen = memory.check()
        assert seen.ok, seen.problems
        with Memory.open(tmp_path / "b.db", agent="ops", embedder="none") as other:
            report = other.import_(tmp_path / "x.jsonl")
            assert report.restored and report.counts == first.counts and report.notes == ()
            again = other.check(head=seen.head)
            assert again.ok and again.head == seen.head, again.problems
            assert other.export(io.BytesIO()).sha256 == first.sha256
            assert other.stats() == memory.stats()
            for standing in ("active", "suspended", "dead"):
                after = None
                while page := memory.list(scope=ALL, standing=standing, after=after, limit=1_000):
                    assert other.list(scope=ALL, standing=standing, after=after, limit=1_000) == page
                    after = page[-1].id
            for n in range(0, count, max(1, count // 40)):
                question = f"Which port has the {SERVICES[n % 8]} of team {n // 8}?"
                assert other.search(question, scope=ALL) == memory.search(question, scope=ALL)
        memory.backup(tmp_path / "copy.db")
        with Memory.open(tmp_path / "copy.db", embedder="none") as copy:
            assert copy.export(io.BytesIO()).sha256 == first.sha256 and copy.check(head=seen.head).ok


def test_a_store_is_moved_whole(tmp_path: Path) -> None:
    moved(tmp_path, 600)


@pytest.mark.full
def test_ten_thousand_entries_are_moved_whole(tmp_path: Path) -> None:
    moved(tmp_path, 10_000)
