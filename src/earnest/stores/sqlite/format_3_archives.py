"""What format 3 adds for a log that does not grow for ever: which stretches lie in a file of their own, and what their postings came to."""

from __future__ import annotations

from typing import Final

ARCHIVES: Final = """
CREATE TABLE archives (
    archive INTEGER PRIMARY KEY,
    first   INTEGER NOT NULL REFERENCES events,
    last    INTEGER NOT NULL REFERENCES events,
    events  INTEGER NOT NULL CHECK (events > 0),
    digest  BLOB NOT NULL CHECK (length(digest) = 32),
    at      INTEGER NOT NULL
) STRICT;

CREATE TABLE archived_postings (
    account INTEGER PRIMARY KEY,
    amount  INTEGER NOT NULL
) STRICT;
"""
"""An archived event keeps its number, its time and its hash here, with the kind `archived`; the chain goes on through it."""
