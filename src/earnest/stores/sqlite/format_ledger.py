"""The format after the first: what selection by evidence and randomised holdouts keep. One script; see `schema.MIGRATIONS`."""

from __future__ import annotations

from typing import Final

LEDGER: Final = """
CREATE TABLE draws (
    ticket  INTEGER NOT NULL REFERENCES tickets,
    entry   INTEGER NOT NULL REFERENCES entries,
    arm     TEXT NOT NULL CHECK (arm IN ('shown', 'alone', 'all')),
    p_shown REAL NOT NULL CHECK (p_shown > 0 AND p_shown < 1),
    p_alone REAL NOT NULL CHECK (p_alone >= 0 AND p_alone < 1),
    p_all   REAL NOT NULL CHECK (p_all >= 0 AND p_all < 1),
    rival   INTEGER REFERENCES entries,
    PRIMARY KEY (ticket, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX draws_entry ON draws (entry, ticket);
"""
