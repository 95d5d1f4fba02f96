"""Whoever restores, imports, erases or archives is killed at any time: the store is sound, and doing it again finishes it."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from earnest import ALL, Memory

COUNT: Final = 900

WORK: Final = """
import sys
from earnest import Memory
what, store, file = sys.argv[1:4]
memory = Memory.open(store)
print("begun", flush=True)
if what in ("restore", "import"):
    memory.import_(file)
elif what == "erase":
    memory.erase(scope="alice")
elif what == "archive":
    memory.archive(file, keep=100)
print("done", flush=True)
"""


def killed(what: str, store: Path, file: Path, after: float) -> bool:
    """Begins the work in a process of its own and kills it after some seconds; whether it was done before."""
    with subprocess.Popen([sys.executable, "-c", WORK, what, str(store), str(file)], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None and worker.stdout.readline() == "begun\n"
        time.sleep(after)
        worker.kill()
        return "done" in worker.stdout.read()


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("moving")
    with Memory.open(folder / "source.db") as memory:
        memory.add_many({"text": f"Note {n} about the walrus of alice.", "scope": "alice" if n % 2 else ""} for n in range(COUNT))
        memory.export(folder / "x.jsonl")
    return folder / "x.jsonl"


@pytest.mark.parametrize("seed", range(3))
def test_a_restore_is_there_whole_or_not_at_all(export: Path, tmp_path: Path, seed: int) -> None:
    Memory.open(tmp_path / "m.db").close()
    killed("restore", tmp_path / "m.db", export, random.Random(seed).uniform(0.0, 1.5))
    with Memory.open(tmp_path / "m.db") as memory:
        assert memory.check().ok and memory.stats().alive in (0, COUNT)
        if not memory.stats().alive:
            assert memory.import_(export).restored
        with Memory.open(":memory:") as other:
            other.import_(export)
            assert memory.export(io.BytesIO()).counts == other.export(io.BytesIO()).counts


@pytest.mark.parametrize("seed", range(3))
def test_an_import_goes_on_where_it_was(export: Path, tmp_path: Path, seed: int) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        memory.add("Something of its own.")
    killed("import", tmp_path / "m.db", export, random.Random(seed).uniform(0.2, 3.0))
    with Memory.open(tmp_path / "m.db") as memory:
        assert memory.check().ok
        there = memory.stats().alive - 1
        report = memory.import_(export)
        assert (report.added, report.already) == (COUNT - there, there) and memory.stats().alive == COUNT + 1


@pytest.mark.parametrize("seed", range(3))
def test_an_erasure_is_finished_by_asking_again(export: Path, tmp_path: Path, seed: int) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        memory.import_(export)
    killed("erase", tmp_path / "m.db", export, random.Random(seed).uniform(0.0, 1.5))
    with Memory.open(tmp_path / "m.db") as memory:
        assert memory.check().ok
        assert memory.erase(scope="alice").complete and len(memory.list(scope=ALL)) == COUNT // 2
    assert not any(f"Note {n} about".encode() in (tmp_path / "m.db").read_bytes() for n in range(1, COUNT, 2))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_archived_is_in_the_store_or_in_the_file(export: Path, tmp_path: Path, seed: int) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        for n in range(400):
            memory.control(delta=float(n), meter="m")
        head = memory.check().head
    killed("archive", tmp_path / "m.db", tmp_path / "log.jsonl", random.Random(seed).uniform(0.0, 0.3))
    with Memory.open(tmp_path / "m.db") as memory:
        assert memory.check(head=head).ok
        if memory.events(kind="archived", limit=1):
            assert memory.check_archive(tmp_path / "log.jsonl") == ()
        else:
            assert memory.archive(tmp_path / "again.jsonl", keep=100).events > 200
