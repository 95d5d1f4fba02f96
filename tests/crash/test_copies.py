"""A copy of a store that bears its name is on the disk, its folder's entry too: SQLite alone writes copies without waiting for the disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from earnest import Memory

OLD: Final = Path(__file__).resolve().parents[1] / "data" / "formats" / "format-1.db"


def lived(path: Path) -> None:
    with Memory.open(path, embedder="none") as memory:
        memory.add("Before the backup.")


def backup(folder: Path) -> Path:
    lived(folder / "m.db")
    with Memory.open(folder / "m.db", embedder="none") as memory:
        return memory.backup(folder / "copy.db")


def restored_anew(folder: Path) -> Path:
    Memory.restore_backup(backup(folder), folder / "new.db")
    return folder / "new.db"


def put_aside(folder: Path) -> Path:
    copy = backup(folder)
    kept = Memory.restore_backup(copy, folder / "m.db")
    assert kept is not None
    return kept


def brought_forward(folder: Path) -> Path:
    path = folder / "old.db"
    shutil.copyfile(OLD, path)
    with Memory.open(path, embedder="none"):
        return path.with_name("old.db.backup-format-1")


@pytest.mark.parametrize("made", [backup, restored_anew, put_aside, brought_forward], ids=lambda one: str(one.__name__))
def test_a_copy_is_on_the_disk_before_it_has_its_name_and_its_name_after(
    made: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, int | str]] = []
    sync, rename = os.fsync, Path.rename

    def synced(handle: int) -> None:
        sync(handle)
        said.append(("synced", os.fstat(handle).st_ino))

    def renamed(self: Path, target: Path) -> Path:
        said.append(("named", str(target)))
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "rename", renamed)
    copy = made(tmp_path)
    at = said.index(("named", str(copy)))
    assert ("synced", copy.stat().st_ino) in said[:at]
    if os.name == "posix":
        assert ("synced", copy.parent.stat().st_ino) in said[at:]
    assert not list(tmp_path.glob("*.part*"))
