"""Laws of what entries hold and were made of, and of the totals."""

from __future__ import annotations

from typing import Final

from earnest.core.amounts import RENT
from earnest.core.events import Posting
from earnest.core.filters import Filter
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import AUTHOR, EVERY_SCOPE, add, decide, die, opened, same

law: Final = Chapter()


@law("Due are exactly the living, unpinned, earned entries that are empty at that rent index.")
def _due(driver: Driver) -> None:
    with opened(driver, "due") as store:
        poor, rich = add(store, "poor", 50), add(store, "rich", 500)
        pinned, dead = add(store, "pinned", 50), add(store, "dead", 50)
        add(store, "kept", retention="kept")
        with store.write(AUTHOR) as tx:
            tx.change_entry(pinned.row, pinned=True)
            die(tx, dead)
            tx.bump("rent_index", 100)
        late = add(store, "late", 50)
        with store.read() as reading:
            same(reading.due(49), [], "at 49")
            same(reading.due(50), [poor.row], "at 50")
            same(reading.due(149), [poor.row], "at 149")
            same(sorted(reading.due(150)), sorted([poor.row, late.row]), "at 150")
            same(sorted(reading.due(10**9)), sorted([poor.row, rich.row, late.row]), "at the end of time")
            held = [stored.entry.balance for stored in reading.entries([poor.row, rich.row, pinned.row, late.row])]
            same(held, [-50, 400, 0, 50], "what they hold, net of rent")


@law("The richest living earned entries come first, by what they hold now.")
def _richest(driver: Driver) -> None:
    with opened(driver, "richest") as store:
        add(store, "early", 300)
        pinned = add(store, "pinned", 260)
        with store.write(AUTHOR) as tx:
            tx.change_entry(pinned.row, pinned=True)
            tx.bump("rent_index", 100)
        add(store, "late", 250)
        add(store, "kept", retention="kept")
        dead = add(store, "dead", 900)
        with store.write(AUTHOR) as tx:
            die(tx, dead)
        with store.read() as reading:
            made = [(stored.entry.text, stored.entry.balance) for stored in reading.richest(10)]
            same(made, [("late", 250), ("early", 200), ("pinned", 160)], "the richest")
            same([stored.entry.text for stored in reading.richest(1)], ["late"], "the richest one")


@law("What an entry was made of, and what an edit overwrote, are kept.")
def _lineage_and_undo(driver: Driver) -> None:
    with opened(driver, "lineage_and_undo") as store:
        rows = [add(store, f"words {i}").row for i in range(3)]
        with store.write(AUTHOR) as tx:
            tx.add_lineage(rows[2], [(rows[1], "merge", 7), (rows[0], "version", 0)])
            edit = tx.append("edit", entries=[rows[2]], before={"importance": 0.5, "tags": ["é"]})
            plain = tx.append("pin", entries=[rows[2]])
        with store.read() as reading:
            same(reading.lineage(rows[2]), [(rows[0], "version", 0), (rows[1], "merge", 7)], "lineage")
            same(reading.lineage(rows[0]), [], "no lineage")
            same((reading.before_edit(edit), reading.before_edit(plain)), ({"importance": 0.5, "tags": ["é"]}, None), "before")
            same(len(reading.entries([rows[2]])[0].entry.lineage), 2, "the entry's own lineage")


@law("The totals agree with a count of the rows, at every moment.")
def _totals_agree(driver: Driver) -> None:
    with opened(driver, "totals_agree") as store:

        def compare(when: str) -> None:
            with store.read() as reading:
                totals, everyone = reading.totals(), reading.page(Filter(**EVERY_SCOPE), None, 100)
                same(reading.energy(), totals["energy"], f"{when}: energy alone")
            count = {name: sum(s.entry.standing == name for s in everyone) for name in ("active", "suspended", "dead")}
            same([totals.get(n, 0) for n in ("alive", "suspended", "dead")], [count[n] for n in ("active", "suspended", "dead")], when)
            living = [s.entry for s in everyone if s.entry.alive]
            for kind in ("semantic", "episodic"):
                same(totals.get(f"kind:{kind}", 0), sum(e.kind == kind for e in living), f"{when}: {kind}")
            same(totals["energy"], sum(e.balance for e in living if e.retention == "earned"), f"{when}: energy")
            same(totals["pinned"], sum(e.pinned for e in living), f"{when}: pinned")
            same(-sum(totals["accounts"].values()), sum(s.recorded_balance for s in everyone), f"{when}: all accounts together")

        compare("empty")
        one, two = add(store, "one", 300), add(store, "two", 400, scope="b", kind="episodic")
        add(store, "three", retention="fading")
        compare("three entries")
        with store.write(AUTHOR) as tx:
            tx.bump("rent_index", 100)
        compare("after rent")
        with store.write(AUTHOR) as tx:
            tx.change_entry(one.row, pinned=True)
            tx.change_entry(two.row, standing="suspended")
        decide(store, "t", [(one, "deciding")])
        compare("pinned and suspended")
        with store.write(AUTHOR) as tx:
            [two] = tx.entries([two.row])
            tx.append("edit", entries=[two.row], postings=[Posting(two.row, RENT, 100)])
            die(tx, two)
        compare("after a death")
        with store.read() as reading:
            same((reading.totals()["pending"], reading.totals()["decisions"]), (1, 1), "tickets")
