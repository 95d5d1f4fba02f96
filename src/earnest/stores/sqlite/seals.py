"""Digests of what can change and is in no event, so that a flipped bit is found: fields and labels of entries, settings, remarks.

They show damage, not tampering: whoever can write the file can make them anew. Against that there is the log's chain.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from earnest.core.entry import NewEntry
from earnest.protocols import Damage

SEALED: Final = frozenset(("importance", "confidence", "retention", "pinned", "strength", "valid_from", "valid_to", "metadata"))
"""Columns of an entry that can change, are sealed, and are told by nothing else. (What moves with every decision is in the log.)"""

_ENTRY: Final = """
SELECT e.entry, e.seal, e.id, e.kind, e.origin, e.created, e.born_tick, e.version, e.importance, e.confidence, e.retention, e.pinned,
       e.strength, e.valid_from, e.valid_to, e.metadata,
       (SELECT json_group_array(json_array(x.place, o.name)) FROM entry_sources x JOIN sources o USING (source) WHERE x.entry = e.entry),
       (SELECT json_group_array(json_array(g.place, g.tag)) FROM entry_tags g WHERE g.entry = e.entry)
FROM entries e
"""
_LENGTH: Final = 8


_FORM: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


def seal_of(*said: Any) -> bytes:
    """The seal of some values."""
    return hashlib.sha256(_FORM.encode(said).encode("utf-8", "surrogatepass")).digest()[:_LENGTH]


def at_birth(new: NewEntry, created: int | None, begins: int | None, ends: int | None, tick: int, metadata: str) -> bytes | None:
    """The seal of a new entry by its values, times in microseconds; None where its row has to be read for it, for its labels."""
    if new.sources or new.tags:
        return None
    return seal_of(
        new.id, new.kind, new.origin, created, tick, new.version, float(new.importance), float(new.confidence), new.retention, 0,
        float(new.strength), begins, ends, metadata, "[]", "[]",
    )  # fmt: skip


def seal_entries(db: Any, rows: Iterable[int]) -> None:
    """Seal entries as they are now; erased ones have none."""
    named = json.dumps([*rows])
    found = db.execute(
        f"{_ENTRY} WHERE e.entry IN (SELECT value FROM json_each(?)) AND coalesce(e.cause, '') <> 'erased'", (named,)
    ).fetchall()
    db.executemany("UPDATE entries SET seal = ? WHERE entry = ?", [(seal_of(*row[2:]), row[0]) for row in found])


def seal_rest(db: Any) -> int:
    """Seal everything that has no seal yet; returns how much. What is wrong already is sealed as it is."""
    rows = [row for (row,) in db.execute("SELECT entry FROM entries WHERE seal IS NULL AND coalesce(cause, '') <> 'erased'")]
    seal_entries(db, rows)
    settings = db.execute("SELECT name, value FROM settings WHERE seal IS NULL").fetchall()
    db.executemany("UPDATE settings SET seal = ? WHERE name = ?", [(seal_of(name, value), name) for name, value in settings])
    notes = db.execute("SELECT event, note, before FROM event_notes WHERE seal IS NULL").fetchall()
    db.executemany("UPDATE event_notes SET seal = ? WHERE event = ?", [(seal_of(*note), note[0]) for note in notes])
    return len(rows) + len(settings) + len(notes)


def damage(db: Any) -> Iterator[Damage]:
    """What does not say what it said when it was sealed."""
    for row in db.execute(_ENTRY + "WHERE e.seal IS NOT NULL"):
        if bytes(row[1]) != seal_of(*row[2:]):
            yield Damage("entry differs", f"the fields or labels of entry {row[2]} are not what was written")
    for name, value, seal in db.execute("SELECT name, value, seal FROM settings WHERE seal IS NOT NULL"):
        if bytes(seal) != seal_of(name, value):
            yield Damage("setting differs", f"the setting {name} is not what was set; set it again")
    for event, note, before, seal in db.execute("SELECT event, note, before, seal FROM event_notes WHERE seal IS NOT NULL"):
        if bytes(seal) != seal_of(event, note, before):
            yield Damage("remark differs", f"the remark of event {event}, or what it overwrote, is not what was written")
