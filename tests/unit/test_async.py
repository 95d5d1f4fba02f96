"""`AsyncMemory`: every verb of `Memory` as a coroutine with the same signature, off the loop, clear about what a cancellation left."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from earnest import AsyncMemory, Memory
from earnest.aio import AsyncMeters, AsyncRules
from earnest.errors import InvalidInput, StoreError
from earnest.ledger.meters import Meters
from earnest.verbs.ruling import Rules

PROPERTIES = {"agent", "settings"}


def verbs(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


def test_every_public_verb_is_there_and_nothing_else() -> None:
    assert verbs(AsyncMemory) == verbs(Memory)
    assert verbs(AsyncMeters) == verbs(Meters)
    assert verbs(AsyncRules) == verbs(Rules)


@pytest.mark.parametrize("name", sorted(verbs(Memory) - PROPERTIES - {"open", "close", "restore_backup"}))
def test_a_verb_is_a_coroutine_with_the_same_signature_and_docstring(name: str) -> None:
    verb, original = getattr(AsyncMemory, name), getattr(Memory, name)
    assert inspect.iscoroutinefunction(verb)
    assert inspect.signature(verb) == inspect.signature(original)
    assert verb.__doc__ == original.__doc__


@pytest.mark.parametrize(("kind", "original", "name"), [
    (kind, original, name) for kind, original in ((AsyncMeters, Meters), (AsyncRules, Rules)) for name in sorted(verbs(original))
])  # fmt: skip
def test_a_verb_of_the_meters_and_the_rules_too(kind: type, original: type, name: str) -> None:
    made, from_ = getattr(kind, name), getattr(original, name)
    assert inspect.iscoroutinefunction(made) and inspect.signature(made) == inspect.signature(from_)


def test_putting_a_backup_back_is_a_coroutine_with_the_same_signature(tmp_path: Path) -> None:
    assert inspect.iscoroutinefunction(AsyncMemory.restore_backup)
    assert inspect.signature(AsyncMemory.restore_backup) == inspect.signature(Memory.restore_backup)
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.add("The gate code changed.")
        memory.backup(tmp_path / "copy.db")
    asyncio.run(AsyncMemory.restore_backup(tmp_path / "copy.db", tmp_path / "new.db"))
    with Memory.open(tmp_path / "new.db") as memory:
        assert memory.stats().alive == 1


def test_open_takes_what_memory_open_takes_and_how_many_threads() -> None:
    taken, original = (dict(inspect.signature(kind.open).parameters) for kind in (AsyncMemory, Memory))
    threads = taken.pop("threads")
    assert threads.default == 4 and threads.kind is inspect.Parameter.KEYWORD_ONLY
    assert [(p.name, p.kind, p.default, p.annotation) for p in taken.values()] == [
        (p.name, p.kind, p.default, p.annotation) for p in original.values()
    ]
    assert inspect.iscoroutinefunction(AsyncMemory.open) and inspect.iscoroutinefunction(AsyncMemory.close)


def test_the_main_job(tmp_path: Path) -> None:
    async def main() -> None:
        async with await AsyncMemory.open(tmp_path / "memory.db", agent="ops") as memory:
            assert memory.agent == "ops" and (await memory.settings()).rule == "evidence"
            await memory.meters.add("disk", unit="bytes")
            entry = await memory.add("Old log files may be deleted after seven days.", sources=["runbook"])
            ticket = await memory.decide("May old log files be deleted?")
            assert ticket.id is not None and ticket.deciding is not None and ticket.deciding.id == entry.id
            assert (await memory.get(entry.id)).recalls == 1
            assert (await memory.settle(ticket.id, delta=4, meter="disk")).landed
            assert [meter.settlements for meter in await memory.meters.list()] == [1]
            with pytest.raises(InvalidInput, match="text"):
                await memory.add(" ")
        with pytest.raises(StoreError, match="closed"):
            await memory.stats()
        await memory.close()

    asyncio.run(main())
    with Memory.open(tmp_path / "memory.db") as memory:
        assert memory.stats().settled == 1


def test_many_tasks_at_once_lose_nothing_and_block_no_loop(tmp_path: Path) -> None:
    async def main() -> None:
        async with await AsyncMemory.open(tmp_path / "memory.db", threads=3) as memory:
            beats = 0
            done = asyncio.Event()

            async def beat() -> None:
                nonlocal beats
                while not done.is_set():
                    beats += 1
                    await asyncio.sleep(0)

            beating = asyncio.create_task(beat())
            await asyncio.gather(
                *(memory.add(f"Fact number {i}.", key=f"k{i}") for i in range(60)), *(memory.search("fact") for _ in range(20))
            )
            done.set()
            await beating
            assert (await memory.stats()).alive == 60 and beats > 60
            assert sum(thread.name.startswith("earnest_") for thread in threading.enumerate()) <= 3

    asyncio.run(main())
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("earnest_")], "a thread was left behind"


def test_several_loops_may_share_one(tmp_path: Path) -> None:
    memory = asyncio.run(AsyncMemory.open(tmp_path / "memory.db"))
    for i in range(3):
        asyncio.run(_awaited(memory.add(f"Fact number {i}.")))
    assert asyncio.run(_awaited(memory.stats())).alive == 3
    asyncio.run(memory.close())


async def _awaited(work: Coroutine[Any, Any, Any]) -> Any:
    return await work


class Slow:
    """An embedder that waits for leave, so that a write is under way for as long as a test wants."""

    model_id = "slow"
    remote = False

    def __init__(self) -> None:
        self.asked, self.leave = threading.Event(), threading.Event()

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.asked.set()
        assert self.leave.wait(30)
        return [[1.0, 0.0, 0.0, 0.0] for _ in texts]


@pytest.fixture
def slow() -> Iterator[Slow]:
    made = Slow()
    yield made
    made.leave.set()


def test_a_cancelled_write_that_has_begun_comes_to_its_end_and_says_so(tmp_path: Path, slow: Slow) -> None:
    async def main() -> None:
        async with await AsyncMemory.open(tmp_path / "memory.db", embedder=slow) as memory:
            writing = asyncio.create_task(memory.add("The gate code changed."))
            assert await asyncio.to_thread(slow.asked.wait, 30)
            writing.cancel()
            for _ in range(5):
                await asyncio.sleep(0)
                writing.cancel()
            assert not writing.done(), "whoever cancelled would not know what became of it"
            slow.leave.set()
            with pytest.raises(asyncio.CancelledError) as error:
                await writing
            assert any("add was carried out" in note and "gate code" in note for note in error.value.__notes__)
            assert [entry.text for entry in await memory.list()] == ["The gate code changed."]

    asyncio.run(main())


def test_a_cancelled_write_that_fails_says_so(tmp_path: Path, slow: Slow) -> None:
    async def main() -> None:
        async with await AsyncMemory.open(tmp_path / "memory.db", embedder=slow) as memory:
            taken = asyncio.create_task(memory.add("The first text.", key="k"))
            assert await asyncio.to_thread(slow.asked.wait, 30)
            other = asyncio.create_task(memory.add("Another text.", key="k"))
            await asyncio.sleep(0.05)
            other.cancel()
            await asyncio.sleep(0)
            slow.leave.set()
            with pytest.raises(asyncio.CancelledError) as error:
                await other
            await asyncio.wait([taken])
            # Whichever of the two came first, one was refused; what the note says is what the store holds.
            carried_out = any("carried out" in note for note in error.value.__notes__)
            assert ("Another text." in [entry.text for entry in await memory.list()]) is carried_out
            assert carried_out or any("KeyReused" in note for note in error.value.__notes__)
            if taken.exception() is None:
                assert not carried_out

    asyncio.run(main())


def test_a_cancelled_call_that_has_not_begun_does_nothing(tmp_path: Path, slow: Slow) -> None:
    async def main() -> None:
        async with await AsyncMemory.open(tmp_path / "memory.db", embedder=slow, threads=1) as memory:
            first = asyncio.create_task(memory.add("The first text."))
            assert await asyncio.to_thread(slow.asked.wait, 30)
            second = asyncio.create_task(memory.add("The second text."))
            await asyncio.sleep(0.01)
            second.cancel()
            with pytest.raises(asyncio.CancelledError) as error:
                await second
            assert error.value.__notes__ == ["add had not begun: nothing was done"]
            slow.leave.set()
            await first
            assert [entry.text for entry in await memory.list()] == ["The first text."]

    asyncio.run(main())


def test_a_cancelled_look_is_not_waited_for(tmp_path: Path, slow: Slow) -> None:
    slow.leave.set()
    with Memory.open(tmp_path / "memory.db", embedder=slow) as made:
        made.add("The gate code changed.")
    slow.leave.clear()
    slow.asked.clear()

    async def main() -> None:
        memory = await AsyncMemory.open(tmp_path / "memory.db", embedder=slow)
        looking = asyncio.create_task(memory.search("gate code"))
        assert await asyncio.to_thread(slow.asked.wait, 30)
        begun = time.monotonic()
        looking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await looking
        assert not slow.leave.is_set() and time.monotonic() - begun < 25
        slow.leave.set()
        await memory.close()

    asyncio.run(main())


def test_a_time_out_of_asyncio_stays_a_time_out(tmp_path: Path, slow: Slow) -> None:
    async def main() -> None:
        async with await AsyncMemory.open(tmp_path / "memory.db", embedder=slow) as memory:

            async def run_out(limit: asyncio.Timeout) -> None:
                # Not before the write has begun: what has not begun is not done.
                assert await asyncio.to_thread(slow.asked.wait, 30)
                limit.reschedule(asyncio.get_running_loop().time())
                threading.Timer(0.3, slow.leave.set).start()

            with pytest.raises(TimeoutError):
                async with asyncio.timeout(None) as limit:
                    running_out = asyncio.create_task(run_out(limit))
                    await memory.add("The gate code changed.")
            await running_out
            assert len(await memory.list()) == 1

    asyncio.run(main())


@pytest.mark.parametrize("threads", [0, -1, 65, True, 1.5, "4"])
def test_a_number_of_threads_that_cannot_be_is_named(threads: Any) -> None:
    with pytest.raises(InvalidInput, match="threads"):
        asyncio.run(AsyncMemory.open(":memory:", threads=threads))
