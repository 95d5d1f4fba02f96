"""Threads that carry verbs out, so that the event loop never waits for a disk: few of them, with a short queue."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

from earnest.http.problems import Problem

T = TypeVar("T")

THREADS: Final = 8
"""Verbs that are carried out at once: readers work side by side, writers of one agent take turns anyhow."""
WAITING: Final = 64
"""Requests that wait for a thread; more are sent away at once, for a queue that grows helps nobody."""


class Workers:
    """A bounded pool of threads with a bounded queue. To be used from one event loop."""

    def __init__(self, threads: int = THREADS, waiting: int = WAITING) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="earnest-http")
        self._most = threads + waiting
        self._closing = False
        self.busy = 0
        """Calls that run or wait."""

    async def run(self, call: Callable[[], T], *, seconds: float) -> T:
        """The result of a call.

        Raises:
            Problem: 503 if the queue is full, the service is shutting down, or the call took too long. Then it goes on by itself: what
                it writes may still happen, once, and repeating the request with the same key tells.
        """
        if self._closing:
            raise Problem(
                503, "busy", "the service is shutting down; nothing was done", headers={"retry-after": "5", "connection": "close"}
            )
        if self.busy >= self._most:
            raise Problem(503, "busy", "too many requests are waiting; nothing was done", headers={"retry-after": "1"})
        loop = asyncio.get_running_loop()
        self.busy += 1
        begun: Future[T] = self._pool.submit(contextvars.copy_context().run, call)
        begun.add_done_callback(lambda _: self._done(loop))
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(begun)), seconds)
        except TimeoutError:
            if begun.cancel():
                raise Problem(503, "busy", "no thread was free in time; nothing was done", headers={"retry-after": "2"}) from None
            begun.add_done_callback(_looked_at)
            said = (
                f"the request took longer than {seconds:g} s and goes on; repeat it with the same Idempotency-Key to learn what came of it"
            )
            raise Problem(503, "busy", said, headers={"retry-after": "5"}) from None

    def _done(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._freed)

    def _freed(self) -> None:
        self.busy -= 1

    def refuse(self) -> None:
        """Take no more calls; those that run or wait come to their end."""
        self._closing = True

    def close(self) -> None:
        """Wait for the calls that run. Idempotent."""
        self._closing = True
        self._pool.shutdown(wait=True, cancel_futures=True)


def _looked_at(future: Future[Any]) -> None:
    """Takes note of how a call ended that nobody waits for any more."""
    if not future.cancelled():
        future.exception()
