"""Verbs that look and change nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from earnest.core import check
from earnest.core.entry import Entry
from earnest.core.events import EVENT_KINDS, Event
from earnest.core.paging import paged
from earnest.core.reports import Audit, Diagnosis, Stats
from earnest.core.ticket import PendingTicket, TicketRecord
from earnest.forgetting import curve
from earnest.ledger import inquiry, lifecycle, spending
from earnest.ledger.decisions import ticket_id
from earnest.ledger.doctor import Remembered, diagnose
from earnest.ledger.life import obituary
from earnest.recall.filling import missing_ids, standing
from earnest.recall.reranking import findings as reranker_findings
from earnest.rules.health import findings as rule_findings
from earnest.verbs.base import Base


class InsightVerbs(Base):
    """Verbs that look."""

    def stats(self) -> Stats:
        """Counts and sums, from running numbers: the cost does not grow with the store."""
        with self._store.read() as reading:
            settings = self._read_settings(reading)
            return replace(
                inquiry.stats(reading, self._store.agent),
                vectors=standing(reading, self._embedding),
                cost=spending.cost(reading, self._clock.now(), settings.llm_daily_budget),
            )

    def top(self, limit: int = 10) -> list[Entry]:
        """The living earned entries that hold most, richest first."""
        with self._store.read() as reading:
            return [s.entry for s in reading.richest(check.integer("limit", limit, low=1, high=check.MAX_LIMIT))]

    def pending(self, *, after: str | None = None, limit: int | None = None) -> list[PendingTicket]:
        """Open tickets, oldest first, after the one of that id; all of them unless limited."""
        wanted = None if limit is None else check.integer("limit", limit, low=1, high=check.MAX_LIMIT)
        after = None if after is None else ticket_id(after)
        with self._store.read() as reading:
            tick = reading.counter("tick")
            return [inquiry.open_one(ticket, tick) for ticket in paged(reading.pending, after, lambda ticket: ticket.id, most=wanted)]

    def ticket(self, id: str) -> TicketRecord | None:
        """A decision and what became of it, whatever its state; None if this agent never opened it. Writes nothing."""
        name = ticket_id(id)
        with self._store.read() as reading:
            found = reading.ticket(name)
            if found is None:
                return None
            roles = {share.entry_id: share.role for share in found.shares}
            return TicketRecord(
                found.id, found.query, found.answer, found.state, found.holdout, found.exposure, found.opened_tick, found.opened,
                roles, reading.settlement(name),
            )  # fmt: skip

    def obituary(self, id: str) -> str:
        """The life story of an entry, for the living too: what it said, what was measured, why it died."""
        with self._store.read() as reading:
            stored = lifecycle.found(reading, id)
            return obituary(reading, stored, curve.fades(stored.entry, self._read_settings(reading)))

    def events(
        self, *, entry: str | None = None, kind: str | None = None, after: int = 0, limit: int = 100, newest: bool = False
    ) -> list[Event]:
        """The log: up to `limit` events after a number, in order, of one entry or one kind if named.

        `newest` reads backwards: the latest first, and those before the number `after` if one is given.
        """
        start = check.integer("after", after, low=0, high=2**62)
        most = check.integer("limit", limit, low=1, high=check.MAX_LIMIT)
        if kind is not None:
            check.choice("kind", kind, EVENT_KINDS)
        with self._store.read() as reading:
            if entry is not None:
                lifecycle.found(reading, entry)
            return reading.events(entry=entry, kind=kind, after=start, limit=most, newest=check.flag("newest", newest))

    def audit(self, *, after: int = 0, limit: int = 100_000) -> Audit:
        """A digest of the log after an event: what happened how often, what each meter said, who gained and who lost.

        Cost: O(the events read), at most `limit`.
        """
        start = check.integer("after", after, low=0, high=2**62)
        most = check.integer("limit", limit, low=1, high=10_000_000)
        with self._store.read() as reading:
            return inquiry.audit(reading, start, most)

    @cached_property
    def _remembered(self) -> Remembered:
        return Remembered()

    def doctor(self) -> Diagnosis:
        """What is wrong with how this memory is used, with evidence and fix.

        Cheap: it reads running numbers and the list of documents, and compares the newest entries with those nearest to them, once until
        something is written; and, if decisions were withheld, it reads every randomised one (about 20 µs each).
        """
        from earnest.encoding.health import older_pieces

        with self._store.read() as reading:
            settings = self._read_settings(reading)
            vectors, without = standing(reading, self._embedding), missing_ids(reading, self._embedding)
            found = diagnose(reading, settings, vectors, without, self._remembered)
            rules = rule_findings(reading, self._clock.now())
            return Diagnosis((*found.findings, *reranker_findings(self._reranking), *older_pieces(reading), *rules))
