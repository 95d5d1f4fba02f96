"""Looking a store file over: ordered pages, and counts by tick. Parts of its driver."""

from __future__ import annotations

from typing import Any, Final

from earnest.core.filters import Filter
from earnest.core.survey import Order, Settled
from earnest.stores.sqlite.filtering import conditions
from earnest.stores.sqlite.snapshot import Snapshot

_ORDERS: Final[dict[Order, tuple[str, str, str]]] = {
    "oldest": ("1", "e.entry > (SELECT entry FROM entries WHERE id = ?1)", "e.entry"),
    "newest": ("1", "e.entry < (SELECT entry FROM entries WHERE id = ?1)", "e.entry DESC"),
    "richest": (
        "e.standing <> 'dead' AND e.starves_at IS NOT NULL",
        "(e.starves_at, e.entry) < ((SELECT starves_at FROM entries WHERE id = ?1), (SELECT entry FROM entries WHERE id = ?1))",
        "e.starves_at DESC, e.entry DESC",
    ),
    "poorest": (
        "e.standing <> 'dead' AND e.starves_at IS NOT NULL",
        "(e.starves_at, e.entry) > ((SELECT starves_at FROM entries WHERE id = ?1), (SELECT entry FROM entries WHERE id = ?1))",
        "e.starves_at, e.entry",
    ),
    "ended": (
        "e.standing = 'dead'",
        "(e.died_tick, e.entry) < ((SELECT died_tick FROM entries WHERE id = ?1), (SELECT entry FROM entries WHERE id = ?1))",
        "e.died_tick DESC, e.entry DESC",
    ),
}
"""For each order: who is in it, who comes after the last one of a page, and how to sort. Each runs along an index."""


def ranked(db: Any, chosen: Filter, order: Order, cause: str | None, pinned: bool | None, after: str | None, limit: int) -> list[int]:
    """See `earnest.protocols.Reading.ranked`."""
    within, following, sorted_by = _ORDERS[order]
    where, values = conditions(chosen)
    where.append(within)
    if cause is not None:
        where.append("e.cause = ?")
        values.append(cause)
    if pinned is not None:
        where.append("e.pinned = ?")
        values.append(int(pinned))
    if after is not None:
        where.append(following)
    condition = " AND ".join(where)
    # The first value is the last entry of the page before; the others follow it in the order of their question marks.
    sql = f"SELECT e.entry FROM entries e WHERE ?1 IS ?1 AND {condition} ORDER BY {sorted_by} LIMIT ?"
    return [row for (row,) in db.execute(sql, (after, *values, limit))]


class SurveyReading(Snapshot):
    """What a snapshot shows people; the reading half of `earnest.protocols.Reading`'s section on looking it over."""

    def died_by_tick(self, since: int, until: int) -> list[tuple[int, str, int]]:
        """See `earnest.protocols.Reading.died_by_tick`."""
        sql = """SELECT died_tick, cause, count(*) FROM entries WHERE standing = 'dead' AND died_tick BETWEEN ? AND ?
                 GROUP BY died_tick, cause ORDER BY died_tick, cause"""
        return [tuple(row) for row in self._db.execute(sql, (since, until))]

    def settled_by_tick(self, since: int, until: int) -> list[Settled]:
        """See `earnest.protocols.Reading.settled_by_tick`."""
        sql = """SELECT s.tick, m.name, s.tier, count(*), total(max(-1e300, min(1e300, s.delta))), sum(s.delta < 0)
                 FROM settlements s JOIN meters m USING (meter) WHERE s.tick BETWEEN ? AND ?
                 GROUP BY s.tick, m.name, s.tier ORDER BY s.tick, m.name, s.tier"""
        return [Settled(*row) for row in self._db.execute(sql, (since, until))]

    def holdings(self, step: int, buckets: int) -> tuple[list[int], int]:
        """See `earnest.protocols.Reading.holdings`."""
        index = self.counter("rent_index")
        # A look along the index of who starves when; the entries themselves are not read.
        sql = """SELECT max(0, min(?3 - 1, (starves_at - ?1) / ?2)), count(*) FROM entries
                 WHERE standing <> 'dead' AND starves_at IS NOT NULL GROUP BY 1"""
        counts = [0] * buckets
        for bucket, count in self._db.execute(sql, (index, step, buckets)):
            counts[bucket] += count
        sql = """SELECT max(0, min(?3 - 1, max(balance - ?1 + rent_mark, min(balance, 0)) / ?2)), count(*) FROM entries
                 WHERE pinned = 1 AND standing <> 'dead' AND retention = 'earned' GROUP BY 1"""
        pinned = 0
        for bucket, count in self._db.execute(sql, (index, step, buckets)):
            counts[bucket] += count
            pinned += count
        return counts, pinned

    def tickets_of(self, row: int, limit: int) -> list[str]:
        """See `earnest.protocols.Reading.tickets_of`."""
        sql = """SELECT t.id FROM shares h CROSS JOIN tickets t ON t.ticket = h.ticket
                 WHERE h.entry = ? AND t.state = 'pending' ORDER BY h.ticket DESC LIMIT ?"""
        return [name for (name,) in self._db.execute(sql, (row, limit))]

    def heirs_of(self, row: int) -> list[str]:
        """See `earnest.protocols.Reading.heirs_of`."""
        sql = "SELECT e.id FROM lineage l JOIN entries e USING (entry) WHERE l.parent = ? ORDER BY l.entry LIMIT 100"
        return [name for (name,) in self._db.execute(sql, (row,))]
