"""Where memory is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from earnest.protocols.reading import Reading
from earnest.protocols.rows import Damage
from earnest.protocols.system import Author
from earnest.protocols.writing import Writing


@runtime_checkable
class Store(Protocol):
    """One agent's memory on some engine. Safe to share between threads; many processes may have it open."""

    agent: str
    read_only: bool

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        ...

    def read(self) -> AbstractContextManager[Reading]:
        """A snapshot. Never waits for a writer."""
        ...

    def write(self, author: Author, *, patience: float | None = None) -> AbstractContextManager[Writing]:
        """A transaction that excludes other writers while it lasts. Keep it short: no model, no network inside.

        `patience` is how many seconds to wait for another writer, in place of the store's own bound.

        Raises:
            StoreBusy: Another writer held the store for longer than the bounded wait.
            StoreReadOnly, StoreFull, StoreCorrupt: As named. Nothing was written.
        """
        ...

    def damage(self, head: str | None = None) -> Iterator[Damage]:
        """Everything that is wrong with the store, by a full look: file, log, postings against balances, counters, index.

        `head` is a hash that the log had once: if no event has it, the log was rewritten.
        """
        ...

    def rebuild_index(self, terms: Callable[[str], Sequence[str]], author: Author) -> int:
        """Make the keyword index anew from the entries; `terms(text)` gives the terms. Returns how many were indexed."""
        ...

    def repair_counters(self, author: Author) -> None:
        """Make the running numbers anew from the rows that they sum up."""
        ...

    def backup(self, path: Path) -> None:
        """Write a whole, consistent copy to a new file while others go on writing."""
        ...

    def scratch(self, form: int, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> AbstractContextManager[Reading]:
        """These rows as a passing store that can be looked at, on the disk and not in memory; it has no indexes."""
        ...

    def scrub(self) -> list[str]:
        """Write the store anew without what was deleted, so that no byte of it is left; says in sentences what could not be done.

        Other processes may go on. O(the store), in time and, for a moment, in room.
        """
        ...

    def forget(self) -> None:
        """Keep nothing in this process that was read before: the rows are others now."""
        ...

    def size(self) -> int:
        """Bytes that the store takes, its log too; 0 if it is in memory."""
        ...

    def holding(self, pieces: Sequence[bytes]) -> list[tuple[str, bytes]]:
        """The files of this store, old copies beside it too, that hold one of these pieces: (name, piece). O(their size)."""
        ...

    def close(self) -> None:
        """Release the store. Idempotent."""
        ...
