"""One process at a time: a lock on a file that falls when its holder ends, however it ends."""

from __future__ import annotations

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
    """Hold the lock on a file, which is made if need be and stays there.

    Raises:
        StoreBusy: Another process held it for longer than `patience` seconds. StoreError: The file cannot be made.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"{path}: cannot be made: {error.strerror or error}; it has to lie beside the store") from None
    try:
        deadline = time.monotonic() + patience
        while not _try(handle):
            if time.monotonic() >= deadline:
                raise StoreBusy(f"{path}: another run is settling, for longer than {patience:g} s; try again")
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(handle)


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
