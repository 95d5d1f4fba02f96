"""Taking a store away again that was made for nothing: a command that failed leaves no file behind."""

from __future__ import annotations

import contextlib
from pathlib import Path

import apsw


def taken_away(connection: apsw.Connection, path: Path, last: int) -> bool:
    """Removes a store's file and what SQLite keeps beside it, if nothing was recorded after event `last`; says whether nothing was.

    Done while nobody else may write: whoever waits to write finds that the file is gone (`SqliteStore.write` looks), and records nothing.
    Where an open file cannot be removed it is still there, for the caller to remove once it is closed.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("SELECT max(event) FROM events").fetchone() != (last,):
            return False
        removed(path)
    finally:
        connection.execute("ROLLBACK")
    return True


def removed(path: Path) -> bool:
    """Removes a store's file, last, after what lies beside it; says whether it is gone."""
    with contextlib.suppress(OSError):
        for end in ("-shm", "-wal", ""):
            Path(f"{path}{end}").unlink(missing_ok=True)
    return not path.exists()
