"""Going through all that a snapshot holds of a kind, page by page; and the end of its log."""

from __future__ import annotations

from collections.abc import Iterator

from earnest.core.entry import StoredEntry
from earnest.core.events import Event
from earnest.core.filters import Filter
from earnest.core.links import Link
from earnest.core.paging import paged
from earnest.protocols import Reading


def entries(reading: Reading, chosen: Filter, *, after: str | None = None, most: int | None = None) -> Iterator[StoredEntry]:
    """The entries that a filter lets through, oldest first, after the one of that id; all of them unless at most so many are wanted."""
    return paged(lambda place, size: reading.page(chosen, place, size), after, lambda stored: stored.entry.id, most=most)


def events(reading: Reading, kind: str) -> Iterator[Event]:
    """The events of a kind, in order."""
    return paged(
        lambda after, size: reading.events(entry=None, kind=kind, after=after, limit=size, newest=False), 0, lambda event: event.seq
    )


def links(reading: Reading) -> Iterator[Link]:
    """Every link, in order."""
    return paged(reading.links, (0, 0, ""), lambda link: link.key)


def latest(reading: Reading, kind: str | None = None) -> Event | None:
    """The last event, of that kind if one is named; None if there is none."""
    found = reading.events(entry=None, kind=kind, after=0, limit=1, newest=True)
    return found[0] if found else None
