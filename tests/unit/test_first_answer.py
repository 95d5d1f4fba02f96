"""A process that opens a memory and asks it loads what it needs for that, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from earnest.core.patterns import lazily
from earnest.memory import Memory

ASKING = """
import sys
from earnest import Memory
memory = Memory.open(sys.argv[1], embedder="none")
answer = memory.answer("where do the logs go?")
assert answer.text == "Logs go to the archive.", answer
memory.close()
print("\\n".join(sorted(sys.modules)))
"""
UNASKED = (
    "earnest.aio", "earnest.benching", "earnest.ci", "earnest.cli", "earnest.conversation", "earnest.embedders",
    "earnest.encoding", "earnest.graph.exporting", "earnest.http", "earnest.llms", "earnest.mcp", "earnest.moving", "earnest.recall.citing",
    "earnest.rendering", "earnest.stores.sqlite.restoring", "earnest.stores.sqlite.verify",
    "concurrent", "ctypes", "email", "http", "logging", "numpy", "socket", "ssl", "subprocess", "tempfile", "urllib.request", "xml",
)  # fmt: skip
"""What takes long to load and has no part in an answer by words."""


def test_an_answer_by_words_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="none") as memory:
        memory.add("Logs go to the archive.")
    command = [sys.executable, "-c", ASKING, str(tmp_path / "memory.db")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    loaded = {".".join(name.split(".")[: place + 1]) for name in done.stdout.split() for place in range(name.count(".") + 1)}
    assert "earnest.recall.search" in loaded
    assert [name for name in UNASKED if name in loaded] == []


def test_a_late_pattern_does_what_the_compiled_one_does() -> None:
    source, flags = r"(?P<word>[a-z]+)(\d*)", re.IGNORECASE
    late, compiled = lazily(source, flags), re.compile(source, flags)
    text = "One 2 three3 FOUR44 5"
    assert [m.groupdict() for m in late.finditer(text)] == [m.groupdict() for m in compiled.finditer(text)]
    assert late.sub(r"\2", text) == compiled.sub(r"\2", text)
    assert late.findall(text) == compiled.findall(text)
    assert (late.pattern, late.flags, late.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert late.fullmatch("a1") is not None
    assert late.fullmatch("1a") is None
    assert repr(late) == f"lazily({source!r})"


def test_a_mistake_in_a_late_pattern_shows_when_it_is_used() -> None:
    late = lazily("(")
    with pytest.raises(re.error):
        late.search("(")


def test_a_late_pattern_is_asked_for_nothing_that_python_asks_of_every_object() -> None:
    with pytest.raises(AttributeError):
        lazily("(").__wrapped__  # type: ignore[attr-defined]  # noqa: B018
