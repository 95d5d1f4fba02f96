"""A writer is killed at any time: what it was told to have is there, once, and the store is whole."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from earnest.errors import NotAllowed
from earnest.memory import Memory

ROOT: Final = Path(__file__).resolve().parents[2]
QUESTION: Final = "In which hall does the machine stand?"


def started(what: str, path: Path, name: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        # Without a buffer on this side: what was read line by line and what is read at the end must not overlap.
        [sys.executable, "-m", "tests.crash.writer", what, str(path), name],
        cwd=ROOT,
        bufsize=0,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first == b'{"ready": true}\n', (first, process.stderr.read() if process.stderr else b"")
    return process


def killed(process: subprocess.Popen[bytes], lines: int, pause: float = 0.0) -> list[dict[str, Any]]:
    """Kills the process when it has said so many lines and a moment has passed, and returns all that it had said."""
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(lines)]
    time.sleep(pause)
    assert process.poll() is None, (process.stderr.read() if process.stderr else b"").decode()
    process.send_signal(signal.SIGKILL)
    out, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL and not errors, errors.decode()
    assert out == b"" or out.endswith(b"\n"), "a line was cut"
    return [json.loads(line) for line in (*said, *out.splitlines())]


def compared(memory: Memory, done: list[dict[str, Any]], begun: dict[str, Any] | None) -> None:
    """Everything that was acknowledged is there; what was under way is there or not, and asking again makes it be there once."""
    if begun is not None:
        repeated(memory, begun)
    checked = memory.check()
    assert checked.ok, checked.problems
    with memory._store.read() as reading:
        for said in done:
            verb = said["verb"]
            if verb == "add":
                entry = reading.entry(said["id"])
                assert entry is not None and entry.entry.text == said["text"] and entry.entry.sources == (said["key"],)
            elif verb == "decide" and said["ticket"]:
                assert reading.ticket(said["ticket"]) is not None
            elif verb == "settle" and said["landed"]:
                settlement = reading.settlement(said["ticket"])
                assert settlement is not None and settlement.delta == said["delta"], said
            elif verb == "abandon" and said["closed"]:
                ticket = reading.ticket(said["ticket"])
                assert ticket is not None and ticket.state == "abandoned"
            elif verb == "update":
                entry = reading.entry(said["id"])
                assert entry is not None and entry.entry.importance == 0.25
            elif verb == "forget" and said["buried"]:
                entry = reading.entry(said["id"])
                assert entry is not None and entry.entry.cause == "forgotten"
    before = memory.stats().tick
    for said in done:
        if said["verb"] == "tick":
            assert memory.tick(slot=said["key"], expire_after=1_000_000).tick == said["tick"]
    assert memory.stats().tick == before
    ended: Counter[str] = Counter()
    for kind in ("settle", "abandon", "expire"):
        ended.update(event.ticket or "" for event in memory.events(kind=kind, limit=100_000))
    assert all(count == 1 for count in ended.values()), "a ticket ended twice"
    texts = Counter(entry.text for standing in (None, "dead") for entry in memory.list(standing=standing))
    assert all(count == 1 for count in texts.values()), "an entry is there twice"
    assert sum(memory.stats().accounts.values()) + memory.stats().energy == 0, "nothing earned here, so that nothing is owed"


def repeated(memory: Memory, request: dict[str, Any]) -> None:
    """The request that was under way, made again by somebody else with its key."""
    verb, key = request["verb"], request["key"]
    if verb == "add":
        memory.add(request["text"], retention="kept", sources=[key], key=key)
        assert len(memory.list(source=key)) == 1
    elif verb == "decide":
        memory.decide(QUESTION, key=key)
    elif verb == "settle":
        assert memory.settle(request["ticket"], delta=request["delta"], meter="hall", key=key).landed
        assert len([e for e in memory.events(kind="settle", limit=100_000) if e.ticket == request["ticket"]]) == 1
    elif verb == "tick":
        first = memory.tick(slot=key, expire_after=1_000_000).tick
        assert memory.tick(slot=key, expire_after=1_000_000).tick == first <= memory.stats().tick
    elif verb == "abandon":
        memory.abandon(request["ticket"])
    elif verb == "forget":
        with suppress(NotAllowed):
            memory.forget(request["id"])


def test_a_writer_is_killed(tmp_path: Path, full: bool) -> None:
    path, rng = tmp_path / "m.db", random.Random(5)
    everything: list[dict[str, Any]] = []
    for run in range(300 if full else 12):
        said = killed(started("verbs", path, f"run{run}"), rng.randint(1, 120), rng.uniform(0.0, 0.01))
        done = [line["done"] for line in said if "done" in line]
        begun = said[-1]["begin"] if said and "begin" in said[-1] else None
        everything += done
        with Memory.open(path) as memory:
            compared(memory, done if run % 10 else everything, begun)
    with Memory.open(path) as memory:
        compared(memory, everything, None)
    assert len(everything) > 150


def test_several_writers_are_killed_together(tmp_path: Path, full: bool) -> None:
    path, rng = tmp_path / "m.db", random.Random(6)
    Memory.open(path).close()
    for run in range(60 if full else 2):
        processes = [started("verbs", path, f"run{run}-{n}") for n in range(3)]
        for said in [killed(process, rng.randint(1, 60), rng.uniform(0.0, 0.01)) for process in processes]:
            with Memory.open(path) as memory:
                compared(memory, [line["done"] for line in said if "done" in line], said[-1].get("begin") if said else None)


def test_killed_while_a_store_is_made(tmp_path: Path, full: bool) -> None:
    rng = random.Random(7)
    for run in range(60 if full else 3):
        killed(started("opening", tmp_path, f"run{run}"), rng.randint(2, 6), rng.uniform(0.0, 0.02))
    files = sorted(tmp_path.glob("*.db"))
    assert len(files) > 5
    for file in files:
        with Memory.open(file) as memory:
            assert memory.agent == "default"
            memory.add("It works.")
            checked = memory.check()
            assert checked.ok, checked.problems
            assert [event.kind for event in memory.events(limit=2)] == ["create", "add"]


def test_killed_while_the_index_is_rebuilt(tmp_path: Path, full: bool) -> None:
    path, rng = tmp_path / "m.db", random.Random(8)
    with Memory.open(path) as memory:
        memory.add_many([{"text": f"The machine {n} stands in hall {n % 7}."} for n in range(300)])
        wanted = [hit.entry.id for hit in memory.search("machine 123", k=20)]
    for run in range(60 if full else 3):
        killed(started("rebuilding", path, f"run{run}"), rng.randint(0, 3), rng.uniform(0.0, 0.05))
        with Memory.open(path) as memory:
            assert [hit.entry.id for hit in memory.search("machine 123", k=20)] == wanted
            checked = memory.check()
            assert checked.ok, checked.problems


pytestmark = pytest.mark.timeout(3_600)
