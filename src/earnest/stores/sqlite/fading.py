"""When entries fade, in a store file: the date is an indexed column that follows from the row and from the settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from earnest.core import fading
from earnest.core.events import micros, moment
from earnest.core.settings import Settings

TURNS: Final = frozenset(("importance", "strength", "last_recalled", "retention", "pinned", "standing", "valid_from"))
"""Columns that the date follows from."""

_DEFAULTS: Final = Settings()
_ROWS: Final = """
SELECT entry, fades_at, retention, pinned, standing, importance, strength, created, last_recalled, valid_from FROM entries
WHERE entry IN (SELECT value FROM json_each(?))
"""


def due(db: Any, at: datetime, after: tuple[int, int] | None, limit: int) -> list[tuple[int, int]]:
    """See `earnest.protocols.Reading.faded`."""
    date, row = after or (-(2**62), 0)
    sql = """SELECT fades_at, entry FROM entries WHERE standing <> 'dead' AND fades_at IS NOT NULL AND fades_at <= ?
             AND (fades_at, entry) > (?, ?) ORDER BY fades_at, entry LIMIT ?"""
    found: list[tuple[int, int]] = db.execute(sql, (micros(at), date, row, limit)).fetchall()
    return found


def fading_rows(db: Any, after: int, limit: int) -> list[int]:
    """See `earnest.protocols.Reading.fading`."""
    sql = "SELECT entry FROM entries WHERE entry > ? AND standing <> 'dead' AND retention = 'fading' ORDER BY entry LIMIT ?"
    return [row for (row,) in db.execute(sql, (after, limit))]


def rates(settings: Any) -> tuple[float, float]:
    """The half-life in days and the threshold that the store's settings ask for."""
    return (
        float(settings.get("decay_half_life", _DEFAULTS.decay_half_life)),
        float(settings.get("decay_threshold", _DEFAULTS.decay_threshold)),
    )


def date(db: Any, settings: Any, rows: Sequence[int]) -> None:
    """Make the dates of these entries anew, by the settings in force."""
    half_life, threshold = rates(settings)
    found = db.execute(_ROWS, (json.dumps([*rows]),)).fetchall()
    # Most dates are right already, but for those of settings that changed.
    made = [(date, row) for row, kept, *values in found if (date := _at(half_life, threshold, *values)) != kept]
    db.executemany("UPDATE entries SET fades_at = ? WHERE entry = ?", made)


def _at(
    half_life: float,
    threshold: float,
    retention: str,
    pinned: int,
    standing: str,
    importance: float,
    strength: float,
    created: int | None,
    recalled: int | None,
    event: int | None,
) -> int | None:
    """When an entry of this row will have faded; None for one that does not fade."""
    if retention != "fading" or pinned or standing == "dead":
        return None
    began = fading.began(*(None if time is None else moment(time) for time in (created, recalled, event)))
    when = fading.fades_at(began, importance, strength, half_life, threshold)
    return None if when is None else micros(when)


def differing(db: Any, settings: Any) -> list[tuple[str, int | None, int | None]]:
    """(id, date as kept, date as it should be) of living entries whose date is another than their row makes it. O(fading entries)."""
    half_life, threshold = rates(settings)
    sql = """SELECT id, fades_at, retention, pinned, standing, importance, strength, created, last_recalled, valid_from FROM entries
             WHERE retention = 'fading' OR fades_at IS NOT NULL"""
    made = []
    for entry_id, kept, *row in db.execute(sql):
        wanted = _at(half_life, threshold, *row)
        if kept != wanted:
            made.append((entry_id, kept, wanted))
    return made


def begins_anew(before: tuple[str, str, int], after: tuple[str, str, int]) -> bool:
    """Whether an entry's clock starts again: it came back, became fading, or lost the pin that held the clock. Each is (standing,
    retention, pinned)."""
    returned = before[0] == "dead" != after[0]
    became = before[1] != "fading" == after[1]
    unpinned = bool(before[2]) and not after[2]
    return after[0] != "dead" and (returned or became or unpinned)
