"""The tables of a store file, one migration after the other. A released migration never changes.

Any SQLite from 3.37 can read the file: no custom function, collation or tokenizer is used, and the keyword index runs over terms
that the analyser has already made. Times are microseconds since 1970 in UTC; amounts are micro-units of energy.
"""

from __future__ import annotations

from typing import Final

from earnest.stores.sqlite.format_2 import V2
from earnest.stores.sqlite.format_3 import V3

APPLICATION_ID: Final = 0x4541524E
"""Marks the file as an Earnest store ("EARN"), so that another database is never taken for one."""

KEYWORD_INDEX: Final = """
CREATE VIRTUAL TABLE terms USING fts5 (
    facets, text, cue,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'''"
);
INSERT INTO terms (terms, rank) VALUES ('rank', 'bm25(0.0, 1.0, 1.5)');
CREATE VIRTUAL TABLE terms_known USING fts5vocab (terms, 'row');
"""

_V1: Final = (
    """
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE scopes (
    scope INTEGER PRIMARY KEY,
    name  TEXT NOT NULL UNIQUE,
    alive INTEGER NOT NULL DEFAULT 0,
    terms INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE sources (
    source INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE entries (
    entry             INTEGER PRIMARY KEY,
    id                TEXT NOT NULL UNIQUE,
    scope             INTEGER NOT NULL REFERENCES scopes,
    kind              TEXT NOT NULL CHECK (kind IN ('semantic', 'episodic', 'procedural', 'rule')),
    origin            TEXT NOT NULL CHECK (origin IN ('explicit', 'inferred', 'entity', 'cross_doc', 'turn', 'experience',
                                                      'consolidated', 'imported')),
    text              TEXT NOT NULL,
    cue               TEXT,
    salt              BLOB,
    twin              BLOB NOT NULL,
    importance        REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),
    confidence        REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    retention         TEXT NOT NULL CHECK (retention IN ('earned', 'fading', 'kept')),
    pinned            INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    strength          REAL NOT NULL DEFAULT 1 CHECK (strength >= 0),
    recalls           INTEGER NOT NULL DEFAULT 0 CHECK (recalls >= 0),
    last_recalled     INTEGER,
    fades_at          INTEGER,
    standing          TEXT NOT NULL DEFAULT 'active' CHECK (standing IN ('active', 'suspended', 'dead')),
    cause             TEXT CHECK (cause IN ('executed', 'starved', 'faded', 'merged', 'superseded', 'forgotten', 'erased')),
    heir              INTEGER REFERENCES entries,
    created           INTEGER,
    valid_from        INTEGER,
    valid_to          INTEGER,
    born_tick         INTEGER NOT NULL,
    last_settled_tick INTEGER,
    died_tick         INTEGER,
    balance           INTEGER NOT NULL DEFAULT 0,
    rent_mark         INTEGER NOT NULL,
    starves_at        INTEGER,
    open_tickets      INTEGER NOT NULL DEFAULT 0 CHECK (open_tickets >= 0),
    harmed            INTEGER NOT NULL DEFAULT 0 CHECK (harmed IN (0, 1)),
    probation         INTEGER NOT NULL DEFAULT 0 CHECK (probation >= 0),
    log_odds          REAL,
    version           INTEGER NOT NULL DEFAULT 1,
    metadata          TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    CHECK ((standing = 'dead') = (cause IS NOT NULL))
) STRICT;
CREATE INDEX entries_twin ON entries (twin, scope, kind);
CREATE INDEX entries_starving ON entries (starves_at) WHERE standing <> 'dead' AND starves_at IS NOT NULL;
CREATE INDEX entries_fading ON entries (fades_at) WHERE standing <> 'dead' AND fades_at IS NOT NULL;
CREATE INDEX entries_pinned ON entries (entry) WHERE pinned = 1 AND standing <> 'dead';
CREATE INDEX entries_suspended ON entries (entry) WHERE standing = 'suspended';
CREATE INDEX entries_dead ON entries (died_tick, cause) WHERE standing = 'dead';
CREATE INDEX entries_scope ON entries (scope, entry);

CREATE TABLE entry_sources (
    entry  INTEGER NOT NULL REFERENCES entries,
    place  INTEGER NOT NULL,
    source INTEGER NOT NULL REFERENCES sources,
    PRIMARY KEY (entry, place)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX entry_sources_source ON entry_sources (source, entry);

CREATE TABLE entry_tags (
    entry INTEGER NOT NULL REFERENCES entries,
    place INTEGER NOT NULL,
    tag   TEXT NOT NULL,
    PRIMARY KEY (entry, place)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX entry_tags_tag ON entry_tags (tag, entry);

CREATE TABLE lineage (
    entry  INTEGER NOT NULL REFERENCES entries,
    parent INTEGER NOT NULL REFERENCES entries,
    how    TEXT NOT NULL CHECK (how IN ('version', 'merge', 'compression', 'experience')),
    part   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (entry, parent)
) STRICT, WITHOUT ROWID;
CREATE INDEX lineage_parent ON lineage (parent);

CREATE TABLE tickets (
    ticket      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    query       TEXT NOT NULL,
    answer      TEXT NOT NULL,
    state       TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'settled', 'abandoned', 'expired')),
    exposure    REAL NOT NULL CHECK (exposure > 0 AND exposure <= 1),
    holdout     INTEGER NOT NULL DEFAULT 0 CHECK (holdout IN (0, 1)),
    opened_tick INTEGER NOT NULL,
    opened      INTEGER NOT NULL,
    resolved    INTEGER REFERENCES events
) STRICT;
CREATE INDEX tickets_open ON tickets (opened_tick, ticket) WHERE state = 'pending';

CREATE TABLE shares (
    ticket INTEGER NOT NULL REFERENCES tickets,
    entry  INTEGER NOT NULL REFERENCES entries,
    role   TEXT NOT NULL CHECK (role IN ('deciding', 'supporting', 'cited', 'withheld')),
    moved  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (ticket, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX shares_entry ON shares (entry, ticket);

CREATE TABLE meters (
    meter       INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    unit        TEXT NOT NULL DEFAULT '',
    scale       REAL CHECK (scale > 0),
    tier        TEXT NOT NULL CHECK (tier IN ('claimed', 'operator', 'measured')),
    created     INTEGER NOT NULL,
    settlements INTEGER NOT NULL DEFAULT 0,
    total       REAL NOT NULL DEFAULT 0,
    lie_rate    REAL CHECK (lie_rate BETWEEN 0 AND 1),
    baseline    REAL,
    revoked     INTEGER
) STRICT;

CREATE TABLE bindings (
    meter   INTEGER NOT NULL REFERENCES meters,
    channel TEXT NOT NULL,
    PRIMARY KEY (meter, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE settlements (
    ticket  INTEGER PRIMARY KEY REFERENCES tickets,
    event   INTEGER NOT NULL REFERENCES events,
    meter   INTEGER NOT NULL REFERENCES meters,
    channel TEXT NOT NULL,
    tier    TEXT NOT NULL CHECK (tier IN ('claimed', 'operator', 'measured')),
    delta   REAL NOT NULL,
    scale   REAL NOT NULL CHECK (scale > 0),
    acted   INTEGER CHECK (acted IN (0, 1)),
    detail  TEXT NOT NULL DEFAULT '',
    tick    INTEGER NOT NULL,
    at      INTEGER NOT NULL
) STRICT;
CREATE INDEX settlements_meter ON settlements (meter, tick);
CREATE INDEX settlements_tick ON settlements (tick);

CREATE TABLE remeasurements (
    remeasurement INTEGER PRIMARY KEY,
    ticket        INTEGER NOT NULL REFERENCES tickets,
    event         INTEGER NOT NULL REFERENCES events,
    meter         INTEGER NOT NULL REFERENCES meters,
    channel       TEXT NOT NULL,
    delta         REAL NOT NULL,
    tick          INTEGER NOT NULL,
    at            INTEGER NOT NULL
) STRICT;
CREATE INDEX remeasurements_ticket ON remeasurements (ticket);

CREATE TABLE controls (
    control INTEGER PRIMARY KEY,
    event   INTEGER NOT NULL REFERENCES events,
    meter   INTEGER NOT NULL REFERENCES meters,
    channel TEXT NOT NULL,
    delta   REAL NOT NULL,
    tick    INTEGER NOT NULL,
    at      INTEGER NOT NULL
) STRICT;
CREATE INDEX controls_meter ON controls (meter, tick);

CREATE TABLE events (
    event   INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,
    tick    INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    actor   TEXT NOT NULL,
    channel TEXT NOT NULL,
    entries TEXT NOT NULL CHECK (json_valid(entries)),
    ticket  TEXT,
    data    TEXT NOT NULL CHECK (json_valid(data)),
    hash    BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE INDEX events_kind ON events (kind, event);

CREATE TABLE event_entries (
    entry INTEGER NOT NULL REFERENCES entries,
    event INTEGER NOT NULL REFERENCES events,
    PRIMARY KEY (entry, event)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_notes (
    event  INTEGER PRIMARY KEY REFERENCES events,
    note   TEXT NOT NULL DEFAULT '',
    before TEXT CHECK (before IS NULL OR json_valid(before))
) STRICT;

CREATE TABLE postings (
    event  INTEGER NOT NULL REFERENCES events,
    place  INTEGER NOT NULL,
    debit  INTEGER NOT NULL,
    credit INTEGER NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    PRIMARY KEY (event, place),
    CHECK (debit <> credit)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
    key     TEXT PRIMARY KEY,
    verb    TEXT NOT NULL,
    request BLOB NOT NULL,
    result  TEXT NOT NULL CHECK (json_valid(result)),
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

"""
    + KEYWORD_INDEX
    + """
CREATE VIEW memory AS
    SELECT e.id, e.text, e.cue, e.kind, e.origin, s.name AS scope, e.retention, e.pinned, e.standing, e.cause,
           e.importance, e.confidence,
           CASE WHEN e.standing = 'dead' THEN 0 WHEN e.retention <> 'earned' THEN e.balance
                WHEN e.pinned = 1 THEN max(0, e.balance - (SELECT value FROM counters WHERE name = 'rent_index') + e.rent_mark)
                ELSE e.balance - (SELECT value FROM counters WHERE name = 'rent_index') + e.rent_mark
           END / 1000000.0 AS energy,
           datetime(e.created / 1000000, 'unixepoch') AS created, e.born_tick, e.last_settled_tick, e.version, e.metadata,
           (SELECT json_group_array(o.name) FROM entry_sources x JOIN sources o USING (source) WHERE x.entry = e.entry) AS sources,
           e.entry
    FROM entries e JOIN scopes s USING (scope);
CREATE VIEW living AS SELECT * FROM memory WHERE standing <> 'dead';
CREATE VIEW graveyard AS SELECT * FROM memory WHERE standing = 'dead';
CREATE VIEW open_decisions AS
    SELECT id, query, answer, opened_tick, datetime(opened / 1000000, 'unixepoch') AS opened FROM tickets WHERE state = 'pending';
"""
)

MIGRATIONS: Final[tuple[str, ...]] = (_V1, V2, V3)
"""Migration n (counted from 1) takes a file from format n - 1 to format n."""

FORMAT: Final = len(MIGRATIONS)
