"""Vectors in a store file: rows are the truth; a shelf in memory, kept in step with them, is what a search reads."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from earnest.core.filters import Filter
from earnest.core.vectors import HEADER, dimension_of, question_vector
from earnest.protocols import Changed, StoredModel
from earnest.stores.sqlite.filtering import conditions, scope_rows
from earnest.stores.sqlite.shelf import Shelf

# Candidates whose further conditions are asked for, block by block; if these do not suffice, the entries that meet them are listed.
_BLOCK: Final = 512
_BLOCKS: Final = 8
_LIVING: Final = frozenset(("active", "suspended"))


class Shelves:
    """The vectors that this process has read, by model. Shared by the readers of a store; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelves: dict[str, Shelf] = {}

    def clear(self) -> None:
        """Keep nothing that was read: what was erased is not to stay in this process's memory either."""
        with self._lock:
            for shelf in self._shelves.values():
                shelf.lists.close()
            self._shelves.clear()

    def current(self, db: Any, model: str) -> Shelf | None:
        """The shelf of a model with everything on it that this snapshot has; None if the snapshot knows no vectors of it."""
        with self._lock:
            found = db.execute("SELECT model, dimension FROM models WHERE name = ? AND dimension IS NOT NULL", (model,)).fetchone()
            if found is None:
                return None
            shelf = self._shelves.get(model)
            if shelf is None or (shelf.model, shelf.dimension) != found:
                if shelf is not None:
                    shelf.lists.close()
                shelf = Shelf(*found)
            shelf.follow(db)
            self._shelves[model] = shelf
            return shelf


class Followed:
    """The shelves of one snapshot: each is brought into step with it once, however often it is asked."""

    def __init__(self, shelves: Shelves) -> None:
        self._shelves = shelves
        self._known: dict[str, Shelf | None] = {}

    def current(self, db: Any, model: str) -> Shelf | None:
        """See `Shelves.current`."""
        if model not in self._known:
            self._known[model] = self._shelves.current(db, model)
        return self._known[model]


def nearest(db: Any, shelves: Shelves | Followed, model: str, vector: bytes, chosen: Filter, limit: int) -> list[tuple[int, float]]:
    """See `earnest.protocols.Reading.nearest`."""
    shelf = shelves.current(db, model)
    if shelf is None or limit < 1:
        return []
    scopes = None if chosen.scopes is None else scope_rows(db, chosen.scopes)
    question = question_vector(vector)
    if (scopes is not None and not scopes) or len(question) != shelf.dimension:
        return []
    where, values = conditions(chosen, indexed=True)
    if not set(chosen.standings) <= _LIVING:
        # The dead keep their vectors for the day that they come back; who asks for them lists them.
        return _listed(db, shelf, question, chosen, limit)
    mask = shelf.mask(scopes, chosen.kinds, rules=chosen.rules)
    if not where:
        return [*zip(*shelf.best(question, mask, limit), strict=True)]
    met: list[tuple[int, float]] = []
    looked = 0
    rows, scores = shelf.best(question, mask, max(_BLOCK * _BLOCKS, limit))
    while looked < len(rows) and len(met) < limit:
        block = rows[looked : looked + _BLOCK]
        sql = f"SELECT e.entry FROM entries e WHERE e.entry IN (SELECT value FROM json_each(?)) AND {' AND '.join(where)}"
        passed = {row for (row,) in db.execute(sql, (json.dumps(block), *values))}
        met += [(row, score) for row, score in zip(block, scores[looked : looked + _BLOCK], strict=True) if row in passed]
        looked += len(block)
    if len(met) >= limit or len(rows) < _BLOCK * _BLOCKS:
        return met[:limit]
    return _listed(db, shelf, question, chosen, limit)


