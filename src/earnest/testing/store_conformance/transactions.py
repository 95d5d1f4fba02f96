"""Laws of blocks: all or nothing, kept, one writer, many readers."""

from __future__ import annotations

import threading
from typing import Final

from earnest.core.filters import Filter
from earnest.errors import StoreBusy
from earnest.protocols import Store
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import (
    ANALYSER,
    AUTHOR,
    EVERY_SCOPE,
    Trial,
    add,
    clean,
    filled,
    found_texts,
    give,
    insert,
    must,
    new_entry,
    opened,
    paged_texts,
    refused,
    same,
)

law: Final = Chapter()


@law("A block that raises leaves nothing behind: no entry, event, counter, setting, key or index row.")
def _atomic(driver: Driver) -> None:
    with opened(driver, "atomic") as store:
        kept = add(store, "kept words")
        with store.read() as reading:
            events, alive = len(reading.events(entry=None, kind=None, after=0, limit=100, newest=False)), reading.counter("alive")
        with refused(ZeroDivisionError, "an error in the block"), store.write(AUTHOR) as tx:
            give(tx, insert(tx, new_entry("half words", "half", scope="new scope", sources=("nowhere",))), 7)
            tx.change_entry(kept.row, balance=0, standing="dead", cause="forgotten")
            tx.insert_ticket("t", query="q", answer="a", exposure=1.0, holdout=False, shares=[(kept.row, "deciding")])
            tx.move_escrow([kept.row], 1)
            tx.bump("tick", 1)
            tx.set_setting("floor", 1)
            tx.remember("k", "add", b"r", {})
            tx.put_meter("m", unit="", scale=None, tier="claimed")
            raise ZeroDivisionError
        with store.read() as reading:
            same(reading.entry("half"), None, "the entry of a failed block")
            same(reading.entry(kept.entry.id), kept, "an entry that a failed block changed")
            same(len(reading.events(entry=None, kind=None, after=0, limit=100, newest=False)), events, "events")
            same((reading.counter("alive"), reading.counter("tick")), (alive, 0), "running numbers")
            must("floor" not in reading.settings(), "a setting of a failed block was kept")
            same((reading.remembered("k"), reading.ticket("t"), reading.meter("m")), (None, None, None), "key, ticket and meter")
        same(found_texts(store, "words", scopes=None), ["kept words"], "the index")
        clean(store)


@law("What a block wrote is there for everyone who opens the store when the block has ended, and after it is closed.", "reopen")
def _durable(driver: Driver) -> None:
    store = filled(driver, "durable")
    before = paged_texts(store, **EVERY_SCOPE)
    with opened(driver, "durable") as second:
        same(paged_texts(second, **EVERY_SCOPE), before, "entries seen by a second opening")
    store.close()
    with opened(driver, "durable") as again:
        same(paged_texts(again, **EVERY_SCOPE), before, "entries after closing and opening")
        with again.read() as reading:
            same(reading.counter("tick"), 3, "a running number")
            same(reading.settings().get("floor"), 0.25, "a setting")
            same(reading.remembered("key"), ("add", b"r", {"id": "e"}), "a key")
            settlement = reading.settlement("durable-t1")
            must(settlement is not None and settlement.delta == 1.0, "the settlement is gone")
        clean(again)


@law("A read sees one moment of the store, however many writes land while it lasts.", "concurrent")
def _snapshot(driver: Driver) -> None:
    with opened(driver, "snapshot") as store:
        add(store, "first words")
        with store.read() as reading:
            before = (reading.counter("alive"), len(reading.page(Filter(), None, 10)))
            add(store, "second words")
            candidates, statistics = reading.candidates(ANALYSER.question("words"), Filter(), 10)
            same((reading.counter("alive"), len(reading.page(Filter(), None, 10))), before, "an old snapshot")
            same((len(candidates), statistics.entries), (1, 1), "candidates of an old snapshot")
        same(sorted(found_texts(store, "words")), ["first words", "second words"], "a new snapshot")


@law("A read does not wait for a writer, and sees nothing that is not committed.", "concurrent")
def _readers_never_wait(driver: Driver) -> None:
    with opened(driver, "readers_never_wait") as store:
        add(store, "committed words")
        seen: list[list[str]] = []
        with store.write(AUTHOR) as tx:
            insert(tx, new_entry("uncommitted words"))
            reader = threading.Thread(target=lambda: seen.append(paged_texts(store)))
            reader.start()
            reader.join(20)
        same(seen, [["committed words"]], "what a reader saw beside an open write")


@law("One writer at a time; another gets StoreBusy after the bounded wait, in this process and in others, and wrote nothing.", "reopen")
def _writers_exclude(driver: Driver) -> None:
    with opened(driver, "writers_exclude", timeout=0.2) as store, opened(driver, "writers_exclude", timeout=0.2) as other:
        outcome: list[type[BaseException] | None] = []

        def attempt(which: Store) -> None:
            with Trial() as trial, which.write(AUTHOR) as tx:
                tx.bump("tick", 1)
            outcome.append(type(trial.error) if trial.error else None)

        with store.write(AUTHOR) as tx:
            tx.bump("tick", 100)
            for which in (other, store):
                thread = threading.Thread(target=attempt, args=(which,))
                thread.start()
                thread.join(20)
                must(not thread.is_alive(), "a second writer waits for ever")
        same(outcome, [StoreBusy, StoreBusy], "what a second writer got")
        attempt(other)
        with store.read() as reading:
            same(reading.counter("tick"), 101, "what was written")


@law("Threads may share a store: every write lands once, and the log stays one chain.")
def _threads_share(driver: Driver) -> None:
    with opened(driver, "threads_share") as store:
        trials: list[Trial] = []

        def work(me: int) -> None:
            with Trial() as trial:
                for i in range(8):
                    add(store, f"words {me} {i}", entry_id=f"w{me}-{i}")
                    paged_texts(store)
            trials.append(trial)

        threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        same([trial.error for trial in trials], [None] * 4, "errors of threads")
        same(len(paged_texts(store)), 32, "entries")
        clean(store)
