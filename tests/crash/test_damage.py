"""Bits flip, files are cut, pages are wiped: it is found, or it did no harm. A balance never changes in silence, and nothing hangs."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from earnest.core.filters import ALL
from earnest.errors import EarnestError
from earnest.memory import Memory
from earnest.protocols import Author
from earnest.stores.sqlite import SqliteStore
from earnest.testing import ManualClock, SeededRng
from tests.crash.script import STEPS, play, staged

_NAME: Final = "m.db"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two copies of the script's store: closed, and as it lies there while it is open, most of it in the log (-wal)."""
    folder = tmp_path_factory.mktemp("original")
    clock = ManualClock()
    store = SqliteStore(folder / _NAME, author=Author(clock.now(), "t", "python"))
    stage = staged(store, clock, SeededRng(0))
    for step in range(len(STEPS)):
        play(stage, step)
    (folder / "open").mkdir()
    (folder / "closed").mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(folder / (_NAME + suffix), folder / "open" / (_NAME + suffix))
    (folder / "content.json").write_text(json.dumps(content(store)))
    (folder / "head").write_text(stage.memory.check().head)
    stage.close()
    shutil.copy(folder / _NAME, folder / "closed" / _NAME)
    assert (folder / "open" / f"{_NAME}-wal").stat().st_size > 100_000
    return folder


PROMISED: Final = {
    "entries": """entry, id, hex(salt), hex(twin), text, cue, standing, cause, retention, pinned, balance, rent_mark, starves_at,
                  open_tickets, version, kind, origin, importance, confidence, strength, created, valid_from, valid_to, metadata""",
    "settings": "name, value",
    "event_notes": "event, note, before",
    "tickets": "ticket, id, state, resolved",
    "settlements": "ticket, event, delta, scale, tier, acted",
    "shares": "ticket, entry, role, moved",
    "postings": "event, place, debit, credit, amount",
    "events": "event, kind, tick, at, actor, channel, entries, ticket, data, hex(hash)",
    "counters": "name, value",
}
"""What never changes in silence: texts, fields, settings, remarks, balances, standings, verdicts, the log. What a key answered, and what
is known of a document, have no digest, so that a flipped bit in one is not found out."""


def content(store: Any) -> dict[str, Any]:
    with store.read() as reading:
        db = reading._db
        made = {table: db.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall() for table, columns in PROMISED.items()}  # noqa: S608 (names from above)
    # Counted for the doctor alone, and made anew by nothing.
    made["counters"] = [
        row for row in made["counters"] if not row[0].startswith(("outcomes:", "tier:", "last_paid", "paid", "silent", "dropped"))
    ]
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


def mutilated(file: Path, rng: random.Random) -> str:
    """Does one kind of damage to a file; returns what was done."""
    data = bytearray(file.read_bytes())
    how = rng.choice(("flip", "flip", "flip", "cut", "wipe", "garble"))
    place = rng.randrange(len(data))
    if how == "flip":
        data[place] ^= 1 << rng.randrange(8)
    elif how == "cut":
        del data[place:]
    elif how == "wipe":
        start = place // 512 * 512
        data[start : start + 512] = bytes(len(data[start : start + 512]))
    else:
        data[place : place + 16] = rng.randbytes(len(data[place : place + 16]))
    file.write_bytes(data)
    return f"{how} at {place} of {file.name}"


def used(memory: Memory, whole: bool) -> None:
    """Every way of reading, and writing. On a store that passed the check, nothing but a typed error may come."""
    try:
        _used(memory)
    except (AssertionError, LookupError, TypeError, ValueError):
        if whole:
            raise


def _used(memory: Memory) -> None:
    memory.stats()
    memory.list(scope=ALL)
    memory.list(scope=ALL, standing="dead")
    memory.search("may old log files be deleted", scope=ALL)
    memory.answer("build cache")
    memory.top()
    memory.pending()
    memory.events(limit=1_000)
    memory.audit()
    memory.doctor()
    for entry in memory.list(scope=ALL):
        memory.obituary(entry.id)
    memory.meters.list()
    ticket = memory.decide("may old log files be deleted")
    if ticket.id:
        memory.settle(ticket.id, delta=1.0)
    memory.tick()
    memory.add("Written after the damage.")


def outcome(original: Path, kind: str, seed: int, folder: Path) -> str:
    rng = random.Random(seed)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(original / kind, folder)
    file = folder / (_NAME + ("-wal" if kind == "open" and rng.random() < 0.7 else ""))
    what = f"{kind}, seed {seed}: {mutilated(file, rng)}"
    head = (original / "head").read_text()
    try:
        with Memory.open(folder / _NAME) as memory:
            whole = memory.check(head=head).ok
            if whole:
                now, before = content(memory._store), json.loads((original / "content.json").read_text())
                different = [
                    f"{t}: {x} became {y}"
                    for t in before
                    for a, b in zip(before[t], now[t], strict=True)
                    for x, y in zip(a, b, strict=True)
                    if x != y
                ]
                assert not different, f"{what}: nobody sees that {different}"
            with suppress(EarnestError):
                used(memory, whole)
    except EarnestError:
        return "refused"
    return "harmless" if whole else "found by check"


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kind", ["closed", "open"])
def test_damage_is_found_or_harmless(kind: str, original: Path, tmp_path: Path, full: bool) -> None:
    outcomes = Counter(outcome(original, kind, seed, tmp_path / "store") for seed in range(1_000 if full else 20))
    assert outcomes["found by check"] + outcomes["refused"] > outcomes.total() // 4, outcomes
