"""Draws: decisions that were randomised, with what came of them. Parts of the reading and the writing of a store file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from earnest.core.uplift import ARMS, Draw, SettledDraw
from earnest.protocols import Damage
from earnest.stores.sqlite.snapshot import Snapshot

_SETTLED: Final = """
SELECT d.entry, d.arm, d.p_shown, d.p_alone, d.p_all, d.rival, d.trial, s.delta, s.scale, s.tier
FROM draws d CROSS JOIN settlements s ON s.ticket = d.ticket CROSS JOIN meters m ON m.meter = s.meter
WHERE m.name = ? AND (m.revoked IS NULL OR s.event < m.revoked)
"""

_ENDED: Final = "SELECT d.arm, t.state, count(*) FROM draws d CROSS JOIN tickets t ON t.ticket = d.ticket "


class DrawReading(Snapshot):
    """What a snapshot knows of draws; the reading half of `earnest.protocols.Reading`'s section on them."""

    def draws_of(self, ticket_row: int) -> list[Draw]:
        """See `earnest.protocols.Reading.draws_of`."""
        sql = "SELECT entry, arm, p_shown, p_alone, p_all, rival, trial FROM draws WHERE ticket = ? ORDER BY entry"
        return [Draw(*row) for row in self._db.execute(sql, (ticket_row,))]

    def settled_draws(self, meter: str, entry_row: int | None = None) -> list[SettledDraw]:
        """See `earnest.protocols.Reading.settled_draws`."""
        if entry_row is None:
            rows = self._db.execute(_SETTLED + "AND d.trial IS NULL ORDER BY s.event", (meter,))
        else:
            rows = self._db.execute(_SETTLED + "AND d.entry = ? ORDER BY s.event", (meter, entry_row))
        return [SettledDraw(Draw(*row[:7]), *row[7:]) for row in rows]

    def drawn_meters(self) -> list[str]:
        """See `earnest.protocols.Reading.drawn_meters`."""
        sql = """SELECT DISTINCT m.name FROM draws d CROSS JOIN settlements s ON s.ticket = d.ticket CROSS JOIN meters m
                 ON m.meter = s.meter WHERE m.revoked IS NULL OR s.event < m.revoked ORDER BY m.name"""
        return [name for (name,) in self._db.execute(sql)]

    def withheld_by_tick(self, meter: str, since: int = 0) -> list[tuple[int, float, int]]:
        """See `earnest.protocols.Reading.withheld_by_tick`."""
        sql = """SELECT s.tick, total(max(-1e6, min(1e6, s.delta / s.scale))), count(*)
                 FROM settlements s CROSS JOIN draws d ON d.ticket = s.ticket
                 WHERE s.meter = (SELECT meter FROM meters WHERE name = ?) AND s.tick >= ? AND d.arm = 'all' AND s.tier = 'measured'
                 GROUP BY s.tick ORDER BY s.tick"""
        return [(tick, total, count) for tick, total, count in self._db.execute(sql, (meter, since))]

    def draws_ended(self, entry_row: int | None = None) -> Mapping[tuple[str, str], int]:
        """See `earnest.protocols.Reading.draws_ended`."""
        if entry_row is None:
            rows = self._db.execute(_ENDED + "WHERE d.trial IS NULL GROUP BY d.arm, t.state")
        else:
            rows = self._db.execute(_ENDED + "WHERE d.entry = ? GROUP BY d.arm, t.state", (entry_row,))
        return {(arm, state): count for arm, state, count in rows}


def insert_draw(db: Any, ticket_row: int, draw: Draw) -> None:
    """Write a draw beside its ticket."""
    db.execute(
        "INSERT INTO draws (ticket, entry, arm, p_shown, p_alone, p_all, rival, trial) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (ticket_row, draw.entry_row, draw.arm, draw.shown, draw.alone, draw.all, draw.rival_row, draw.trial),
    )


def expected_counters(db: Any) -> dict[str, int]:
    """The running numbers of draws, from the rows that they sum up."""
    made = {f"drawn:{arm}": 0 for arm in ARMS} | {f"drawn_lost:{arm}": 0 for arm in ARMS}
    for (arm, state), count in DrawReading(db).draws_ended().items():
        made[f"drawn:{arm}"] += count
        if state in ("abandoned", "expired"):
            made[f"drawn_lost:{arm}"] += count
    return made


def damage(db: Any) -> Iterator[Damage]:
    """Draws against what the log says of their decisions, which is the truth."""
    sql = """SELECT t.id, t.holdout, json_extract(e.data, '$.draws'),
                    (SELECT json_group_array(json(CASE WHEN trial IS NULL THEN json_array(entry, arm, p_shown, p_alone, p_all, rival)
                                                       ELSE json_array(entry, arm, p_shown, p_alone, p_all, rival, trial) END))
                     FROM (SELECT * FROM draws d WHERE d.ticket = t.ticket ORDER BY entry))
             FROM events e JOIN tickets t ON t.id = e.ticket WHERE e.kind = 'decide'
             AND (t.holdout OR json_extract(e.data, '$.draws') IS NOT NULL OR EXISTS (SELECT 1 FROM draws d WHERE d.ticket = t.ticket))"""
    for ticket_id, holdout, said, kept in db.execute(sql):
        draws = json.loads(kept)
        if (json.loads(said) if said else []) != draws:
            yield Damage("draw differs", f"ticket {ticket_id} was drawn otherwise than the log says")
        elif bool(holdout) != any(draw[1] == "all" for draw in draws):
            yield Damage("draw differs", f"the log and the mark on ticket {ticket_id} differ on whether memory was withheld")
