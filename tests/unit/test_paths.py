"""Whatever is given for a path is refused by one typed error, or taken."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest import memory as facade
from earnest.errors import EarnestError
from earnest.verbs.ruling import Rules

TAKING: Final = frozenset(("path", "paths", "split_dir", "backup", "ours", "theirs", "into", "base", "head"))
"""What parameters are called that name a file or a folder."""

Verb = Callable[[Memory, Any, Path], object]

VERBS: Final[dict[str, Verb]] = {
    "open path": lambda m, bad, here: Memory.open(bad),
    "restore_backup backup": lambda m, bad, here: Memory.restore_backup(bad, here / "m.db"),
    "restore_backup path": lambda m, bad, here: Memory.restore_backup(m.backup(here / "copy.db"), bad),
    "backup path": lambda m, bad, here: m.backup(bad),
    "archive path": lambda m, bad, here: m.archive(bad),
    "check_archive path": lambda m, bad, here: m.check_archive(bad),
    "encode_files paths": lambda m, bad, here: m.encode_files([bad]),
    "export path": lambda m, bad, here: m.export(bad),
    "import_ path": lambda m, bad, here: m.import_(bad),
    "load_lessons path": lambda m, bad, here: m.load_lessons(bad),
    "save_lessons path": lambda m, bad, here: m.save_lessons(bad),
    "render path": lambda m, bad, here: m.render("AGENTS.md", bad),
    "render split_dir": lambda m, bad, here: m.render("AGENTS.md", here / "AGENTS.md", split_dir=bad),
    "rules.export path": lambda m, bad, here: m.rules.export(bad),
    "rules.adopt path": lambda m, bad, here: m.rules.adopt(bad),
    "read_lessons path": lambda m, bad, here: facade.read_lessons(bad),
    "merge_lessons ours": lambda m, bad, here: facade.merge_lessons(bad, saved(m, here), here / "into"),
    "merge_lessons theirs": lambda m, bad, here: facade.merge_lessons(saved(m, here), bad, here / "into"),
    "merge_lessons into": lambda m, bad, here: facade.merge_lessons(saved(m, here), saved(m, here), bad),
    "merge_lessons base": lambda m, bad, here: facade.merge_lessons(saved(m, here), saved(m, here), here / "into", bad),
    "foreign_outcomes base": lambda m, bad, here: facade.foreign_outcomes(bad, saved(m, here)),
    "foreign_outcomes head": lambda m, bad, here: facade.foreign_outcomes(saved(m, here), bad),
}
LEFT_OUT: Final = frozenset(("check head",))
"""A hash, not a file."""
OPTIONAL: Final = frozenset(("render path", "render split_dir", "merge_lessons base"))
"""None stands for none there."""

BAD: Final[dict[str, Any]] = {
    "None": None, "a number": 5, "nothing": "", "blank": "  ", "a NUL": "a\x00b", "broken Unicode": "\ud8ab", "bytes": b"notes",
    "a list": ["notes"], "too long": "x" * 5_000,
}  # fmt: skip


def saved(memory: Memory, here: Path) -> Path:
    memory.save_lessons(here / "saved.jsonl")
    return here / "saved.jsonl"


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Memory.open(tmp_path / "m.db", embedder="none") as made:
        made.add("Old logs may be deleted after seven days.")
        yield made


def test_every_parameter_that_names_a_file_is_looked_at_here() -> None:
    verbs = [(name, verb) for name, verb in inspect.getmembers(Memory, inspect.isroutine) if not name.startswith("_")]
    verbs += [(f"rules.{name}", verb) for name, verb in inspect.getmembers(Rules, inspect.isfunction) if not name.startswith("_")]
    verbs += [(name, getattr(facade, name)) for name in ("read_lessons", "merge_lessons", "foreign_outcomes")]
    found = {f"{name} {one}" for name, verb in verbs for one in inspect.signature(verb).parameters if one in TAKING}
    assert found - LEFT_OUT == VERBS.keys()


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_path_gets_one_typed_error(verb: str, bad: str, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if bad == "None" and verb in OPTIONAL:
        VERBS[verb](memory, None, tmp_path)
        return
    monkeypatch.chdir(tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(EarnestError):
        VERBS[verb](memory, BAD[bad], tmp_path)
    made = {path.name for path in tmp_path.iterdir()} - before
    assert made <= {"saved.jsonl", "copy.db"}, "nothing is half done"
