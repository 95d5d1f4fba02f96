"""Writing files that are there whole or not at all: what a verb says is on the disk is on the disk, its name too."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path, *, mode: int | None = None) -> Iterator[IO[bytes]]:
    """What is at a path, replaced by what the block writes: whole and on the disk when it ends, or as it was if the block raises.

    Args:
        path: A file, which need not be there yet, in a folder that is.
        mode: Its rights; those that a new file gets, unless given.

    Raises:
        OSError: It cannot be written; what was there stays.
    """
    # No two writers share the file beside it, and one that was killed leaves nothing in the way of the next.
    part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        part.unlink(missing_ok=True)
        # Made anew and by this process alone: nobody can have it open, or have laid a link there, before it has its rights.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666 if mode is None else 0o600)
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                part.chmod(mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Makes sure that a new name in a folder survives a power cut, where the system lets a program ask for that. Raises OSError."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
