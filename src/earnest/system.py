"""What the machine gives: its clock, chance, and room in memory."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from datetime import UTC, datetime
from typing import Final

_M_ARENA_MAX: Final = -8
"""The name of the bound in glibc's `mallopt`."""
_ARENAS: Final = 2


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """The present moment."""
        return datetime.now(UTC)


class SystemRng:
    """The operating system's entropy."""

    def random(self) -> float:
        """A float in [0, 1) with 53 random bits."""
        return secrets.randbits(53) / (1 << 53)

    def token(self, size: int) -> bytes:
        """`size` bytes that nobody can guess."""
        return secrets.token_bytes(size)


def few_arenas() -> None:
    """Have the threads of this process share two arenas of memory, for a process that serves for long with many of them.

    By default glibc gives every thread an arena of its own, up to eight for each core, and the room that lies free in one helps no other: a
    service would come to hold a fifth more, and to rise for very long. Under Python's lock sharing costs no time. Nothing happens with
    another C library, or where MALLOC_ARENA_MAX says how many there may be. To be called before the threads start.
    """
    if sys.platform != "linux" or "MALLOC_ARENA_MAX" in os.environ:
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)
