"""Threads that carry verbs out, so that the event loop never waits for a disk: few of them, with a short queue, and no agent gets all."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

from earnest.http.problems import Problem

T = TypeVar("T")

THREAD: Final = "earnest-http"
"""What the names of the threads begin with."""
THREADS: Final = 8
"""Verbs that are carried out at once: readers work side by side, writers of one agent take turns anyhow."""
WAITING: Final = 64
"""Requests that wait for a thread; more are sent away at once, for a queue that grows helps nobody."""


class _Turns:
    """How many calls of one agent run and wait, and the places that they may take."""

    def __init__(self, places: int) -> None:
        self.places = asyncio.Semaphore(places)
        self.calls = 0


class Workers:
    """A bounded pool of threads with a bounded queue. To be used from one event loop.

    One agent's calls take half of the threads and of the queue at most: where another process holds its store, the others go on.
    """

    def __init__(self, threads: int = THREADS, waiting: int = WAITING) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=THREAD)
        self._most, self._share = threads + waiting, max(1, threads // 2)
        self._turns: dict[str, _Turns] = {}
        self._closing = False
        self.busy = 0
        """Calls that run or wait."""

    async def run(self, call: Callable[[], T], *, seconds: float, of: str = "") -> T:
        """The result of a call on behalf of an agent.

        Raises:
            Problem: 503 if the queue is full, the service is shutting down, or the call took too long. Then it goes on by itself: what
                it writes may still happen, once, and repeating the request with the same key tells.
        """
        if self._closing:
            raise Problem(
                503, "busy", "the service is shutting down; nothing was done", headers={"retry-after": "5", "connection": "close"}
            )
        turns = self._turns.setdefault(of, _Turns(self._share))
        if self.busy >= self._most or turns.calls > self._most // 2:
            self._leave(of, turns)
            raise Problem(503, "busy", "too many requests are waiting; nothing was done", headers={"retry-after": "1"})
        until = time.monotonic() + seconds
        self.busy += 1
        turns.calls += 1
        try:
            async with asyncio.timeout(seconds):
                await turns.places.acquire()
        except BaseException as error:
            self._done(of, turns)
            if isinstance(error, TimeoutError):
                raise _late("no thread was free in time; nothing was done") from None
            raise
        return await self._carried_out(call, max(0.0, until - time.monotonic()), of, turns, seconds)

    async def _carried_out(self, call: Callable[[], T], left: float, of: str, turns: _Turns, seconds: float) -> T:
        loop = asyncio.get_running_loop()
        begun: Future[T] = self._pool.submit(contextvars.copy_context().run, call)

        def ended(future: Future[Any]) -> None:
            if not future.cancelled():
                # Takes note of how it ended, though nobody may wait for it any more.
                future.exception()
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._ended, of, turns)

        begun.add_done_callback(ended)
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(begun)), left)
        except TimeoutError:
            if begun.cancel():
                raise _late("no thread was free in time; nothing was done") from None
            raise _late(
                f"the request took longer than {seconds:g} s and goes on; repeat it with the same Idempotency-Key to learn what came of it"
            ) from None

    def _ended(self, of: str, turns: _Turns) -> None:
        turns.places.release()
        self._done(of, turns)

    def _done(self, of: str, turns: _Turns) -> None:
        self.busy -= 1
        turns.calls -= 1
        self._leave(of, turns)

    def _leave(self, of: str, turns: _Turns) -> None:
        if not turns.calls and self._turns.get(of) is turns:
            del self._turns[of]

    def refuse(self) -> None:
        """Take no more calls; those that run or wait come to their end."""
        self._closing = True

    async def close(self, seconds: float) -> bool:
        """Take no more calls, and wait so long for those that run; whether all came to their end. Idempotent."""
        self._closing = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + seconds
        while self.busy and time.monotonic() < until:
            await asyncio.sleep(0.02)
        return not self.busy


def _late(said: str) -> Problem:
    return Problem(503, "busy", said, headers={"retry-after": "5"})
