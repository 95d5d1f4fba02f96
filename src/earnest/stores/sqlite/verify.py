"""Looking a store file over, and rebuilding what can be rebuilt from the entries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import apsw

from earnest.core.amounts import ACCOUNTS
from earnest.core.events import GENESIS, Posting, chained, text_digest
from earnest.core.twins import exact_digest, twin_digest
from earnest.core.vectors import HEADER
from earnest.protocols import Damage
from earnest.stores.sqlite import archives, draws, fading, links, rules, seals, words
from earnest.stores.sqlite.columns import facet
from earnest.stores.sqlite.format_3_links import PAST
from earnest.stores.sqlite.format_ledger import GUARDS
from earnest.stores.sqlite.reading import SqliteReading
from earnest.stores.sqlite.schema import KEYWORD_INDEX
from earnest.stores.sqlite.writing import SqliteWriting

_MAX_OF_A_KIND: Final = 20
LIVING: Final = "(SELECT count(*) FROM vectors v JOIN entries e USING (entry) WHERE v.model = m.model AND e.standing <> 'dead')"
"""How many living entries have a vector of a model `m`."""


def damage(db: Any, reading: SqliteReading, head: str | None = None) -> Iterator[Damage]:
    """Everything that is wrong, cheapest kinds first. O(the file)."""
    for check in (
        _file(db), _chain(db), _texts(db), _balances(db, reading), _tickets(db), _settlements(db), draws.damage(db), words.damage(db),
        links.damage(db), _dates(db, reading), rules.damage(db), seals.damage(db), _counters(db, reading), _vectors(db),
        _index(db, reading),
    ):  # fmt: skip
        try:
            for count, found in enumerate(check):
                if count == _MAX_OF_A_KIND:
                    yield Damage(found.code, f"and more of the kind “{found.code}”", found.repairable)
                    break
                yield found
        except (apsw.CorruptError, apsw.SQLError, LookupError, TypeError, ValueError) as error:
            # A value of another type, a text that is no text, JSON that is none: the rest of this check cannot be made.
            yield Damage("file damaged", f"a row cannot be read ({error})")
    if head is not None and not db.execute("SELECT 1 FROM events WHERE lower(hex(hash)) = ?", (head.lower(),)).fetchone():
        yield Damage("log rewritten", f"no event has the hash {head}: the log is not the one that had it")


def _file(db: Any) -> Iterator[Damage]:
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


def _chain(db: Any) -> Iterator[Damage]:
    before, expected = GENESIS, 1
    postings = _grouped_postings(db)
    for r in db.execute("SELECT event, kind, tick, at, actor, channel, entries, ticket, data, hash FROM events ORDER BY event"):
        if r[0] != expected:
            yield Damage("log broken", f"event {expected} is missing")
        mine = postings.pop(r[0], [])
        if r[1] == archives.ARCHIVED:
            # What it said lies in an archive; its hash stays, and the next event vouches for it.
            if mine:
                yield Damage("log broken", f"postings belong to event {r[0]}, which is archived")
        elif chained(before, r[0], r[1], r[2], r[3], r[4], r[5], json.loads(r[6]), r[7], r[8], mine) != bytes(r[9]):
            yield Damage("log broken", f"event {r[0]} ({r[1]}) was changed after it was written, or one before it was")
        before, expected = bytes(r[9]), r[0] + 1
    for event in postings:
        yield Damage("log broken", f"postings belong to event {event}, which is not there")


def _grouped_postings(db: Any) -> dict[int, list[Posting]]:
    made: dict[int, list[Posting]] = {}
    for event, *posting in db.execute("SELECT event, debit, credit, amount FROM postings ORDER BY event, place"):
        made.setdefault(event, []).append(Posting(*posting))
    return made


def _texts(db: Any) -> Iterator[Damage]:
    # An erased text has no salt any more, and nothing to be compared with.
    for entry_id, text, cue, twin in db.execute("SELECT id, text, cue, twin FROM entries WHERE salt IS NOT NULL"):
        # Entries of the first format keep the digest of their exact words.
        if bytes(twin) not in (twin_digest(text, cue), exact_digest(text, cue)):
            yield Damage("text differs", f"entry {entry_id} does not say what it said when it was written")
    sql = """SELECT n.id, n.salt, n.text, json_extract(e.data, '$.text') AS digest
             FROM events e JOIN entries n ON n.entry = json_extract(e.entries, '$[0]')
             WHERE n.salt IS NOT NULL AND e.kind IN ('add', 'encode', 'supersede', 'merge', 'import') AND digest IS NOT NULL"""
    for entry_id, salt, text, digest in db.execute(sql):
        if text_digest(bytes(salt), text) != digest:
            yield Damage("text differs", f"entry {entry_id} does not say what the log says it was born with")


def _balances(db: Any, reading: SqliteReading) -> Iterator[Damage]:
    folded = archives.folded(db)
    if sum(folded.values()) != 0:
        yield Damage("energy not conserved", f"all accounts together hold {sum(folded.values())} micro-units instead of 0")
    for entry, entry_id, balance, standing in db.execute("SELECT entry, id, balance, standing FROM entries"):
        if folded[entry] != balance:
            yield Damage("balance differs", f"entry {entry_id} has {balance} micro-units, its postings make {folded[entry]}")
        if standing == "dead" and balance != 0:
            yield Damage("balance differs", f"dead entry {entry_id} still holds {balance} micro-units")
    for account, name in ACCOUNTS.items():
        counted = reading.counter(f"account:{name}")
        if folded[account] != counted:
            yield Damage("counter differs", f"account {name} counts {counted}, postings make {folded[account]}", True)


def _tickets(db: Any) -> Iterator[Damage]:
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


def _settlements(db: Any) -> Iterator[Damage]:
    """What is kept for reading against what the log says, which is the truth."""
    ends = {"settled": "settle", "abandoned": "abandon", "expired": "expire"}
    moved: dict[int, list[list[int]]] = {}
    for ticket, entry, amount in db.execute("SELECT ticket, entry, moved FROM shares WHERE moved <> 0 ORDER BY ticket, entry"):
        moved.setdefault(ticket, []).append([entry, amount])
    sql = """SELECT t.ticket, t.id, t.state, e.kind, e.ticket, e.data, s.delta, s.scale, s.tier, s.acted
             FROM tickets t LEFT JOIN events e ON e.event = t.resolved LEFT JOIN settlements s USING (ticket)"""
    for ticket, ticket_id, state, kind, named, data, delta, scale, tier, acted in db.execute(sql):
        if kind == archives.ARCHIVED and state in ends:
            continue
        if kind != ends.get(state) or (kind is not None and named != ticket_id):
            yield Damage("settlement differs", f"ticket {ticket_id} is {state}, the log says {kind or 'nothing of an end'}")
        elif state == "settled":
            said = json.loads(data)
            kept = {
                "delta": delta, "scale": scale, "tier": tier, "acted": None if acted is None else bool(acted),
                "moved": moved.get(ticket, []),
            }  # fmt: skip
            said["moved"] = sorted(pair for pair in said.get("moved", kept["moved"]) if pair[1])
            if any(said.get(name, value) != value for name, value in kept.items()):
                yield Damage("settlement differs", f"ticket {ticket_id} was settled otherwise than the log says")


def _dates(db: Any, reading: SqliteReading) -> Iterator[Damage]:
    for entry_id, kept, wanted in fading.differing(db, reading.settings()):
        # A store whose settings changed dates its entries anew before it lets any fade.
        if kept is not None and wanted is None:
            yield Damage("date differs", f"entry {entry_id} has a day on which it fades, and does not fade", True)


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
    made |= draws.expected_counters(db)
    # The clock and the rent that everyone owes: as the last tick said.
    last = "SELECT tick, json_extract(data, '$.rent_index') FROM events WHERE kind = 'tick' ORDER BY event DESC LIMIT 1"
    made["tick"], made["rent_index"] = db.execute(last).fetchone() or (0, 0)
    return made


_COUNTED: Final = frozenset(
    ("alive", "suspended", "dead", "payers", "held", "marks", "settled", "abandoned", "expired", "decisions", "tick", "rent_index")
)


def _counted(name: str) -> bool:
    """Whether a running number is a count or a sum of rows, so that it can be made anew."""
    return name in _COUNTED or name.startswith(("dead:", "kind:", "drawn:", "drawn_lost:"))


def _counters(db: Any, reading: SqliteReading) -> Iterator[Damage]:
    expected = _expected_counters(db)
    for name in sorted(set(expected) | {n for n in reading.counters() if _counted(n)}):
        if expected.get(name, 0) != reading.counter(name):
            yield Damage("counter differs", f"{name} is counted as {reading.counter(name)}, the rows make {expected.get(name, 0)}", True)
    for model, counted, found in db.execute(f"SELECT m.name, m.living, {LIVING} AS found FROM models m WHERE m.living <> found"):
        yield Damage("counter differs", f"model {model!r} counts {counted} living entries with a vector, there are {found}", True)
    sql = """SELECT s.name, s.alive, (SELECT count(*) FROM entries e WHERE e.scope = s.scope AND e.standing <> 'dead') AS found
             FROM scopes s WHERE s.alive <> found"""
    for name, counted, found in db.execute(sql):
        yield Damage("counter differs", f"scope {name!r} counts {counted} living entries, there are {found}", True)


_DAMAGED: Final = """
FROM vectors v JOIN models m USING (model) JOIN entries n USING (entry)
WHERE length(v.code) <> 4 + coalesce(m.dimension, 0) OR v.scope <> n.scope OR v.kind <> n.kind
"""


def _vectors(db: Any) -> Iterator[Damage]:
    for entry_id, model, length, dimension in db.execute(f"SELECT n.id, m.name, length(v.code), m.dimension {_DAMAGED}"):
        fits = length == HEADER + (dimension or 0)
        said = "is filed under another scope or kind" if fits else f"has {length} bytes for {dimension} dimensions"
        yield Damage("vector damaged", f"the vector of entry {entry_id} by {model} {said}", True)


def drop_damaged_vectors(db: Any) -> None:
    """Take away vectors that cannot be what they should be: they are made again as those of any entry that lacks one."""
    db.execute(f"DELETE FROM vectors WHERE vector IN (SELECT v.vector {_DAMAGED})")


def repair_links(writing: SqliteWriting) -> None:
    """Take links away that cannot be, and dates of entries that do not fade; links that can be found are found again later."""
    links.repair(writing._db)
    rows = [row for (row,) in writing._db.execute("SELECT entry FROM entries WHERE fades_at IS NOT NULL").fetchall()]
    writing.date_fading(rows)
    for name in ("linked", "linked:near"):
        writing.bump(name, -writing.counter(name))


def _index(db: Any, reading: SqliteReading) -> Iterator[Damage]:
    try:
        missing = db.execute(
            "SELECT count(*) FROM entries e WHERE e.standing <> 'dead' AND NOT EXISTS (SELECT 1 FROM terms t WHERE t.rowid = e.entry)"
        ).fetchone()[0]
        extra = db.execute(
            "SELECT count(*) FROM terms t WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.entry = t.rowid AND e.standing <> 'dead')"
        ).fetchone()[0]
        astray = {"executed": _astray(db, "guards", "executed"), "superseded": _astray(db, "past", "superseded")}
    except (apsw.CorruptError, apsw.SQLError) as error:
        yield Damage("keyword index damaged", str(error), True)
        return
    for cause, count in astray.items():
        if count:
            yield Damage("keyword index damaged", f"{count} {cause} entries are not in its part for them, or others are", True)
    if missing:
        yield Damage("keyword index damaged", f"{missing} living entries are not in it", True)
    if extra:
        yield Damage("keyword index damaged", f"{extra} of its rows belong to no living entry", True)
    problem = reading.index_problem()
    if problem:
        yield Damage("keyword index damaged", problem, True)


def _astray(db: Any, index: str, cause: str) -> int:
    """How many entries that died of a cause are missing from its part of the index, or are in it and did not."""
    sql = f"""SELECT (SELECT count(*) FROM {index} g WHERE NOT EXISTS (
                          SELECT 1 FROM entries e WHERE e.entry = g.rowid AND e.standing = 'dead' AND e.cause = ?1))
                   + (SELECT count(*) FROM entries e WHERE e.standing = 'dead' AND e.cause = ?1
                      AND NOT EXISTS (SELECT 1 FROM {index} g WHERE g.rowid = e.entry))"""
    return int(db.execute(sql, (cause,)).fetchone()[0])


def rebuild_index(db: Any, terms: Callable[[str], Sequence[str]]) -> tuple[int, int]:
    """Drop the keyword index and make it anew from the living entries, inside the caller's transaction.

    Returns how many entries and how many terms it holds.
    """
    db.execute("DROP TABLE IF EXISTS terms_known")
    _drop_index(db, "terms")
    db.execute(KEYWORD_INDEX)
    _drop_index(db, "guards")
    db.execute(GUARDS)
    _put_dead(db, "guards", "executed", terms)
    _drop_index(db, "past")
    db.execute(PAST)
    _put_dead(db, "past", "superseded", terms)
    lengths: Counter[int] = Counter()
    rows: list[tuple[Any, ...]] = db.execute(
        "SELECT entry, scope, kind, text, coalesce(cue, '') FROM entries WHERE standing <> 'dead'"
    ).fetchall()
    for entry, scope, kind, text, cue in rows:
        text_terms, cue_terms = terms(text), terms(cue)
        _put_terms(db, "terms", entry, scope, kind, text_terms, cue_terms)
        lengths[scope] += len(text_terms) + len(cue_terms)
    db.execute("UPDATE scopes SET terms = 0")
    for scope, length in lengths.items():
        db.execute("UPDATE scopes SET terms = ? WHERE scope = ?", (length, scope))
    return len(rows), sum(lengths.values())


def _put_dead(db: Any, index: str, cause: str, terms: Callable[[str], Sequence[str]]) -> None:
    """Index the entries that died of a cause in the part that is kept for them."""
    kept: list[tuple[Any, ...]] = db.execute(
        "SELECT entry, scope, kind, text, coalesce(cue, '') FROM entries WHERE standing = 'dead' AND cause = ?", (cause,)
    ).fetchall()
    for entry, scope, kind, text, cue in kept:
        _put_terms(db, index, entry, scope, kind, terms(text), terms(cue))


def _put_terms(db: Any, index: str, entry: int, scope: int, kind: str, text_terms: Sequence[str], cue_terms: Sequence[str]) -> None:
    db.execute(
        f"INSERT INTO {index} (rowid, facets, text, cue) VALUES (?, ?, ?, ?)",
        (entry, f"{facet('s', scope)} {facet('k', kind)}", " ".join(text_terms), " ".join(cue_terms)),
    )


def _drop_index(db: Any, index: str) -> None:
    try:
        db.execute(f"DROP TABLE IF EXISTS {index}")
    except (apsw.CorruptError, apsw.SQLError):
        # Its own bookkeeping is gone, so that it cannot be dropped as an index any more: remove what is left of it as plain tables.
        db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        db.execute("PRAGMA writable_schema = ON")
        db.execute("DELETE FROM sqlite_schema WHERE name = ?", (index,))
        db.execute("PRAGMA writable_schema = RESET")
        for part in ("data", "idx", "content", "docsize", "config"):
            db.execute(f"DROP TABLE IF EXISTS {index}_{part}")


def rebuild_counters(writing: SqliteWriting) -> None:
    """Make the running numbers anew from the rows, inside the caller's transaction."""
    db = writing._db
    expected = _expected_counters(db)
    for name in set(expected) | {n for n in writing.counters() if _counted(n)}:
        writing.bump(name, expected.get(name, 0) - writing.counter(name))
    folded = archives.folded(db)
    for account, name in ACCOUNTS.items():
        writing.bump(f"account:{name}", folded[account] - writing.counter(f"account:{name}"))
    db.execute(f"UPDATE models AS m SET living = {LIVING}")
    db.execute("UPDATE scopes SET alive = (SELECT count(*) FROM entries e WHERE e.scope = scopes.scope AND e.standing <> 'dead')")
