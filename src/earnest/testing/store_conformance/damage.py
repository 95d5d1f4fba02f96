"""Laws of the full look at a store, and of repairs."""

from __future__ import annotations

from typing import Final

from earnest.core.filters import Filter
from earnest.errors import IndexDamaged
from earnest.protocols import Store
from earnest.testing.store_conformance.driver import Break, Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import ANALYSER, AUTHOR, clean, filled, found_texts, must, opened, refused, same

law: Final = Chapter()


@law("A full look finds nothing in a sound store.")
def _sound_store(driver: Driver) -> None:
    store = filled(driver, "sound_store")
    clean(store)
    with store.read() as reading:
        same(reading.index_problem(), None, "the index")
    store.close()


def _finds(driver: Driver, what: Break, repairable: bool) -> Store:
    store = filled(driver, f"check_finds_{what}")
    driver.damage(store, what)
    found = [*store.damage()]
    must(found, f"a changed {what} is not found")
    must(all(damage.code and damage.text for damage in found), "damage without words")
    if repairable:
        must(any(damage.repairable for damage in found), f"a changed {what} is not called repairable")
    else:
        must(any(not damage.repairable for damage in found), f"a changed {what} is called repairable")
    return store


@law("A head that the log once had is found again; one that it never had means that the log was rewritten.")
def _head_kept_elsewhere(driver: Driver) -> None:
    store = filled(driver, "head_kept_elsewhere")
    with store.read() as reading:
        heads = [event.hash for event in reading.events(entry=None, kind=None, after=0, limit=1_000, newest=True)]
    for head in (heads[0], heads[len(heads) // 2], heads[-1]):
        same([damage.text for damage in store.damage(head)], [], "damage with a head that the log has")
    must([*store.damage("ab" * 32)], "a head that the log never had is not found out")
    store.close()


@law("A full look finds an event that was changed after it was written.", "breakable")
def _check_finds_event(driver: Driver) -> None:
    _finds(driver, "event", False).close()


@law("A full look finds a posting that was changed after it was written.", "breakable")
def _check_finds_posting(driver: Driver) -> None:
    _finds(driver, "posting", False).close()


@law("A full look finds a balance that its postings do not make.", "breakable")
def _check_finds_balance(driver: Driver) -> None:
    _finds(driver, "balance", False).close()


@law("A full look finds a running number that is off, and the repair makes it anew from the rows.", "breakable")
def _repair_of_counters(driver: Driver) -> None:
    store = _finds(driver, "counter", True)
    store.repair_counters(AUTHOR)
    clean(store)
    with store.read() as reading:
        same(reading.counter("alive"), 2, "the counter")
    store.close()


@law("A damaged index is noticed by a quick look and never answered from; the repair makes it anew from the entries.", "breakable")
def _repair_of_index(driver: Driver) -> None:
    with opened(driver, "repair_of_index_sound") as sound:
        same(found_texts(sound, "words"), [], "an empty store is sound")
    store = _finds(driver, "index", True)
    with store.read() as reading:
        must(reading.index_problem(), "a quick look sees nothing")
    with refused(IndexDamaged, "a search in a damaged index"):
        found_texts(store, "log files", scopes=None)
    same(store.rebuild_index(ANALYSER.terms, AUTHOR), 2, "how many entries were indexed")
    clean(store)
    with store.read() as reading:
        same(reading.index_problem(), None, "the index after a repair")
        _, statistics = reading.candidates(ANALYSER.question("log"), Filter(scopes=None), 5)
        same(statistics.entries, 2, "statistics after a repair")
    same(len(found_texts(store, "log files", scopes=None)), 2, "candidates after a repair")
    store.close()
