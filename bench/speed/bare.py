"""The floor: what one durable commit of a text costs, with nothing around it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

_CHUNK = 200


class Bare:
    """One table and its FTS5 index in one SQLite file, and float32 vectors if asked for: WAL, every commit on the disk."""

    def __init__(self, path: Path, *, vectors: bool = False) -> None:
        self._vectors = vectors
        self._db: Any = apsw.Connection(str(path))
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("CREATE TABLE memories (memory INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")
        self._db.execute("CREATE VIRTUAL TABLE terms USING fts5 (text)")
        if vectors:
            self._db.execute("CREATE TABLE vectors (memory INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT")

    def fill(self, texts: Sequence[str]) -> None:
        """Write many texts, as many in a transaction as Earnest's bulk verb does."""
        for start in range(0, len(texts), _CHUNK):
            self._db.execute("BEGIN IMMEDIATE")
            for text in texts[start : start + _CHUNK]:
                self._insert(text)
            self._db.execute("COMMIT")

    def commit(self, text: str, vector: bytes | None = None) -> None:
        """One text, on the disk when it returns."""
        self._db.execute("BEGIN IMMEDIATE")
        self._insert(text)
        if vector is not None:
            self._db.execute("INSERT INTO vectors (memory, vector) VALUES (?, ?)", (self._db.last_insert_rowid(), vector))
        self._db.execute("COMMIT")

    def _insert(self, text: str) -> None:
        self._db.execute("INSERT INTO memories (text) VALUES (?)", (text,))
        self._db.execute("INSERT INTO terms (rowid, text) VALUES (?, ?)", (self._db.last_insert_rowid(), text))

    def search(self, words: Sequence[str], k: int) -> list[int]:
        """The best rows that hold one of these words, by FTS5's own BM25."""
        match = " OR ".join(f'"{word}"' for word in words)
        return [row for (row,) in self._db.execute("SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT ?", (match, k))]

    def close(self) -> None:
        """Release the file."""
        self._db.close()
