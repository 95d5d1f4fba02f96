"""One process at a time: a lock on a file that falls when its holder ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from earnest.errors import StoreBusy, StoreError

_PAUSE: Final = 0.05


@contextmanager
def locked(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock on a file, which is made if need be and is gone when it is released.

    Raises:
        StoreBusy: Another process held it for longer than `patience` seconds. StoreError: The file cannot be made.
    """
    handle = _held(path, patience)
    try:
        yield
    finally:
        # While it is held: whoever waited for it finds that it is another file by now, and takes the one that is there.
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(handle)
        if sys.platform == "win32":
            # No file is removed there that somebody has open.
            with contextlib.suppress(OSError):
                path.unlink()


def _held(path: Path, patience: float) -> int:
    """The handle of the locked file, which is the one that has this name."""
    deadline = time.monotonic() + patience
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(f"{path}: cannot be made: {error.strerror or error}; it has to lie beside the store") from None
        if _try(handle):
            if _same(handle, path):
                return handle
            os.close(handle)
            continue
        os.close(handle)
        if time.monotonic() >= deadline:
            raise StoreBusy(f"{path}: another run is settling, for longer than {patience:g} s; try again")
        time.sleep(_PAUSE)


def _same(handle: int, path: Path) -> bool:
    """Whether a name still is that of an open file."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _try(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
