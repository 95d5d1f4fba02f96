"""Laws of entries as they are written and read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from earnest.core.amounts import FORFEIT
from earnest.core.events import Posting, twin_digest
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import AUTHOR, NOW, add, clean, die, found_texts, insert, new_entry, opened, paged_texts, same

law: Final = Chapter()


@law("Texts, times and metadata come back exactly as they were written.")
def _values_come_back(driver: Driver) -> None:
    texts = ["Grüße 日本語 👩‍👩‍👧 \u202ertl\u202c", "line\nbreak\ttab", "' OR 1=1; --", "x" * 100_000, "%_\\*?[a-z]"]
    times = [datetime(1, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
    metadata = {"deep": {"list": [1, 2.5, None, True, "é"]}, "": "", "big": 2**63 - 1, "small": -(2**63) + 1}
    with opened(driver, "values_come_back") as store:
        for i, text in enumerate(texts):
            new = new_entry(
                text, cue=text[:50], scope=text[:20], sources=(text[:30], "b", "a"), tags=("z", text[:9]), metadata=metadata,
                importance=0.1, confidence=0.9, valid_from=times[i % 3], valid_to=times[2], version=3, strength=2.5, probation=4,
                retention="kept",
            )  # fmt: skip
            with store.write(AUTHOR) as tx:
                stored = insert(tx, new)
            entry = stored.entry
            for name in ("id", "text", "cue", "scope", "sources", "tags", "importance", "confidence", "valid_from", "valid_to", "version"):
                same(getattr(entry, name), getattr(new, name), name)
            same((entry.strength, stored.probation, entry.created, entry.metadata), (2.5, 4, NOW, metadata), "the rest")
            same((entry.balance, entry.standing, entry.cause, entry.recalls, entry.lineage), (0, "active", None, 0, ()), "a fresh entry")
            with store.read() as reading:
                same(reading.entry(new.id), stored, "the entry read again")


@law("Entries come in the order asked; rows that are not there are left out; an unknown id is None.")
def _entries_in_order(driver: Driver) -> None:
    with opened(driver, "entries_in_order") as store:
        rows = [add(store, f"words {i}").row for i in range(5)]
        asked = [rows[3], rows[0], 10**9, rows[4]]
        with store.read() as reading:
            same([stored.row for stored in reading.entries(asked)], [rows[3], rows[0], rows[4]], "rows")
            same((reading.entries([]), reading.entries([10**9]), reading.entry("nobody")), ([], [], None), "nothing")


@law("Provenance is added once and keeps its order; tags are replaced.")
def _sources_and_tags(driver: Driver) -> None:
    with opened(driver, "sources_and_tags") as store:
        stored = add(store, "words", sources=("b",), tags=("x", "y"))
        with store.write(AUTHOR) as tx:
            tx.add_sources(stored.row, ["a", "b", "a", "c"])
            tx.set_tags(stored.row, ["y", "w"])
            [after] = tx.entries([stored.row])
        same((after.entry.sources, after.entry.tags), (("b", "a", "c"), ("y", "w")), "sources and tags")
        same(paged_texts(store, tags=("x",)), [], "by a tag that was taken away")
        same(paged_texts(store, sources=("c",)), ["words"], "by a source that was added")


@law("Entries that end together end as one by one: dead, out of the index and of every running number, their accounts empty.")
def _ended_together(driver: Driver) -> None:
    ended = []
    for how in ("singly", "together"):
        with opened(driver, f"ended_{how}") as store:
            made = [add(store, f"words {i}", kind=("semantic", "episodic")[i % 2], scope=("", "b")[i // 3]) for i in range(6)]
            rows = [made[i].row for i in (4, 1, 2)]
            with store.write(AUTHOR) as tx:
                tx.change_entry(made[1].row, standing="suspended")
                tx.change_entry(made[2].row, pinned=True)
                for stored in tx.entries(rows):
                    tx.append("death", entries=[stored.row], postings=[Posting(stored.row, FORFEIT, stored.entry.balance)])
                if how == "together":
                    tx.end_entries(rows, "starved")
                for row in rows if how == "singly" else ():
                    mark, tick = tx.counter("rent_index"), tx.counter("tick")
                    tx.change_entry(row, standing="dead", cause="starved", balance=0, rent_mark=mark, died_tick=tick, pinned=False)
            clean(store)
            with store.read() as reading:
                told = [
                    (s.row, s.entry.standing, s.entry.cause, s.entry.pinned, s.recorded_balance)
                    for s in reading.entries([*rows, made[0].row])
                ]
                ended.append((told, dict(reading.totals()), reading.due(2**60)))
            same(sorted(found_texts(store, "words", scopes=None)), ["words 0", "words 3", "words 5"], f"in the index, {how}")
    same(ended[1], ended[0], "what is left")


@law("Twins are the entries of that digest in that scope and kind, of any standing, newest first.")
def _twins(driver: Driver) -> None:
    with opened(driver, "twins") as store:
        first = add(store, "same words")
        second = add(store, "same words")
        add(store, "same words", scope="other")
        add(store, "same words", kind="procedural")
        add(store, "other words")
        with store.write(AUTHOR) as tx:
            die(tx, first)
        with store.read() as reading:
            found = reading.twins(twin_digest("same words", None), "", "semantic")
            known, unknown = twin_digest("same words", None), twin_digest("nobody says this", None)
            same(reading.known_twins([unknown, known]), {known}, "known twins")
            same([stored.row for stored in found], [second.row, first.row], "twins")
