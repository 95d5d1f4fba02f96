"""The format after the first: what selection by evidence and randomised holdouts keep. One script; see `schema.MIGRATIONS`."""

from __future__ import annotations

from typing import Final

GUARDS: Final = """
CREATE VIRTUAL TABLE guards USING fts5 (
    facets, text, cue,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'''"
);
"""
"""What was executed goes on guarding its question: its terms, apart from those of the living."""

LEDGER: Final = (
    """
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

CREATE TABLE words (
    entry        INTEGER NOT NULL REFERENCES entries,
    ticket       INTEGER NOT NULL REFERENCES tickets,
    event        INTEGER NOT NULL REFERENCES events,
    meter        INTEGER NOT NULL REFERENCES meters,
    tick         INTEGER NOT NULL,
    size         REAL NOT NULL,
    part         REAL NOT NULL DEFAULT 1 CHECK (part > 0 AND part <= 1),
    second       REAL,
    second_meter INTEGER REFERENCES meters,
    second_event INTEGER REFERENCES events,
    said_of      INTEGER REFERENCES entries,
    borrowed     INTEGER NOT NULL DEFAULT 0 CHECK (borrowed IN (0, 1)),
    PRIMARY KEY (entry, ticket),
    CHECK ((second IS NULL) = (second_meter IS NULL) AND (second IS NULL) = (second_event IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX words_meter ON words (meter, event);
CREATE INDEX words_ticket ON words (ticket);
CREATE INDEX words_second ON words (second_meter, second_event) WHERE second IS NOT NULL;

CREATE TABLE beliefs (
    meter   INTEGER PRIMARY KEY REFERENCES meters,
    lies    REAL NOT NULL,
    words   REAL NOT NULL CHECK (words > 0),
    caught  REAL NOT NULL,
    counted REAL NOT NULL,
    gain    REAL NOT NULL,
    since   INTEGER NOT NULL,
    through INTEGER NOT NULL,
    oldest  INTEGER NOT NULL,
    slope   REAL NOT NULL CHECK (slope BETWEEN 0 AND 1),
    alarm   INTEGER NOT NULL DEFAULT 0 CHECK (alarm IN (0, 1)),
    sizes       REAL NOT NULL DEFAULT 0,
    size_total  REAL NOT NULL DEFAULT 0,
    size_square REAL NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE appeals (
    ticket INTEGER PRIMARY KEY REFERENCES tickets,
    entry  INTEGER NOT NULL REFERENCES entries,
    why    TEXT NOT NULL CHECK (why IN ('first', 'appeal', 'random')),
    tick   INTEGER NOT NULL,
    at     INTEGER NOT NULL
) STRICT;
CREATE INDEX appeals_entry ON appeals (entry);
CREATE INDEX appeals_tick ON appeals (tick, ticket);

ALTER TABLE controls ADD COLUMN scale REAL NOT NULL DEFAULT 1 CHECK (scale > 0);
ALTER TABLE controls ADD COLUMN tier TEXT NOT NULL DEFAULT 'measured' CHECK (tier IN ('claimed', 'operator', 'measured'));
ALTER TABLE remeasurements ADD COLUMN scale REAL NOT NULL DEFAULT 1 CHECK (scale > 0);
ALTER TABLE remeasurements ADD COLUMN tier TEXT NOT NULL DEFAULT 'measured' CHECK (tier IN ('claimed', 'operator', 'measured'));

"""
    + GUARDS
    + """
-- The terms of what was executed are made when the index is made anew, which a store without this setting does on opening.
DELETE FROM settings WHERE name = 'analyser' AND EXISTS (SELECT 1 FROM entries WHERE standing = 'dead' AND cause = 'executed');

INSERT INTO words (entry, ticket, event, meter, tick, size)
    SELECT h.entry, s.ticket, s.event, s.meter, s.tick, max(-1e6, min(1e6, s.delta / s.scale))
    FROM settlements s JOIN shares h ON h.ticket = s.ticket AND h.role = 'deciding' WHERE s.tier = 'measured';
INSERT INTO settings (name, value)
    SELECT 'rule', '"classic"' WHERE EXISTS (SELECT 1 FROM settlements) ON CONFLICT (name) DO NOTHING;
"""
)
