"""What format 3 adds against silent damage: a digest beside what nothing else vouches for."""

from __future__ import annotations

from typing import Final

SEALS: Final = """
ALTER TABLE entries ADD COLUMN seal BLOB;
ALTER TABLE settings ADD COLUMN seal BLOB;
ALTER TABLE event_notes ADD COLUMN seal BLOB;
"""
"""The first eight bytes of a SHA-256. Null where a row was written by an earlier format and has not changed since."""