def _listed(db: Any, shelf: Shelf, question: Any, chosen: Filter, limit: int) -> list[tuple[int, float]]:
    """The nearest among the entries that meet conditions which few meet: those are listed first. O(entries)."""
    import numpy as np

    where, values = conditions(chosen)
    places = shelf.places([row for (row,) in db.execute(f"SELECT e.entry FROM entries e WHERE {' AND '.join(where) or '1'}", values)])
    mask = np.zeros(shelf.count, np.bool_)
    mask[places[places >= 0]] = True
    return [*zip(*shelf.best(question, mask, limit), strict=True)]


def cosines(db: Any, shelves: Shelves | Followed, model: str, vector: bytes, rows: Sequence[int]) -> dict[int, float]:
    """See `earnest.protocols.Reading.cosines`."""
    shelf = shelves.current(db, model)
    question = question_vector(vector)
    if shelf is None or not rows or len(question) != shelf.dimension:
        return {}
    places = shelf.places(rows)
    here = places >= 0
    scores = shelf.scores(question, places[here])
    return dict(zip([row for row, found in zip(rows, here.tolist(), strict=True) if found], scores.tolist(), strict=True))


_MODEL: Final = "SELECT name, dimension, living, problem, failed, holder, held FROM models"


def models(db: Any) -> list[StoredModel]:
    """See `earnest.protocols.Reading.models`."""
    return [StoredModel(*row) for row in db.execute(f"{_MODEL} ORDER BY model")]


def unembedded(db: Any, model: str, before: int | None, limit: int, *, every: bool) -> list[tuple[int, str, str | None, bytes]]:
    """See `earnest.protocols.Reading.unembedded`."""
    sql = """SELECT e.entry, e.text, e.cue, e.twin FROM entries e
             WHERE e.standing <> 'dead' AND e.entry < ? AND (? OR NOT EXISTS (
                 SELECT 1 FROM vectors v WHERE v.entry = e.entry AND v.model = (SELECT model FROM models WHERE name = ?)))
             ORDER BY e.entry DESC LIMIT ?"""
    found = db.execute(sql, (2**62 if before is None else before, int(every), model, limit))
    return [(row, text, cue, bytes(twin)) for row, text, cue, twin in found]


def known_vectors(db: Any, model: str, twins: Sequence[bytes]) -> dict[bytes, bytes]:
    """See `earnest.protocols.Reading.known_vectors`."""
    made: dict[bytes, bytes] = {}
    # Of many new entries nearly none says what is there: those that do are told first, with one look at the index for each.
    if len(twins) > 1:
        there = "SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM entries WHERE twin = unhex(value))"
        named = json.dumps([twin.hex() for twin in dict.fromkeys(twins)])
        twins = [bytes.fromhex(found) for (found,) in db.execute(there, (named,))]
    sql = """SELECT v.code FROM entries e JOIN vectors v ON v.entry = e.entry AND v.model = (SELECT model FROM models WHERE name = ?)
             WHERE e.twin = ? LIMIT 1"""
    for twin in twins:
        found = db.execute(sql, (model, twin)).fetchone()
        if found:
            made[twin] = bytes(found[0])
    return made


def codes(db: Any, model: str, rows: Sequence[int]) -> dict[int, bytes]:
    """See `earnest.protocols.Reading.codes`."""
    sql = """SELECT v.entry, v.code FROM vectors v JOIN models m USING (model)
             WHERE m.name = ? AND v.entry IN (SELECT value FROM json_each(?))"""
    return {row: bytes(code) for row, code in db.execute(sql, (model, json.dumps([*rows])))}


def changed(db: Any, model: str, event: int, vector: int, limit: int, newest: int) -> Changed:
    """See `earnest.protocols.Reading.changed`; `newest` is the highest number that a vector ever got."""
    events = db.execute("SELECT event, entries FROM events WHERE event > ? ORDER BY event LIMIT ?", (event, limit)).fetchall()
    sql = """SELECT vector, entry FROM vectors WHERE vector > ? AND model = (SELECT model FROM models WHERE name = ?)
             ORDER BY vector LIMIT ?"""
    made = db.execute(sql, (vector, model, limit)).fetchall()
    rows = dict.fromkeys(row for _, named in events for row in json.loads(named))
    rows.update(dict.fromkeys(row for _, row in made))
    last = made[-1][0] if len(made) == limit else max(newest, vector)
    return Changed(tuple(rows), events[-1][0] if events else event, last)


