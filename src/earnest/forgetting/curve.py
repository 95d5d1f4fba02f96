"""The forgetting curve over a store: who has faded, who was recalled, and dates that follow the settings."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from earnest.core import fading
from earnest.core.entry import Cause, Entry, StoredEntry
from earnest.core.events import micros
from earnest.core.settings import Settings
from earnest.ledger.book import Book
from earnest.protocols import Reading, Writing

AWAKE: Final = 0.5
"""Activation from which an entry is shown whole; below it, by its gist."""

RESTS: Final = 7.0
"""Days after which an entry that was not recalled has lost half of its activation."""

BATCH: Final = 500
"""Entries in one transaction: other writers hardly wait."""

_MARK: Final = "fading"
"""The setting that says by which half-life and threshold the dates in the store were made, and how far that went."""


@dataclass(frozen=True, slots=True)
class Fallen:
    """One batch of a cleanup: who faded, who would have but was spared, where to go on (None: there are no more)."""

    entries: tuple[Entry, ...]
    kept: int
    after: tuple[int, int] | None


def left(entry: Entry, settings: Settings, now: datetime) -> float:
    """What is left of an entry (R), 0 to 1, whatever its retention: 1 just after a recall."""
    began = fading.began(entry.created, entry.last_recalled, entry.valid_from)
    age = 0.0 if began is None else fading.age_days(began, now)
    return fading.retention(age, settings.decay_half_life, entry.strength)


def activation(entry: Entry, now: datetime, rests: float = RESTS) -> float:
    """How present an entry is, 0 to 1: 1 when it was just recalled or written, half as much after each `rests` days without a recall."""
    since = entry.last_recalled or entry.created
    return 0.0 if since is None else fading.retention(fading.age_days(since, now), rests)


def dormant(entry: Entry, now: datetime) -> bool:
    """Whether an entry was left alone for so long that its gist is enough where it is not what was asked for."""
    return activation(entry, now) < AWAKE


def fades(entry: Entry, settings: Settings) -> datetime | None:
    """When a living entry will have faded if it is not used; None if it does not fade."""
    if entry.retention != "fading" or entry.pinned or not entry.alive:
        return None
    began = fading.began(entry.created, entry.last_recalled, entry.valid_from)
    return fading.fades_at(began, entry.importance, entry.strength, settings.decay_half_life, settings.decay_threshold)


def recalled(tx: Writing, settings: Settings, stored: StoredEntry, at: datetime, times: int = 1) -> None:
    """Notes that an entry was recalled so often, last at that time: it is counted, grows stronger by what had been forgotten of it, and its
    clock begins anew. A dead one is only counted."""
    entry = stored.entry
    columns: dict[str, Any] = {"recalls": entry.recalls + times}
    if entry.alive:
        columns |= {"strength": fading.recalled(entry.strength, left(entry, settings, at)), "last_recalled": micros(at)}
    tx.change_entry(stored.row, **columns)


def dated(reading: Reading, settings: Settings) -> bool:
    """Whether every date in the store was made by the settings in force."""
    return _through(reading, settings) is None


def redate(tx: Writing, settings: Settings) -> bool:
    """Makes a batch of dates anew where the settings changed since they were made; True while there are more."""
    through = _through(tx, settings)
    if through is None:
        return False
    rows = tx.fading(through, BATCH)
    tx.date_fading(rows)
    more = len(rows) == BATCH
    made = {"half_life": settings.decay_half_life, "threshold": settings.decay_threshold, "through": rows[-1] if more else None}
    tx.set_setting(_MARK, made)
    return more


def _through(reading: Reading, settings: Settings) -> int | None:
    """The row up to which the dates follow the settings in force; None: all of them do."""
    made = reading.settings().get(_MARK)
    if not isinstance(made, dict) or (made.get("half_life"), made.get("threshold")) != (settings.decay_half_life, settings.decay_threshold):
        return 0
    through = made.get("through")
    return None if through is None else int(through)


def fall(
    tx: Writing,
    settings: Settings,
    now: datetime,
    after: tuple[int, int] | None,
    *,
    most: int = BATCH,
    spared: Collection[str] = (),
    **data: Any,
) -> Fallen:
    """Buries a batch of entries that have faded, the earliest first, with the cause `faded`; `data` is said in their events.

    Left alone are those that an open ticket names, and the `spared` (ids). One that harm had suspended dies `executed` as it would have
    otherwise, so that its text goes on guarding its question.
    """
    book = Book(tx, settings)
    page = tx.faded(now, after, BATCH)
    dates = {row: date for date, row in page}
    made: list[Entry] = []
    kept = 0
    with book.together():
        for stored in tx.entries([*dates]):
            if len(made) >= most:
                break
            after = (dates[stored.row], stored.row)
            if stored.open_tickets or stored.entry.id in spared:
                kept += 1
                continue
            condemned = stored.entry.standing == "suspended" and book.condemned(stored)
            cause: Cause = "executed" if condemned else "faded"
            book.bury(stored, cause, **data)
            made.append(replace(stored.entry, standing="dead", cause=cause))
    done = len(page) < BATCH and len(made) + kept == len(page)
    return Fallen(tuple(made), kept, None if done else after)


def faded(reading: Reading, settings: Settings, now: datetime, spared: Collection[str] = ()) -> list[Entry]:
    """The entries that a cleanup would bury now, the earliest first. O(what it returns), where the dates follow the settings; else
    O(fading entries), since dates by other settings are not answered from."""
    rows: list[int] = []
    if dated(reading, settings):
        after: tuple[int, int] | None = None
        while page := reading.faded(now, after, BATCH):
            rows += [row for _, row in page]
            after = page[-1]
    else:
        last = 0
        while some := reading.fading(last, BATCH):
            rows += some
            last = some[-1]
    made = []
    for start in range(0, len(rows), BATCH):
        for stored in reading.entries(rows[start : start + BATCH]):
            when = fades(stored.entry, settings)
            if when is not None and when <= now and not stored.open_tickets and stored.entry.id not in spared:
                made.append((when, stored.row, stored.entry))
    return [entry for _, _, entry in sorted(made, key=lambda one: one[:2])]
