"""Taking texts out of a store file so that no byte of them is left: which columns hold any, and how each is emptied.

An erased entry leaves a tombstone: its row number and id, which the log and the postings point at, and numbers. The log itself holds
no texts, only digests with a salt; without the salt they say nothing, so that its chain stays whole.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import apsw

from earnest.core.erasing import Subject, plain
from earnest.protocols import Mentions
from earnest.stores.sqlite import links, seals
from earnest.stores.sqlite.connection import immediate, pieces
from earnest.stores.sqlite.moving import INDEXES

NOBODY: Final = "\x1ferased"
"""The scope of what was erased together with its scope's name. No caller's scope holds that sign."""

EMPTIED: Final[Mapping[str, Mapping[str, str]]] = {
    "entries": {
        "text": "made empty",
        "cue": "made null",
        "salt": "made null: without it the digests in the log say nothing",
        "twin": "made zeros: it is a digest without a salt",
        "metadata": "made an empty object",
        "session": "computed from the metadata",
        "seal": "made null",
    },
    "entry_tags": {"tag": "the rows go"},
    "sources": {"name": "the row goes with its last entry; a name that holds an erased text is replaced"},
    "scopes": {"name": "the row goes with an erased scope"},
    "documents": {
        "scope": "the row goes with its last entry",
        "source": "the row goes with its last entry",
        "path": "the row goes with its last entry",
        "digest": "the row goes with its last entry",
        "encoder": "the row goes with its last entry",
    },
    "tickets": {"query": "made empty", "answer": "made empty"},
    "settlements": {"detail": "made empty"},
    "event_notes": {"note": "the row goes", "before": "the row goes", "seal": "the row goes"},
    "keys": {
        "key": "the row goes if it holds an erased text",
        "request": "made zeros: it is a digest without a salt",
        "result": "made an empty object",
    },
    "vectors": {"code": "the row goes", "kind": "the row goes"},
    "models": {"problem": "made null: it may quote a text"},
    **{index: {"facets": "the row goes", "text": "the row goes", "cue": "the row goes"} for index in ("terms", "guards", "past")},
    "links": {"kind": "the row goes", "reason": "the row goes"},
    "replies": {"digest": "every row goes: a reply may quote anything", "reply": "every row goes"},
}
"""Every column that can hold somebody's words or something made of them, and what erasing does to it."""

WORDLESS: Final[Mapping[str, frozenset[str]]] = {
    "settings": frozenset(("name", "value", "seal")),
    "counters": frozenset(("name",)),
    "entries": frozenset(("id", "kind", "origin", "retention", "standing", "cause")),
    "lineage": frozenset(("how",)),
    "tickets": frozenset(("id", "state")),
    "shares": frozenset(("role",)),
    "meters": frozenset(("name", "unit", "tier")),
    "bindings": frozenset(("channel",)),
    "settlements": frozenset(("channel", "tier")),
    "remeasurements": frozenset(("channel", "tier")),
    "controls": frozenset(("channel", "tier")),
    "events": frozenset(("kind", "actor", "channel", "entries", "ticket", "data", "hash")),
    "keys": frozenset(("verb",)),
    "models": frozenset(("name", "holder")),
    "draws": frozenset(("arm",)),
    "appeals": frozenset(("why",)),
    "archives": frozenset(("digest",)),
    "rules": frozenset(("status",)),
    "trials": frozenset(("verdict", "meter")),
}
"""The other columns of text or bytes: random ids, words of Earnest's own, names of meters, channels and authors, salted digests."""

_ROWS: Final = "(SELECT value FROM json_each(?))"


# looking


def matching(db: Any, subject: Subject) -> list[int]:
    """Rows of the entries that a subject means, erased ones left out. O(entries) by text, else O(what it finds)."""
    where, values = ["(e.cause IS NULL OR e.cause <> 'erased')"], []
    if subject.entry is not None:
        where.append("e.id = ?")
        values.append(subject.entry)
    if subject.scope is not None:
        where.append("e.scope = (SELECT scope FROM scopes WHERE name = ?)")
        values.append(subject.scope)
    if subject.source is not None:
        where.append("e.entry IN (SELECT entry FROM entry_sources WHERE source = (SELECT source FROM sources WHERE name = ?))")
        values.append(subject.source)
    condition = " AND ".join(where)
    if subject.text is None:
        return [row for (row,) in db.execute(f"SELECT e.entry FROM entries e WHERE {condition} ORDER BY e.entry", values)]
    holds = _finder(subject.text)
    sql = f"""SELECT e.entry, e.text, e.cue, e.metadata,
                     (SELECT group_concat(tag, char(10)) FROM entry_tags g WHERE g.entry = e.entry)
              FROM entries e WHERE {condition} ORDER BY e.entry"""
    return [row for row, *said in db.execute(sql, values) if any(holds(part) for part in said if part)]


