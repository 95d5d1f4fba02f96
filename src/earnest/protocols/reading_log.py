"""What a snapshot knows of the log, and of all rows at once: for moving, archiving and erasing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from earnest.protocols.rows import Damage, Mentions

if TYPE_CHECKING:
    from earnest.core.erasing import Subject
    from earnest.core.events import Event, Posting


class ReadingLog(Protocol):
    """What a snapshot knows of the log, and of all rows at once: for moving, archiving and erasing. A part of `Reading`."""

    # the log
    def event(self, seq: int) -> Event | None:
        """The event of that number."""
        ...

    def events(self, *, entry: str | None, kind: str | None, after: int, limit: int, newest: bool) -> list[Event]:
        """Events after a number (before it, and newest first, if `newest`), ordered; of one entry or kind if named."""
        ...

    def postings(self, seq: int) -> list[Posting]:
        """The postings of one event, in order."""
        ...

    def event_from(self, moment: datetime) -> int | None:
        """The number of the first event that was recorded at a moment or later; None if there is none. A clock may have been set back in
        between, so that this one may lie long before others that are earlier by the clock. O(events before it)."""
        ...

    def before_edit(self, seq: int) -> Mapping[str, Any] | None:
        """What an event overwrote, for undo; None if it overwrote nothing or that was erased."""
        ...

    def lineage(self, entry_row: int) -> list[tuple[int, str, int]]:
        """(parent row, how, the parent's part of the balance in micro-units) for an entry made of others."""
        ...

    def remembered(self, key: str) -> tuple[str, bytes, Mapping[str, Any]] | None:
        """(verb, digest of the request, result) of an idempotency key."""
        ...

    def old_keys(self, before: datetime, after: str, limit: int) -> list[str]:
        """Up to `limit` idempotency keys that were used before a time and may be forgotten, in order, after that one. Those of controls
        stay, since nothing else tells one that comes again, and so do those whose result was erased."""
        ...

    # language models
    def kept_reply(self, digest: bytes) -> str | None:
        """What a language model replied to the prompt of that digest, if that is kept."""
        ...

    # moving
    def rows(self, *, vectors: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Everything that memory knows, row by row: (table, values by column), in one order. Indexes, and whose it is, are left out."""
        ...

    def form(self) -> int:
        """The format that the rows are in: `load` takes those of this one and of every earlier one."""
        ...

    def untouched(self) -> bool:
        """Whether nothing was ever remembered, decided or measured here."""
        ...

    # archiving
    def archivable(self, before: int) -> list[int]:
        """Numbers of the events before one that can be archived: what grows with use, and nothing has to look up again."""
        ...

    def archive_rows(self, events: Sequence[int]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """What these events and their postings say: (table, values by column), each event before its postings."""
        ...

    def archives(self) -> list[bytes]:
        """The digests of the archives that this store was reduced by, oldest first."""
        ...

    def archive_damage(self, said: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Damage]:
        """Where rows of an archive do not fit into the chain of this store."""
        ...

    # erasing
    def meant(self, subject: Subject) -> list[int]:
        """Rows of the entries, dead ones too, that a subject means, ordered; what was erased already is left out.

        O(entries) by text, else O(what it finds).
        """
        ...

    def kin(self, rows: Sequence[int]) -> list[tuple[int, int, str]]:
        """(child row, parent row, how) of what was made of these entries and of what they were made, erased ones left out."""
        ...

    def open_tickets(self, rows: Sequence[int]) -> list[str]:
        """Ids of the open tickets that name one of these entries."""
        ...

    def mentions(self, text: str) -> Mentions:
        """Where a text stands beside the entries. O(the store)."""
        ...

    def to_erase(self, rows: Sequence[int]) -> Mapping[str, int]:
        """How much goes with these entries: entries, vectors, tickets, notes."""
        ...

    def samples(self, rows: Sequence[int], most: int) -> list[bytes]:
        """Up to `most` pieces of the bytes that go with these entries, to look for them afterwards."""
        ...

    def residue(self, rows: Sequence[int], pieces: Sequence[bytes]) -> tuple[Mapping[str, int], list[bytes]]:
        """What the indexes still hold of erased entries, by index; and those of the pieces that what stays does not say too."""
        ...

    # totals
    def energy(self) -> int:
        """What all accounts of the living hold now, in micro-units. O(pinned entries)."""
        ...

    def totals(self) -> Mapping[str, Any]:
        """Counts and sums for `stats` and `doctor`: O(what is unusual), not O(entries)."""
        ...
