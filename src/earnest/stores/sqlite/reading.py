"""Reading one snapshot of a store file."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import apsw

from earnest.core.amounts import ACCOUNTS
from earnest.core.analysis import Question
from earnest.core.context import Placed
from earnest.core.entry import Entry, StoredEntry, held_now
from earnest.core.events import micros, moment
from earnest.core.filters import Filter
from earnest.core.links import Link
from earnest.core.opinions import Opinions
from earnest.core.ranking import Candidate, Statistics, candidates_of, telling
from earnest.core.survey import Order
from earnest.errors import IndexDamaged
from earnest.protocols import Changed, StoredDocument, StoredModel
from earnest.stores.sqlite import fading, links, opinions, surveying, turns, vectors
from earnest.stores.sqlite.columns import facet, loaded, quoted
from earnest.stores.sqlite.decisions import DecisionReading
from earnest.stores.sqlite.draws import DrawReading
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

INDEX_BROKEN: Final = "the keyword index is damaged ({0}); the entries are whole: `earnest check --repair` rebuilds it from them"


class SqliteReading(DecisionReading, LogReading, DrawReading, RuleReading, ReplyReading, WordReading, SurveyReading):
    """One snapshot; implements `earnest.protocols.Reading`."""

    def __init__(self, connection: apsw.Connection, shelves: vectors.Shelves | None = None) -> None:
        # apsw types every column as any of SQLite's; the schema is strict, so that rows are what the queries below say.
        self._db: Any = connection
        # A reader without the store's shelves, such as a write transaction, sees vectors that nobody else may see yet.
        self._shelves = vectors.Shelves() if shelves is None else vectors.Followed(shelves)
        self._counters: dict[str, int] | None = None
        # What a snapshot said once it says again; what a write transaction sees may change.
        self._holding: dict[str, int] | None = None if shelves is None else {}

    # settings and running numbers

    def settings(self) -> Mapping[str, Any]:
        return _parsed(tuple(self._db.execute("SELECT name, value FROM settings").fetchall()))

    def counters(self) -> dict[str, int]:
        """Every running number, read once."""
        if self._counters is None:
            self._counters = dict(self._db.execute("SELECT name, value FROM counters").fetchall())
        counters: dict[str, int] = self._counters
        return counters

    def counter(self, name: str) -> int:
        known = self._counters
        return (self.counters() if known is None else known).get(name, 0)

    # entries

    def _built(self, rows: Sequence[tuple[Any, ...]]) -> list[StoredEntry]:
        index = self.counter("rent_index")
        made = []
        for r in rows:
            pinned = bool(r[10])
            pays = r[9] == "earned" and r[14] != "dead"
            entry = Entry(
                id=r[1], text=r[2], cue=r[3], kind=r[4], origin=r[5], sources=_labels(r[28]), scope=r[6],
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
        where, values = self._conditions(chosen, "e")
        if after is not None:
            where.append("e.entry > (SELECT entry FROM entries WHERE id = ?)")
            values.append(after)
        condition = " AND ".join(where) or "1"
        return self._built(self._db.execute(f"{_ENTRY} WHERE {condition} ORDER BY e.entry LIMIT ?", (*values, limit)).fetchall())

    def _conditions(self, chosen: Filter, e: str, *, indexed: bool = False) -> tuple[list[str], list[Any]]:
        """Conditions on `entries` as fixed SQL with bound values. What the index answers by its facets is left out if `indexed`."""
        where: list[str] = []
        values: list[Any] = []

        def one_of(column: str, names: Sequence[str]) -> None:
            where.append(f"{column} IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(list(names)))

        if not indexed:
            if chosen.scopes is not None and len(chosen.scopes) == 1:
                # One scope keeps the order of its index, so that a page of it is not sorted out of all of it.
                where.append(f"{e}.scope = (SELECT scope FROM scopes WHERE name = ?)")
                values.append(chosen.scopes[0])
            elif chosen.scopes is not None:
                where.append(f"{e}.scope IN (SELECT scope FROM scopes WHERE name IN (SELECT value FROM json_each(?)))")
                values.append(json.dumps(list(chosen.scopes)))
            if chosen.kinds is not None:
                one_of(f"{e}.kind", chosen.kinds)
            elif not chosen.rules:
                where.append(f"{e}.kind <> 'rule'")
        # The index holds the living only.
        if set(chosen.standings) != ({"active", "suspended"} if indexed else {"active", "suspended", "dead"}):
            one_of(f"{e}.standing", chosen.standings)
        if chosen.statuses is not None:
            where.append(f"{e}.entry IN (SELECT entry FROM rules WHERE status IN (SELECT value FROM json_each(?)))")
            values.append(json.dumps(list(chosen.statuses)))
        if chosen.sources is not None:
            where.append(
                f"{e}.entry IN (SELECT entry FROM entry_sources WHERE source IN "
                "(SELECT source FROM sources WHERE name IN (SELECT value FROM json_each(?))))"
            )
            values.append(json.dumps(list(chosen.sources)))
        if chosen.tags is not None:
            where.append(f"{e}.entry IN (SELECT entry FROM entry_tags WHERE tag IN (SELECT value FROM json_each(?)))")
            values.append(json.dumps(list(chosen.tags)))
        if chosen.since is not None:
            where.append(f"coalesce({e}.valid_from, {e}.created) >= ?")
            values.append(micros(chosen.since))
        if chosen.until is not None:
            where.append(f"coalesce({e}.valid_from, {e}.created) <= ?")
            values.append(micros(chosen.until))
        if chosen.as_of is not None:
            then = micros(chosen.as_of)
            where.append(f"coalesce({e}.created, 0) <= ? AND coalesce({e}.valid_from, ?) <= ? AND coalesce({e}.valid_to, ?) > ?")
            values.extend((then, then, then, then + 1, then))
        return where, values

    def ranked(self, chosen: Filter, order: Order, *, cause: str | None, pinned: bool | None, after: str | None, limit: int) -> list[int]:
        return surveying.ranked(self._db, self._full, chosen, order, cause, pinned, after, limit)

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

    def holding(self, terms: Sequence[str], scope: str, below: int, limit: int) -> list[int]:
        found = self._db.execute("SELECT scope FROM scopes WHERE name = ?", (scope,)).fetchone()
        if found is None or not terms:
            return []
        wanted = " AND ".join(quoted(term) for term in terms)
        match = f"{{text cue}} : ({wanted}) AND facets : {quoted(facet('s', found[0]))}"
        return links.holding(self._db, match, INDEX_BROKEN, below, limit)

    # recall

    def candidates(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        scopes, statistics = self._statistics(question, chosen)
        terms = telling(question, statistics, share)
        if not terms or (scopes is not None and not scopes):
            return [], statistics
        match = "{text cue} : (" + " OR ".join(quoted(term) for term in terms) + ")"
        # A facet's list is as long as the store: it is read only where it leaves something out.
        if scopes is not None and statistics.entries < self.counter("alive") + self.counter("suspended"):
            match = f"({match}) AND facets : ({' OR '.join(quoted(facet('s', s)) for s in scopes)})"
        if chosen.kinds is not None:
            match = f"({match}) AND facets : ({' OR '.join(quoted(facet('k', k)) for k in chosen.kinds)})"
        elif not chosen.rules and self.counter("kind:rule") > 0:
            match = f"({match}) NOT facets : {quoted(facet('k', 'rule'))}"
        where, values = self._conditions(chosen, "e", indexed=True)
        # CROSS JOIN: the index leads, so that it also sorts; without further conditions the entries need not be looked at at all.
        entries = "CROSS JOIN entries e ON e.entry = t.rowid" if where else ""
        condition = " AND ".join(["terms MATCH ?", *where])
        sql = f"SELECT t.rowid FROM terms t {entries} WHERE {condition} ORDER BY rank LIMIT ?"
        try:
            rows = [row for (row,) in self._db.execute(sql, (match, *values, limit))]
        except (apsw.CorruptError, apsw.SQLError) as error:
            raise IndexDamaged(INDEX_BROKEN.format(error)) from error
        if not rows:
            problem = self.index_problem()
            if problem:
                raise IndexDamaged(INDEX_BROKEN.format(problem))
        held = {candidate.row: candidate for candidate in self.indexed(rows)}
        if len(held) < len(rows):
            raise IndexDamaged(INDEX_BROKEN.format("it finds entries whose terms it does not hold"))
        return [held[row] for row in rows], statistics

    def guards(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        return self._among_dead("guards", "executed", question, chosen, limit, share)

    def executed(self, chosen: Filter, limit: int) -> list[Candidate]:
        where, values = self._conditions(replace(chosen, standings=("dead",)), "e")
        condition = " AND ".join(["e.cause = 'executed'", *where])
        # From the table that the index keeps its texts in, which has them in the order of their rows.
        latest = "(SELECT id, c1, c2 FROM guards_content ORDER BY id DESC LIMIT ?)"
        sql = f"SELECT g.id, g.c1, g.c2 FROM {latest} g CROSS JOIN entries e ON e.entry = g.id WHERE {condition} ORDER BY g.id DESC"
        try:
            return candidates_of(self._db.execute(sql, (limit, *values)).fetchall())
        except (apsw.CorruptError, apsw.SQLError) as error:
            raise IndexDamaged(INDEX_BROKEN.format(error)) from error

    def past(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        return self._among_dead("past", "superseded", question, chosen, limit, share)

    def _among_dead(
        self, index: str, cause: str, question: Question, chosen: Filter, limit: int, share: float
    ) -> tuple[list[Candidate], Statistics]:
        # Asked inside transactions too, where the index of the living does not yet say how many it holds.
        scopes, statistics = self._statistics(question, chosen, whole=False)
        terms = telling(question, statistics, share)
        if not terms or (scopes is not None and not scopes):
            return [], statistics
        match = "{text cue} : (" + " OR ".join(quoted(term) for term in terms) + ")"
        where, values = self._conditions(replace(chosen, standings=("dead",)), "e")
        where.append("e.cause = ?")
        condition = " AND ".join([f"{index} MATCH ?", *where])
        joined = f"{index} g CROSS JOIN entries e ON e.entry = g.rowid"
        values.append(cause)
        sql = f"SELECT g.rowid, g.text, g.cue FROM {joined} WHERE {condition} ORDER BY g.rank LIMIT ?"
        try:
            rows = self._db.execute(sql, (match, *values, limit)).fetchall()
        except (apsw.CorruptError, apsw.SQLError) as error:
            raise IndexDamaged(INDEX_BROKEN.format(error)) from error
        return candidates_of(rows), statistics

    def _statistics(self, question: Question, chosen: Filter, *, whole: bool = True) -> tuple[list[int] | None, Statistics]:
        """The scopes to look in (None for all) and the statistics of exactly those: a small scope ranks as if it were alone.

        `whole` refuses to answer from an index that holds fewer entries than live.
        """
        total = self.counter("alive") + self.counter("suspended")
        indexed = self._indexed() if whole else total
        if indexed != total:
            raise IndexDamaged(INDEX_BROKEN.format(f"it holds {indexed} entries, {total} are alive"))
        if chosen.scopes is None:
            scopes, alive, length = None, total, self.counter("terms")
        else:
            names = json.dumps(list(chosen.scopes))
            sql = "SELECT scope, alive, terms FROM scopes WHERE name IN (SELECT value FROM json_each(?))"
            picked = self._db.execute(sql, (names,)).fetchall()
            scopes = [row[0] for row in picked]
            alive, length = sum(row[1] for row in picked), sum(row[2] for row in picked)
        # Where the scopes hold most of the store, the counts of the whole store are theirs, near enough; elsewhere they are counted.
        most = 2 * alive >= total
        holding: dict[str, int] = {}
        try:
            for term in question.terms:
                if most and self._holding is not None and term in self._holding:
                    found = (self._holding[term],)
                elif most:
                    found = self._db.execute("SELECT doc FROM terms_known WHERE term = ?", (term,)).fetchone()
                elif scopes:
                    inside = " OR ".join(quoted(facet("s", s)) for s in scopes)
                    match = f"{{text cue}} : {quoted(term)} AND facets : ({inside})"
                    found = self._db.execute("SELECT count(*) FROM terms WHERE terms MATCH ?", (match,)).fetchone()
                else:
                    found = None
                holding[term] = min(found[0], alive) if found else 0
                if most and self._holding is not None:
                    self._holding[term] = found[0] if found else 0
        except (apsw.CorruptError, apsw.SQLError) as error:
            raise IndexDamaged(INDEX_BROKEN.format(error)) from error
        return scopes, Statistics(alive, length / alive if alive else 0.0, holding)

    def known(self, terms: Sequence[str], chosen: Filter) -> frozenset[str]:
        sql = "SELECT v.term, v.doc FROM json_each(?) j CROSS JOIN terms_known v WHERE v.term = j.value"
        try:
            counts = dict(self._db.execute(sql, (json.dumps(list(terms)),)).fetchall())
            if self._holding is not None:
                self._holding.update((term, counts.get(term, 0)) for term in terms)
            held = [*counts]
            if chosen.scopes is None or not held:
                return frozenset(held)
            names = json.dumps(list(chosen.scopes))
            sql = "SELECT scope, alive FROM scopes WHERE name IN (SELECT value FROM json_each(?))"
            picked = self._db.execute(sql, (names,)).fetchall()
            if sum(alive for _, alive in picked) >= self.counter("alive") + self.counter("suspended"):
                return frozenset(held)
            inside = " OR ".join(quoted(facet("s", scope)) for scope, _ in picked)
            if not inside:
                return frozenset()
            sql = "SELECT 1 FROM terms WHERE terms MATCH ? LIMIT 1"
            matches = {term: f"{{text cue}} : {quoted(term)} AND facets : ({inside})" for term in held}
            return frozenset(term for term, match in matches.items() if self._db.execute(sql, (match,)).fetchone())
        except (apsw.CorruptError, apsw.SQLError) as error:
            raise IndexDamaged(INDEX_BROKEN.format(error)) from error

    def vocabulary(self, start: str, limit: int) -> list[str]:
        sql = "SELECT term FROM terms_known WHERE term >= ? AND term < ? ORDER BY term LIMIT ?"
        try:
            return [term for (term,) in self._db.execute(sql, (start, start + "\U0010ffff", limit))]
        except (apsw.CorruptError, apsw.SQLError) as error:
            raise IndexDamaged(INDEX_BROKEN.format(error)) from error

    def _indexed(self) -> int:
        """How many entries the keyword index says it holds: the first number of FTS5's record of averages. O(1)."""
        try:
            found = self._db.execute("SELECT block FROM terms_data WHERE id = 1").fetchone()
        except apsw.SQLError:
            return 0
        made = 0
        # SQLite's variable-length integer: seven bits a byte, the highest first, while the top bit is set.
        for byte in bytes(found[0])[:9] if found else b"":
            made = made << 7 | byte & 0x7F
            if byte < 0x80:
                break
        return made

    def indexed(self, rows: Sequence[int]) -> list[Candidate]:
        return turns.indexed(self._db, rows, INDEX_BROKEN)

    def placed(self, rows: Sequence[int], chosen: Filter, reach: int = 0) -> list[Placed]:
        return turns.placed(self._db, self._full, rows, chosen, reach)

    def within(self, chosen: Filter, start: datetime, end: datetime, limit: int) -> list[int]:
        scopes = None
        if chosen.scopes is not None:
            named = "SELECT scope FROM scopes WHERE name IN (SELECT value FROM json_each(?))"
            scopes = [row for (row,) in self._db.execute(named, (json.dumps(list(chosen.scopes)),))]
        return turns.within(self._db, self._full, scopes, chosen, start, end, limit)

    def _full(self, chosen: Filter) -> tuple[list[str], list[Any]]:
        return self._conditions(chosen, "e")

    def index_problem(self) -> str | None:
        alive = self.counter("alive") + self.counter("suspended")
        indexed = self._indexed()
        if indexed != alive:
            return f"it holds {indexed} entries, {alive} are alive"
        if not alive:
            return None
        # A few living entries, old and new: each must be in the index under its own terms.
        sample = self._db.execute("SELECT entry FROM entries WHERE standing <> 'dead' ORDER BY entry LIMIT 2").fetchall()
        sample += self._db.execute("SELECT entry FROM entries WHERE standing <> 'dead' ORDER BY entry DESC LIMIT 2").fetchall()
        try:
            for (row,) in sample:
                held = self._db.execute("SELECT text FROM terms WHERE rowid = ?", (row,)).fetchone()
                if held is None:
                    return f"entry {row} is missing from it"
                if not held[0]:
                    continue
                match = f"text : {quoted(held[0].split(' ', 1)[0])}"
                if not self._db.execute("SELECT 1 FROM terms WHERE terms MATCH ? AND rowid = ?", (match, row)).fetchone():
                    return f"entry {row} is not found by its own words"
        except (apsw.CorruptError, apsw.SQLError) as error:
            return str(error)
        return None

    # vectors

    def nearest(self, model: str, vector: bytes, chosen: Filter, limit: int) -> list[tuple[int, float]]:
        return vectors.nearest(self._db, self._shelves, self._further, model, vector, chosen, limit)

    def _further(self, chosen: Filter) -> tuple[list[str], list[Any]]:
        return self._conditions(chosen, "e", indexed=True)

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


@lru_cache(maxsize=64)
def _parsed(rows: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    """Settings from their rows; the same rows come back again and again."""
    return {name: loaded(value) for name, value in rows}