def _finder(text: str) -> Callable[[str], bool]:
    needle = plain(text)
    return lambda said: needle in plain(said) or needle in plain(_unescaped(said))


def _unescaped(said: str) -> str:
    """JSON with its escapes read, where a text is JSON; the text itself else."""
    if "\\" not in said:
        return said
    try:
        return json.dumps(json.loads(said), ensure_ascii=False)
    except json.JSONDecodeError:
        return said


def kin(db: Any, rows: Sequence[int]) -> list[tuple[int, int, str]]:
    """(child, parent, how) of what was made of these entries and what they were made of, erased ones left out."""
    sql = f"""SELECT l.entry, l.parent, l.how FROM lineage l JOIN entries c ON c.entry = l.entry JOIN entries p ON p.entry = l.parent
              WHERE (l.entry IN {_ROWS} OR l.parent IN {_ROWS})
              AND coalesce(c.cause, '') <> 'erased' AND coalesce(p.cause, '') <> 'erased'"""
    named = json.dumps([*rows])
    return [*dict.fromkeys(tuple(row) for row in db.execute(sql, (named, named)))]


def tickets_naming(db: Any, rows: Sequence[int]) -> list[str]:
    """Ids of the open tickets that name one of these entries."""
    sql = f"SELECT DISTINCT t.id FROM shares h JOIN tickets t USING (ticket) WHERE h.entry IN {_ROWS} AND t.state = 'pending' ORDER BY t.id"
    return [name for (name,) in db.execute(sql, (json.dumps([*rows]),))]


def mentions(db: Any, text: str) -> Mentions:
    """Where a text stands beside the entries: in questions and answers, remarks, labels and keys. O(the file)."""
    holds = _finder(text)

    def found(sql: str) -> tuple[Any, ...]:
        return tuple(row for row, *said in db.execute(sql) if any(holds(part) for part in said if part))

    return Mentions(
        tickets=found("""SELECT t.ticket, t.query, t.answer, s.detail FROM tickets t LEFT JOIN settlements s USING (ticket)"""),
        notes=found("SELECT event, note, before FROM event_notes"),
        sources=found("SELECT source, name FROM sources"),
        documents=found("SELECT document, source, path FROM documents"),
        keys=found("SELECT key, key, result FROM keys"),
        scopes=found("SELECT name, name FROM scopes"),
        links=found("SELECT json_array(entry, other, kind), reason FROM links"),
    )


