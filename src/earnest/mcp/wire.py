"""The standard streams, kept for the protocol alone. Nothing but the standard library is imported here, since any import may print."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final

MAX_FRAME: Final = 16_000_000
"""Bytes of one message; a longer one is refused and passed over."""
_CHUNK: Final = 1 << 16


class TooLong:
    """Stands for a line that was longer than `MAX_FRAME`."""


class Wire:
    """The process's own input and output, kept for the protocol: whatever else is printed goes to standard error."""

    def __init__(self) -> None:
        """Takes the streams over. To be called once, before anything is written."""
        sys.stdout.flush()
        self.input, self.output = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # there is no standard error
            os.dup2(nothing, 1)
        os.close(nothing)

    def lines(self, take: Callable[[bytes | TooLong | None], None]) -> None:
        """Hand every line over, None at the end. Blocks; `take` may block too, and then nothing is read."""
        rest, passing = bytearray(), False
        while True:
            try:
                chunk = os.read(self.input, _CHUNK)
            except OSError:
                chunk = b""
            if not chunk:
                break
            *whole, last = chunk.split(b"\n")
            for part in whole:
                if not passing:
                    rest += part
                    take(bytes(rest) if len(rest) <= MAX_FRAME else TooLong())
                passing = False
                rest.clear()
            if not passing:
                rest += last
                if len(rest) > MAX_FRAME:
                    take(TooLong())
                    rest.clear()
                    passing = True
        if rest:
            take(bytes(rest))
        take(None)

    def write(self, data: bytes) -> None:
        """Write all of it. Blocks while nobody reads. Raises OSError when nobody will."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.output, view) :]
