"""Archiving old events: what they said goes into a file, their numbers and hashes stay, and the chain goes on through them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from earnest.core.events import GENESIS, Posting, chained
from earnest.protocols import Damage

ARCHIVED: Final = "archived"

KINDS: Final = (
    "decide", "settle", "settle_refused", "abandon", "expire", "tick", "control", "remeasure", "correct", "twin", "suspend", "clear",
    "alarm",
)  # fmt: skip
"""Kinds of events that grow with use and that nothing has to look up again: decisions, outcomes, ticks. Births, edits, deaths, merges and
whatever can be undone stay."""

_ROWS: Final = "(SELECT value FROM json_each(?))"
_EVENT: Final = "event, kind, tick, at, actor, channel, entries, ticket, data, hash"
_COLUMNS: Final = tuple(_EVENT.split(", "))


def archivable(db: Any, before: int) -> list[int]:
    """Events before a number that can be archived: of those kinds, but for the last tick and what open tickets began with."""
    sql = """SELECT e.event FROM events e WHERE e.event < ?1 AND e.kind IN (SELECT value FROM json_each(?2))
              AND e.event <> coalesce((SELECT max(event) FROM events WHERE kind = 'tick'), 0)
              AND NOT EXISTS (SELECT 1 FROM tickets t WHERE t.id = e.ticket AND t.state = 'pending') ORDER BY e.event"""
    return [event for (event,) in db.execute(sql, (before, json.dumps(KINDS)))]


def rows(db: Any, events: Sequence[int]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What these events and their postings say, row by row, each event before its postings."""
    for start in range(0, len(events), 500):
        named = json.dumps(events[start : start + 500])
        posted: dict[int, list[tuple[Any, ...]]] = {}
        sql = f"SELECT event, place, debit, credit, amount FROM postings WHERE event IN {_ROWS} ORDER BY event, place"
        for posting in db.execute(sql, (named,)):
            posted.setdefault(posting[0], []).append(posting)
        for row in db.execute(f"SELECT {_EVENT} FROM events WHERE event IN {_ROWS} ORDER BY event", (named,)):
            yield "events", dict(zip(_COLUMNS, row, strict=True))
            for posting in posted.get(row[0], ()):
                yield "postings", dict(zip(("event", "place", "debit", "credit", "amount"), posting, strict=True))


def reduce(db: Any, events: Sequence[int], digest: bytes, at: int) -> int:
    """Take away what these events said, which a file holds by now; inside the caller's transaction. Returns how many it took.

    Those that somebody else archived in the meantime make it take none.
    """
    named = json.dumps([*events])
    [(there,)] = db.execute(f"SELECT count(*) FROM events WHERE event IN {_ROWS} AND kind <> 'archived'", (named,)).fetchall()
    if there != len(events) or not events:
        return 0
    moved = _moved(db.execute(f"SELECT debit, credit, amount FROM postings WHERE event IN {_ROWS}", (named,)))
    db.executemany(
        "INSERT INTO archived_postings (account, amount) VALUES (?, ?) "
        "ON CONFLICT (account) DO UPDATE SET amount = amount + excluded.amount",
        sorted(moved.items()),
    )
    db.execute(f"DELETE FROM postings WHERE event IN {_ROWS}", (named,))
    db.execute(f"DELETE FROM event_entries WHERE event IN {_ROWS}", (named,))
    db.execute(
        "UPDATE events SET kind = 'archived', actor = '', channel = '', entries = '[]', ticket = NULL, data = '{}' "
        f"WHERE event IN {_ROWS}",
        (named,),
    )
    db.execute(
        "INSERT INTO archives (first, last, events, digest, at) VALUES (?, ?, ?, ?, ?)", (events[0], events[-1], len(events), digest, at)
    )
    return len(events)


def _moved(postings: Iterable[tuple[int, int, int]]) -> Counter[int]:
    """What postings (debit, credit, amount) come to, by account."""
    made: Counter[int] = Counter()
    for debit, credit, amount in postings:
        made[debit] -= amount
        made[credit] += amount
    return made


def folded(db: Any) -> Counter[int]:
    """What all postings come to, by account, those of archived events too. O(postings)."""
    made = _moved(db.execute("SELECT debit, credit, amount FROM postings"))
    made.update(dict(db.execute("SELECT account, amount FROM archived_postings").fetchall()))
    return made


def digests(db: Any) -> list[bytes]:
    """The digests of the archives that this store was reduced by."""
    return [bytes(digest) for (digest,) in db.execute("SELECT digest FROM archives ORDER BY archive")]


def damage(db: Any, said: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Damage]:
    """Where an archive does not fit into the chain of the store."""
    event: Mapping[str, Any] | None = None
    postings: list[Posting] = []
    for table, row in said:
        if table == "postings" and event is not None and row.get("event") == event.get("event"):
            postings.append(Posting(row["debit"], row["credit"], row["amount"]))
            continue
        if event is not None:
            yield from _fits(db, event, postings)
        event, postings = (row, []) if table == "events" else (None, [])
        if table != "events":
            yield Damage("archive differs", f"a row of {table} belongs to no event of the archive")
    if event is not None:
        yield from _fits(db, event, postings)


def _fits(db: Any, event: Mapping[str, Any], postings: Sequence[Posting]) -> Iterator[Damage]:
    number = event["event"]
    before = db.execute("SELECT hash FROM events WHERE event = ?", (number - 1,)).fetchone()
    here = db.execute("SELECT hash FROM events WHERE event = ?", (number,)).fetchone()
    made = chained(
        bytes(before[0]) if before else GENESIS, number, event["kind"], event["tick"], event["at"], event["actor"], event["channel"],
        json.loads(event["entries"]), event["ticket"], event["data"], postings,
    )  # fmt: skip
    if here is None or made != bytes(here[0]):
        yield Damage("archive differs", f"event {number} of the archive is not the one that was in this log")
