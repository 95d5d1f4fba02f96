"""Shorter versions of long entries: checked so that they lose nothing that matters, and taken back by `undo`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from earnest.core.analysis import Analyser
from earnest.core.calendar import days_before
from earnest.core.entry import NewEntry, StoredEntry
from earnest.core.filters import Filter
from earnest.core.grounding import lost
from earnest.core.settings import Settings
from earnest.core.shortening import ENOUGH
from earnest.errors import NotAllowed
from earnest.ledger import admission, walks
from earnest.ledger.book import Book
from earnest.ledger.editing import next_version
from earnest.ledger.lifecycle import insert, movable, refuse_saying_twice
from earnest.protocols import Reading, Rng, Writing

HOW: Final = "compression"
"""How the log and the lineage name it."""
TRIED: Final = 500
"""Entries that scheduled compression tries in one run: the next run goes on after them."""
_TURN: Final = "compressing"
"""The setting that says which entry scheduled compression tried last, where a run did not come to the end."""


def compressible(stored: StoredEntry) -> None:
    """Refuses what must stay as it is: the dead, the pinned, the suspended, what an open ticket names, and rules.

    Raises:
        NotAllowed: Says which it is, and the way out.
    """
    movable(stored, "compressed")
    entry = stored.entry
    if entry.standing != "active":
        raise NotAllowed(f"entry {entry.id} is {entry.standing} and keeps its words, by which it is judged; `earnest why {entry.id}`")
    if entry.kind == "rule":
        raise NotAllowed(f"entry {entry.id} is a rule, and keeps the words that were accepted")


def wrong_with(original: str, shorter: str) -> str | None:
    """Why a shorter text cannot take an original's place, in words; None if it can."""
    if len(shorter) > ENOUGH * len(original):
        return "it is hardly shorter"
    found = lost(original, shorter)
    return "; ".join(found) if found else None


def compressed_entry(rng: Rng, stored: StoredEntry, text: str) -> NewEntry:
    """The next version of an entry, which says less and is the same otherwise."""
    return replace(next_version(rng, stored, text, None, {}), strength=stored.entry.strength)


def compress(
    tx: Writing,
    settings: Settings,
    rng: Rng,
    analyser: Analyser,
    stored: StoredEntry,
    new: NewEntry,
    terms: tuple[Sequence[str], Sequence[str]],
    **data: Any,
) -> StoredEntry:
    """Puts a shorter version in an entry's place. It holds what the original held, and no evidence: that belongs to the text.

    What hardly differs from a text that did harm is suspended, as everywhere. `undo` of the event brings the original back.
    """
    compressible(stored)
    refuse_saying_twice(tx, new, {stored.row})
    by = admission.condemned(tx, settings, analyser, new, terms, [stored])
    made = insert(
        tx, settings, rng, new, terms, kind="supersede", given=max(0, stored.entry.balance), version=new.version, how=HOW, **data
    )  # fmt: skip
    tx.add_lineage(made.row, [(stored.row, HOW, stored.entry.balance)])
    Book(tx, settings).bury(stored, "superseded", heir=made.row, pinned=False)
    return made if by is None else admission.convict(tx, settings, tx.entries([made.row])[0], by)


def long_ones(reading: Reading, over: int, older: float, now: datetime, avoided: frozenset[str]) -> list[StoredEntry]:
    """Entries that may be compressed, longer than `over` characters and recorded at least `older` days ago, longest first. O(entries)."""
    made: list[StoredEntry] = []
    for stored in walks.entries(reading, Filter(scopes=None)):
        entry = stored.entry
        free = entry.standing == "active" and not entry.pinned and not stored.open_tickets and entry.kind != "rule"
        if free and len(entry.text) > over and _old(entry.created, older, now) and entry.id not in avoided:
            made.append(stored)
    return sorted(made, key=lambda stored: (-len(stored.entry.text), stored.row))


def in_turn(reading: Reading, found: Sequence[StoredEntry]) -> list[StoredEntry]:
    """Entries from `long_ones` in the order in which a run tries them: first those after the last one that an earlier run tried, so that
    what is refused again and again does not keep the others from their turn."""
    at = turn(reading)
    if at is None:
        return list(found)
    before = [stored for stored in found if (-len(stored.entry.text), stored.row) <= at]
    return [*found[len(before) :], *before]


def turn(reading: Reading) -> tuple[int, int] | None:
    """Where the last run stopped (minus the characters, then the row, of the entry that it tried last); None: it came to the end."""
    last = reading.settings().get(_TURN)
    return (-int(last["chars"]), int(last["row"])) if isinstance(last, dict) else None


def turn_ends(tx: Writing, last: StoredEntry | None) -> None:
    """Keeps where a run stopped; None: it came to the end, and the next one begins with the longest."""
    tx.set_setting(_TURN, None if last is None else {"chars": len(last.entry.text), "row": last.row})


def _old(created: datetime | None, older: float, now: datetime) -> bool:
    return created is None or created <= days_before(now, older)
