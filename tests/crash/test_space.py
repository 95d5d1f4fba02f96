"""The disk is full, the folder may not be written, the file goes away: typed errors, and everything works again afterwards."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from earnest.errors import EarnestError, StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly
from earnest.memory import Memory

ROOT: Final = Path(__file__).resolve().parents[2]


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path | None]:
    """A file system of its own of that size; None where this user may not mount one."""
    place = folder / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True, check=False)
    if done.returncode:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


# Fills a store until the disk (or a limit on the size of files) refuses, and then makes room; prints what happened.
FILL: Final = """
import resource, sys
from pathlib import Path
from earnest.errors import StoreError, StoreFull
from earnest.memory import Memory
path, how = Path(sys.argv[1]), sys.argv[2]
if how == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
memory = Memory.open(path)
ticket = memory.decide("x", key="nothing") or None
memory.add("Old log files may be deleted.", key="first")
ticket = memory.decide("May old log files be deleted?")
kept = 0
try:
    while True:
        memory.add(f"Fact {kept}: " + "filler " * 3000, key=f"fact-{kept}", retention="kept")
        kept += 1
except StoreFull:
    print("StoreFull")
except StoreError as error:
    print(type(error).__name__)
try:
    memory.settle(ticket.id, delta=1.0, key="late")
    print("settled while it was full")
    memory.add("Filler. " * 9000, key="too much")
except StoreError:
    pass
assert len(memory.list()) == kept + 1, (len(memory.list()), kept)
assert memory.search("log files"), "it cannot be read any more"
if how == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
else:
    (path.parent / "ballast").unlink()
memory.add(f"Fact {kept}: " + "filler " * 3000, key=f"fact-{kept}", retention="kept")
assert memory.settle(ticket.id, delta=1.0, key="late").landed
assert memory.stats().settled == 1
memory.close()
with Memory.open(path) as again:
    checked = again.check()
    assert checked.ok, checked.problems
    assert len(again.list()) == kept + 2
    assert again.stats().settled == 1
