"""Writing what meters said of entries, what is believed of the meters, and which second looks are wanted."""

from __future__ import annotations

from earnest.core.evidence import Belief, Word
from earnest.core.ticket import Tier
from earnest.protocols import Author
from earnest.stores.sqlite.reading import SqliteReading


class WordWriting(SqliteReading):
    """What a transaction writes of words; the writing half of `earnest.protocols.Writing`'s section on evidence."""

    author: Author
    _at: int

    def put_word(self, row: int, ticket_row: int, word: Word, *, said_of: int | None = None) -> None:
        """See `earnest.protocols.Writing.put_word`."""
        self._db.execute(
            """INSERT INTO words (entry, ticket, event, meter, tick, size, part, second, second_meter, second_event, said_of, borrowed)
               SELECT ?, ?, ?, m.meter, ?, ?, ?, ?, (SELECT meter FROM meters WHERE name = ?), ?, ?, ? FROM meters m WHERE m.name = ?""",
            (
                row, ticket_row, word.event, word.tick, word.size, word.part, word.second, word.second_meter,
                word.second_event if word.second is not None else None, said_of, int(word.borrowed), word.meter,
            ),
        )  # fmt: skip

    def second_word(self, ticket_row: int, *, size: float, meter: str, event: int) -> None:
        """See `earnest.protocols.Writing.second_word`."""
        self._db.execute(
            "UPDATE words SET second = ?, second_meter = (SELECT meter FROM meters WHERE name = ?), second_event = ? WHERE ticket = ?",
            (size, meter, event, ticket_row),
        )

    def copy_words(self, from_row: int, to_row: int, *, borrowed: bool) -> int:
        """See `earnest.protocols.Writing.copy_words`."""
        self._db.execute(
            """INSERT INTO words (entry, ticket, event, meter, tick, size, part, second, second_meter, second_event, said_of, borrowed)
               SELECT ?, ticket, event, meter, tick, size, part, second, second_meter, second_event, coalesce(said_of, entry), ?
               FROM words WHERE entry = ? ON CONFLICT DO NOTHING""",
            (to_row, int(borrowed), from_row),
        )
        return int(self._db.changes())

    def count_words(self, row: int, counted: bool) -> None:
        """See `earnest.protocols.Writing.count_words`."""
        self._db.execute("UPDATE words SET borrowed = ? WHERE entry = ?", (int(not counted), row))

    def drop_words(self, row: int, said_of: int | None = None) -> None:
        """See `earnest.protocols.Writing.drop_words`."""
        if said_of is None:
            self._db.execute("DELETE FROM words WHERE entry = ? AND said_of IS NOT NULL", (row,))
        else:
            self._db.execute("DELETE FROM words WHERE entry = ? AND said_of = ?", (row, said_of))

    def put_belief(self, meter: str, belief: Belief, *, slope: float, oldest: int, alarm: bool) -> None:
        """See `earnest.protocols.Writing.put_belief`."""
        self._db.execute(
            """INSERT INTO beliefs
                   (meter, lies, words, caught, counted, gain, since, through, slope, oldest, alarm, sizes, size_total, size_square)
               SELECT meter, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM meters WHERE name = ?
               ON CONFLICT (meter) DO UPDATE SET lies = excluded.lies, words = excluded.words, caught = excluded.caught,
               counted = excluded.counted, gain = excluded.gain, since = excluded.since, through = excluded.through,
               slope = excluded.slope, oldest = excluded.oldest, alarm = excluded.alarm,
               sizes = excluded.sizes, size_total = excluded.size_total, size_square = excluded.size_square""",
            (
                belief.lies, belief.words, belief.caught, belief.counted, belief.gain, belief.since, belief.through, slope, oldest,
                int(alarm), *belief.sizes, meter,
            ),
        )  # fmt: skip
        self._db.execute("UPDATE meters SET lie_rate = ? WHERE name = ?", (belief.rate, meter))

    def put_baseline(self, meter: str, baseline: float | None) -> None:
        """See `earnest.protocols.Writing.put_baseline`."""
        self._db.execute("UPDATE meters SET baseline = ? WHERE name = ?", (baseline, meter))

    def revoke_meter(self, meter: str, since: int | None) -> None:
        """See `earnest.protocols.Writing.revoke_meter`."""
        self._db.execute("UPDATE meters SET revoked = ? WHERE name = ?", (since, meter))

    def want(self, ticket_row: int, row: int, why: str) -> None:
        """See `earnest.protocols.Writing.want`."""
        self._db.execute(
            "INSERT INTO appeals (ticket, entry, why, tick, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (ticket_row, row, why, self.counter("tick"), self._at),
        )

    def unwant(self, ticket_row: int) -> None:
        """See `earnest.protocols.Writing.unwant`."""
        self._db.execute("DELETE FROM appeals WHERE ticket = ?", (ticket_row,))

    def drop_appeals(self, before: int) -> int:
        """See `earnest.protocols.Writing.drop_appeals`."""
        self._db.execute("DELETE FROM appeals WHERE tick < ?", (before,))
        return int(self._db.changes())

    def insert_control(self, *, event: int, meter: str, delta: float, scale: float, tier: Tier) -> None:
        """See `earnest.protocols.Writing.insert_control`."""
        self._db.execute(
            """INSERT INTO controls (event, meter, channel, delta, scale, tier, tick, at)
               SELECT ?, meter, ?, ?, ?, ?, ?, ? FROM meters WHERE name = ?""",
            (event, self.author.channel, delta, scale, tier, self.counter("tick"), self._at, meter),
        )

    def insert_look(self, ticket_row: int, *, event: int, meter: str, delta: float, scale: float, tier: Tier) -> None:
        """See `earnest.protocols.Writing.insert_look`."""
        self._db.execute(
            """INSERT INTO remeasurements (ticket, event, meter, channel, delta, scale, tier, tick, at)
               SELECT ?, ?, meter, ?, ?, ?, ?, ?, ? FROM meters WHERE name = ?""",
            (ticket_row, event, self.author.channel, delta, scale, tier, self.counter("tick"), self._at, meter),
        )
