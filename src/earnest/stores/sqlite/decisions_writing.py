"""Writing decisions, their outcomes and the meters that measured them, and the running numbers that they move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import apsw

from earnest.core.ticket import Role, StoredTicket, Tier
from earnest.core.uplift import Draw
from earnest.protocols import Author
from earnest.stores.sqlite import draws
from earnest.stores.sqlite.reading import SqliteReading


class DecisionWriting(SqliteReading):
    """What a transaction writes of decisions; the writing half of `earnest.protocols.Writing`'s section on them."""

    author: Author
    _at: int

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._changed: set[str] = set()
        """Running numbers that this transaction moved; written once, at its end."""

    def bump(self, name: str, by: int) -> None:
        """See `earnest.protocols.Writing.bump`."""
        if by:
            counters = self.counters() if self._counters is None else self._counters
            counters[name] = counters.get(name, 0) + by
            self._changed.add(name)

    def move_escrow(self, rows: Iterable[int], by: int) -> None:
        """See `earnest.protocols.Writing.move_escrow`."""
        self._db.executemany("UPDATE entries SET open_tickets = open_tickets + ? WHERE entry = ?", [(by, row) for row in rows])

    def insert_ticket(
        self, ticket_id: str, *, query: str, answer: str, exposure: float, holdout: bool, shares: Sequence[tuple[int, Role]]
    ) -> StoredTicket:
        """See `earnest.protocols.Writing.insert_ticket`."""
        self._db.execute(
            "INSERT INTO tickets (id, query, answer, exposure, holdout, opened_tick, opened) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (ticket_id, query, answer, exposure, int(holdout), self.counter("tick"), self._at),
        )
        row = self._db.last_insert_rowid()
        for entry, role in shares:
            self._db.execute("INSERT INTO shares (ticket, entry, role) VALUES (?, ?, ?)", (row, entry, role))
        self.bump("decisions", 1)
        made = self.ticket(ticket_id)
        assert made is not None
        return made

    def insert_draw(self, ticket: StoredTicket, draw: Draw) -> None:
        """See `earnest.protocols.Writing.insert_draw`."""
        draws.insert_draw(self._db, ticket.row, draw)
        if draw.trial is None:
            self.bump(f"drawn:{draw.arm}", 1)

    def resolve_ticket(self, row: int, state: str, event: int) -> None:
        """See `earnest.protocols.Writing.resolve_ticket`."""
        self._db.execute("UPDATE tickets SET state = ?, resolved = ? WHERE ticket = ? AND state = 'pending'", (state, event, row))
        assert self._db.changes() == 1, "a ticket ends once"
        self.bump(state, 1)

    def insert_settlement(
        self,
        ticket: StoredTicket,
        *,
        event: int,
        delta: float,
        scale: float,
        meter: str,
        tier: Tier,
        acted: bool | None,
        detail: str,
        moved: Mapping[int, int],
    ) -> None:
        """See `earnest.protocols.Writing.insert_settlement`."""
        self._db.execute(
            """INSERT INTO settlements (ticket, event, meter, channel, tier, delta, scale, acted, detail, tick, at)
               SELECT ?, ?, meter, ?, ?, ?, ?, ?, ?, ?, ? FROM meters WHERE name = ?""",
            (
                ticket.row, event, self.author.channel, tier, delta, scale, None if acted is None else int(acted), detail,
                self.counter("tick"), self._at, meter,
            ),
        )  # fmt: skip
        # A sum of huge deltas stays a number, so that everything that shows it stays strict JSON.
        self._db.execute(
            "UPDATE meters SET settlements = settlements + 1, total = max(-1.7e308, min(1.7e308, total + ?)) WHERE name = ?", (delta, meter)
        )
        if moved:
            self._db.executemany(
                "UPDATE shares SET moved = ? WHERE ticket = ? AND entry = ?", [(amount, ticket.row, row) for row, amount in moved.items()]
            )

    def cite(self, ticket_row: int, rows: Sequence[int]) -> None:
        """See `earnest.protocols.Writing.cite`."""
        if rows:
            self._db.executemany("UPDATE shares SET role = 'cited' WHERE ticket = ? AND entry = ?", [(ticket_row, row) for row in rows])

    def put_meter(self, name: str, *, unit: str, scale: float | None, tier: Tier) -> None:
        """See `earnest.protocols.Writing.put_meter`."""
        self._db.execute(
            """INSERT INTO meters (name, unit, scale, tier, created) VALUES (?, ?, ?, ?, ?)
               ON CONFLICT (name) DO UPDATE SET unit = excluded.unit, scale = excluded.scale, tier = excluded.tier""",
            (name, unit, scale, tier, self._at),
        )

    def bind_meter(self, name: str, channel: str) -> None:
        """See `earnest.protocols.Writing.bind_meter`."""
        self._db.execute(
            "INSERT INTO bindings (meter, channel) SELECT meter, ? FROM meters WHERE name = ? ON CONFLICT DO NOTHING",
            (channel, name),
        )
