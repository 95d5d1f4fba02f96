"""Laws of randomised decisions."""

from __future__ import annotations

from typing import Final

from earnest.core.entry import StoredEntry
from earnest.core.ticket import Role
from earnest.core.uplift import Arm, Draw
from earnest.protocols import Store
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import AUTHOR, add, clean, must, opened, same, settle

law: Final = Chapter()


def _draw(store: Store, ticket_id: str, entry: StoredEntry, arm: Arm, rival: StoredEntry | None = None) -> Draw:
    """Opens a randomised ticket."""
    row = None if rival is None else rival.row
    draw = Draw(entry.row, arm, 0.5, 0.25 if row else 0.0, 0.25 if row else 0.5, row)
    with store.write(AUTHOR) as tx:
        role: Role = "deciding" if arm == "shown" else "withheld"
        ticket = tx.insert_ticket(ticket_id, query="q", answer="", exposure=draw.exposure, holdout=arm == "all", shares=[(entry.row, role)])
        tx.insert_draw(ticket, draw)
        tx.move_escrow([entry.row], 1)
        said = [draw.entry_row, draw.arm, draw.shown, draw.alone, draw.all, draw.rival_row]
        tx.append("decide", entries=[entry.row], ticket=ticket_id, data={"draws": [said]})
    return draw


@law("The coin thrown for a decision is kept with it, and read back as it was.")
def _kept(driver: Driver) -> None:
    with opened(driver, "draws") as store:
        one, two = add(store, "one"), add(store, "two")
        thrown = [_draw(store, "t1", one, "shown", two), _draw(store, "t2", one, "all"), _draw(store, "t3", two, "alone", one)]
        with store.read() as reading:
            tickets = [reading.ticket(name) for name in ("t1", "t2", "t3")]
            same([reading.draws_of(t.row)[0] for t in tickets if t is not None], thrown, "draws")
            same([reading.counter(f"drawn:{arm}") for arm in ("shown", "alone", "all")], [1, 1, 1], "running numbers of draws")
        clean(store)


@law("Settled draws are read in the order of their settlements, by meter and by entry; open ones and other meters' are not.")
def _settled(driver: Driver) -> None:
    with opened(driver, "settled-draws") as store:
        one, two = add(store, "one"), add(store, "two")
        for i, entry in enumerate((one, two, one, one)):
            _draw(store, f"t{i}", entry, "all" if i == 2 else "shown")
        for i in (2, 0, 1):
            settle(store, f"t{i}", {}, meter="m", delta=float(i))
        with store.read() as reading:
            mine = [(d.draw.entry_row, d.draw.arm, d.delta, d.scale, d.tier) for d in reading.settled_draws("m")]
            wanted = [
                (one.row, "all", 2.0, 2.0, "measured"),
                (one.row, "shown", 0.0, 2.0, "measured"),
                (two.row, "shown", 1.0, 2.0, "measured"),
            ]
            same(mine, wanted, "settled draws")
            same([d.delta for d in reading.settled_draws("m", two.row)], [1.0], "settled draws of an entry")
            same(reading.settled_draws("nobody"), [], "settled draws of a meter that is not there")
            same(reading.drawn_meters(), ["m"], "meters with draws")
            same(
                dict(reading.draws_ended(one.row)),
                {("all", "settled"): 1, ("shown", "settled"): 1, ("shown", "pending"): 1},
                "ends of draws",
            )
            same(reading.withheld_by_tick("m"), [(reading.counter("tick"), 1.0, 1)], "outcomes without memory")
            must(not reading.withheld_by_tick("m", 99), "outcomes without memory from a tick that has not been are there")
        clean(store)