# writing


def put_vectors(db: Any, first: int, model: str, vectors: Mapping[int, bytes]) -> int:
    """Write vectors of one model by entry row, numbered from `first`; returns how many. See `earnest.protocols.Writing.put_vectors`."""
    found = db.execute("SELECT model, dimension FROM models WHERE name = ?", (model,)).fetchone()
    dimension = dimension_of(next(iter(vectors.values())))
    if found is None:
        db.execute("INSERT INTO models (name, dimension) VALUES (?, ?)", (model, dimension))
        found = (db.last_insert_rowid(), dimension)
    number, known = found
    if known is None:
        db.execute("UPDATE models SET dimension = ? WHERE model = ?", (dimension, number))
        known = dimension
    assert all(len(code) == HEADER + known for code in vectors.values()), "vectors of one model have one dimension"
    named = json.dumps([*vectors])
    entries = db.execute("SELECT entry, scope, kind, standing FROM entries WHERE entry IN (SELECT value FROM json_each(?))", (named,))
    there = entries.fetchall()
    sql = "SELECT entry FROM vectors WHERE model = ? AND entry IN (SELECT value FROM json_each(?))"
    before = {row for (row,) in db.execute(sql, (number, named))}
    # A vector that is made anew gets a new number too: whoever looks for what is new finds it.
    db.executemany(
        "INSERT OR REPLACE INTO vectors (vector, model, entry, scope, kind, code) VALUES (?, ?, ?, ?, ?, ?)",
        [(first + place, number, row, scope, kind, vectors[row]) for place, (row, scope, kind, _) in enumerate(there)],
    )
    fresh = sum(standing != "dead" and row not in before for row, _, _, standing in there)
    db.execute("UPDATE models SET living = living + ? WHERE model = ?", (fresh, number))
    return len(there)


def stands(db: Any, row: int, by: int) -> None:
    """Count an entry that died (-1) or came back (+1) in every model that has a vector of it."""
    db.execute("UPDATE models SET living = living + ? WHERE model IN (SELECT model FROM vectors WHERE entry = ?)", (by, row))


def ended(db: Any, rows: Sequence[int]) -> None:
    """Count entries that died in every model that has vectors of them. O(the entries)."""
    sql = """UPDATE models SET living = living - (
                 SELECT count(*) FROM json_each(?1) r CROSS JOIN vectors v ON v.entry = r.value AND v.model = models.model)"""
    db.execute(sql, (json.dumps([*rows]),))


def drop_vectors(db: Any, row: int) -> None:
    """Take an entry's vectors of every model away."""
    (alive,) = db.execute("SELECT standing <> 'dead' FROM entries WHERE entry = ?", (row,)).fetchone()
    if alive:
        stands(db, row, -1)
    db.execute("DELETE FROM vectors WHERE entry = ?", (row,))


def note_model(db: Any, model: str, problem: str | None, at: int) -> None:
    """See `earnest.protocols.Writing.note_model`."""
    db.execute(
        """INSERT INTO models (name, problem, failed) VALUES (?, ?, ?)
           ON CONFLICT (name) DO UPDATE SET problem = excluded.problem, failed = excluded.failed""",
        (model, problem, None if problem is None else at),
    )


def hold_model(db: Any, model: str, holder: str, now: int, until: int) -> bool:
    """See `earnest.protocols.Writing.hold_model`."""
    db.execute("INSERT INTO models (name) VALUES (?) ON CONFLICT DO NOTHING", (model,))
    db.execute(
        "UPDATE models SET holder = ?, held = ? WHERE name = ? AND (holder IS NULL OR holder = ? OR held <= ?)",
        (holder, until, model, holder, now),
    )
    return bool(db.changes())
