"""Verbs that look a memory over, for people: what a dashboard shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from earnest.core import check, filters
from earnest.core.entry import CAUSES
from earnest.core.survey import ORDERS, Balances, Card, History, Life, Order
from earnest.errors import InvalidInput
from earnest.ledger import lifecycle, survey
from earnest.verbs.base import Base

_MOST: Final = 500


class SurveyVerbs(Base):
    """Verbs that look a memory over."""

    def survey(
        self,
        *,
        order: Order = "newest",
        scope: Any = filters.ALL,
        kind: Any = None,
        source: Any = None,
        tags: Any = None,
        standing: str | None = None,
        pinned: bool | None = None,
        cause: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> list[Card]:
        """A page of entries with how they stand: balance, runway, evidence, open tickets. Every scope, unless one is named.

        Args:
            order: "oldest" or "newest"; "richest" or "poorest" (only those that pay rent and are not pinned); "ended" (the dead, the
                last first).
            scope, kind, source, tags: As in `list`. Rules are left out unless `kind` names them.
            standing: "active", "suspended" or "dead" alone; the living unless given, the dead with the order "ended" or a cause.
            pinned: Only pinned entries, or only others.
            cause: Only those that died so.
            after: Go on after the entry of that id; it must be one that this order holds.
            limit: 1 to 500.

        Raises:
            InvalidInput, UnknownEntry.

        Writes nothing. Each order runs along an index; a filter that few pass makes it look at more entries. O(the page's outcomes).
        """
        way: Order = check.choice("order", order, ORDERS)
        most = check.integer("limit", limit, low=1, high=_MOST)
        ended = None if cause is None else check.choice("cause", cause, CAUSES)
        wanted = None if pinned is None else check.flag("pinned", pinned)
        default = ("dead",) if way == "ended" or ended is not None else ("active", "suspended")
        standings = default if standing is None else (standing,)
        chosen = filters.checked(scope=scope, kind=kind, source=source, tags=tags, standings=standings)
        with self._store.read() as reading:
            settings = self._read_settings(reading)
            if after is not None:
                lifecycle.found(reading, after)
            rows = reading.ranked(chosen, way, cause=ended, pinned=wanted, after=after, limit=most)
            return survey.cards(reading, settings, reading.entries(rows))

    def card(self, id: str) -> Card:
        """One entry with how it stands, dead ones too. Writes nothing.

        Raises:
            UnknownEntry.
        """
        with self._store.read() as reading:
            return survey.cards(reading, self._read_settings(reading), [lifecycle.found(reading, id)])[0]

    def cards(self, ids: Iterable[str]) -> list[Card]:
        """Several entries with how they stand, in the order asked; at most 500. Writes nothing.

        Raises:
            InvalidInput: Too many. UnknownEntry: one of them was never there.
        """
        names = check.items("ids", ids)
        if len(names) > _MOST:
            raise InvalidInput("ids", len(names), f"must be at most {_MOST} entries at once")
        with self._store.read() as reading:
            return survey.cards(reading, self._read_settings(reading), [lifecycle.found(reading, name) for name in names])

    def life(self, id: str) -> Life:
        """The whole life of an entry: how it stands, what was measured of it, how its evidence grew, which open tickets name it, its story.

        Raises:
            UnknownEntry.

        Writes nothing. O(its own outcomes and events), at most 64 outcomes, 100 settlements and 500 events.
        """
        with self._store.read() as reading:
            return survey.life(reading, self._read_settings(reading), lifecycle.found(reading, id))

    def history(self, *, ticks: int = 200, before: int | None = None) -> History:
        """How it went: population, energy and deaths after each of the last ticks, and what every meter measured in them.

        Args:
            ticks: 1 to 2,000.
            before: Only ticks before the event of that number, for pages.

        Raises:
            InvalidInput.

        Writes nothing. O(the ticks, and who died and what was settled in them), whatever the population.
        """
        most = check.integer("ticks", ticks, low=1, high=2_000)
        bound = None if before is None else check.integer("before", before, low=1, high=2**62)
        with self._store.read() as reading:
            return survey.history(reading, most, bound)

    def balances(self, *, buckets: int = 20) -> Balances:
        """How many living entries hold how much, from nothing to the cap.

        Raises:
            InvalidInput: `buckets` is not 1 to 100.

        Writes nothing. One look along the index of who starves when, about 0.1 µs an entry; the entries themselves are not read.
        """
        most = check.integer("buckets", buckets, low=1, high=100)
        with self._store.read() as reading:
            return survey.balances(reading, self._read_settings(reading), most)
