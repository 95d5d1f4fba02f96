"""What a snapshot knows of settings, entries and links."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from earnest.protocols.rows import StoredDocument

if TYPE_CHECKING:
    from earnest.core.entry import StoredEntry
    from earnest.core.filters import Filter
    from earnest.core.links import Link
    from earnest.core.opinions import Opinions


class ReadingEntries(Protocol):
    """What a snapshot knows of settings, entries and links. A part of `Reading`."""

    # settings and running numbers
    def settings(self) -> Mapping[str, Any]:
        """The settings that differ from the defaults, by name."""
        ...

    def counter(self, name: str) -> int:
        """A running number of the store; 0 if it was never set."""
        ...

    # entries
    def entry(self, entry_id: str) -> StoredEntry | None:
        """The entry of that id, dead or alive."""
        ...

    def entries(self, rows: Sequence[int]) -> list[StoredEntry]:
        """The entries of these rows, in the order asked; rows that are not there are left out."""
        ...

    def twins(self, digest: bytes, scope: str, kind: str) -> list[StoredEntry]:
        """Entries of any standing with that twin digest, scope and kind, newest first."""
        ...

    def known_twins(self, digests: Collection[bytes]) -> set[bytes]:
        """Those of these twin digests that any entry has, of whatever standing, scope and kind. O(digests)."""
        ...

    def encoded(self, source: str, scope: str) -> list[StoredEntry]:
        """Living entries of that scope and source that an encoding wrote, oldest first. O(the source's entries)."""
        ...

    def document(self, source: str, scope: str) -> StoredDocument | None:
        """What is known of the document that was encoded under that name."""
        ...

    def documents(self, scope: str | None = None, *, under: str = "") -> list[StoredDocument]:
        """Documents by source, of one scope or of all; with `under` only those whose path begins with it. O(documents)."""
        ...

    def lately_dead(self, scope: str, since_tick: int, limit: int) -> list[StoredEntry]:
        """Up to `limit` entries of a scope that died at or after a tick, the last first. O(what died since)."""
        ...

    def page(self, chosen: Filter, after: str | None, limit: int) -> list[StoredEntry]:
        """Up to `limit` entries that pass the filter, ordered by age (oldest first), after the entry of that id."""
        ...

    def richest(self, limit: int) -> list[StoredEntry]:
        """Living earned entries by recorded wealth net of rent, richest first."""
        ...

    def due(self, rent_index: int) -> list[int]:
        """Rows of living entries that are empty when the rent index stands there. O(what it returns)."""
        ...

    def faded(self, at: datetime, after: tuple[int, int] | None, limit: int) -> list[tuple[int, int]]:
        """Up to `limit` living entries that have faded by that time, earliest first, after the last of a page: (date, row). The date is in
        microseconds since 1970. O(what it returns)."""
        ...

    def fading(self, after: int, limit: int) -> list[int]:
        """Rows of up to `limit` living entries of retention `fading`, by row, after that one."""
        ...

    def opinions(self, row: int) -> Opinions | None:
        """What readers said of an entry; None if nobody said anything."""
        ...

    def outdated(self, limit: int) -> list[int]:
        """Rows of up to `limit` living entries that somebody called outdated. O(what it returns)."""
        ...

    def living(self, after: int, limit: int) -> list[int]:
        """Rows of up to `limit` living entries, by row, after that one."""
        ...

    # links
    def links_of(self, rows: Sequence[int]) -> list[Link]:
        """Every link between living entries that has one of these rows at an end, by row. O(links)."""
        ...

    def stated_links(self, row: int) -> list[Link]:
        """The links of an entry, dead or alive, that somebody stated, to living entries."""
        ...

    def links(self, after: tuple[int, int, str], limit: int) -> list[Link]:
        """Up to `limit` links between living entries, ordered by (entry, other, kind), after that one."""
        ...

    def holding(self, terms: Sequence[str], scope: str, below: int, limit: int) -> list[int]:
        """Rows of up to `limit` living entries of a scope, below a row, that hold all of these terms, newest first.

        Raises:
            IndexDamaged: The index is known to be broken.
        """
        ...
