"""Several processes on one file: each search takes in what the others committed, and their vectors are made once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from earnest.memory import Memory

ROOT: Final = Path(__file__).resolve().parents[2]

OTHER: Final = """
import sys
from earnest import Memory

with Memory.open(sys.argv[1], embedder="hashing:64") as memory:
    print("ready", flush=True)
    for line in sys.stdin:
        verb, _, rest = line.strip().partition(" ")
        if verb == "add":
            print(memory.add(rest).id, flush=True)
        elif verb == "reembed":
            report = memory.reembed()
            print(report.made, flush=True)
        else:
            getattr(memory, verb)(rest)
            print("done", flush=True)
"""


class Other:
    """Another process with the same file open."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ask(self, line: str) -> str:
        self.tell(line)
        return self._line()

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def hear(self) -> str:
        return self._line()

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        assert self._process.wait(60) == 0
        self._process.stdout.close()


def dense(memory: Memory, query: str) -> list[str]:
    return [hit.entry.text for hit in memory.search(query, mode="dense", k=50)]


def test_a_search_sees_what_another_process_committed_before_it(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, embedder="hashing:64") as memory:
        memory.add("The database is backed up at night.")
        assert len(dense(memory, "databse")) == 1
        other = Other(path)
        entry = other.ask("add A database dump lies on the tape.")
        assert "A database dump lies on the tape." in dense(memory, "databse")
        other.ask(f"forget {entry}")
        assert "A database dump lies on the tape." not in dense(memory, "databse")
        other.ask(f"restore {entry}")
        assert "A database dump lies on the tape." in dense(memory, "databse")
        for n in range(20):
            other.ask(f"add Note {n} of the database.")
        assert len(dense(memory, "databse")) == 22
        other.close()
        assert memory.check().ok


def test_two_processes_make_each_vector_once(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path) as plain:
        plain.add_many([{"text": f"Note {n} of the database."} for n in range(300)])
    one, two = Other(path), Other(path)
    # Both at once: whoever comes second finds the first at it, or nothing left.
    one.tell("reembed")
    made = [one.hear()]
    two.tell("reembed")
    made.append(two.hear())
    one.close()
    two.close()
    assert sum(map(int, made)) == 300
    with Memory.open(path, embedder="hashing:64") as memory:
        assert memory.stats().vectors.missing == 0
        with memory._store.read() as reading:
            assert reading.counter("vectors") == 300, "no vector was written twice"


def test_a_killed_process_leaves_the_rest_to_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path) as plain:
        plain.add_many([{"text": f"Note {n} of the database."} for n in range(100)])
    script = """
import os, sys
from earnest import Memory
from earnest.embedders import HashingEmbedder

class Dying(HashingEmbedder):
    batch = 10
    calls = 0
    def embed(self, texts):
        Dying.calls += 1
        if Dying.calls == 4:
            os._exit(9)
        return super().embed(texts)

with Memory.open(sys.argv[1], embedder=Dying(64)) as memory:
    memory.reembed()
"""
    died = subprocess.run([sys.executable, "-c", script, str(path)], cwd=ROOT, timeout=60, check=False)
    assert died.returncode == 9
    with Memory.open(path, embedder="hashing:64") as memory:
        assert memory.stats().vectors.usable == 30
        with memory._store.write(memory._author()) as tx:
            # What the dead one held runs out by itself; here it is let go of at once.
            tx.hold_model("hashing:64", next(m.holder or "" for m in tx.models()), 0.0)
        assert memory.reembed().made == 70
        assert memory.check().ok
