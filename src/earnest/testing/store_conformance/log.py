"""Laws of the event log."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from earnest.core.amounts import MINT, RENT
from earnest.core.events import GENESIS, Posting, canonical, chained, micros
from earnest.protocols import Author
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import AUTHOR, NOW, add, clean, must, opened, same

law: Final = Chapter()


@law("Events are numbered without a gap, stamped with author and time, and each carries the hash over itself and the one before.")
def _ordered_chain(driver: Driver) -> None:
    with opened(driver, "ordered_chain") as store:
        stored = add(store, "words")
        with store.write(Author(NOW + timedelta(days=1), "someone", "cli")) as tx:
            posted = [Posting(MINT, stored.row, 3), Posting(stored.row, RENT, 2)]
            said = {"b": [1, None], "a": "é"}
            seq = tx.append("edit", entries=[stored.row, stored.row], ticket="t", data=said, postings=posted, note="why")
            tx.change_entry(stored.row, balance=1_000_001)
        with store.read() as reading:
            events = reading.events(entry=None, kind=None, after=0, limit=100, newest=False)
            same([event.seq for event in events], list(range(1, len(events) + 1)), "event numbers")
            before = GENESIS
            for event in events:
                rows = [found.row for name in event.entries if (found := reading.entry(name)) is not None]
                made = chained(
                    before, event.seq, event.kind, event.tick, micros(event.at), event.actor, event.channel, rows, event.ticket,
                    canonical(event.data), reading.postings(event.seq),
                )  # fmt: skip
                same(event.hash, made.hex(), f"the hash of event {event.seq}")
                before = made
            last = reading.event(seq)
            must(last is not None, "an event is not found by its number")
            assert last is not None
            same((last.actor, last.channel, last.at), ("someone", "cli", NOW + timedelta(days=1)), "who wrote it, how, when")
            same((last.entries, last.ticket, last.data, last.note), ((stored.entry.id,), "t", said, "why"), "event")
            same(reading.postings(seq), posted, "postings in order")
            same(reading.event(seq + 1), None, "an event that is not there")


@law("The first event from a moment on is found whatever the clock said of those between.")
def _event_from(driver: Driver) -> None:
    with opened(driver, "event_from") as store:
        made = []
        for days in (1, 9, 3, 5):
            with store.write(Author(NOW + timedelta(days=days), "someone", "cli")) as tx:
                made.append(tx.append("meter", data={}))
        with store.read() as reading:
            for days, number in ((1, made[0]), (2, made[1]), (4, made[1]), (9, made[1]), (10, None)):
                same(reading.event_from(NOW + timedelta(days=days)), number, f"the first event from day {days} on")
        clean(store)


@law("Events are read forwards after a number or backwards before it, by entry and kind, up to the limit.")
def _events_both_ways(driver: Driver) -> None:
    with opened(driver, "events_both_ways") as store:
        one, two = add(store, "one"), add(store, "two")
        with store.write(AUTHOR) as tx:
            made = [tx.append("pin" if i % 2 else "unpin", entries=[one.row if i < 4 else two.row]) for i in range(6)]
        with store.read() as reading:

            def seqs(
                entry: str | None = None, kind: str | None = None, after: int = 0, limit: int = 100, newest: bool = False
            ) -> list[int]:
                return [e.seq for e in reading.events(entry=entry, kind=kind, after=after, limit=limit, newest=newest)]

            everything = seqs()
            same(seqs(newest=True), everything[::-1], "newest first")
            same(seqs(newest=True, limit=2), made[:-3:-1], "the two newest")
            same(seqs(newest=True, after=made[3], limit=2), [made[2], made[1]], "before a number, newest first")
            same(seqs(after=made[3]), made[4:], "after a number")
            same(seqs(limit=3), everything[:3], "a limit")
            same(seqs(kind="pin"), [made[1], made[3], made[5]], "of one kind")
            same(seqs(entry=two.entry.id, kind="pin"), [made[5]], "of one entry and kind")
            same(seqs(entry=one.entry.id, newest=True)[:4], made[3::-1], "of one entry, newest first")
            same(seqs(entry="nobody"), [], "of an entry that is not there")
