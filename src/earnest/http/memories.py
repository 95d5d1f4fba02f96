"""The open memories of a service: one for each agent that is spoken for, closed again when nobody asks."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from earnest.errors import EarnestError, InvalidInput, StoreBusy, StoreError, StoreFull, WrongAgent, shown
from earnest.memory import Memory
from earnest.opening import DEFAULT_AGENT, agent_name, agents_in, file_name

MOST: Final = 32
"""Memories that stay open at once."""
IDLE: Final = 300.0
"""Seconds after which one that nobody asks is closed."""
PATIENCE: Final = 10.0
"""Seconds that a request waits for another writer."""


class _Seat:
    """One agent's place: its memory once it is open, how many requests use it, and when one last did."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.memory: Memory | None = None
        self.users = 0
        self.used = 0.0
        self.stale = False
        self.file: tuple[int, int] | None = None


class Memories:
    """The memories of a root folder, or the one memory of a file. Safe for threads.

    Reading an agent whom nobody made opens an empty memory that is kept nowhere, so that no file is made.
    """

    def __init__(self, where: Path, *, most: int = MOST, idle: float = IDLE, patience: float = PATIENCE) -> None:
        """`where` is a folder, which is made if it is not there, or a store's file, which has to be there.

        Raises:
            StoreError: Neither can be used.
        """
        self.where = where
        self._most, self._idle, self._patience = most, idle, patience
        self._seats: OrderedDict[str, _Seat] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False
        self.owner: str | None = None
        """The agent whom the file belongs to; None for a folder."""
        if where.is_file():
            with Memory.open(where, channel="http", timeout=patience) as memory:
                self.owner = memory.agent
            return
        try:
            where.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreError(f"{shown(str(where))}: cannot be used ({error.strerror}); name a folder that can be written") from error

    @property
    def open(self) -> int:
        """How many memories are open."""
        with self._lock:
            return sum(seat.memory is not None for seat in self._seats.values())

    def agents(self) -> list[str]:
        """The agents that have a memory here, by name. O(files)."""
        if self.owner is not None:
            return [self.owner]
        try:
            return agents_in(self.where)
        except OSError as error:
            raise StoreError(f"{self.where}: cannot be read ({error.strerror})") from error

    def file(self, agent: str) -> Path:
        """The file of an agent, whether or not it is there."""
        return self.where if self.owner is not None else self.where / file_name(agent)

    def there(self, agent: str) -> bool:
        """Whether somebody made that agent's memory."""
        return agent == self.owner if self.owner is not None else self.file(agent).is_file()

    @contextmanager
    def lent(self, agent: str, *, make: bool = False) -> Iterator[Memory]:
        """An agent's memory for one request; an empty one, kept nowhere, if nobody made it and `make` is not set.

        Any agent of the folder: one whose name comes out of an address was looked at before (`checked_agent`).

        Raises:
            InvalidInput: No name for an agent. StoreError: as `Memory.open`.
        """
        name = agent_name(agent) or DEFAULT_AGENT
        if not self.there(name):
            if self.owner is not None and make:
                raise WrongAgent(f"this service holds the memory of agent {self.owner!r} alone")
            if not make:
                with Memory.open(":memory:", name, embedder="none", channel="http") as nobody:
                    yield nobody
                return
        seat = self._taken(name)
        try:
            with seat.lock:
                if seat.memory is None:
                    seat.memory = Memory.open(self.file(name), name, channel="http", timeout=self._patience)
                    seat.file = _identity(self.file(name))
            yield seat.memory
        except (StoreBusy, StoreFull):
            raise
        except StoreError:
            # What went wrong may lie with this opening: the next request opens the file anew.
            seat.stale = True
            raise
        finally:
            self._returned(name, seat)

    def _taken(self, name: str) -> _Seat:
        file = _identity(self.file(name))
        with self._lock:
            replaced: list[_Seat] = []
            if self._closed:
                raise StoreBusy("the service is shutting down")
            seat = self._seats.get(name)
            if seat is not None and seat.file is not None and seat.file != file:
                # The file was removed or replaced: what is there now is another store.
                seat.stale = True
            if seat is None or seat.stale:
                if seat is not None and seat.users == 0:
                    replaced = [seat]
                seat = self._seats[name] = _Seat()
            self._seats.move_to_end(name)
            seat.users += 1
        _close(replaced)
        return seat

    def _returned(self, name: str, seat: _Seat) -> None:
        with self._lock:
            seat.users -= 1
            seat.used = time.monotonic()
            gone = [seat] if seat.users == 0 and (seat.stale or self._closed) else []
            if gone and self._seats.get(name) is seat:
                del self._seats[name]
            gone += self._beyond()
        _close(gone)

    def _beyond(self) -> list[_Seat]:
        """Takes out the seats that were used longest ago, as far as there are too many and nobody sits there."""
        gone: list[_Seat] = []
        over = len(self._seats) - self._most
        for name in [*self._seats]:
            if over <= len(gone):
                break
            if self._seats[name].users == 0:
                gone.append(self._seats.pop(name))
        return gone

    def sweep(self) -> int:
        """Close the memories that nobody asked for a while; returns how many."""
        until = time.monotonic() - self._idle
        with self._lock:
            gone = [self._seats.pop(name) for name, seat in [*self._seats.items()] if seat.users == 0 and seat.used < until]
        _close(gone)
        return len(gone)

    def close(self) -> None:
        """Close all memories; one that is in use is closed by the request that uses it. Idempotent."""
        with self._lock:
            self._closed = True
            gone = [self._seats.pop(name) for name, seat in [*self._seats.items()] if seat.users == 0]
        _close(gone)


def addressable(name: str) -> bool:
    """Whether an agent's name can stand in an address as it is: not with a slash, nor of dots alone, which proxies read as paths."""
    return "/" not in name and "\\" not in name and set(name) != {"."}


def checked_agent(value: str) -> str:
    """An agent's name as it may stand in a path.

    Raises:
        InvalidInput: No name for an agent; or one with a slash or made of dots alone, which proxies take for a path of their own.
    """
    name = agent_name(value)
    if name is None or not addressable(name):
        raise InvalidInput("agent", value, "must not hold / or \\ or consist of dots: in an address these mean something else")
    return name


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file it is, whatever its name; None if there is none."""
    try:
        seen = os.stat(path)  # noqa: PTH116 (with every request; a Path costs more)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino


def _close(seats: list[_Seat]) -> None:
    for seat in seats:
        with seat.lock:
            memory, seat.memory = seat.memory, None
        if memory is not None:
            # What cannot be closed was lost before: its file is whole, and the next opening says what is wrong with it.
            with suppress(EarnestError):
                memory.close()
