"""What format 2 adds to a store file. Each part is a script of its own; together they are one migration."""

from __future__ import annotations

from typing import Final

from earnest.stores.sqlite.format_ledger import LEDGER

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

DOCUMENTS: Final = """
CREATE TABLE documents (
    document INTEGER PRIMARY KEY,
    scope    TEXT NOT NULL,
    source   TEXT NOT NULL,
    path     TEXT NOT NULL DEFAULT '',
    digest   BLOB NOT NULL,
    encoder  TEXT NOT NULL,
    at       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX documents_source ON documents (source, scope);
"""

TURNS: Final = """
ALTER TABLE entries ADD COLUMN happened INTEGER GENERATED ALWAYS AS (coalesce(valid_from, created)) VIRTUAL;
ALTER TABLE entries ADD COLUMN session TEXT GENERATED ALWAYS AS (
    CASE WHEN kind = 'episodic' AND json_valid(metadata) AND (
        json_extract(metadata, '$.session') IS NOT NULL
        OR (valid_from IS NOT NULL AND coalesce(json_extract(metadata, '$.speaker'), json_extract(metadata, '$.conversation')) IS NOT NULL))
    THEN json_array(json_extract(metadata, '$.conversation'),
                    coalesce(json_extract(metadata, '$.session'), 'day ' || (valid_from / 86400000000))) END) VIRTUAL;
CREATE INDEX entries_session ON entries (scope, session, happened) WHERE session IS NOT NULL AND standing <> 'dead';
CREATE INDEX entries_happened ON entries (scope, happened) WHERE standing <> 'dead';
"""
"""When an entry happened, and the session of a conversation that a turn belongs to: by name, else by its day. Derived from the row,
so that nothing has to keep them in step."""

V2: Final = VECTORS + DOCUMENTS + TURNS + LEDGER
