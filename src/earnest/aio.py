"""`AsyncMemory`: the verbs of `Memory` as coroutines, carried out by a few threads so that no event loop ever waits for the disk."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

from earnest.core import check
from earnest.core.settings import Settings
from earnest.errors import StoreError
from earnest.ledger.meters import Meters
from earnest.memory import Memory
from earnest.protocols import Clock, Rng
from earnest.recall.search import Retriever
from earnest.verbs.ruling import Rules

P = ParamSpec("P")
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)
T = TypeVar("T")

THREADS: Final = 4
"""Threads that carry verbs out, unless the opener says otherwise: readers work side by side, writers take turns anyhow."""
MAX_THREADS: Final = 64


class _Worker:
    """Carries calls out in threads of its own."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="earnest")
        self._closed = False

    async def run(self, name: str, call: Callable[[], T], *, writes: bool) -> T:
        """The call's result. A cancelled write is waited for if it has begun: it happened or it did not, and the error says which."""
        if self._closed:
            raise StoreError(f"{name}: this memory is closed; open it again")
        begun = self._threads.submit(contextvars.copy_context().run, call)
        waiting = asyncio.wrap_future(begun)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError as error:
            if begun.cancel():
                error.add_note(f"{name} had not begun: nothing was done")
            elif writes:
                error.add_note(await _end_of(name, begun, waiting))
            raise

    async def close(self, last: Callable[[], None]) -> None:
        """Let running calls come to their end, then do one last thing. Idempotent."""
        self._closed = True

        def finish() -> None:
            self._threads.shutdown(wait=True)
            last()

        await _to_its_end(asyncio.ensure_future(asyncio.to_thread(finish)))


async def _to_its_end(waiting: asyncio.Future[Any]) -> None:
    """Waits for something that must not be left half done, however often it is cancelled meanwhile; raises what it raised."""
    cancelled: asyncio.CancelledError | None = None
    while not waiting.done():
        try:
            await asyncio.wait([waiting])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    waiting.result()


async def _end_of(name: str, begun: Future[Any], waiting: asyncio.Future[Any]) -> str:
    """What became of a write whose caller was cancelled while it was under way, in a sentence."""
    while not waiting.done():
        try:
            await asyncio.wait([waiting])
        except asyncio.CancelledError:
            continue
    failed = begun.exception()
    if failed is not None:
        waiting.exception()
        return f"{name} failed ({type(failed).__name__}: {failed}): nothing was written by it, but for parts of a bulk verb"
    return f"{name} was carried out before the cancellation took effect: {str(begun.result())[:200]}"


class _Verbs(Generic[S_co]):
    """Something whose verbs are carried out by a worker: what has them, and how they are called in an error."""

    _prefix: ClassVar[str] = ""

    def __init__(self, subject: S_co, worker: _Worker) -> None:
        """Made by `AsyncMemory`."""
        self._subject, self._worker = subject, worker


def _reads(verb: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[_Verbs[S], P], Coroutine[Any, Any, T]]:
    """A reading verb as a coroutine: when it is cancelled, its result is not waited for."""
    return _coroutine(verb, writes=False)


def _writes(verb: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[_Verbs[S], P], Coroutine[Any, Any, T]]:
    """A writing verb as a coroutine."""
    return _coroutine(verb, writes=True)


def _coroutine(verb: Callable[Concatenate[S, P], T], *, writes: bool) -> Callable[Concatenate[_Verbs[S], P], Coroutine[Any, Any, T]]:
    @wraps(verb)
    async def call(self: _Verbs[S], /, *args: P.args, **kwargs: P.kwargs) -> T:
        done = partial(verb, self._subject, *args, **kwargs)
        return await self._worker.run(f"{self._prefix}{verb.__name__}", done, writes=writes)

    return call


class AsyncMeters(_Verbs[Meters]):
    """The verbs of `memory.meters` as coroutines."""

    _prefix = "meters."

    add = _writes(Meters.add)
    bind = _writes(Meters.bind)
    revoke = _writes(Meters.revoke)
    list = _reads(Meters.list)


class AsyncRules(_Verbs[Rules]):
    """The verbs of `memory.rules` as coroutines."""

    _prefix = "rules."

    add = _writes(Rules.add)
    analyze = _writes(Rules.analyze)
    verify = _writes(Rules.verify)
    trial = _writes(Rules.trial)
    adopt = _writes(Rules.adopt)
    export = _writes(Rules.export)
    get = _reads(Rules.get)
    list = _reads(Rules.list)
    match = _reads(Rules.match)


