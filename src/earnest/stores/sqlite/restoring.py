"""Putting a backup in the place of a store that nobody uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from earnest.core.uris import file_uri
from earnest.errors import StoreBusy, StoreCorrupt, StoreError, WrongAgent, shown
from earnest.stores.sqlite import verify
from earnest.stores.sqlite.connection import copied, identity, looked_over, needs_immutable, refuse_others, translated
from earnest.stores.sqlite.reading import SqliteReading
from earnest.stores.sqlite.schema import FORMAT

_SIDES: Final = ("", "-wal", "-shm", "-journal")


def restore(backup: Path, path: Path, *, timeout: float = 30.0) -> Path | None:
    """Put a copy of a backup in the place of a store; what was there before is kept beside it. Returns where, or None if nothing was.

    Raises:
        StoreCorrupt: The backup is damaged or no store. WrongAgent: it is another agent's.
        StoreBusy: Somebody has the store open. StoreError: a file cannot be read or written. Nothing was changed then.
    """
    looked_over(backup, read_only=True, timeout=timeout)
    if path.exists() and backup.samefile(path):
        raise StoreError(f"{shown(str(backup))}: is the store itself; name a copy of it")
    with _opened(backup, timeout) as source:
        agent = _sound(source, str(backup))
        if not path.exists():
            _placed(source, path)
            return None
        kept = _beside(path)
        with translated(str(path)):
            try:
                _overwritten(source, path, kept, agent, timeout)
            except (apsw.NotADBError, apsw.CorruptError):
                # It cannot be written as a store any more: it is put aside as it is.
                for end in _SIDES:
                    if (side := path.with_name(path.name + end)).exists():
                        side.rename(kept.with_name(kept.name + end))
                _placed(source, path)
        return kept


@contextmanager
def _opened(backup: Path, timeout: float) -> Iterator[Any]:
    with translated(str(backup)):
        still = needs_immutable(str(backup), timeout)
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        source: Any = apsw.Connection(file_uri(backup.resolve()) + ("?immutable=1" if still else ""), flags=flags)
        try:
            source.set_busy_timeout(int(timeout * 1000))
            yield source
        finally:
            source.close()


def _sound(source: Any, where: str) -> str:
    """Whose memory a whole backup holds. Raises StoreCorrupt."""
    version, application, tables = identity(source)
    refuse_others(where, version, application, tables)
    found = source.execute("SELECT json_extract(value, '$') FROM settings WHERE name = 'agent'").fetchone() if tables else None
    if found is None:
        raise StoreCorrupt(f"{where}: holds no memory of anybody; name a backup")
    if version == FORMAT:
        problem = next((damage.text for damage in verify.damage(source, SqliteReading(source)) if not damage.repairable), None)
    else:
        [(said,)] = source.execute("PRAGMA integrity_check(1)").fetchall()
        problem = None if said == "ok" else str(said)
    if problem:
        raise StoreCorrupt(f"{where}: the backup is damaged itself ({problem}); name another one")
    return str(found[0])


def _beside(path: Path) -> Path:
    """A name for what was there before."""
    number = 1
    while (kept := path.with_name(f"{path.name}.before-restore-{number}")).exists():
        number += 1
    return kept


def _overwritten(source: Any, path: Path, kept: Path, agent: str, timeout: float) -> None:
    target: Any = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        target.set_busy_timeout(int(timeout * 1000))
        # Whoever has the file open shares it, and a lock on all of it cannot be had.
        target.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            target.execute("BEGIN EXCLUSIVE")
            target.execute("COMMIT")
        except apsw.BusyError as error:
            raise StoreBusy(f"{path}: somebody has it open; end those processes, then restore again") from error
        owner = target.execute("SELECT json_extract(value, '$') FROM settings WHERE name = 'agent'").fetchone()
        if owner is not None and owner[0] != agent:
            raise WrongAgent(f"{path}: belongs to agent {owner[0]!r}, the backup to {agent!r}; restore it into another file")
        copied(target, kept)
        with target.backup("main", source, "main") as copying:
            while not copying.done:
                copying.step()
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        target.close()


def _placed(source: Any, path: Path) -> None:
    """A whole copy under a name that is free."""
    if not path.parent.is_dir():
        raise StoreError(f"{path}: the folder {path.parent} does not exist; make it first")
    with translated(str(path)):
        copied(source, path)
