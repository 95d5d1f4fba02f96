"""What meters said of entries, what is believed of the meters, and which second looks are wanted. Parts of a store file's driver."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from earnest.core.entry import Standing
from earnest.core.events import moment
from earnest.core.evidence import Belief, Word, WordRow, sized
from earnest.core.sizes import Sizes
from earnest.core.ticket import Appeal, Control, Look, SettledShare
from earnest.protocols import Damage
from earnest.stores.sqlite.snapshot import Snapshot

_WORD: Final = """
SELECT w.ticket, w.event, w.tick, m.name, w.size, w.part, w.second, b.name, coalesce(w.second_event, 0), w.borrowed
FROM words w JOIN meters m USING (meter) LEFT JOIN meters b ON b.meter = w.second_meter
"""


class WordReading(Snapshot):
    """What a snapshot knows of words; the reading half of `earnest.protocols.Reading`'s section on evidence."""

    def words_of(self, row: int, limit: int) -> list[Word]:
        """See `earnest.protocols.Reading.words_of`."""
        found = self._db.execute(f"{_WORD} WHERE w.entry = ? ORDER BY w.ticket DESC LIMIT ?", (row, limit)).fetchall()
        return [Word(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], bool(r[9])) for r in reversed(found)]

    def words_among(self, rows: Sequence[int], limit: int) -> list[WordRow]:
        """See `earnest.protocols.Reading.words_among`."""
        # The inner query finds the oldest of the latest words by the primary key, so that a long life is not read from its beginning.
        sql = """SELECT w.entry, w.ticket, w.event, w.tick, m.name, w.size, w.part, w.second, b.name, coalesce(w.second_event, 0),
                        w.borrowed
                 FROM json_each(?1) r CROSS JOIN words w ON w.entry = r.value
                 JOIN meters m USING (meter) LEFT JOIN meters b ON b.meter = w.second_meter
                 WHERE w.ticket >= coalesce(
                     (SELECT x.ticket FROM words x WHERE x.entry = r.value ORDER BY x.ticket DESC LIMIT 1 OFFSET ?2), 0)"""
        found: list[WordRow] = self._db.execute(sql, (json.dumps(sorted(rows)), limit - 1)).fetchall()
        # They come in order, as the loops are nested, but nothing promises it; sorting what is sorted costs nothing.
        found.sort()
        return found

    def latest_words(self, meter: str, limit: int, before: int | None = None) -> list[tuple[int, int]]:
        """See `earnest.protocols.Reading.latest_words`."""
        known = self._db.execute("SELECT meter FROM meters WHERE name = ?", (meter,)).fetchone()
        if known is None:
            return []
        bound = 2**62 if before is None else before
        found = self._db.execute(
            "SELECT event, entry FROM words WHERE meter = ? AND event < ? AND borrowed = 0 ORDER BY event DESC LIMIT ?",
            (known[0], bound, limit),
        ).fetchall()
        found += self._db.execute(
            "SELECT second_event, entry FROM words WHERE second_meter = ? AND second IS NOT NULL AND second_event < ? AND borrowed = 0 "
            "ORDER BY second_event DESC LIMIT ?",
            (known[0], bound, limit),
        ).fetchall()
        return sorted(found)[-limit:]

    def spoken_of(self, meter: str, since: int) -> list[int]:
        """See `earnest.protocols.Reading.spoken_of`."""
        sql = """SELECT entry FROM words WHERE meter = (SELECT meter FROM meters WHERE name = ?1) AND event >= ?2
                 UNION SELECT entry FROM words WHERE second_meter = (SELECT meter FROM meters WHERE name = ?1)
                 AND second IS NOT NULL AND second_event >= ?2 ORDER BY 1"""
        return [row for (row,) in self._db.execute(sql, (meter, since))]

    def witnesses(self, ticket_row: int) -> list[tuple[int, bool]]:
        """See `earnest.protocols.Reading.witnesses`."""
        found = self._db.execute("SELECT entry, borrowed FROM words WHERE ticket = ? ORDER BY entry", (ticket_row,))
        return [(entry, bool(borrowed)) for entry, borrowed in found]

    def beliefs(self) -> dict[str, tuple[Belief, float, int, bool]]:
        """See `earnest.protocols.Reading.beliefs`."""
        sql = """SELECT m.name, b.lies, b.words, b.caught, b.counted, b.gain, b.since, b.through, b.slope, b.oldest, b.alarm,
                 b.sizes, b.size_total, b.size_square FROM beliefs b JOIN meters m USING (meter) ORDER BY m.name"""
        return {
            r[0]: (Belief(r[1], r[2], r[3], r[4], r[5], r[6], r[7], sizes=Sizes(r[11], r[12], r[13])), r[8], r[9], bool(r[10]))
            for r in self._db.execute(sql)
        }

    def revoked(self) -> dict[str, int]:
        """See `earnest.protocols.Reading.revoked`."""
        return dict(self._db.execute("SELECT name, revoked FROM meters WHERE revoked IS NOT NULL").fetchall())

    def controls_by_tick(self, meter: str, since: int = 0) -> list[tuple[int, float, int]]:
        """See `earnest.protocols.Reading.controls_by_tick`."""
        sql = """SELECT tick, total(max(-1e6, min(1e6, delta / scale))), count(*) FROM controls
                 WHERE meter = (SELECT meter FROM meters WHERE name = ?) AND tick >= ? AND tier = 'measured' GROUP BY tick ORDER BY tick"""
        return [tuple(row) for row in self._db.execute(sql, (meter, since))]

    def controls_of(self, meter: str, limit: int) -> list[Control]:
        """See `earnest.protocols.Reading.controls_of`."""
        sql = """SELECT c.event, m.name, c.channel, c.tier, c.delta, c.scale, c.tick, c.at FROM controls c JOIN meters m USING (meter)
                 WHERE m.name = ? ORDER BY c.control DESC LIMIT ?"""
        return [Control(r[0], r[1], r[2], r[3], r[4], r[5], r[6], moment(r[7])) for r in self._db.execute(sql, (meter, limit))]

    def looks_at(self, ticket_row: int) -> list[Look]:
        """See `earnest.protocols.Reading.looks_at`."""
        sql = """SELECT r.event, m.name, r.channel, r.tier, r.delta, r.scale, r.tick, r.at FROM remeasurements r JOIN meters m USING (meter)
                 WHERE r.ticket = ? ORDER BY r.remeasurement"""
        return [Look(r[0], r[1], r[2], r[3], r[4], r[5], r[6], moment(r[7])) for r in self._db.execute(sql, (ticket_row,))]

    def appeals(self, after: str | None, limit: int) -> list[Appeal]:
        """See `earnest.protocols.Reading.appeals`."""
        sql = """SELECT t.id, e.id, a.why, a.tick, a.at, t.query, m.name, s.delta
                 FROM appeals a JOIN tickets t USING (ticket) JOIN entries e ON e.entry = a.entry
                 JOIN settlements s ON s.ticket = a.ticket JOIN meters m ON m.meter = s.meter
                 WHERE s.event < coalesce(m.revoked, s.event + 1) AND (e.standing <> 'dead' OR EXISTS (
                    SELECT 1 FROM words w CROSS JOIN entries o ON o.entry = w.entry WHERE w.ticket = a.ticket AND o.standing <> 'dead')) """
        values: list[Any] = []
        if after is not None:
            # One that was answered meanwhile is no more among them: it was not wanted before its settlement.
            sql += """AND (a.tick, a.ticket) > (SELECT coalesce(x.tick, p.tick), y.ticket FROM tickets y JOIN settlements p USING (ticket)
                                                LEFT JOIN appeals x USING (ticket) WHERE y.id = ?) """
            values.append(after)
        found = self._db.execute(sql + "ORDER BY a.tick, a.ticket LIMIT ?", (*values, limit))
        return [Appeal(r[0], r[1], r[2], r[3], moment(r[4]), *r[5:]) for r in found]

    def appealed(self, row: int) -> int | None:
        """See `earnest.protocols.Reading.appealed`."""
        tick: int | None = self._db.execute("SELECT max(tick) FROM appeals WHERE entry = ?", (row,)).fetchone()[0]
        return tick

    def standings(self, rows: Sequence[int]) -> dict[int, Standing]:
        """See `earnest.protocols.Reading.standings`."""
        sql = "SELECT entry, standing FROM entries WHERE entry IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(sql, (json.dumps(list(rows)),)).fetchall())

    def unmeasured_credit(self, row: int) -> int:
        """See `earnest.protocols.Reading.unmeasured_credit`."""
        sql = """SELECT coalesce(sum(h.moved), 0) FROM shares h CROSS JOIN settlements s ON s.ticket = h.ticket
                 WHERE h.entry = ? AND s.tier <> 'measured' AND h.moved > 0"""
        return int(self._db.execute(sql, (row,)).fetchone()[0])

    def settled_in(self, tick: int) -> list[SettledShare]:
        """See `earnest.protocols.Reading.settled_in`."""
        sql = """SELECT h.entry, s.delta, s.acted, s.tier, m.name FROM settlements s JOIN meters m USING (meter)
                 LEFT JOIN shares h ON h.ticket = s.ticket AND h.role = 'deciding' WHERE s.tick = ? ORDER BY s.ticket"""
        return [SettledShare(r[0], r[1], None if r[2] is None else bool(r[2]), r[3], r[4]) for r in self._db.execute(sql, (tick,))]


