"""What format 3 adds for work that asks a language model: replies that were paid for and are not used up yet."""

from __future__ import annotations

from typing import Final

REPLIES: Final = """
CREATE TABLE replies (
    digest BLOB PRIMARY KEY,
    reply  TEXT NOT NULL,
    at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX replies_at ON replies (at);
"""
"""By the digest of model and prompt. A reply goes when the work that asked for it is done, or after a week: nothing here is for ever."""
