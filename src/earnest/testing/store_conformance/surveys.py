"""Laws of looking a store over: ordered pages, and counts by tick."""

from __future__ import annotations

from typing import Any, Final

from earnest.core.filters import Filter
from earnest.core.survey import Order
from earnest.protocols import Reading
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import AUTHOR, EVERY_SCOPE, add, decide, opened, same, settle

law: Final = Chapter()

_LIVING: Final = Filter(scopes=None)
_DEAD: Final = Filter(scopes=None, standings=("dead",))


def _rows(reading: Reading, chosen: Filter, order: Order, after: str | None = None, limit: int = 100, **more: Any) -> list[int]:
    return reading.ranked(chosen, order, cause=more.get("cause"), pinned=more.get("pinned"), after=after, limit=limit)


@law("Entries are ranked by age, and those that pay rent by what they hold; a page goes on after the last one, ties included.")
def _ranked(driver: Driver) -> None:
    with opened(driver, "ranked") as store:
        held = [3, 1, 2, 2, 5]
        made = [add(store, f"entry {place}", amount * 1_000) for place, amount in enumerate(held)]
        kept = add(store, "a kept one", retention="kept")
        rows = [stored.row for stored in made]
        with store.read() as reading:
            same(_rows(reading, _LIVING, "oldest"), [*rows, kept.row], "by age")
            same(_rows(reading, _LIVING, "newest"), [kept.row, *reversed(rows)], "the newest first")
            rich = _rows(reading, _LIVING, "richest")
            same([held[rows.index(row)] for row in rich], [5, 3, 2, 2, 1], "by what they hold")
            same(_rows(reading, _LIVING, "poorest"), rich[::-1], "the poorest first")
            for order in ("oldest", "newest", "richest", "poorest"):
                whole = _rows(reading, _LIVING, order)
                ids = {stored.row: stored.entry.id for stored in reading.entries(whole)}
                for place, row in enumerate(whole):
                    same(_rows(reading, _LIVING, order, ids[row], 2), whole[place + 1 : place + 3], f"{order}, after {place}")


@law("A ranking keeps to the filter, to who is pinned, and to the cause of death; the dead are ranked by when they died, the last first.")
def _ranked_filtered(driver: Driver) -> None:
    with opened(driver, "ranked_filtered") as store:
        made = [add(store, f"entry {place}", scope="alice" if place % 2 else "", tags=("x",) if place == 1 else ()) for place in range(6)]
        with store.write(AUTHOR) as tx:
            tx.change_entry(made[4].row, pinned=True)
            for tick, (place, cause) in enumerate(((3, "starved"), (0, "forgotten"), (2, "starved"))):
                tx.change_entry(made[place].row, standing="dead", cause=cause, died_tick=tick)
        rows = [stored.row for stored in made]
        with store.read() as reading:
            same(_rows(reading, Filter(scopes=("alice",)), "oldest"), [rows[1], rows[5]], "of one scope")
            same(_rows(reading, Filter(scopes=None, tags=("x",)), "newest"), [rows[1]], "with a tag")
            same(_rows(reading, _LIVING, "oldest", pinned=True), [rows[4]], "pinned")
            same(_rows(reading, _LIVING, "oldest", pinned=False), [rows[1], rows[5]], "not pinned")
            same(_rows(reading, _DEAD, "ended"), [rows[2], rows[0], rows[3]], "the dead")
            same(_rows(reading, _DEAD, "ended", cause="starved"), [rows[2], rows[3]], "the starved")
            same(_rows(reading, _DEAD, "ended", made[2].entry.id), [rows[0], rows[3]], "the dead, after the first")
            same(_rows(reading, Filter(**EVERY_SCOPE), "oldest", limit=2), rows[:2], "of any standing")


@law("Who died is counted by tick and cause, and what was settled by tick, meter and trust; both ends of the stretch belong to it.")
def _by_tick(driver: Driver) -> None:
    with opened(driver, "by_tick") as store:
        made = [add(store, f"entry {place}") for place in range(5)]
        for tick in range(4):
            for place in range(tick):
                name = f"t{tick}-{place}"
                decide(store, name, [(made[4], "deciding")])
                settle(store, name, {}, meter=f"m{place % 2}", delta=-1.0 if place == 2 else 2.0)
            with store.write(AUTHOR) as tx:
                tx.change_entry(made[tick].row, standing="dead", cause="starved" if tick else "executed", died_tick=tick)
                tx.bump("tick", 1)
        with store.read() as reading:
            same(reading.died_by_tick(0, 2), [(0, "executed", 1), (1, "starved", 1), (2, "starved", 1)], "who died")
            same(reading.died_by_tick(5, 9), [], "nobody died then")
            found = [(one.tick, one.meter, one.tier, one.count, one.total, one.harms) for one in reading.settled_by_tick(2, 3)]
            wanted = [
                (2, "m0", "measured", 1, 2.0, 0),
                (2, "m1", "measured", 1, 2.0, 0),
                (3, "m0", "measured", 2, 1.0, 1),
                (3, "m1", "measured", 1, 2.0, 0),
            ]
            same(found, wanted, "what was settled")


@law("Holdings count every living payer once, net of rent, those in debt in the first bucket and those beyond the last in the last.")
def _holdings(driver: Driver) -> None:
    with opened(driver, "holdings") as store:
        made = [add(store, f"entry {amount}", amount) for amount in (150, 50, 250, 990, 250)]
        add(store, "a kept one", retention="kept")
        with store.read() as reading:
            same(reading.holdings(100, 4), ([1, 1, 2, 1], 0), "before any rent")
        with store.write(AUTHOR) as tx:
            tx.bump("rent_index", 60)
            tx.change_entry(made[2].row, pinned=True)
        with store.read() as reading:
            same(reading.holdings(100, 4), ([2, 2, 0, 1], 1), "after rent")
            same(reading.holdings(1_000, 1), ([5], 1), "in one bucket")


@law("An entry knows the open tickets that name it, the newest first, and what was made of it.")
def _names(driver: Driver) -> None:
    with opened(driver, "names") as store:
        one, two = add(store, "one"), add(store, "two")
        for place in range(3):
            decide(store, f"t{place}", [(one, "deciding")])
        settle(store, "t1", {})
        with store.write(AUTHOR) as tx:
            tx.add_lineage(two.row, [(one.row, "version", 0)])
        with store.read() as reading:
            same(reading.tickets_of(one.row, 9), ["t2", "t0"], "open tickets")
            same(reading.tickets_of(one.row, 1), ["t2"], "one of them")
            same(reading.tickets_of(two.row, 9), [], "of another")
            same((reading.heirs_of(one.row), reading.heirs_of(two.row)), ([two.entry.id], []), "heirs")
