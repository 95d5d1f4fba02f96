"""Reading one snapshot of a store file: entries and totals; its other parts lie in modules of their own."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import apsw

from earnest.core.amounts import ACCOUNTS
from earnest.core.context import Placed
from earnest.core.entry import Entry, StoredEntry, held_now
from earnest.core.events import moment
from earnest.core.filters import Filter
from earnest.core.links import Link
from earnest.core.opinions import Opinions
from earnest.core.survey import Order
from earnest.protocols import Changed, StoredDocument, StoredModel
from earnest.stores.sqlite import fading, links, opinions, surveying, turns, vectors
from earnest.stores.sqlite.columns import loaded
from earnest.stores.sqlite.decisions import DecisionReading
from earnest.stores.sqlite.draws import DrawReading
from earnest.stores.sqlite.erasing import NOBODY
from earnest.stores.sqlite.filtering import conditions
from earnest.stores.sqlite.keywords import KeywordReading
from earnest.stores.sqlite.logs import LogReading
from earnest.stores.sqlite.replies import ReplyReading
from earnest.stores.sqlite.rules import RuleReading
from earnest.stores.sqlite.surveying import SurveyReading
from earnest.stores.sqlite.words import WordReading

_ENTRY: Final = """
SELECT e.entry, e.id, e.text, e.cue, e.kind, e.origin, s.name, e.importance, e.confidence, e.retention, e.pinned, e.strength,
       e.balance, e.rent_mark, e.standing, e.cause, e.created, e.valid_from, e.valid_to, e.born_tick, e.last_settled_tick,
       e.recalls, e.version, e.metadata, e.open_tickets, e.harmed, e.probation,
       (SELECT h.id FROM entries h WHERE h.entry = e.heir),
       (SELECT json_group_array(o.name) FROM entry_sources x JOIN sources o USING (source) WHERE x.entry = e.entry),
       (SELECT json_group_array(g.tag) FROM entry_tags g WHERE g.entry = e.entry),
       (SELECT json_group_array(p.id) FROM lineage l JOIN entries p ON p.entry = l.parent WHERE l.entry = e.entry),
       e.last_recalled
