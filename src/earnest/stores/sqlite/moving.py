"""Every row of a store as plain values, and back: what an export is made of. Indexes are left out, for they are made anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, Final

import apsw

from earnest.errors import StoreCorrupt
from earnest.stores.sqlite.connection import immediate, pragma
from earnest.stores.sqlite.schema import APPLICATION_ID, FORMAT, MIGRATIONS

Values = Mapping[str, Any]

INDEXES: Final = ("terms", "guards", "past")
"""The keyword indexes: their rows are made anew from the entries."""
VOCABULARIES: Final = ("terms_known",)
"""Virtual tables that only show what is in an index."""
_VECTORS: Final = frozenset(("vectors", "models"))
_BATCH: Final = 500


def tables(db: Any) -> dict[str, list[str]]:
    """The tables that hold what memory knows, in the order in which they were made, with their columns. Computed columns are left out."""
    made = {}
    virtual = [*INDEXES, *VOCABULARIES]
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid").fetchall():
        if not name.isidentifier() or name.startswith("sqlite_") or any(name == index or name.startswith(f"{index}_") for index in virtual):
            continue
        made[name] = [column[1] for column in db.execute(f"PRAGMA table_xinfo({name})") if column[6] == 0]
    return made


def _order(db: Any, table: str) -> str:
    keys = sorted((column[5], column[1]) for column in db.execute(f"PRAGMA table_xinfo({table})") if column[5])
    return ", ".join(name for _, name in keys) or "rowid"


def dump(db: Any, *, vectors: bool) -> Iterator[tuple[str, Values]]:
    """Every row of every table, in order of the keys: (table, values by column). Whose memory it is stays out."""
    for table, columns in tables(db).items():
        if table in _VECTORS and not vectors:
            continue
        sql = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {_order(db, table)}"
        for row in db.execute(sql):
            if table == "models":
                # Who was filling in vectors is nobody's memory.
                row = (*row[: columns.index("holder")], None, None)
            if table == "settings" and row[0] == "agent":
                continue
            if table == "counters" and not vectors and row[0].startswith("vectors"):
                continue
            yield table, dict(zip(columns, row, strict=True))


def format_of(db: Any) -> int:
    """The format that the rows are in."""
    return pragma(db, "user_version")


def empty(db: Any) -> bool:
    """Whether nothing was ever remembered, decided or measured here."""
    parts = " UNION ALL ".join(f"SELECT * FROM (SELECT 1 FROM {table} LIMIT 1)" for table in ("entries", "tickets", "meters"))
    return db.execute(f"SELECT 1 FROM ({parts}) LIMIT 1").fetchone() is None


def load(db: Any, format: int, rows: Iterable[tuple[str, Values]], terms: Callable[[str], Sequence[str]]) -> Counter[str]:
    """Put rows of some format in the place of everything that an empty store has, inside the caller's transaction; how many, by table.

    Raises:
        StoreCorrupt: A row names a table or a column that its format does not have, or a value that its table refuses.
    """
    if format == FORMAT:
        made = _fill(db, rows)
    else:
        older = scratch(format, rows)
        try:
            made = _fill(db, dump(older, vectors=True))
        finally:
            older.close()
    problems = db.execute("PRAGMA foreign_key_check").fetchall()
    if problems:
        raise StoreCorrupt(f"the rows do not fit together: row {problems[0][1]} of {problems[0][0]} points at nothing in {problems[0][2]}")
    from earnest.stores.sqlite.verify import LIVING, rebuild_index

    _, length = rebuild_index(db, terms)
    db.execute("INSERT INTO counters (name, value) VALUES ('terms', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1", (length,))
    db.execute(f"UPDATE models AS m SET living = {LIVING}, holder = NULL, held = NULL")
    return made


def scratch(format: int, rows: Iterable[tuple[str, Values]]) -> Any:
    """A passing database of the present format, on the disk of the system's temporary folder, with these rows in it. It has no indexes."""
    db: Any = apsw.Connection("")
    try:
        db.execute("PRAGMA foreign_keys = OFF")
        with immediate(db):
            for step in MIGRATIONS[:format]:
                db.execute(step)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
            _fill(db, rows)
            for step in MIGRATIONS[format:]:
                db.execute(step)
            db.execute(f"PRAGMA user_version = {FORMAT:d}")
    except BaseException:
        db.close()
        raise
    return db


def _fill(db: Any, rows: Iterable[tuple[str, Values]]) -> Counter[str]:
    known = tables(db)
    db.execute("PRAGMA defer_foreign_keys = ON")
    for table in known:
        where = " WHERE name <> 'agent'" if table == "settings" else ""
        db.execute(f"DELETE FROM {table}{where}")
    made: Counter[str] = Counter()
    for table, run in groupby(rows, key=lambda row: row[0]):
        if table not in known:
            raise StoreCorrupt(f"there is no table {table!r} in this format")
        while batch := [values for _, values in islice(run, _BATCH)]:
            _insert(db, table, known[table], batch)
            made[table] += len(batch)
    return made


def _names(values: Values) -> tuple[str, ...]:
    return tuple(values)


def _insert(db: Any, table: str, known: Sequence[str], batch: Sequence[Values]) -> None:
    for columns, group in groupby(batch, key=_names):
        strange = [name for name in columns if name not in known]
        if strange:
            raise StoreCorrupt(f"there is no column {strange[0]!r} in the table {table}")
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        try:
            db.executemany(sql, [tuple(values.values()) for values in group])
        except (apsw.ConstraintError, apsw.MismatchError) as error:
            raise StoreCorrupt(f"a row of {table} is not what its table holds: {error}") from error
