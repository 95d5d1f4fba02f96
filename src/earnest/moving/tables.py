"""Reading SQLite files of other programs: tables only, as data, with nothing in them run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import apsw

from earnest.core.uris import file_uri
from earnest.errors import InvalidInput

_MAGIC: Final = b"SQLite format 3\x00"
_VIRTUAL: Final = "CREATE VIRTUAL"
MAX_VALUE: Final = 16 * 1024 * 1024


def is_sqlite(path: Path) -> bool:
    """Whether a file is an SQLite database, by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


class Tables:
    """The plain tables of a file, for reading. Views, triggers and virtual tables are not looked at."""

    def __init__(self, path: Path) -> None:
        """Opens a file, which is not changed.

        Raises:
            InvalidInput: It is damaged or no database.
        """
        self._path = path
        log = path.with_name(path.name + "-wal")
        quiet = not log.exists() or log.stat().st_size == 0
        # Without a log beside it nothing has to be made in its folder.
        where = f"{file_uri(path.resolve())}?mode=ro" + ("&immutable=1" if quiet else "")
        try:
            self._db: Any = apsw.Connection(where, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
            self._db.set_busy_timeout(5_000)
            self._db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            self._db.execute("PRAGMA trusted_schema = OFF")
            self._db.execute("PRAGMA query_only = ON")
            self._db.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_VALUE)
            found = self._db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall()
        except apsw.Error as error:
            raise self._damaged(error) from error
        virtual = tuple(f"{name}_" for name, sql in found if isinstance(sql, str) and sql.lstrip().upper().startswith(_VIRTUAL))
        self.names: list[str] = [
            str(name)
            for name, sql in found
            # What a virtual table keeps for itself is no table of anybody's.
            if isinstance(sql, str) and not sql.lstrip().upper().startswith(_VIRTUAL) and not (virtual and str(name).startswith(virtual))
        ]
        """The tables, as they were made."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._db.close()

    def _damaged(self, error: apsw.Error) -> InvalidInput:
        return InvalidInput("path", str(self._path), f"cannot be read as an SQLite database ({error})")

    def columns(self, table: str) -> list[str]:
        """The columns of a table in lower case; none if it is not there."""
        if table not in self.names:
            return []
        return [str(row[1]).lower() for row in self._db.execute(f"PRAGMA table_info({_quoted(table)})")]

    def rows(self, table: str) -> Iterator[Mapping[str, Any]]:
        """Every row of a table, values by column, one in memory at a time."""
        names = self.columns(table)
        try:
            for row in self._db.execute(f"SELECT * FROM {_quoted(table)}"):  # noqa: S608 (a table that the file has, quoted)
                yield dict(zip(names, row, strict=False))
        except (apsw.Error, UnicodeDecodeError) as error:
            raise InvalidInput("path", str(self._path), f"its table {table} cannot be read to the end ({error})") from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
