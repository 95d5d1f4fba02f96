"""The memory behind a server: opened when it is first asked for, opened anew if its file was replaced, closed when all are done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from earnest.errors import IndexDamaged, StoreBusy, StoreError, StoreFull

if TYPE_CHECKING:
    from earnest.memory import Memory

Lender = Callable[[Any], AbstractContextManager["Memory"]]
"""Lends a memory for one call. It is given the HTTP request that the call came with, or None over stdio."""


class Place:
    """One agent's memory, lent to calls from any thread.

    Opening is left to the first call, so that a client's handshake does not wait for the disk; what fails then is that call's error, and
    the next one tries again.
    """

    def __init__(self, opening: Callable[[], Memory]) -> None:
        """`opening` opens the memory; it may raise any error of `Memory.open`."""
        self._opening = opening
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._users: dict[int, int] = {}
        self._closed = False

    @contextmanager
    def lend(self, request: Any = None) -> Iterator[Memory]:
        """The memory, for one call.

        Raises:
            StoreError: It cannot be opened, or the server is closing.
        """
        memory = self._taken()
        try:
            yield memory
        except (StoreBusy, StoreFull, IndexDamaged):
            raise
        except StoreError:
            # The file went away or was replaced under us: the next call looks at what is there now.
            with self._lock:
                if self._memory is memory:
                    self._memory = None
            raise
        finally:
            self._given_back(memory)

    def _taken(self) -> Memory:
        with self._lock:
            if self._closed:
                raise StoreError("the server is closing; start it again to go on")
            if self._memory is None:
                self._memory = self._opening()
            self._users[id(self._memory)] = self._users.get(id(self._memory), 0) + 1
            return self._memory

    def _given_back(self, memory: Memory) -> None:
        with self._lock:
            self._users[id(memory)] -= 1
            idle = self._users[id(memory)] == 0
            if idle:
                del self._users[id(memory)]
            last = idle and (self._closed or self._memory is not memory)
        if last:
            memory.close()

    def close(self) -> None:
        """Release the file, now or when the last call is done. Idempotent."""
        with self._lock:
            self._closed = True
            memory, self._memory = self._memory, None
            idle = memory is not None and id(memory) not in self._users
        if memory is not None and idle:
            memory.close()
