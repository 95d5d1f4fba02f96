"""A disk that can lose its power, and fail at any single operation: a SQLite file system (VFS) in memory.

What was written but not synced is kept apart. When the power goes, some of it reaches the disk and some does not, whole or torn,
in any order: what a real disk may do, and what killing a process can't show, since the kernel then still writes everything.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import apsw

Operation = Literal["open", "read", "write", "truncate", "sync", "delete", "lock"]
CHANGES: Final[tuple[Operation, ...]] = ("open", "write", "truncate", "sync", "delete")
"""What an operation of the disk is for counting crash points: everything that a power cut can fall on."""

SECTOR: Final = 512


@dataclass(slots=True)
class File:
    """A file: what programs see of it, and what is safely on the disk."""

    now: bytearray = field(default_factory=bytearray)
    synced: bytes | None = None
    """None while the disk does not know the file by name."""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Writes (offset, data) and truncations (size, None) since the last sync."""


def _put(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        if offset < len(content):
            del content[offset:]
        else:
            content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class Disk:
    """Files by name, a count of operations, and a plan of what goes wrong."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files: dict[str, File] = {name: File(bytearray(data), data) for name, data in (files or {}).items()}
        self.gone: dict[str, File] = {}
        """Files that were deleted without a sync of their folder: they may be there again after a power cut."""
        self.count: dict[Operation, int] = dict.fromkeys((*CHANGES, "read", "lock"), 0)
        self.dead = False
        self.cut_after: int | None = None
        self.fault: Callable[[Operation, int], int | None] | None = None
        """Given an operation and its number of that kind, an SQLite error code to fail with."""
        self.failed_syncs_drop = False

    @property
    def changes(self) -> int:
        """How many operations there were that change something."""
        return sum(self.count[operation] for operation in CHANGES)

    def step(self, operation: Operation, also: Callable[[], None] | None = None) -> bool:
        """Counts an operation, and fails if it is its turn. `also` is what happens even if the power goes in the middle of it.

        False once the power is gone: nothing has an effect any more. The program's further steps are those of a dream.
        """
        if self.dead:
            return False
        self.count[operation] += 1
        if operation in CHANGES and self.cut_after is not None and self.changes >= self.cut_after:
            if also:
                also()
            self.dead = True
            raise apsw.exception_for(apsw.SQLITE_IOERR)
        code = self.fault(operation, self.count[operation]) if self.fault else None
        if code is not None:
            raise apsw.exception_for(code)
        return True

    def sync_folder(self) -> None:
        """Which files there are is on the disk now."""
        self.gone.clear()
        for file in self.files.values():
            if file.synced is None:
                file.synced = b""

    def surviving(self, rng: random.Random) -> Disk:
        """A disk as it may be found after the power comes back: every unsynced change made it, or not, or in part."""
        share = rng.choice((0.0, 0.25, 0.5, 0.75, 1.0))
        found: dict[str, bytes] = {}
        for name, file in [*self.gone.items(), *self.files.items()]:
            if file.synced is None and rng.random() >= share:
                continue
            if name in self.gone and self.gone[name] is file and rng.random() >= share:
                continue
            content = bytearray(file.synced or b"")
            kept = [change for change in file.pending if rng.random() < share]
            if rng.random() < 0.5:
                rng.shuffle(kept)
            for offset, data in kept:
                if data is not None and rng.random() < 0.3:
                    self._torn(content, offset, data, rng)
                else:
                    _put(content, offset, data)
            found[name] = bytes(content)
        return Disk(found)

    @staticmethod
    def _torn(content: bytearray, offset: int, data: bytes, rng: random.Random) -> None:
        for start in range(0, len(data), SECTOR):
            if rng.random() < 0.5:
                _put(content, offset + start, data[start : start + SECTOR])


class _Handle:
    """An open file, as SQLite sees it. One process has the disk, so that locks always succeed."""

    def __init__(self, disk: Disk, file: File, *, forget: bool = False, sync_folder: bool = False) -> None:
        self._disk, self._file, self._forget, self._sync_folder = disk, file, forget, sync_folder

    def xRead(self, amount: int, offset: int) -> bytes:
        if not self._forget:
            self._disk.step("read")
        return bytes(self._file.now[offset : offset + amount])

    def _change(self, operation: Operation, offset: int, data: bytes | None) -> None:
        def pend() -> None:
            self._file.pending.append((offset, data))

        if self._forget:
            _put(self._file.now, offset, data)
            return
        if self._disk.step(operation, pend):
            pend()
            _put(self._file.now, offset, data)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._change("write", offset, bytes(data))

    def xTruncate(self, size: int) -> None:
        self._change("truncate", size, None)

    def xSync(self, flags: int) -> None:
        if self._forget:
            return
        try:
            if not self._disk.step("sync"):
                return
        except apsw.IOError:
            if self._disk.failed_syncs_drop and not self._disk.dead:
                # As on Linux: the pages count as clean now. Programs go on seeing them, the disk never will.
                self._file.pending.clear()
            raise
        if self._sync_folder:
            self._disk.sync_folder()
            self._sync_folder = False
        self._file.synced = bytes(self._replayed())
        self._file.pending.clear()

    def _replayed(self) -> bytearray:
        content = bytearray(self._file.synced or b"")
        for offset, data in self._file.pending:
            _put(content, offset, data)
        return content

    def xFileSize(self) -> int:
        return len(self._file.now)

    def xLock(self, level: int) -> None:
        if not self._forget:
            self._disk.step("lock")

    def xUnlock(self, level: int) -> None:
        pass

    def xCheckReservedLock(self) -> bool:
        return False

    def xFileControl(self, operation: int, pointer: int) -> bool:
        return False

    def xSectorSize(self) -> int:
        return 4096

    def xDeviceCharacteristics(self) -> int:
        return apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE

    def xClose(self) -> None:
        pass


_names = itertools.count(1)


class _FileSystem(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.name = f"disk-{next(_names)}"
        super().__init__(self.name, base="")

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        plain = name.filename() if isinstance(name, apsw.URIFilename) else name
        flags[1] = flags[0]
        if not plain:
            return _Handle(self.disk, File(), forget=True)
        if plain not in self.disk.files and not flags[0] & apsw.SQLITE_OPEN_CREATE:
            raise apsw.exception_for(apsw.SQLITE_CANTOPEN)
        if not self.disk.step("open"):
            return _Handle(self.disk, self.disk.files.get(plain, File()), forget=True)
        # As SQLite does on Unix: a new log or journal syncs its folder with its own first sync.
        logs = flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL)
        fresh = plain not in self.disk.files
        return _Handle(self.disk, self.disk.files.setdefault(plain, File()), sync_folder=bool(logs and fresh))

    def xDelete(self, name: str, sync: bool) -> None:
        if not self.disk.step("delete"):
            return
        file = self.disk.files.pop(name, None)
        if file is not None and not sync:
            self.disk.gone[name] = file
        else:
            self.disk.gone.pop(name, None)

    def xAccess(self, name: str, flags: int) -> bool:
        return name in self.disk.files

    def xFullPathname(self, name: str) -> str:
        return name


@contextmanager
def mounted(disk: Disk) -> Iterator[str]:
    """The name under which SQLite finds the disk."""
    system = _FileSystem(disk)
    told = sys.unraisablehook

    def planned(what: Any) -> None:
        # A planned failure in a place where SQLite goes on regardless: there is nobody to tell.
        if not isinstance(what.exc_value, apsw.Error):
            told(what)

    sys.unraisablehook = planned
    try:
        yield system.name
    finally:
        system.unregister()
        sys.unraisablehook = told
