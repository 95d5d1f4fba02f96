"""Writing into other people's folders: all of a file or nothing of it, and never over a change that was made meanwhile."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from earnest.errors import InvalidInput, StoreError
from earnest.files import replacing

LARGEST: Final = 10_000_000
"""Bytes of a file that is read at most: no file of instructions is as large."""
_TRIES: Final = 5


def content(path: Path) -> bytes | None:
    """What a file holds; None if there is none.

    Raises:
        InvalidInput: It is a folder, or much too large. StoreError: it cannot be read.
    """
    try:
        if path.is_dir():
            raise InvalidInput("path", str(path), "is a folder; name a file in it")
        if path.stat().st_size > LARGEST:
            raise InvalidInput("path", str(path), f"is larger than {LARGEST:,} bytes; that is no file of notes")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}); check the path and the rights") from error


def placed(name: str, path: Path, *, folder: bool = False) -> None:
    """Refuse a file, or with `folder` a folder of files, in a folder that is not there: a name that was mistyped makes no folders.

    Raises:
        InvalidInput: Says which folder is missing; nothing was written.
    """
    above = Path(os.path.realpath(path)).parent
    try:
        there = above.is_dir()
    except OSError as error:
        raise StoreError(f"{path}: cannot be looked at ({error.strerror}); check the path and the rights") from error
    if not there and not (folder and path.is_dir()):
        raise InvalidInput(name, str(path), f"lies in {above}, which does not exist; make that folder first, or name another place")


def change(path: Path, make: Callable[[bytes], bytes | None], *, write: bool) -> tuple[bytes | None, bool]:
    """Bring a file up to date: what it holds now (None if it is not there any more), and whether that is another than before.

    `make` turns what the file holds (nothing, if there is none) into what it should hold, or into None to take it away. It is asked again
    if somebody changed the file meanwhile. A link is followed; rights stay as they are.

    Raises:
        StoreError: It cannot be written; it is as it was.
    """
    real = Path(os.path.realpath(path))
    for _ in range(_TRIES):
        before = content(real)
        after = make(before or b"")
        if after == before or (after is None and before is None):
            return after, False
        if not write:
            return after, True
        try:
            if _put(real, before, after):
                return after, True
        except OSError as error:
            raise StoreError(f"{path}: cannot be written ({error.strerror}); it is as it was; check the path and the rights") from error
    raise StoreError(f"{path}: somebody else writes it all the time; it is as they left it; try again")


def _put(path: Path, before: bytes | None, after: bytes | None) -> bool:
    """Put a file in place in one step, if it is still as it was."""
    if after is None:
        if content(path) != before:
            return False
        path.unlink(missing_ok=True)
        return True
    path.parent.mkdir(exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if before is not None else None
    try:
        with replacing(path, mode=mode) as file:
            file.write(after)
            # Before the look, so that nothing slow lies between it and the replacement.
            file.flush()
            os.fsync(file.fileno())
            if content(path) != before:
                raise _Other
    except _Other:
        return False
    return True


class _Other(Exception):
    """Somebody else has written the file meanwhile."""