print("fine", kept)
"""


def fill(path: Path, how: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", FILL, str(path), how], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split("\n")


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    with small_disk(tmp_path, "3m") as place:
        if place is None:
            said = fill(tmp_path / "m.db", "limit")
            assert said[0] in ("StoreFull", "StoreError")
            return
        (place / "ballast").write_bytes(bytes(1_000_000))
        said = fill(place / "m.db", "disk")
        assert said[0] == "StoreFull", said
        assert int(said[-2].split()[1]) > 5


if os.name == "posix":

    def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
        said = fill(tmp_path / "m.db", "limit")
        assert said[0] in ("StoreFull", "StoreError"), said
        assert said[-2].startswith("fine")


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(EarnestError):
        Memory.open(tmp_path / ("m" * 5_000))


def test_a_new_store_on_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path, "64k") as place:
        if place is None:
            return
        with pytest.raises(StoreError):
            Memory.open(place / "m.db")
        shutil.rmtree(place / "m.db", ignore_errors=True)
        backup_of = tmp_path / "whole.db"
        with Memory.open(backup_of) as memory:
            memory.add("Old log files may be deleted.")
            with pytest.raises(StoreFull):
                memory.backup(place / "copy.db")
            assert not [*place.glob("copy*")], "half a copy was left"
            memory.backup(tmp_path / "copy.db")


def test_no_half_of_a_copy_nor_of_its_journal_is_left_on_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path, "700k") as place, Memory.open(tmp_path / "whole.db", embedder="none") as memory:
        memory.add_many([{"text": f"Fact {number}: " + f"word{number} " * 200} for number in range(400)])
        if place is None:
            return
        for write in (memory.backup, memory.export):
            with pytest.raises(StoreError):
                write(place / "copy")
            assert [*place.iterdir()] == []


def test_a_disk_without_room_for_the_least_file_is_said_to_be_full(tmp_path: Path) -> None:
    """Reading needs a little file beside the log too: without room for that the disk is not called broken."""
    with small_disk(tmp_path, "1500k") as place:
        if place is None:
            return
        with Memory.open(place / "m.db", embedder="none") as memory:
            memory.add("Old log files may be deleted.")
        room = os.statvfs(place)
        (place / "ballast").write_bytes(bytes(room.f_bavail * room.f_frsize))
        with pytest.raises(StoreFull, match="make room"):
            Memory.open(place / "m.db", embedder="none")
        (place / "ballast").unlink()
        with Memory.open(place / "m.db", embedder="none") as memory:
            assert memory.check().ok and memory.stats().alive == 1


def test_a_file_that_was_removed_or_replaced(tmp_path: Path) -> None:
    path, other = tmp_path / "m.db", tmp_path / "other.db"
    with Memory.open(other) as memory:
        memory.add("Of the other store.")
    with Memory.open(path) as memory:
        memory.add("Kept words.")
        aside = tmp_path / "aside.db"
        path.rename(aside)
        for _ in range(2):
            with pytest.raises(StoreError, match="removed or replaced"):
                memory.add("Written to nowhere.")
            with pytest.raises(StoreError, match="removed or replaced"):
                memory.search("words")
            with pytest.raises(StoreError, match="removed or replaced"):
                memory.check()
            # Another store takes its place: it is not written to, and not read from either.
            if not path.exists():
                shutil.copy(other, path)
        path.unlink()
        aside.rename(path)
        memory.add("Written again.")
        assert {entry.text for entry in memory.list()} == {"Kept words.", "Written again."}
        assert memory.check().ok


@pytest.mark.parametrize("what", ["folder", "missing folder", "fifo", "file as folder", "text", "empty", "cut", "header only"])
def test_what_is_no_store_is_refused_and_left_alone(what: str, tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(tmp_path / "real.db") as memory:
        memory.add("Kept words.")
    real = (tmp_path / "real.db").read_bytes()
    if what == "folder":
        path.mkdir()
        path = path / "sub" / "m.db"
    elif what == "missing folder":
        path = tmp_path / "nowhere" / "m.db"
    elif what == "fifo":
        if os.name == "posix":
            os.mkfifo(path)
        else:
            path = tmp_path
    elif what == "file as folder":
        path.write_bytes(b"x")
        path = path / "m.db"
    elif what == "text":
        path.write_text("This is a diary, not a database. " * 10)
    elif what == "cut":
        path.write_bytes(real[: len(real) // 3])
    elif what == "header only":
        path.write_bytes(real[:60])
    if what == "empty":
        path.write_bytes(b"")
        with Memory.open(path) as memory:
            assert memory.add("An empty file becomes a store.")
        return
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(StoreError) as caught, Memory.open(path) as memory:
        checked = memory.check()
        assert not checked.ok
        raise StoreCorrupt("found by the check")
    assert "\n" not in str(caught.value)
    if what == "text":
        assert path.read_bytes() == before
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "shelf"
    folder.mkdir()
    with Memory.open(folder / "m.db") as memory:
        memory.add("Old log files may be deleted.")
    with read_only(folder) as refused:
        if not refused:
            return  # root without the right to mount: nothing can be kept from it
        with pytest.raises(StoreError):
            Memory.open(folder / "new.db")
        with pytest.raises(StoreError), Memory.open(folder / "m.db") as memory:
            memory.add("Written where nothing may be written.")
    with Memory.open(folder / "m.db") as memory:
        assert len(memory.list()) == 1
        memory.add("It may be written again.")
        assert memory.check().ok


@contextmanager
def read_only(folder: Path) -> Iterator[bool]:
    """Takes the right to write away, from root by mounting the folder over itself; whether that could be done."""
    if os.name == "posix" and os.geteuid() == 0:
        if subprocess.run(["mount", "--bind", str(folder), str(folder)], capture_output=True, check=False).returncode:
            yield False
            return
        try:
            subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
            yield True
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        return
    for item in (folder, *folder.iterdir()):
        item.chmod(item.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    try:
        yield True
    finally:
        for item in (folder, *folder.iterdir()):
            item.chmod(item.stat().st_mode | stat.S_IWUSR)


def test_read_only_says_what_to_do(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        memory.add("Old log files may be deleted.")
    with Memory.open(tmp_path / "m.db", read_only=True) as memory:
        assert memory.search("log files") and memory.answer("log files") and memory.check().ok
        for verb in (lambda: memory.add("x y"), memory.tick, lambda: memory.configure(rent=0.1), lambda: memory.decide("log files")):
            with pytest.raises(StoreReadOnly, match="opened for reading"):
                verb()
    assert not issubclass(StoreReadOnly, StoreBusy)