def samples(db: Any, rows: Sequence[int], most: int) -> list[bytes]:
    """Some of the bytes that go with these entries, to look for them afterwards: whole short texts, parts of long ones, vectors."""
    step = max(1, len(rows) // max(1, most // 2))
    named = json.dumps([*rows[::step]][: most // 2])
    made: list[bytes] = []
    for text, cue in db.execute(f"SELECT text, cue FROM entries WHERE entry IN {_ROWS}", (named,)):
        made += [_piece(said.encode("utf-8")) for said in (text, cue) if said]
    made += [bytes(code[4:68]) for (code,) in db.execute(f"SELECT code FROM vectors WHERE entry IN {_ROWS}", (named,))]
    return [piece for piece in dict.fromkeys(made) if len(piece) >= _LEAST][:most]


_LEAST: Final = 8
_LONG: Final = 200


def _piece(said: bytes) -> bytes:
    """A text, or the middle of a long one, which no page's end is likely to cut."""
    return said if len(said) <= _LONG else said[(len(said) - _LONG) // 2 :][:_LONG]


def said_elsewhere(db: Any, piece: bytes) -> bool:
    """Whether an entry or a question that stays says it too, so that finding it in the file proves nothing. O(the file)."""
    sql = """SELECT 1 FROM (
        SELECT 1 FROM entries WHERE instr(CAST(text AS BLOB), ?1) OR instr(CAST(cue AS BLOB), ?1)
        UNION ALL SELECT 1 FROM tickets WHERE instr(CAST(query AS BLOB), ?1) OR instr(CAST(answer AS BLOB), ?1)
        UNION ALL SELECT 1 FROM settlements WHERE instr(CAST(detail AS BLOB), ?1)
        UNION ALL SELECT 1 FROM event_notes WHERE instr(CAST(note AS BLOB), ?1)
        UNION ALL SELECT 1 FROM vectors WHERE instr(code, ?1)
        UNION ALL SELECT 1 FROM sources WHERE instr(CAST(name AS BLOB), ?1)) LIMIT 1"""
    return db.execute(sql, (piece,)).fetchone() is not None


def residue(db: Any, rows: Sequence[int]) -> dict[str, int]:
    """What the indexes still hold of entries that were erased: rows of the keyword index, vectors."""
    named = json.dumps([*rows])
    keyword = sum(db.execute(f"SELECT count(*) FROM {index} WHERE rowid IN {_ROWS}", (named,)).fetchone()[0] for index in INDEXES)
    dense = db.execute(f"SELECT count(*) FROM vectors WHERE entry IN {_ROWS}", (named,)).fetchone()[0]
    return {"keyword": keyword, "dense": dense}


# taking away


_STATED: Final = f"SELECT count(*) FROM links WHERE stated = 1 AND (entry IN {_ROWS} OR other IN {_ROWS})"
"""Links that somebody stated; those that were found have gone with the entries when they died."""


def counted(db: Any, rows: Sequence[int]) -> Counter[str]:
    """What goes with these entries, as `erase` would count it."""
    named = json.dumps([*rows])

    def one(sql: str) -> int:
        return int(db.execute(sql, (named,)).fetchone()[0])

    return Counter(
        entries=one(f"SELECT count(*) FROM entries WHERE entry IN {_ROWS}"),
        vectors=one(f"SELECT count(*) FROM vectors WHERE entry IN {_ROWS}"),
        tickets=one(f"SELECT count(DISTINCT ticket) FROM shares WHERE entry IN {_ROWS}"),
        notes=one(f"SELECT count(*) FROM event_notes WHERE event IN (SELECT event FROM event_entries WHERE entry IN {_ROWS})"),
        links=int(db.execute(_STATED, (named, named)).fetchone()[0]),
    )


def erase(db: Any, rows: Sequence[int]) -> Counter[str]:
    """Empty everything that goes with these entries, inside the caller's transaction. They have left the indexes already."""
    named = json.dumps([*rows])
    made: Counter[str] = Counter(entries=len(rows))

    def run(what: str, sql: str, *values: Any) -> None:
        db.execute(sql, values or (named,))
        made[what] += db.changes()

    run("notes", f"DELETE FROM event_notes WHERE event IN (SELECT event FROM event_entries WHERE entry IN {_ROWS})")
    # A run of scheduled work that was taken back quotes questions, which may have been these entries' cues.
    db.execute("DELETE FROM event_notes WHERE event IN (SELECT event FROM events WHERE kind = 'rollback')")
    tickets = [row for (row,) in db.execute(f"SELECT DISTINCT ticket FROM shares WHERE entry IN {_ROWS}", (named,))]
    made["tickets"] += empty_tickets(db, tickets)
    run("vectors", f"DELETE FROM vectors WHERE entry IN {_ROWS}")
    for index in INDEXES:
        # Most have left them when they died; what an index keeps of the dead goes now.
        db.execute(f"DELETE FROM {index} WHERE rowid IN {_ROWS}", (named,))
    made["links"] += links.drop_all(db, rows)
    db.execute(f"DELETE FROM opinions WHERE entry IN {_ROWS}", (named,))
    db.execute("DELETE FROM replies")
    _keys(db, made, named)
    labels = [row for (row,) in db.execute(f"SELECT DISTINCT source FROM entry_sources WHERE entry IN {_ROWS}", (named,))]
    run("tags", f"DELETE FROM entry_tags WHERE entry IN {_ROWS}")
    db.execute(f"DELETE FROM entry_sources WHERE entry IN {_ROWS}", (named,))
    _labels(db, made, labels)
    db.execute(
        f"""UPDATE entries SET text = '', cue = NULL, salt = NULL, twin = zeroblob(16), metadata = '{{}}', created = NULL, seal = NULL,
            valid_from = NULL, valid_to = NULL WHERE entry IN {_ROWS}""",
        (named,),
    )
    # Whoever had one of these for an heir can be restored now.
    db.execute(f"UPDATE entries SET heir = NULL WHERE heir IN {_ROWS} AND coalesce(cause, '') <> 'erased'", (named,))
    db.execute("UPDATE models SET problem = NULL, failed = NULL WHERE problem IS NOT NULL")
    return made


def empty_tickets(db: Any, tickets: Sequence[int]) -> int:
    """Empty the questions, answers and remarks of these tickets; nobody is asked to look at their outcomes again."""
    named = json.dumps([*tickets])
    db.execute(f"UPDATE tickets SET query = '', answer = '' WHERE ticket IN {_ROWS}", (named,))
    db.execute(f"UPDATE settlements SET detail = '' WHERE ticket IN {_ROWS} AND detail <> ''", (named,))
    db.execute(f"DELETE FROM appeals WHERE ticket IN {_ROWS}", (named,))
    db.execute(
        f"""DELETE FROM event_notes WHERE event IN (
                SELECT event FROM settlements WHERE ticket IN {_ROWS} UNION SELECT event FROM remeasurements WHERE ticket IN {_ROWS}
                UNION SELECT resolved FROM tickets WHERE ticket IN {_ROWS})""",
        (named, named, named),
    )
    return len(tickets)


def _keys(db: Any, made: Counter[str], named: str) -> None:
    """Empty what requests with keys left: repeating one is refused from now on, so that it brings nothing back."""
    db.execute(
        f"""UPDATE keys SET request = zeroblob(16), result = '{{}}' WHERE EXISTS (
                SELECT 1 FROM json_tree(keys.result) j WHERE j.atom IN (
                    SELECT id FROM entries WHERE entry IN {_ROWS}
                    UNION ALL SELECT t.id FROM shares h JOIN tickets t USING (ticket) WHERE h.entry IN {_ROWS}))
            OR coalesce(json_array_length(result, '$.broken'), 0) > 0""",
        (named, named),
    )
    made["keys"] += db.changes()


def _labels(db: Any, made: Counter[str], labels: Sequence[int]) -> None:
    """Take away the names of sources, and what is known of documents, that no entry comes from any more."""
    named = json.dumps([*labels])
    db.execute(
        f"""DELETE FROM documents WHERE source IN (SELECT name FROM sources WHERE source IN {_ROWS}) AND NOT EXISTS (
                SELECT 1 FROM entry_sources x JOIN sources o USING (source) JOIN entries e USING (entry) JOIN scopes s USING (scope)
                WHERE o.name = documents.source AND s.name = documents.scope)""",
        (named,),
    )
    made["documents"] += db.changes()
    sql = f"DELETE FROM sources WHERE source IN {_ROWS} AND NOT EXISTS (SELECT 1 FROM entry_sources x WHERE x.source = sources.source)"
    db.execute(sql, (named,))
    made["sources"] += db.changes()


def drop_source(db: Any, source: str, scope: str | None) -> Counter[str]:
    """Take a source's name from everything that has others too, and forget its documents; of one scope, or everywhere."""
    made: Counter[str] = Counter()
    found = db.execute("SELECT source FROM sources WHERE name = ?", (source,)).fetchone()
    if found is not None:
        touched = [row for (row,) in db.execute("SELECT entry FROM entry_sources WHERE source = ?", (found[0],))]
        db.execute(
            """DELETE FROM entry_sources WHERE source = ?1 AND (?2 IS NULL OR entry IN (
                   SELECT entry FROM entries WHERE scope = (SELECT scope FROM scopes WHERE name = ?2)))""",
            (found[0], scope),
        )
        made["labels"] += db.changes()
        seals.seal_entries(db, touched)
        _labels(db, made, [found[0]])
    db.execute("DELETE FROM documents WHERE source = ?1 AND (?2 IS NULL OR scope = ?2)", (source, scope))
    made["documents"] += db.changes()
    return made


def drop_scope(db: Any, name: str) -> None:
    """Take a scope's name away, once nothing but tombstones is in it."""
    db.execute("DELETE FROM documents WHERE scope = ?", (name,))
    found = db.execute(
        """SELECT s.scope FROM scopes s WHERE s.name = ? AND s.name <> '' AND NOT EXISTS (
               SELECT 1 FROM entries e WHERE e.scope = s.scope AND coalesce(e.cause, '') <> 'erased')""",
        (name,),
    ).fetchone()
    if found is None:
        return
    db.execute("INSERT INTO scopes (name) VALUES (?) ON CONFLICT DO NOTHING", (NOBODY,))
    db.execute("UPDATE entries SET scope = (SELECT scope FROM scopes WHERE name = ?) WHERE scope = ?", (NOBODY, found[0]))
    db.execute("DELETE FROM scopes WHERE scope = ?", (found[0],))


def empty_mentions(db: Any, found: Mentions) -> Counter[str]:
    """Empty what names a text beside the entries."""
    made: Counter[str] = Counter(tickets=empty_tickets(db, found.tickets))

    def run(what: str, sql: str, rows: Sequence[Any]) -> None:
        db.execute(sql, (json.dumps([*rows]),))
        made[what] += db.changes()

    run("notes", f"DELETE FROM event_notes WHERE event IN {_ROWS}", found.notes)
    run("documents", f"DELETE FROM documents WHERE document IN {_ROWS}", found.documents)
    run("keys", f"DELETE FROM keys WHERE key IN {_ROWS}", found.keys)
    for key in found.links:
        db.execute("UPDATE links SET reason = '' WHERE entry = ? AND other = ? AND kind = ?", json.loads(key))
    made["links"] += len(found.links)
    db.execute("DELETE FROM replies")
    run("sources", f"UPDATE sources SET name = '[erased ' || source || ']' WHERE source IN {_ROWS}", found.sources)
    labelled = f"SELECT entry FROM entry_sources WHERE source IN {_ROWS}"
    seals.seal_entries(db, [row for (row,) in db.execute(labelled, (json.dumps([*found.sources]),))])
    return made


# the file


def scrub(connection: Any) -> list[str]:
    """Write the file anew without what was deleted, and empty its log; says in sentences what could not be done.

    O(the file), in time and, for a moment, in room on the disk.
    """
    problems = []
    with immediate(connection):
        # What an earlier format wrote has no seals yet.
        seals.seal_rest(connection)
    try:
        for index in INDEXES:
            # Deleted words stay in an index's segments until these are joined.
            connection.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
        connection.execute("VACUUM")
    except (apsw.FullError, apsw.IOError, apsw.BusyError, apsw.LockedError) as error:
        problems.append(f"the file could not be written anew ({error}); make room or end the other writers, then `earnest compact`")
    try:
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except (apsw.BusyError, apsw.LockedError):
        busy = 1
    if busy:
        problems.append("another process still reads what was there before, so that the log could not be emptied; `earnest compact` later")
    return problems


def holding(path: Path, wanted: Sequence[bytes]) -> Iterator[tuple[Path, bytes]]:
    """The files of a store, and copies of it from before a migration, that hold one of these pieces. O(their size)."""
    # Not the file that SQLite shares among processes: it holds numbers of pages, no words, and a look at it would drop the locks on it.
    names = [path, *(path.with_name(path.name + end) for end in ("-wal", "-journal"))]
    kept = tuple(path.name + end for end in COPIES)
    names += sorted(item for item in path.parent.iterdir() if item.name.startswith(kept))
    longest = max(map(len, wanted), default=0)
    for name in names:
        if not name.is_file():
            continue
        left = dict.fromkeys(wanted)
        before = b""
        for chunk in pieces(name, _CHUNK) if name == path else _read(name):
            window = before + chunk
            for piece in [piece for piece in left if piece in window]:
                del left[piece]
                yield name, piece
            if not left:
                break
            before = window[-longest:]


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


COPIES: Final = (".backup-format-", ".before-restore-")
"""What lies beside a store and was it once: copies from before a migration, and what a restore took the place of."""

_CHUNK: Final = 1 << 22
