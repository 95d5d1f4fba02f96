"""What is written into other people's folders is there whole or not at all, and on the disk, its name too, when the verb returns."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from earnest import Memory
from earnest.ci import state
from earnest.errors import EarnestError
from earnest.http.tokens import FOLDER, Tokens
from earnest.memory import merge_lessons
from earnest.testing import ManualClock, SeededRng

BEFORE: Final = "what was there before\n"


def exported(memory: Memory, folder: Path) -> Path:
    memory.export(folder / "all.jsonl", overwrite=True)
    return folder / "all.jsonl"


def rules(memory: Memory, folder: Path) -> Path:
    memory.rules.export(folder / "rules.json", status="pending")
    return folder / "rules.json"


def lessons(memory: Memory, folder: Path) -> Path:
    memory.save_lessons(folder / "lessons.jsonl")
    return folder / "lessons.jsonl"


def merged_lessons(memory: Memory, folder: Path) -> Path:
    side = folder / "side"
    side.mkdir()
    memory.save_lessons(side / "one.jsonl")
    merge_lessons(side / "one.jsonl", side / "one.jsonl", folder / "merged.jsonl")
    return folder / "merged.jsonl"


def settled_runs(memory: Memory, folder: Path) -> Path:
    state.write(folder / "m.db.ci.json", state.State())
    return folder / "m.db.ci.json"


def rendered(memory: Memory, folder: Path) -> Path:
    memory.render("AGENTS.md", folder / "AGENTS.md")
    return folder / "AGENTS.md"


def token(memory: Memory, folder: Path) -> Path:
    Tokens(folder).make("ci", operator=True, clock=ManualClock(), rng=SeededRng(7))
    return next((folder / FOLDER).glob("*.json"))


WRITERS: Final = [exported, rules, lessons, merged_lessons, settled_runs, rendered, token]
REPLACING: Final = [exported, rules, lessons, settled_runs, rendered]
Writer = Callable[[Memory, Path], Path]


@pytest.fixture
def memory() -> Memory:
    made = Memory.open(":memory:", embedder="none", clock=ManualClock(), rng=SeededRng(3))
    made.add("Old logs may be deleted after seven days.")
    made.rules.add("avoid", trigger="old logs are deleted", action="Look for billing logs first.")
    return made


def name_of(writer: Writer) -> str:
    return writer.__name__


@pytest.mark.parametrize("writer", WRITERS, ids=name_of)
def test_a_file_is_on_the_disk_before_it_has_its_name_and_its_name_after(
    writer: Writer, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, int | str]] = []
    sync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        sync(handle)
        said.append(("synced", os.fstat(handle).st_ino))

    def replaced(self: Path, target: Path) -> Path:
        said.append(("named", str(target)))
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    made = writer(memory, tmp_path)
    at = said.index(("named", str(made)))
    assert ("synced", made.stat().st_ino) in said[:at]
    if os.name == "posix":
        assert ("synced", made.parent.stat().st_ino) in said[at:]
    assert not [*tmp_path.rglob("*.part")]


@pytest.mark.parametrize("writer", REPLACING, ids=name_of)
def test_a_disk_that_fills_up_leaves_what_was_there(
    writer: Writer, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = writer(memory, tmp_path)
    path.write_text(BEFORE, encoding="utf-8")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EarnestError, match="No space left"):
        writer(memory, tmp_path)
    assert path.read_text(encoding="utf-8") == BEFORE
    assert not [*tmp_path.rglob("*.part")]


def test_a_token_that_could_not_be_kept_is_none(tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EarnestError, match="nothing was made"):
        token(memory, tmp_path)
    assert not Tokens(tmp_path).any() and not [*(tmp_path / FOLDER).iterdir()]


def test_what_a_killed_writer_left_is_in_nobodys_way(memory: Memory, tmp_path: Path) -> None:
    # In containers the next process often has the number of the one before.
    (tmp_path / f"all.jsonl.{os.getpid()}-{threading.get_ident()}.part").write_text("half a line", encoding="utf-8")
    assert exported(memory, tmp_path).read_bytes().startswith(b'{"earnest":')
    assert not [*tmp_path.rglob("*.part")]


def part_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")


def test_a_link_that_lies_where_the_writer_writes_is_not_followed(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(BEFORE, encoding="utf-8")
    part_of(tmp_path / "all.jsonl").symlink_to(tmp_path / "mine.txt")
    assert exported(memory, tmp_path).read_bytes().startswith(b'{"earnest":')
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == BEFORE and not (tmp_path / "all.jsonl").is_symlink()


def test_what_others_may_not_read_is_at_no_time_theirs_to_open(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    opened = os.open

    def watched(path: str | Path, flags: int, mode: int = 0o777, **how: int) -> int:
        handle = opened(path, flags, mode, **how)
        if str(path).endswith(".part"):
            begun.append(stat.S_IMODE(os.fstat(handle).st_mode))
        return handle

    monkeypatch.setattr(os, "open", watched)
    before = os.umask(0)
    try:
        made = token(memory, tmp_path)
    finally:
        os.umask(before)
    assert begun == [0o600] and stat.S_IMODE(made.stat().st_mode) == 0o600