class AsyncMemory(_Verbs[Memory]):
    """One agent's memory for asyncio: every verb of `earnest.Memory` under its own name and with its own arguments, as a coroutine.

    Open it with `await AsyncMemory.open(…)`; leave it with `await memory.close()`, or use it as `async with`. It may be used from
    several event loops and tasks at once. Verbs are carried out by at most `threads` threads; further calls wait for one of them.

    A cancelled verb: one that has not begun is not begun. A reading verb is left to end by itself. A writing verb that has begun is
    waited for (for as long as the store's time-out at most, if another writer holds it), so that nothing is half done behind the back
    of whoever cancelled; a note on the `CancelledError` says whether it was carried out.
    """

    def __init__(self, memory: Memory, *, threads: int = THREADS) -> None:
        """Wraps a memory that is open already, and closes it in the end; `AsyncMemory.open` is the way in for users."""
        super().__init__(memory, _Worker(check.integer("threads", threads, low=1, high=MAX_THREADS)))
        self.meters = AsyncMeters(memory.meters, self._worker)
        self.rules = AsyncRules(memory.rules, self._worker)

    @classmethod
    async def open(
        cls,
        path: str | Path = ":memory:",
        agent: str | None = None,
        *,
        embedder: Any = None,
        llm: Any = None,
        clock: Clock | None = None,
        rng: Rng | None = None,
        read_only: bool = False,
        actor: str | None = None,
        channel: str = "python",
        settings: Mapping[str, Any] | None = None,
        retriever: Retriever | None = None,
        reranker: Any = None,
        decay_half_life: float | None = None,
        decay_threshold: float | None = None,
        timeout: float = 30.0,
        threads: int = THREADS,
    ) -> Self:
        """Open an agent's memory, creating it on first use. Arguments, errors and cost as `Memory.open`.

        Args:
            threads: How many verbs are carried out at once, 1 to 64.
        """
        check.integer("threads", threads, low=1, high=MAX_THREADS)
        opening = asyncio.ensure_future(
            asyncio.to_thread(
                Memory.open, path, agent, embedder=embedder, llm=llm, clock=clock, rng=rng, read_only=read_only, actor=actor,
                channel=channel, settings=settings, retriever=retriever, reranker=reranker, decay_half_life=decay_half_life,
                decay_threshold=decay_threshold, timeout=timeout,
            )
        )  # fmt: skip
        try:
            memory = await asyncio.shield(opening)
        except asyncio.CancelledError:
            # Nobody will get it: let go of the file again.
            opening.add_done_callback(_closed_again)
            raise
        return cls(memory, threads=threads)

    @staticmethod
    async def restore_backup(backup: str | Path, path: str | Path, agent: str | None = None, *, timeout: float = 30.0) -> Path | None:
        """Put a backup in the place of a store that nobody has open; as `Memory.restore_backup`, and carried to its end once begun."""
        putting = asyncio.ensure_future(asyncio.to_thread(Memory.restore_backup, backup, path, agent, timeout=timeout))
        await _to_its_end(putting)
        return putting.result()

    @property
    def agent(self) -> str:
        """Whose memory this is."""
        return self._subject.agent

    async def settings(self) -> Settings:
        """The settings in force, as the store has them now. (`Memory` has them as a property.)"""
        return await self._worker.run("settings", lambda: self._subject.settings, writes=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Let running verbs come to their end, then release the file, as `Memory.close`. Idempotent."""
        await self._worker.close(self._subject.close)

    # writing
    add = _writes(Memory.add)
    add_many = _writes(Memory.add_many)
    encode = _writes(Memory.encode)
    encode_files = _writes(Memory.encode_files)
    update = _writes(Memory.update)
    forget = _writes(Memory.forget)
    restore = _writes(Memory.restore)
    pin = _writes(Memory.pin)
    unpin = _writes(Memory.unpin)
    merge = _writes(Memory.merge)
    consolidate = _writes(Memory.consolidate)
    maintain = _writes(Memory.maintain)
    undo = _writes(Memory.undo)
    sync_turn = _writes(Memory.sync_turn)
    decide = _writes(Memory.decide)
    settle = _writes(Memory.settle)
    abandon = _writes(Memory.abandon)
    control = _writes(Memory.control)
    remeasure = _writes(Memory.remeasure)
    look_again = _writes(Memory.look_again)
    tick = _writes(Memory.tick)
    reembed = _writes(Memory.reembed)
    calibrate = _writes(Memory.calibrate)
    configure = _writes(Memory.configure)
    check = _writes(Memory.check)
    backup = _writes(Memory.backup)
    render = _writes(Memory.render)
    compress = _writes(Memory.compress)
    compress_long = _writes(Memory.compress_long)
    decay_cleanup = _writes(Memory.decay_cleanup)
    feedback = _writes(Memory.feedback)
    recalled = _writes(Memory.recalled)
    vouch = _writes(Memory.vouch)
    link = _writes(Memory.link)
    unlink = _writes(Memory.unlink)
    tick_due = _writes(Memory.tick_due)
    save_lessons = _writes(Memory.save_lessons)
    load_lessons = _writes(Memory.load_lessons)
    export = _writes(Memory.export)
    import_ = _writes(Memory.import_)
    erase = _writes(Memory.erase)
    compact = _writes(Memory.compact)
    archive = _writes(Memory.archive)

    # reading
    get = _reads(Memory.get)
    list = _reads(Memory.list)
    search = _reads(Memory.search)
    answer = _reads(Memory.answer)
    prefetch = _reads(Memory.prefetch)
    appeals = _reads(Memory.appeals)
    stats = _reads(Memory.stats)
    top = _reads(Memory.top)
    pending = _reads(Memory.pending)
    obituary = _reads(Memory.obituary)
    events = _reads(Memory.events)
    audit = _reads(Memory.audit)
    doctor = _reads(Memory.doctor)
    uplift = _reads(Memory.uplift)
    uplifts = _reads(Memory.uplifts)
    uplift_meters = _reads(Memory.uplift_meters)
    embed_pending = _reads(Memory.embed_pending)
    survey = _reads(Memory.survey)
    cards = _reads(Memory.cards)
    card = _reads(Memory.card)
    life = _reads(Memory.life)
    ticket = _reads(Memory.ticket)
    history = _reads(Memory.history)
    balances = _reads(Memory.balances)
    check_archive = _reads(Memory.check_archive)
    earned = _reads(Memory.earned)
    graph = _reads(Memory.graph)
    related = _reads(Memory.related)
    shown = _reads(Memory.shown)
    now = _reads(Memory.now)


def _closed_again(opened: asyncio.Future[Memory]) -> None:
    if not opened.cancelled() and opened.exception() is None:
        opened.result().close()
