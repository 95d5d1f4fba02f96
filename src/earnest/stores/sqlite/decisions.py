"""Decisions, their outcomes and the meters that measured them, as a store file holds them."""

from __future__ import annotations

from typing import Any, Final

from earnest.core.events import moment
from earnest.core.ticket import Meter, Role, Share, StoredSettlement, StoredTicket
from earnest.stores.sqlite.columns import loaded
from earnest.stores.sqlite.snapshot import Snapshot

_TICKET: Final = "SELECT ticket, id, query, answer, state, holdout, exposure, opened_tick, opened, resolved FROM tickets"
_SETTLEMENT: Final = """
SELECT t.id, s.event, s.delta, s.scale, m.name, s.channel, s.tier, s.acted, s.detail, s.tick, s.at
FROM settlements s JOIN tickets t USING (ticket) JOIN meters m USING (meter)
"""
_METER: Final = """
SELECT name, unit, scale, tier, settlements, total, created, lie_rate, baseline,
       (SELECT json_group_array(channel) FROM bindings b WHERE b.meter = m.meter),
       coalesce((SELECT alarm FROM beliefs b WHERE b.meter = m.meter), 0), revoked
FROM meters m
"""


class DecisionReading(Snapshot):
    """Part of a reader; implements `earnest.protocols.Reading`."""

    def _ticket(self, r: tuple[Any, ...]) -> StoredTicket:
        shares = self._db.execute(
            "SELECT s.entry, e.id, s.role FROM shares s JOIN entries e USING (entry) WHERE s.ticket = ? ORDER BY s.role, s.entry",
            (r[0],),
        )
        return StoredTicket(
            row=r[0], id=r[1], query=r[2], answer=r[3], state=r[4], holdout=bool(r[5]), exposure=r[6], opened_tick=r[7],
            opened=moment(r[8]), resolved_event=r[9], shares=tuple(Share(*share) for share in shares),
        )  # fmt: skip

    def ticket(self, ticket_id: str) -> StoredTicket | None:
        found = self._db.execute(_TICKET + " WHERE id = ?", (ticket_id,)).fetchone()
        return self._ticket(found) if found else None

    def pending(self, after: str | None, limit: int, *, opened_before: int | None = None) -> list[StoredTicket]:
        sql = f"{_TICKET} WHERE state = 'pending'"
        values: list[Any] = []
        if opened_before is not None:
            sql += " AND opened_tick < ?"
            values.append(opened_before)
        if after is not None:
            sql += " AND (opened_tick, ticket) > (SELECT opened_tick, ticket FROM tickets WHERE id = ?)"
            values.append(after)
        sql += " ORDER BY opened_tick, ticket LIMIT ?"
        return [self._ticket(row) for row in self._db.execute(sql, (*values, limit)).fetchall()]

    def deciding(self, row: int, most: int) -> int:
        sql = """SELECT count(*) FROM (SELECT 1 FROM shares s JOIN tickets t USING (ticket)
                 WHERE s.entry = ? AND s.role = 'deciding' AND t.state = 'pending' LIMIT ?)"""
        return int(self._db.execute(sql, (row, most)).fetchone()[0])

    def settlement(self, ticket_id: str) -> StoredSettlement | None:
        found = self._db.execute(_SETTLEMENT + " WHERE t.id = ?", (ticket_id,)).fetchone()
        return _settlement(found) if found else None

    def settlements_of(self, entry_row: int, limit: int) -> list[tuple[StoredSettlement, Role, int]]:
        sql = (
            _SETTLEMENT.replace("FROM settlements s", ", h.role, h.moved FROM settlements s")
            + "JOIN shares h USING (ticket) WHERE h.entry = ? ORDER BY s.event DESC LIMIT ?"
        )
        return [(_settlement(r[:11]), r[11], r[12]) for r in self._db.execute(sql, (entry_row, limit))]

    def meters(self) -> list[Meter]:
        return [_meter(row) for row in self._db.execute(_METER + " ORDER BY name")]

    def meter(self, name: str) -> Meter | None:
        found = self._db.execute(_METER + " WHERE name = ?", (name,)).fetchone()
        return _meter(found) if found else None


def _settlement(r: tuple[Any, ...]) -> StoredSettlement:
    return StoredSettlement(
        ticket_id=r[0], event=r[1], delta=r[2], scale=r[3], meter=r[4], channel=r[5], tier=r[6],
        acted=None if r[7] is None else bool(r[7]), detail=r[8], tick=r[9], at=moment(r[10]),
    )  # fmt: skip


def _meter(r: tuple[Any, ...]) -> Meter:
    return Meter(
        name=r[0], unit=r[1], scale=r[2], tier=r[3], channels=tuple(sorted(loaded(r[9]))), settlements=r[4], total=r[5],
        created=moment(r[6]), lie_rate=r[7], baseline=r[8], alarm=bool(r[10]), revoked=r[11],
    )  # fmt: skip
