"""What all parts of a reader stand on: the connection of one snapshot, its settings, and its running numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from earnest.stores.sqlite.columns import loaded


class Snapshot:
    """Part of a reader; implements `earnest.protocols.Reading`."""

    def __init__(self, connection: Any, *, lasting: bool = False) -> None:
        """`lasting`: what it said once it says again. What a write transaction sees may change."""
        # apsw types every column as any of SQLite's; the schema is strict, so that rows are what the queries say.
        self._db = connection
        self._counters: dict[str, int] | None = None
        self._holding: dict[str, int] | None = {} if lasting else None

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

    def living_count(self) -> int:
        """How many entries live, suspended ones too."""
        return self.counter("alive") + self.counter("suspended")


@lru_cache(maxsize=64)
def _parsed(rows: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    """Settings from their rows; the same rows come back again and again."""
    return {name: loaded(value) for name, value in rows}