def damage(db: Any) -> Iterator[Damage]:
    """Words against what the log says of the settlements and second looks that they were, which is the truth."""
    said: dict[tuple[int, str], float] = {}
    sizes: dict[int, float] = {}
    for event, ticket, data in db.execute("SELECT event, ticket, data FROM events WHERE kind IN ('settle', 'remeasure')"):
        told = json.loads(data)
        if "delta" in told and "scale" in told:
            sizes[event] = sized(told["delta"], told["scale"])
        said.update(((row, ticket), part) for row, part in told.get("words", ()))
    sql = """SELECT w.entry, e.id, t.id, w.event, w.size, w.part, w.second, w.second_event, w.said_of
             FROM words w JOIN entries e USING (entry) JOIN tickets t USING (ticket)"""
    archived = {event for (event,) in db.execute("SELECT event FROM events WHERE kind = 'archived'")}
    for row, entry, ticket, event, size, part, second, second_event, said_of in db.execute(sql):
        if event in archived or second_event in archived:
            said.pop((row, ticket), None)
            continue
        if sizes.get(event) != size:
            yield Damage("evidence differs", f"entry {entry} counts {size} for ticket {ticket}, the log says {sizes.get(event)}")
        if second is not None and sizes.get(second_event) != second:
            yield Damage("evidence differs", f"entry {entry} counts a second look of {second} at ticket {ticket}, the log says otherwise")
        if said_of is None and said.pop((row, ticket), part) != part:
            yield Damage("evidence differs", f"entry {entry} counts a part of {part} in ticket {ticket}, the log says otherwise")
    for row, ticket in said:
        yield Damage("evidence differs", f"the log says that ticket {ticket} spoke of row {row}, but no word of it is kept")
