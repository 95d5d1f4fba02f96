"""Looking a store file over, and rebuilding what can be rebuilt from the entries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import apsw

from earnest.core.amounts import ACCOUNTS
from earnest.core.events import GENESIS, Posting, chained
from earnest.protocols import Damage
from earnest.stores.sqlite.reading import SqliteReading, facet
from earnest.stores.sqlite.writing import SqliteWriting

_MAX_OF_A_KIND: Final = 20


def damage(db: Any, reading: SqliteReading, head: str | None = None) -> Iterator[Damage]:
    """Everything that is wrong, cheapest kinds first. O(the file)."""
    for check in (_file, _chain, _balances, _tickets, _counters, _index):
        for count, found in enumerate(check(db, reading)):
            if count == _MAX_OF_A_KIND:
                yield Damage(found.code, f"and more of the kind “{found.code}”", found.repairable)
                break
            yield found

    if head is not None and not db.execute("SELECT 1 FROM events WHERE lower(hex(hash)) = ?", (head.lower(),)).fetchone():
        yield Damage("log rewritten", f"no event has the hash {head}: the log is not the one that had it")


def _file(db: Any, reading: SqliteReading) -> Iterator[Damage]:
    try:
        for (text,) in db.execute("PRAGMA integrity_check(20)"):
            if text == "ok":
                continue
            index = "fts5" in text.lower() or "terms" in text
            yield Damage("keyword index damaged" if index else "file damaged", str(text), index)
        for row in db.execute("PRAGMA foreign_key_check").fetchall()[:_MAX_OF_A_KIND]:
            yield Damage("dangling reference", f"row {row[1]} of {row[0]} points at nothing in {row[2]}")
    except apsw.CorruptError as error:
        yield Damage("file damaged", str(error))


def _chain(db: Any, reading: SqliteReading) -> Iterator[Damage]:
    before, expected = GENESIS, 1
    postings = _grouped_postings(db)
    for r in db.execute("SELECT event, kind, tick, at, actor, channel, entries, ticket, data, hash FROM events ORDER BY event"):
        if r[0] != expected:
            yield Damage("log broken", f"event {expected} is missing")
        mine = postings.pop(r[0], [])
        if chained(before, r[0], r[1], r[2], r[3], r[4], r[5], json.loads(r[6]), r[7], r[8], mine) != bytes(r[9]):
            yield Damage("log broken", f"event {r[0]} ({r[1]}) was changed after it was written, or one before it was")
        before, expected = bytes(r[9]), r[0] + 1
    for event in postings:
        yield Damage("log broken", f"postings belong to event {event}, which is not there")


def _grouped_postings(db: Any) -> dict[int, list[Posting]]:
    made: dict[int, list[Posting]] = {}
    for event, *posting in db.execute("SELECT event, debit, credit, amount FROM postings ORDER BY event, place"):
        made.setdefault(event, []).append(Posting(*posting))
    return made


def _balances(db: Any, reading: SqliteReading) -> Iterator[Damage]:
    folded: Counter[int] = Counter()
    for debit, credit, amount in db.execute("SELECT debit, credit, amount FROM postings"):
        folded[debit] -= amount
        folded[credit] += amount
    if sum(folded.values()) != 0:
        yield Damage("energy not conserved", f"all accounts together hold {sum(folded.values())} micro-units instead of 0")
    for entry, entry_id, balance, standing in db.execute("SELECT entry, id, balance, standing FROM entries"):
        if folded[entry] != balance:
            yield Damage("balance differs", f"entry {entry_id} has {balance} micro-units, its postings make {folded[entry]}")
        if standing == "dead" and balance != 0:
            yield Damage("balance differs", f"dead entry {entry_id} still holds {balance} micro-units")
    for account, name in ACCOUNTS.items():
        if folded[account] != reading.counter(f"account:{name}"):
            yield Damage(
                "counter differs",
                f"account {name} counts {reading.counter(f'account:{name}')}, postings make {folded[account]}",
                True,
            )


def _tickets(db: Any, reading: SqliteReading) -> Iterator[Damage]:
    sql = """SELECT e.id, e.open_tickets, (SELECT count(*) FROM shares s JOIN tickets t USING (ticket)
                                           WHERE s.entry = e.entry AND t.state = 'pending') AS open
             FROM entries e WHERE e.open_tickets <> 0 AND e.open_tickets <> open
             UNION ALL
             SELECT e.id, e.open_tickets, count(*) FROM tickets t JOIN shares s USING (ticket) JOIN entries e USING (entry)
             WHERE t.state = 'pending' AND e.open_tickets = 0 GROUP BY e.entry"""
    for entry_id, counted, found in db.execute(sql):
        yield Damage("escrow differs", f"entry {entry_id} counts {counted} open tickets, there are {found}")
    sql = """SELECT t.id, t.state FROM tickets t LEFT JOIN settlements s USING (ticket)
             WHERE (t.state = 'settled') <> (s.ticket IS NOT NULL)"""
    for ticket_id, state in db.execute(sql):
        yield Damage("settlement differs", f"ticket {ticket_id} is {state}, but its settlement says otherwise")


def _expected_counters(db: Any) -> dict[str, int]:
    made: dict[str, int] = {}
    names = {"active": "alive", "suspended": "suspended", "dead": "dead"}
    for standing, cause, kind, count in db.execute("SELECT standing, cause, kind, count(*) FROM entries GROUP BY standing, cause, kind"):
        made[names[standing]] = made.get(names[standing], 0) + count
        if standing == "dead":
            made[f"dead:{cause}"] = made.get(f"dead:{cause}", 0) + count
        else:
            made[f"kind:{kind}"] = made.get(f"kind:{kind}", 0) + count
    payers = db.execute(
        """SELECT count(*), coalesce(sum(balance), 0), coalesce(sum(rent_mark), 0) FROM entries
           WHERE standing <> 'dead' AND retention = 'earned' AND pinned = 0"""
    ).fetchone()
    made["payers"], made["held"], made["marks"] = payers
    for state, count in db.execute("SELECT state, count(*) FROM tickets GROUP BY state"):
        if state != "pending":
            made[state] = count
    made["decisions"] = db.execute("SELECT count(*) FROM tickets").fetchone()[0]
    return made


def _counted(name: str) -> bool:
    return name in {
        "alive",
        "suspended",
        "dead",
        "payers",
        "held",
        "marks",
        "settled",
        "abandoned",
        "expired",
        "decisions",
    } or name.startswith(("dead:", "kind:"))


def _counters(db: Any, reading: SqliteReading) -> Iterator[Damage]:
    expected = _expected_counters(db)
    for name in sorted(set(expected) | {n for n in reading.counters() if _counted(n)}):
        if expected.get(name, 0) != reading.counter(name):
            yield Damage("counter differs", f"{name} is counted as {reading.counter(name)}, the rows make {expected.get(name, 0)}", True)
    sql = """SELECT s.name, s.alive, (SELECT count(*) FROM entries e WHERE e.scope = s.scope AND e.standing <> 'dead') AS found
             FROM scopes s WHERE s.alive <> found"""
    for name, counted, found in db.execute(sql):
        yield Damage("counter differs", f"scope {name!r} counts {counted} living entries, there are {found}", True)


def _index(db: Any, reading: SqliteReading) -> Iterator[Damage]:
    try:
        missing = db.execute(
            "SELECT count(*) FROM entries e WHERE e.standing <> 'dead' AND NOT EXISTS (SELECT 1 FROM terms t WHERE t.rowid = e.entry)"
        ).fetchone()[0]
        extra = db.execute(
            "SELECT count(*) FROM terms t WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.entry = t.rowid AND e.standing <> 'dead')"
        ).fetchone()[0]
    except (apsw.CorruptError, apsw.SQLError) as error:
        yield Damage("keyword index damaged", str(error), True)
        return
    if missing:
        yield Damage("keyword index damaged", f"{missing} living entries are not in it", True)
    if extra:
        yield Damage("keyword index damaged", f"{extra} of its rows belong to no living entry", True)
    problem = reading.index_problem()
    if problem:
        yield Damage("keyword index damaged", problem, True)


def rebuild_index(db: Any, terms: Callable[[str], Sequence[str]]) -> tuple[int, int]:
    """Drop the keyword index and make it anew from the living entries, inside the caller's transaction.

    Returns how many entries and how many terms it holds.
    """
    from earnest.stores.sqlite.schema import KEYWORD_INDEX

    db.execute("DROP TABLE IF EXISTS terms_known")
    _drop_index(db)
    db.execute(KEYWORD_INDEX)
    made = 0
    lengths: Counter[int] = Counter()
    rows: list[tuple[Any, ...]] = db.execute(
        "SELECT entry, scope, kind, text, coalesce(cue, '') FROM entries WHERE standing <> 'dead'"
    ).fetchall()
    for entry, scope, kind, text, cue in rows:
        text_terms, cue_terms = terms(text), terms(cue)
        db.execute(
            "INSERT INTO terms (rowid, facets, text, cue) VALUES (?, ?, ?, ?)",
            (entry, f"{facet('s', scope)} {facet('k', kind)}", " ".join(text_terms), " ".join(cue_terms)),
        )
        lengths[scope] += len(text_terms) + len(cue_terms)
        made += 1
    db.execute("UPDATE scopes SET terms = 0")
    for scope, length in lengths.items():
        db.execute("UPDATE scopes SET terms = ? WHERE scope = ?", (length, scope))
    return made, sum(lengths.values())


def _drop_index(db: Any) -> None:
    try:
        db.execute("DROP TABLE IF EXISTS terms")
    except (apsw.CorruptError, apsw.SQLError):
        # Its own bookkeeping is gone, so that it cannot be dropped as an index any more: remove what is left of it as plain tables.
        db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        db.execute("PRAGMA writable_schema = ON")
        db.execute("DELETE FROM sqlite_schema WHERE name = 'terms'")
        db.execute("PRAGMA writable_schema = RESET")
        for part in ("data", "idx", "content", "docsize", "config"):
            db.execute(f"DROP TABLE IF EXISTS terms_{part}")


def rebuild_counters(writing: SqliteWriting) -> None:
    """Make the running numbers anew from the rows, inside the caller's transaction."""
    db = writing._db
    expected = _expected_counters(db)
    for name in set(expected) | {n for n in writing.counters() if _counted(n)}:
        writing.bump(name, expected.get(name, 0) - writing.counter(name))
    folded: Counter[int] = Counter()
    for debit, credit, amount in db.execute("SELECT debit, credit, amount FROM postings"):
        folded[debit] -= amount
        folded[credit] += amount
    for account, name in ACCOUNTS.items():
        writing.bump(f"account:{name}", folded[account] - writing.counter(f"account:{name}"))
    db.execute("UPDATE scopes SET alive = (SELECT count(*) FROM entries e WHERE e.scope = scopes.scope AND e.standing <> 'dead')")
