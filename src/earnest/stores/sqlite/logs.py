"""The log of a store file, and all of its rows at once: for undo, archiving, erasing and moving."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from earnest.core.erasing import Subject
from earnest.core.events import Event, Posting, micros, moment
from earnest.protocols import Damage, Mentions
from earnest.stores.sqlite import archives, erasing, moving
from earnest.stores.sqlite.columns import loaded
from earnest.stores.sqlite.snapshot import Snapshot

_EVENT: Final = """
SELECT e.event, e.kind, e.tick, e.at, e.actor, e.channel, e.entries, e.ticket, e.data, e.hash,
       (SELECT note FROM event_notes n WHERE n.event = e.event)
FROM events e
"""


class LogReading(Snapshot):
    """Part of a reader; implements `earnest.protocols.Reading`."""

    def _event(self, r: tuple[Any, ...]) -> Event:
        ids: dict[int, str] = {}
        rows = loaded(r[6])
        if rows:
            ids = dict(
                self._db.execute("SELECT entry, id FROM entries WHERE entry IN (SELECT value FROM json_each(?))", (r[6],)).fetchall()
            )
        return Event(
            seq=r[0], kind=r[1], tick=r[2], at=moment(r[3]), actor=r[4], channel=r[5],
            entries=tuple(ids[row] for row in rows if row in ids), ticket=r[7],
            data=loaded(r[8]), hash=bytes(r[9]).hex(), note=r[10] or "",
        )  # fmt: skip

    def event(self, seq: int) -> Event | None:
        found = self._db.execute(_EVENT + "WHERE e.event = ?", (seq,)).fetchone()
        return self._event(found) if found else None

    def events(self, *, entry: str | None, kind: str | None, after: int, limit: int, newest: bool) -> list[Event]:
        sql, values = _EVENT, []
        if entry is not None:
            sql += "JOIN event_entries x ON x.event = e.event AND x.entry = (SELECT entry FROM entries WHERE id = ?) "
            values.append(entry)
        sql += "WHERE e.event < ? " if newest and after else "WHERE e.event > ? "
        bound: list[Any] = [*values, after]
        if kind is not None:
            sql += "AND e.kind = ? "
            bound.append(kind)
        sql += "ORDER BY e.event DESC LIMIT ?" if newest else "ORDER BY e.event LIMIT ?"
        return [self._event(row) for row in self._db.execute(sql, (*bound, limit)).fetchall()]

    def event_from(self, moment: datetime) -> int | None:
        found = self._db.execute("SELECT event FROM events WHERE at >= ? ORDER BY event LIMIT 1", (micros(moment),)).fetchone()
        return None if found is None else int(found[0])

    def postings(self, seq: int) -> list[Posting]:
        return [
            Posting(*row) for row in self._db.execute("SELECT debit, credit, amount FROM postings WHERE event = ? ORDER BY place", (seq,))
        ]

    def before_edit(self, seq: int) -> Mapping[str, Any] | None:
        found = self._db.execute("SELECT before FROM event_notes WHERE event = ?", (seq,)).fetchone()
        made: Mapping[str, Any] | None = loaded(found[0]) if found and found[0] else None
        return made

    def lineage(self, entry_row: int) -> list[tuple[int, str, int]]:
        found: list[tuple[int, str, int]] = self._db.execute(
            "SELECT parent, how, part FROM lineage WHERE entry = ? ORDER BY parent", (entry_row,)
        ).fetchall()
        return found

    def remembered(self, key: str) -> tuple[str, bytes, Mapping[str, Any]] | None:
        found = self._db.execute("SELECT verb, request, result FROM keys WHERE key = ?", (key,)).fetchone()
        return (found[0], bytes(found[1]), loaded(found[2])) if found else None

    def old_keys(self, before: datetime, after: str, limit: int) -> list[str]:
        sql = "SELECT key FROM keys WHERE key > ? AND at < ? AND verb <> 'control' AND request <> zeroblob(16) ORDER BY key LIMIT ?"
        return [key for (key,) in self._db.execute(sql, (after, micros(before), limit))]

    # archiving

    def archivable(self, before: int) -> list[int]:
        return archives.archivable(self._db, before)

    def archive_rows(self, events: Sequence[int]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        return archives.rows(self._db, events)

    def archives(self) -> list[bytes]:
        return archives.digests(self._db)

    def archive_damage(self, said: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Damage]:
        return archives.damage(self._db, said)

    # erasing

    def meant(self, subject: Subject) -> list[int]:
        return erasing.matching(self._db, subject)

    def kin(self, rows: Sequence[int]) -> list[tuple[int, int, str]]:
        return erasing.kin(self._db, rows)

    def open_tickets(self, rows: Sequence[int]) -> list[str]:
        return erasing.tickets_naming(self._db, rows)

    def mentions(self, text: str) -> Mentions:
        return erasing.mentions(self._db, text)

    def to_erase(self, rows: Sequence[int]) -> Mapping[str, int]:
        return erasing.counted(self._db, rows)

    def samples(self, rows: Sequence[int], most: int) -> list[bytes]:
        return erasing.samples(self._db, rows, most)

    def residue(self, rows: Sequence[int], pieces: Sequence[bytes]) -> tuple[Mapping[str, int], list[bytes]]:
        return erasing.residue(self._db, rows), [piece for piece in pieces if not erasing.said_elsewhere(self._db, piece)]

    # moving

    def rows(self, *, vectors: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        return moving.dump(self._db, vectors=vectors)

    def form(self) -> int:
        return moving.format_of(self._db)

    def untouched(self) -> bool:
        return moving.empty(self._db)
