"""Laws of tickets, their settlements and the meters."""

from __future__ import annotations

from typing import Final

from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Chapter
from earnest.testing.store_conformance.steps import AUTHOR, NOW, add, clean, decide, must, opened, same, settle

law: Final = Chapter()


@law("The number of open tickets is kept for each entry, up and down.")
def _escrow(driver: Driver) -> None:
    with opened(driver, "escrow") as store:
        one, two = add(store, "one"), add(store, "two")
        decide(store, "t1", [(one, "deciding"), (two, "supporting")])
        decide(store, "t2", [(one, "deciding")])
        with store.read() as reading:
            same([stored.open_tickets for stored in reading.entries([one.row, two.row])], [2, 1], "open tickets")
        settle(store, "t1", {one.row: 1})
        with store.read() as reading:
            same([stored.open_tickets for stored in reading.entries([one.row, two.row])], [1, 0], "open tickets after a settlement")
        clean(store)


@law("Open tickets are listed oldest first, in pages, and by age; an ended one is not.")
def _pending(driver: Driver) -> None:
    with opened(driver, "pending") as store:
        stored = add(store, "words")
        for tick in range(3):
            decide(store, f"a{tick}", [(stored, "deciding")])
            decide(store, f"b{tick}", [(stored, "deciding")])
            with store.write(AUTHOR) as tx:
                tx.bump("tick", 1)
        settle(store, "b1", {})
        with store.read() as reading:

            def ids(after: str | None = None, limit: int = 100, opened_before: int | None = None) -> list[str]:
                return [ticket.id for ticket in reading.pending(after, limit, opened_before=opened_before)]

            same(ids(), ["a0", "b0", "a1", "a2", "b2"], "open tickets")
            same(ids(limit=2), ["a0", "b0"], "the first page")
            same(ids("b0", 2), ["a1", "a2"], "the second page")
            same(ids(opened_before=1), ["a0", "b0"], "opened before tick 1")
            ended = reading.ticket("b1")
            same((ended.state, ended.opened_tick, ended.shares[0].role) if ended else None, ("settled", 1, "deciding"), "the ended one")
            same(reading.ticket("nobody"), None, "a ticket that is not there")


@law("A settlement is kept with its meter, channel and tier; an entry's are read newest first, with role and amount.")
def _settlements(driver: Driver) -> None:
    with opened(driver, "settlements") as store:
        one, two = add(store, "one"), add(store, "two")
        for i in range(3):
            decide(store, f"t{i}", [(one, "deciding"), (two, "supporting")])
            settle(store, f"t{i}", {one.row: i + 1, two.row: -i}, delta=float(i), meter=f"m{i % 2}")
        with store.read() as reading:
            kept = reading.settlement("t2")
            must(kept is not None, "the settlement is not there")
            assert kept is not None
            same(
                (kept.delta, kept.scale, kept.meter, kept.channel, kept.tier, kept.acted, kept.detail, kept.at),
                (2.0, 2.0, "m0", "python", "measured", True, "seen", NOW),
                "a settlement",
            )
            mine = [(s.ticket_id, role, moved) for s, role, moved in reading.settlements_of(two.row, 2)]
            same(mine, [("t2", "supporting", -2), ("t1", "supporting", -1)], "settlements of an entry")
            same(reading.settlement("t9"), None, "no settlement")
            same([(m.name, m.settlements, m.total) for m in reading.meters()], [("m0", 2, 2.0), ("m1", 1, 1.0)], "meters")


@law("Meters are made, changed and bound; they are listed by name.")
def _meters(driver: Driver) -> None:
    with opened(driver, "meters") as store:
        with store.write(AUTHOR) as tx:
            tx.put_meter("z", unit="", scale=None, tier="claimed")
            tx.put_meter("a", unit="bytes", scale=1.5, tier="measured")
            tx.put_meter("z", unit="usd", scale=9.0, tier="operator")
            for channel in ("cli", "ci", "cli"):
                tx.bind_meter("z", channel)
        with store.read() as reading:
            made = [(m.name, m.unit, m.scale, m.tier, m.channels) for m in reading.meters()]
            same(made, [("a", "bytes", 1.5, "measured", ()), ("z", "usd", 9.0, "operator", ("ci", "cli"))], "meters")
            same(reading.meter("nobody"), None, "a meter that is not there")
