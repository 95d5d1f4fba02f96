"""Laws of moving a whole store, of erasing from it, and of archiving its log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from earnest.core.erasing import Subject
from earnest.protocols import Store
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import ANALYSER, AUTHOR, add, die, must, opened, refused, same

law: Final = Chapter()


def _lived(store: Store) -> None:
    """A store with the living, the dead and a ticket in it."""
    one = add(store, "walrus one", scope="alice", sources=("diary",), tags=("ocean-label",), metadata={"n": [1, 2.5, "é"]})
    two = add(store, "walrus two")
    with store.write(AUTHOR) as tx:
        tx.insert_ticket(
            "t1", query="where is the walrus?", answer="walrus one", exposure=1.0, holdout=False, shares=[(one.row, "deciding")]
        )
        tx.move_escrow([one.row], 1)
        tx.append("decide", entries=[one.row], ticket="t1", data={"shares": [[one.row, "deciding"]], "exposure": 1.0}, note="about walrus")
        tx.remember("k", "add", bytes(range(16)), {"id": one.entry.id})
    with store.write(AUTHOR) as tx:
        die(tx, two)


def _rows(store: Store) -> list[tuple[str, dict[str, Any]]]:
    with store.read() as reading:
        return [(table, dict(values)) for table, values in reading.rows(vectors=True)]


@law("The rows of a store make an untouched one its equal; a store that was used takes none, and rows of no table are refused whole.")
def _rows_come_back(driver: Driver) -> None:
    with opened(driver, "rows_from") as store, opened(driver, "rows_to") as other:
        _lived(store)
        said = _rows(store)
        with other.read() as reading:
            must(reading.untouched(), "a new store is not untouched")
            form = reading.form()
        with refused(OSError, "a row of no table"), other.write(AUTHOR) as tx:
            tx.load(form, [*said, ("nothing", {"a": 1})], _terms)
        with other.read() as reading:
            must(reading.untouched(), "what was refused left something behind")
        with other.write(AUTHOR) as tx:
            tx.load(form, said, _terms)
        same(_rows(other), said, "rows")
        with other.read() as reading:
            must(not reading.untouched(), "a store with entries counts as untouched")
        same([damage.text for damage in other.damage()], [], "damage")


@law("A passing copy of rows can be read like a store, and is gone afterwards.")
def _scratch(driver: Driver) -> None:
    with opened(driver, "scratch") as store:
        _lived(store)
        with store.read() as reading:
            form = reading.form()
        with store.scratch(form, _rows(store)) as other, store.read() as reading:
            same(other.counter("dead"), reading.counter("dead"), "the dead of the copy")
            same(other.entry("none"), None, "an entry that is not there")


@law("What is erased is in no row any more; its tombstone, its numbers and the chain stay.")
def _erased_is_gone(driver: Driver) -> None:
    with opened(driver, "erased_is_gone") as store:
        _lived(store)
        with store.read() as reading:
            rows = reading.meant(Subject(text="WALRUS one"))
            same(len(rows), 1, "entries that hold a text")
            same(reading.meant(Subject(scope="alice")), rows, "entries of a scope")
            same(reading.meant(Subject(source="diary")), rows, "entries of a source")
            same(reading.open_tickets(rows), ["t1"], "open tickets that name it")
            before = reading.events(entry=None, kind=None, after=0, limit=100, newest=True)[0]
            [stored] = reading.entries(rows)
        with store.write(AUTHOR) as tx:
            die(tx, stored)
            tx.change_entry(stored.row, cause="erased")
            tx.erase(rows)
            tx.append("erase", entries=rows)
        said = json.dumps(_rows(store), default=str)
        for word in ("walrus one", "diary", "ocean-label", "where is", "about walrus", "2.5"):
            must(word not in said, f"{word!r} is still in a row")
        with store.read() as reading:
            same(dict(reading.residue(rows, [])[0]), {"keyword": 0, "dense": 0}, "what the indexes hold")
            [left] = reading.entries(rows)
            same((left.entry.id, left.entry.text, left.entry.metadata, left.entry.cause), (stored.entry.id, "", {}, "erased"), "tombstone")
            same(reading.meant(Subject(scope="alice")), [], "erased entries are not meant again")
        must(not [d for d in store.damage(before.hash) if d.code.startswith("log")], "the chain does not hold")


@law("What is archived leaves its number and hash, and fits into the chain; what was changed does not.")
def _archived(driver: Driver) -> None:
    with opened(driver, "archived") as store:
        with store.write(AUTHOR) as tx:
            made = [tx.append("twin", data={"sources": n}) for n in range(5)]
        with store.read() as reading:
            hashes = [event.hash for event in reading.events(entry=None, kind=None, after=0, limit=100, newest=False)]
            events = reading.archivable(made[-1])
            same(events, made[:-1], "events that can be archived")
            said = [(table, dict(values)) for table, values in reading.archive_rows(events)]
        with store.write(AUTHOR) as tx:
            same(tx.archive(events, bytes(32)), 4, "archived events")
            same(tx.archive(events, bytes(32)), 0, "archived once more")
        with store.read() as reading:
            after = reading.events(entry=None, kind=None, after=0, limit=100, newest=False)
            same([event.hash for event in after], hashes, "hashes")
            same([event.kind for event in after if event.seq in events], ["archived"] * 4, "kinds")
            same(reading.archives(), [bytes(32)], "digests of archives")
            same([damage.text for damage in reading.archive_damage(said)], [], "an archive that fits")
            said[0][1]["data"] = '{"sources":9}'
            must([*reading.archive_damage(said)], "a changed archive is taken for the right one")
        same([damage.text for damage in store.damage()], [], "damage")


def _terms(text: str) -> Sequence[str]:
    return ANALYSER.terms(text)
