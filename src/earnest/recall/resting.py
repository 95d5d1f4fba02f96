"""How long a service that failed is left alone: nobody waits for one that is down, and it is asked again by itself."""

from __future__ import annotations

import threading
import time
from typing import Final

FIRST: Final = 5.0
"""Seconds after one failure; twice as many after each further one."""
LONGEST: Final = 300.0


class Rest:
    """The rest of one service. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._length, self._until = FIRST, 0.0

    @property
    def under_way(self) -> bool:
        """Whether it failed a moment ago."""
        return time.monotonic() < self._until

    def begin(self) -> None:
        """It failed."""
        with self._lock:
            self._until = time.monotonic() + self._length
            self._length = min(LONGEST, 2 * self._length)

    def end(self) -> None:
        """It answers."""
        with self._lock:
            self._length, self._until = FIRST, 0.0
