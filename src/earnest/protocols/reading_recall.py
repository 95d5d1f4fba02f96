"""What a snapshot finds, by words and by meaning, and how entries stand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from earnest.protocols.rows import Changed, StoredModel

if TYPE_CHECKING:
    from earnest.core.analysis import Question
    from earnest.core.context import Placed
    from earnest.core.filters import Filter
    from earnest.core.ranking import Candidate, Statistics
    from earnest.core.survey import Order, Settled


class ReadingRecall(Protocol):
    """What a snapshot finds, by words and by meaning, and how entries stand. A part of `Reading`."""

    # recall
    def candidates(self, question: Question, chosen: Filter, limit: int, share: float = 0.0) -> tuple[list[Candidate], Statistics]:
        """Up to `limit` entries that pass the filter and hold a term of the question, likely best first, with term statistics.

        Entries that match less than `share` of the question may be left out.

        Raises:
            IndexDamaged: The index is known to be broken or to lag; it never answers as if whole.
        """
        ...

    def indexed(self, rows: Sequence[int]) -> list[Candidate]:
        """These entries with their own terms, in any order; rows that the keyword index does not hold are left out. O(rows)."""
        ...

    def placed(self, rows: Sequence[int], chosen: Filter, reach: int = 0) -> list[Placed]:
        """Where those of these entries that pass the filter stand in time and in a conversation, in any order.

        With `reach`, turns come with up to so many living ones before and after them in their session, by the time that they are about
        and then by age; these may fail the filter. O(rows × reach), however long a session is.
        """
        ...

    def within(self, chosen: Filter, start: datetime, end: datetime, limit: int) -> list[int]:
        """Rows of up to `limit` entries that pass the filter and are about a time in [start, end), the latest first.

        An engine may give none where the filter spans too many scopes to look at each.
        """
        ...

    def known(self, terms: Sequence[str], chosen: Filter) -> frozenset[str]:
        """Which of these terms some entry in the filter's scopes holds. O(terms)."""
        ...

    def vocabulary(self, start: str, limit: int) -> list[str]:
        """Up to `limit` terms of the keyword index that begin so, in order, whatever scope they are in. O(limit)."""
        ...

    def index_problem(self) -> str | None:
        """What is wrong with the keyword index, by a quick look; None if nothing was found."""
        ...

    # vectors
    def nearest(self, model: str, vector: bytes, chosen: Filter, limit: int) -> list[tuple[int, float]]:
        """Up to `limit` entries that pass the filter and have a vector of that model, by cosine, nearest first: (row, cosine).

        `vector` is of unit length, as little-endian float32. Exact for small stores; for large ones near-exact, and said how near.
        Takes in everything that was committed before this snapshot, whoever wrote it.
        """
        ...

    def cosines(self, model: str, vector: bytes, rows: Sequence[int]) -> dict[int, float]:
        """The cosines of these entries with a vector; rows without a vector of that model are left out."""
        ...

    def models(self) -> list[StoredModel]:
        """Every embedder that the store knows of, oldest first."""
        ...

    def unembedded(self, model: str, before: int | None, limit: int, *, every: bool = False) -> list[tuple[int, str, str | None, bytes]]:
        """Living entries without a vector of that model, newest first, of a row below `before`: (row, text, cue, twin digest).

        Those that have one too if `every`.
        """
        ...

    def known_vectors(self, model: str, twins: Sequence[bytes]) -> dict[bytes, bytes]:
        """Stored vectors of that model for texts that some entry, dead or alive, says already, by twin digest."""
        ...

    def codes(self, model: str, rows: Sequence[int]) -> dict[int, bytes]:
        """The stored vectors of that model that these entries have."""
        ...

    def changed(self, model: str, event: int, vector: int, limit: int) -> Changed:
        """Entries that something happened to after that event, or that got a vector of that model after that vector's number.

        At most `limit` events and as many vectors are covered; what they are about is for the caller to read.
        """
        ...

    # looking it over
    def ranked(self, chosen: Filter, order: Order, *, cause: str | None, pinned: bool | None, after: str | None, limit: int) -> list[int]:
        """Rows of up to `limit` entries that pass the filter in that order, after the entry of that id, along an index.

        `cause` and `pinned` keep only those that died so, or are pinned or not.
        """
        ...

    def died_by_tick(self, since: int, until: int) -> list[tuple[int, str, int]]:
        """(tick, cause, number) of who died from one tick to another, both included, in order. O(who died then)."""
        ...

    def settled_by_tick(self, since: int, until: int) -> list[Settled]:
        """What was settled from one tick to another, both included, by meter and trust, in order. O(the settlements then)."""
        ...

    def holdings(self, step: int, buckets: int) -> tuple[list[int], int]:
        """How many living entries that pay rent hold how much, in `buckets` of `step` micro-units, and how many of them are pinned.

        Who holds less counts in the first, who holds more in the last. One look along an index.
        """
        ...

    def tickets_of(self, row: int, limit: int) -> list[str]:
        """The ids of open tickets that name an entry, newest first."""
        ...

    def heirs_of(self, row: int) -> list[str]:
        """The ids of entries that were made of this one, oldest first; a hundred at most."""
        ...
