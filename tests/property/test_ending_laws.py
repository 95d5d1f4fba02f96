"""Laws of endings: many that are buried together leave the store as if they had been buried one by one."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earnest import Memory
from earnest.core.links import Link
from earnest.ledger.book import Book
from earnest.testing import ManualClock, SeededRng

COSTLY = settings(max_examples=max(8, settings().max_examples // 8), deadline=None, suppress_health_check=[*HealthCheck])
WORDS = ("harbour", "crane", "quay", "ferry", "island", "Tuesday", "invoice", "kettle", "lantern")


def peopled(path: Path, seed: int) -> Memory:
    """Entries of each kind, retention and standing, with labels, cues, links and vectors; the same for the same seed."""
    rng = random.Random(seed)
    memory = Memory.open(path, embedder="none", clock=ManualClock(datetime(2026, 1, 5, tzinfo=UTC)), rng=SeededRng(seed))
    for number in range(14):
        memory.add(
            " ".join(rng.choices(WORDS, k=rng.randint(1, 6))) + f" number {number}",
            cue=rng.choice((None, f"where is the {rng.choice(WORDS)}?")),
            kind=rng.choice(("semantic", "episodic", "procedural")),
            scope=rng.choice(("", "other")),
            retention=rng.choice(("earned", "fading", "kept")),
            sources=rng.choice(([], ["one"], ["one", "two"])),
            tags=rng.choice(([], ["x"])),
        )
    with memory._writing() as tx:
        rows = [*range(1, 15)]
        tx.put_vectors("a model", {row: bytes([row]) * 8 for row in rows if rng.random() < 0.5})
        tx.put_vectors("another", {row: bytes([row]) * 8 for row in rows if rng.random() < 0.5})
        for row in rows:
            if rng.random() < 0.3:
                tx.change_entry(row, pinned=True)
            elif rng.random() < 0.3:
                tx.change_entry(row, standing="suspended")
        for _ in range(12):
            one, other = sorted(rng.sample(rows, 2))
            if len({stored.entry.scope for stored in tx.entries([one, other])}) == 1:
                tx.put_link(Link(one, other, "semantic", 0.5, "", rng.random() < 0.3, datetime(2026, 1, 5, tzinfo=UTC)))
    return memory


def all_of(path: Path) -> dict[str, list[Any]]:
    """Everything in a file: every table, the contents of the indexes too."""
    db = apsw.Connection(str(path))
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'terms_known%'")]
    shown = [name for name in tables if not any(name.startswith(f"{index}_") for index in ("terms", "guards", "past"))]
    made: dict[str, list[Any]] = {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}").fetchall())) for name in shown}  # noqa: S608 (the schema's names)
    made |= {word: db.execute("SELECT rowid FROM terms WHERE terms MATCH ?", (word,)).fetchall() for word in ("harbour", "number", "ferry")}
    return made


@COSTLY
@given(seed=st.integers(0, 10_000), cause=st.sampled_from(("starved", "faded", "executed", "superseded", "forgotten")))
def test_entries_that_end_together_leave_what_entries_that_end_one_by_one_leave(
    seed: int, cause: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("ends")
    rows = random.Random(seed + 1).sample(range(1, 15), 7)
    singly, together = peopled(folder / "singly.db", seed), peopled(folder / "together.db", seed)
    with singly._writing() as tx:
        for row in rows:
            mark, tick = tx.counter("rent_index"), tx.counter("tick")
            tx.change_entry(row, standing="dead", cause=cause, balance=0, rent_mark=mark, died_tick=tick, pinned=False)
    with together._writing() as tx:
        tx.end_entries(rows, cause)
    assert singly.check().problems == together.check().problems
    singly.close()
    together.close()
    assert all_of(folder / "singly.db") == all_of(folder / "together.db")


def test_burials_together_write_the_log_that_burials_one_by_one_write(tmp_path: Path) -> None:
    heads, stores = [], []
    for name in ("singly", "together"):
        memory = peopled(tmp_path / f"{name}.db", 7)
        with memory._writing() as tx:
            book = Book(tx, memory._read_settings(tx))
            mortal = [stored for stored in tx.entries([*range(1, 15)]) if not stored.entry.pinned]
            if name == "singly":
                for stored in mortal:
                    book.bury(stored, "starved")
            else:
                with book.together():
                    for stored in mortal:
                        book.bury(stored, "starved")
        assert memory.check().problems == ()
        heads.append(memory.events(limit=1, newest=True)[0].hash)
        memory.close()
        stores.append(all_of(tmp_path / f"{name}.db"))
    assert heads[0] == heads[1]
    assert stores[0] == stores[1]
