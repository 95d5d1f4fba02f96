"""What format 3 adds for rules: their status, the trials that they stood, and which draws belong to a trial."""

from __future__ import annotations

from typing import Final

RULES: Final = """
CREATE TABLE rules (
    entry       INTEGER PRIMARY KEY REFERENCES entries,
    status      TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'trial', 'active', 'rejected', 'expired')),
    event       INTEGER REFERENCES events,
    ends        INTEGER,
    hits_before INTEGER NOT NULL DEFAULT 0,
    heard       INTEGER NOT NULL DEFAULT 0,
    level       REAL NOT NULL DEFAULT 0,
    alarm       REAL NOT NULL DEFAULT 0,
    CHECK (ends IS NULL OR status = 'active')
) STRICT;
CREATE INDEX rules_status ON rules (status, entry);
CREATE INDEX rules_ends ON rules (ends) WHERE ends IS NOT NULL;

CREATE TABLE trials (
    trial     INTEGER PRIMARY KEY,
    entry     INTEGER NOT NULL REFERENCES entries,
    begun     INTEGER NOT NULL REFERENCES events,
    ended     INTEGER REFERENCES events,
    verdict   TEXT CHECK (verdict IN ('proved', 'harmful', 'unproven', 'stopped')),
    alpha     REAL NOT NULL CHECK (alpha > 0 AND alpha < 1),
    decisions INTEGER NOT NULL CHECK (decisions > 0),
    worth     REAL NOT NULL,
    bound     REAL NOT NULL CHECK (bound > 0),
    share     REAL NOT NULL CHECK (share > 0 AND share < 1),
    meter     TEXT,
    CHECK ((ended IS NULL) = (verdict IS NULL))
) STRICT;
CREATE INDEX trials_entry ON trials (entry, trial);

ALTER TABLE draws ADD COLUMN trial INTEGER REFERENCES trials;
CREATE INDEX draws_trial ON draws (trial, ticket) WHERE trial IS NOT NULL;

INSERT INTO rules (entry) SELECT entry FROM entries WHERE kind = 'rule';

CREATE VIEW rulebook AS
    SELECT e.id, coalesce(json_extract(e.metadata, '$.rule'), 'prefer') AS type, e.cue AS "trigger", e.text AS "action", r.status,
           e.recalls AS hits, s.name AS scope, e.standing, datetime(r.ends / 1000000, 'unixepoch') AS ends, e.entry
    FROM rules r JOIN entries e USING (entry) JOIN scopes s USING (scope) WHERE e.standing <> 'dead';
"""
"""A rule is an entry of kind `rule`; one that was written by an earlier format waits for a person or a trial, like any other."""
