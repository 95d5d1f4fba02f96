"""A process that opens a memory and asks it, or tells it something, loads what it needs for that, and nothing else."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import earnest
from earnest.core.patterns import lazily
from earnest.memory import Memory

ASKING = """
answer = memory.answer("where do the logs go?")
assert answer.text == "Logs go to the archive.", answer
"""
TELLING = """
memory.add("Anna keeps the archive of Berlin.", cue="who keeps the archive?")
"""
PROMPTING = """
assert memory.prefetch("where do the logs go?")
"""
ROUND = """
import re, sys
compiled, compile = [], re.compile
re.compile = lambda *args: compiled.append(sys._getframe(1).f_globals["__name__"]) or compile(*args)
from earnest import Memory
memory = Memory.open(sys.argv[1], embedder="none")
{}
memory.close()
print("\\n".join(sorted(sys.modules)))
print("\\n".join(compiled), file=sys.stderr)
"""
UNASKED = (
    "earnest.aio", "earnest.benching", "earnest.ci", "earnest.cli", "earnest.conversation", "earnest.embedders",
    "earnest.encoding", "earnest.graph.exporting", "earnest.http", "earnest.llms", "earnest.mcp", "earnest.moving", "earnest.recall.citing",
    "earnest.rendering", "earnest.stores.sqlite.restoring", "earnest.stores.sqlite.verify",
    "concurrent", "ctypes", "email", "http", "logging", "numpy", "socket", "ssl", "subprocess", "tempfile", "urllib.request", "xml",
)  # fmt: skip
"""What takes long to load and has no part in an answer by words."""


def loaded_by(doing: str, folder: Path) -> tuple[set[str], list[str]]:
    """The modules that a process loads which does this with a memory, and those that compile a pattern, once for each."""
    with Memory.open(folder / "memory.db", embedder="none") as memory:
        memory.add("Logs go to the archive.")
    command = [sys.executable, "-c", ROUND.format(doing), str(folder / "memory.db")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    loaded = {".".join(name.split(".")[: place + 1]) for name in done.stdout.split() for place in range(name.count(".") + 1)}
    return loaded, done.stderr.split()


def test_an_answer_by_words_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    loaded, _ = loaded_by(ASKING, tmp_path)
    assert "earnest.recall.search" in loaded
    assert [name for name in UNASKED if name in loaded] == []


def test_a_text_that_is_told_loads_no_reader_of_documents(tmp_path: Path) -> None:
    loaded, _ = loaded_by(TELLING, tmp_path)
    assert "earnest.core.entities" in loaded, "names link what is told"
    assert [name for name in UNASKED if name in loaded] == []


def test_a_prompt_compiles_no_pattern_that_nothing_is_held_against(tmp_path: Path) -> None:
    loaded, compiled = loaded_by(PROMPTING, tmp_path)
    assert "earnest.conversation.prefetching" in loaded
    assert [name for name in compiled if name.startswith("earnest.conversation")] == []


def test_every_late_pattern_is_one() -> None:
    for module in pkgutil.walk_packages(earnest.__path__, "earnest."):
        if module.name.startswith(("earnest.core.", "earnest.conversation.", "earnest.encoding.")):
            importlib.import_module(module.name)
    late = [one for one in gc.get_objects() if type(one) is type(lazily("")) and repr(one) != repr(lazily("("))]
    assert len(late) > 90
    assert all(one.groups >= 0 for one in late)


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
