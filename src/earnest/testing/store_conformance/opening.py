"""Laws of opening, closing and copying a store."""

from __future__ import annotations

from typing import Final

from earnest.errors import StoreError, StoreReadOnly, WrongAgent
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import (
    ANALYSER,
    AUTHOR,
    EVERY_SCOPE,
    add,
    clean,
    filled,
    found_texts,
    must,
    opened,
    paged_texts,
    refused,
    same,
)

law: Final = Chapter()


@law("A store opened for reading answers, refuses to write with StoreReadOnly, and is not made if it is not there.", "reopen")
def _read_only(driver: Driver) -> None:
    filled(driver, "read_only").close()
    with opened(driver, "read_only", read_only=True) as store:
        must(len(paged_texts(store, **EVERY_SCOPE)) == 3, "it does not answer")
        with refused(StoreReadOnly, "a write"), store.write(AUTHOR) as tx:
            tx.bump("tick", 1)
        with refused(StoreReadOnly, "a rebuild"):
            store.rebuild_index(ANALYSER.terms, AUTHOR)
        with store.read() as reading:
            same(reading.counter("tick"), 3, "a running number")
    with refused(StoreError, "a store that is not there"):
        driver.open("read_only_missing", read_only=True)


@law("A store belongs to one agent: without a name it takes that one, with another it is refused.", "reopen")
def _one_agent(driver: Driver) -> None:
    with opened(driver, "one_agent", agent="ops") as store:
        same(store.agent, "ops", "the agent of a new store")
    with opened(driver, "one_agent") as store:
        same(store.agent, "ops", "the agent when none is named")
    with refused(WrongAgent, "another agent"):
        driver.open("one_agent", agent="Ops")
    with opened(driver, "one_agent", agent="ops") as store:
        clean(store)


@law("A closed store refuses to be used, and may be closed again.")
def _closing(driver: Driver) -> None:
    store = driver.open("closing")
    add(store, "words")
    store.close()
    store.close()
    with refused(StoreError, "a read"), store.read() as reading:
        reading.counter("tick")
    with refused(StoreError, "a write"), store.write(AUTHOR) as tx:
        tx.bump("tick", 1)


@law("A backup is a whole store, of one moment, and overwrites nothing.", "reopen")
def _backup(driver: Driver) -> None:
    store = filled(driver, "backup")
    with store.read() as reading:
        wanted = [event.hash for event in reading.events(entry=None, kind=None, after=0, limit=1_000, newest=False)]
    target = driver.copy("backup_copy")
    store.backup(target)
    add(store, "written afterwards")
    with refused(StoreError, "a backup onto a file that is there"):
        store.backup(target)
    with opened(driver, "backup_copy") as copy:
        with copy.read() as reading:
            made = [event.hash for event in reading.events(entry=None, kind=None, after=0, limit=1_000, newest=False)]
        same(made, wanted, "the log of the copy")
        same(found_texts(copy, "log files", scopes=None), found_texts(store, "log files", scopes=None), "what the copy finds")
        clean(copy)
        add(copy, "a life of its own")
        clean(copy)
    store.close()
