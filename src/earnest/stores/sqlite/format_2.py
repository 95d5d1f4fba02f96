"""What format 2 adds to a store file. Each part is a script of its own; together they are one migration."""

from __future__ import annotations

from typing import Final

VECTORS: Final = """
CREATE TABLE models (
    model     INTEGER PRIMARY KEY,
    name      TEXT NOT NULL UNIQUE,
    dimension INTEGER CHECK (dimension > 0),
    living    INTEGER NOT NULL DEFAULT 0 CHECK (living >= 0),
    problem   TEXT,
    failed    INTEGER,
    holder    TEXT,
    held      INTEGER
) STRICT;

CREATE TABLE vectors (
    vector INTEGER PRIMARY KEY,
    model  INTEGER NOT NULL REFERENCES models,
    entry  INTEGER NOT NULL REFERENCES entries,
    scope  INTEGER NOT NULL REFERENCES scopes,
    kind   TEXT NOT NULL,
    code   BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vectors_entry ON vectors (entry, model);
"""

V2: Final = VECTORS