FROM entries e JOIN scopes s USING (scope)
"""
_PINNED: Final = "entries INDEXED BY entries_pinned WHERE pinned = 1 AND standing <> 'dead'"
"""The pinned ones, by the index that holds nothing else: left to itself the planner reads the index of all the living."""


class SqliteReading(KeywordReading, DecisionReading, LogReading, DrawReading, RuleReading, ReplyReading, WordReading, SurveyReading):
    """One snapshot; implements `earnest.protocols.Reading`."""

    def __init__(self, connection: apsw.Connection, shelves: vectors.Shelves | None = None) -> None:
        # A reader without the store's shelves, such as a write transaction, sees what nobody else may see yet, and what may change.
        super().__init__(connection, lasting=shelves is not None)
        self._shelves = vectors.Shelves() if shelves is None else vectors.Followed(shelves)

    # entries

    def _built(self, rows: Sequence[tuple[Any, ...]]) -> list[StoredEntry]:
        index = self.counter("rent_index")
        made = []
        for r in rows:
            pinned = bool(r[10])
            pays = r[9] == "earned" and r[14] != "dead"
            entry = Entry(
                id=r[1], text=r[2], cue=r[3], kind=r[4], origin=r[5], sources=_labels(r[28]),
                scope="" if r[6] == NOBODY else r[6],  # the store's own name for it is no caller's label
                importance=r[7], confidence=r[8], retention=r[9], pinned=pinned, strength=r[11],
                balance=held_now(r[12], r[13], index, pays=pays, pinned=pinned), standing=r[14], cause=r[15],
                created=None if r[16] is None else moment(r[16]), valid_from=None if r[17] is None else moment(r[17]),
                valid_to=None if r[18] is None else moment(r[18]), born_tick=r[19], last_settled_tick=r[20], recalls=r[21],
                lineage=_labels(r[30]), tags=_labels(r[29]), metadata=loaded(r[23]), version=r[22], heir=r[27],
                last_recalled=None if r[31] is None else moment(r[31]),
            )  # fmt: skip
            made.append(StoredEntry(entry, r[0], r[12], r[13], r[24], bool(r[25]), r[26]))
        return made

    def entry(self, entry_id: str) -> StoredEntry | None:
        if not entry_id.isascii():
            return None  # an id is letters and digits; broken Unicode could not even be asked for
        found = self._built(self._db.execute(_ENTRY + "WHERE e.id = ?", (entry_id,)).fetchall())
        return found[0] if found else None

    def entries(self, rows: Sequence[int]) -> list[StoredEntry]:
        if len(rows) == 1:
            return self._built(self._db.execute(_ENTRY + "WHERE e.entry = ?", (rows[0],)).fetchall())
        sql = _ENTRY + "WHERE e.entry IN (SELECT value FROM json_each(?))"
        by_row = {e.row: e for e in self._built(self._db.execute(sql, (json.dumps(list(rows)),)).fetchall())}
        return [by_row[row] for row in rows if row in by_row]

    def twins(self, digest: bytes, scope: str, kind: str) -> list[StoredEntry]:
        if not self._db.execute("SELECT 1 FROM entries WHERE twin = ? LIMIT 1", (digest,)).fetchone():
            return []
        sql = _ENTRY + "WHERE e.twin = ? AND e.kind = ? AND s.name = ? ORDER BY e.entry DESC"
        return self._built(self._db.execute(sql, (digest, kind, scope)).fetchall())

    def known_twins(self, digests: Collection[bytes]) -> set[bytes]:
        sql = "SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM entries WHERE twin = unhex(value))"
        return {bytes.fromhex(found) for (found,) in self._db.execute(sql, (json.dumps([digest.hex() for digest in digests]),))}

    def encoded(self, source: str, scope: str) -> list[StoredEntry]:
        # The plus signs keep the planner from walking through the whole scope for the few entries of a source.
        sql = (
            _ENTRY
            + """JOIN entry_sources y ON y.entry = e.entry AND y.source = (SELECT source FROM sources WHERE name = ?)
                 WHERE +s.name = ? AND e.standing <> 'dead' AND EXISTS (
                     SELECT 1 FROM event_entries x JOIN events v USING (event) WHERE x.entry = e.entry AND v.kind = 'encode')
                 ORDER BY +e.entry"""
        )
        return self._built(self._db.execute(sql, (source, scope)).fetchall())

    def document(self, source: str, scope: str) -> StoredDocument | None:
        sql = "SELECT source, scope, path, digest, encoder FROM documents WHERE source = ? AND scope = ?"
        found = self._db.execute(sql, (source, scope)).fetchone()
        return StoredDocument(*found) if found else None

    def documents(self, scope: str | None = None, *, under: str = "") -> list[StoredDocument]:
        sql = (
            "SELECT source, scope, path, digest, encoder FROM documents "
            "WHERE (?1 IS NULL OR scope = ?1) AND substr(path, 1, length(?2)) = ?2 ORDER BY source, scope"
        )
        return [StoredDocument(*row) for row in self._db.execute(sql, (scope, under))]

    def lately_dead(self, scope: str, since_tick: int, limit: int) -> list[StoredEntry]:
        sql = _ENTRY + "WHERE e.standing = 'dead' AND e.died_tick >= ? AND s.name = ? ORDER BY e.died_tick DESC, e.entry DESC LIMIT ?"
        return self._built(self._db.execute(sql, (since_tick, scope, limit)).fetchall())

    def page(self, chosen: Filter, after: str | None, limit: int) -> list[StoredEntry]:
        where, values = conditions(chosen)
        if after is not None:
            where.append("e.entry > (SELECT entry FROM entries WHERE id = ?)")
            values.append(after)
        condition = " AND ".join(where) or "1"
        return self._built(self._db.execute(f"{_ENTRY} WHERE {condition} ORDER BY e.entry LIMIT ?", (*values, limit)).fetchall())

    def ranked(self, chosen: Filter, order: Order, *, cause: str | None, pinned: bool | None, after: str | None, limit: int) -> list[int]:
        return surveying.ranked(self._db, chosen, order, cause, pinned, after, limit)

    def richest(self, limit: int) -> list[StoredEntry]:
        # Net of rent, the order of `balance - index + mark` is the order of `starves_at`; pinned ones have none and are few.
        rows = self._db.execute(
            "SELECT entry FROM entries WHERE standing <> 'dead' AND starves_at IS NOT NULL ORDER BY starves_at DESC, entry LIMIT ?",
            (limit,),
        ).fetchall()
        rows += self._db.execute(
            f"SELECT entry FROM {_PINNED} AND retention = 'earned' ORDER BY balance DESC LIMIT ?",
            (limit,),
        ).fetchall()
        found = self.entries([row for (row,) in rows])
        return sorted(found, key=lambda e: (-e.entry.balance, e.row))[:limit]

    def due(self, rent_index: int) -> list[int]:
        sql = "SELECT entry FROM entries WHERE standing <> 'dead' AND starves_at IS NOT NULL AND starves_at <= ? ORDER BY entry"
        return [row for (row,) in self._db.execute(sql, (rent_index,))]

    def faded(self, at: datetime, after: tuple[int, int] | None, limit: int) -> list[tuple[int, int]]:
        return fading.due(self._db, at, after, limit)

    def fading(self, after: int, limit: int) -> list[int]:
        return fading.fading_rows(self._db, after, limit)

    def opinions(self, row: int) -> Opinions | None:
        return opinions.opinions_of(self._db, row)

    def outdated(self, limit: int) -> list[int]:
        return opinions.asking(self._db, limit)

    def living(self, after: int, limit: int) -> list[int]:
        sql = "SELECT entry FROM entries WHERE entry > ? AND standing <> 'dead' ORDER BY entry LIMIT ?"
        return [row for (row,) in self._db.execute(sql, (after, limit))]

    def links_of(self, rows: Sequence[int]) -> list[Link]:
        return links.links_of(self._db, rows)

    def stated_links(self, row: int) -> list[Link]:
        return links.stated(self._db, row)

    def links(self, after: tuple[int, int, str], limit: int) -> list[Link]:
        return links.every(self._db, after, limit)

    # recall

    def placed(self, rows: Sequence[int], chosen: Filter, reach: int = 0) -> list[Placed]:
        return turns.placed(self._db, rows, chosen, reach)

    def within(self, chosen: Filter, start: datetime, end: datetime, limit: int) -> list[int]:
        return turns.within(self._db, chosen, start, end, limit)

    # vectors

    def nearest(self, model: str, vector: bytes, chosen: Filter, limit: int) -> list[tuple[int, float]]:
        return vectors.nearest(self._db, self._shelves, model, vector, chosen, limit)

    def cosines(self, model: str, vector: bytes, rows: Sequence[int]) -> dict[int, float]:
        return vectors.cosines(self._db, self._shelves, model, vector, rows)

    def models(self) -> list[StoredModel]:
        return vectors.models(self._db)

    def unembedded(self, model: str, before: int | None, limit: int, *, every: bool = False) -> list[tuple[int, str, str | None, bytes]]:
        return vectors.unembedded(self._db, model, before, limit, every=every)

    def known_vectors(self, model: str, twins: Sequence[bytes]) -> dict[bytes, bytes]:
        return vectors.known_vectors(self._db, model, twins)

    def codes(self, model: str, rows: Sequence[int]) -> dict[int, bytes]:
        return vectors.codes(self._db, model, rows)

    def changed(self, model: str, event: int, vector: int, limit: int) -> Changed:
        return vectors.changed(self._db, model, event, vector, limit, self.counter("vectors"))

    # totals

    def energy(self) -> int:
        index = self.counter("rent_index")
        pinned = self._db.execute(f"SELECT balance, rent_mark FROM {_PINNED} AND retention = 'earned'").fetchall()
        energy = self.counter("held") - (self.counter("payers") * index - self.counter("marks"))
        return energy + sum(held_now(balance, mark, index, pays=True, pinned=True) for balance, mark in pinned)

    def totals(self) -> Mapping[str, Any]:
        made: dict[str, Any] = dict(self.counters())
        made["energy"] = self.energy()
        made["accounts"] = {name: self.counter(f"account:{name}") for name in ACCOUNTS.values()}
        made["pinned"] = self._db.execute(f"SELECT count(*) FROM {_PINNED}").fetchone()[0]
        made["pending"] = self.counter("decisions") - sum(self.counter(state) for state in ("settled", "abandoned", "expired"))
        made["oldest_pending"] = self._db.execute("SELECT min(opened_tick) FROM tickets WHERE state = 'pending'").fetchone()[0]
        made["rules"] = self.rule_counts()
        made["scopes"] = self._db.execute("SELECT name, alive FROM scopes WHERE alive > 0 ORDER BY name LIMIT 100").fetchall()
        made["longest_runway"] = self._db.execute(
            "SELECT max(starves_at) FROM entries WHERE standing <> 'dead' AND starves_at IS NOT NULL"
        ).fetchone()[0]
        return made


def _labels(said: Any) -> tuple[str, ...]:
    """A list of names as a column holds it. Most entries have none."""
    return () if said == "[]" else tuple(loaded(said))
