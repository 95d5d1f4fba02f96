"""What format 3 adds for a memory that forgets and associates: links, what was said of entries, and the words of what was superseded."""

from __future__ import annotations

from typing import Final

PAST: Final = """
CREATE VIRTUAL TABLE past USING fts5 (
    facets, text, cue,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'''"
);
"""
"""The terms of superseded entries, apart from those of the living: who asks what held at an earlier time finds what was said then."""

LINKS: Final = (
    """
CREATE TABLE links (
    entry  INTEGER NOT NULL REFERENCES entries,
    other  INTEGER NOT NULL REFERENCES entries,
    kind   TEXT NOT NULL CHECK (kind IN ('semantic', 'temporal', 'entity', 'related')),
    weight REAL NOT NULL CHECK (weight > 0 AND weight <= 1),
    reason TEXT NOT NULL DEFAULT '',
    stated INTEGER NOT NULL DEFAULT 0 CHECK (stated IN (0, 1)),
    used   INTEGER NOT NULL,
    trips  INTEGER NOT NULL DEFAULT 0 CHECK (trips >= 0),
    PRIMARY KEY (entry, other, kind),
    CHECK (entry < other)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_other ON links (other, entry);
CREATE INDEX links_used ON links (used) WHERE stated = 0;

CREATE TABLE opinions (
    entry      INTEGER PRIMARY KEY REFERENCES entries,
    helpful    INTEGER NOT NULL DEFAULT 0 CHECK (helpful >= 0),
    unhelpful  INTEGER NOT NULL DEFAULT 0 CHECK (unhelpful >= 0),
    outdated   INTEGER NOT NULL DEFAULT 0 CHECK (outdated >= 0),
    given      REAL NOT NULL CHECK (given BETWEEN 0 AND 1),
    made       REAL NOT NULL CHECK (made BETWEEN 0 AND 1),
    day        INTEGER NOT NULL,
    today      INTEGER NOT NULL CHECK (today >= 0),
    asks       INTEGER NOT NULL DEFAULT 0 CHECK (asks IN (0, 1))
) STRICT;
CREATE INDEX opinions_asking ON opinions (entry) WHERE asks = 1;
"""
    + PAST
    + """
CREATE VIEW linked AS
    SELECT a.id AS entry, b.id AS other, l.kind, l.weight, l.reason, l.stated, l.trips
    FROM links l JOIN entries a ON a.entry = l.entry JOIN entries b ON b.entry = l.other;

-- The terms of what was superseded are made when the index is made anew, which a store without this setting does on opening.
DELETE FROM settings WHERE name = 'analyser' AND EXISTS (SELECT 1 FROM entries WHERE standing = 'dead' AND cause = 'superseded');
"""
)
