"""No verb lets go of the locks by which other processes know that a store is open: what was acknowledged, all of them see."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from earnest.memory import Memory

OTHER: Final = """
import sys
from earnest.memory import Memory
with Memory.open(sys.argv[1], embedder="none") as memory:
    for text in sys.argv[2:]:
        memory.add(text)
    print(*sorted(entry.text for entry in memory.list()), sep="\\n")
"""


def another_process(path: Path, *adds: str) -> list[str]:
    """Opens the store, adds texts, says what is there and closes it."""
    made = subprocess.run([sys.executable, "-c", OTHER, str(path), *adds], capture_output=True, text=True, check=True)
    return made.stdout.splitlines()


def _opened_twice(memory: Memory, path: Path) -> None:
    with Memory.open(path, embedder="none") as second:
        second.stats()


def _opened_for_reading(memory: Memory, path: Path) -> None:
    with Memory.open(path, embedder="none", read_only=True) as second:
        second.stats()


VERBS: Final[dict[str, Callable[[Memory, Path], object]]] = {
    "erase": lambda memory, _: memory.erase(source="gone"),
    "erase, dry run": lambda memory, _: memory.erase(source="gone", dry_run=True),
    "open twice": _opened_twice,
    "open for reading": _opened_for_reading,
    "check": lambda memory, _: memory.check(),
    "repair": lambda memory, _: memory.check(repair=True),
    "backup": lambda memory, path: memory.backup(path.with_name("copy.db")),
    "compact": lambda memory, _: memory.compact(),
    "export": lambda memory, path: memory.export(path.with_name("export.jsonl")),
    "save lessons": lambda memory, path: memory.save_lessons(path.with_name("lessons.jsonl")),
    "encode a folder": lambda memory, path: memory.encode_files([path.parent], hidden=True),
    "render": lambda memory, path: memory.render("AGENTS.md", path.with_name("AGENTS.md")),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_store_that_is_open_stays_open_to_others_whatever_was_done(tmp_path: Path, verb: str) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder="none") as memory:
        memory.add("Logs may go after seven days.", sources=["gone"])
        memory.settle(str(memory.decide("May logs go?").id), delta=1, meter="disk")
        memory.add("The office is in Berlin.")
        VERBS[verb](memory, path)
        another_process(path)
        memory.add("Said after another process came and went.")
        assert "Said after another process came and went." in another_process(path, "Said by another process.")
        assert "Said by another process." in [entry.text for entry in memory.list()]
        memory.add("Said at the end.")
    texts = another_process(path)
    assert {"Said after another process came and went.", "Said by another process.", "Said at the end."} <= set(texts)
    with Memory.open(path, embedder="none") as memory:
        assert memory.check().ok
