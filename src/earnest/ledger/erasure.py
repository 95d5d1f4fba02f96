"""Erasing: which entries go with a subject, what had been merged with them and lives again, and the tombstones that stay.

With an entry go its other versions, what it was made of, and everything that was made of it: merges, summaries, rules, later versions; but
not the experiences that a rule was drawn from, which are memories of their own. What had
been merged with it and is not meant lives again, with its part of what the heir held. Open tickets that name an erased entry end without
an outcome. The log keeps that something was erased, by whom and when; never what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from earnest.core.analysis import Analyser
from earnest.core.entry import StoredEntry
from earnest.core.erasing import Subject
from earnest.core.events import Posting
from earnest.core.settings import Settings
from earnest.ledger.book import Book
from earnest.ledger.decisions import end_without_outcome
from earnest.ledger.lifecycle import judge_returned, revive, twins
from earnest.ledger.merging import proportional
from earnest.protocols import Reading, Writing

PART: Final = 1_000
"""Entries that are erased in one transaction at most, so that other writers hardly wait."""

COMPOSED: Final = frozenset(("cross_doc", "entity", "inferred", "consolidated"))
"""Origins of entries that were put together from what several sources said."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes: rows in the order in which they go, how many of them nobody named, and what lives again."""

    rows: tuple[int, ...]
    derived: int
    released: tuple[int, ...]


def plan(reading: Reading, subject: Subject) -> Plan:
    """What an erasure takes with it. O(what it finds), and the entries where it goes by text."""
    named = reading.meant(subject)
    if subject.source is not None and subject.entry is None and subject.text is None:
        named = [stored.row for stored in _entries(reading, named) if _says_only(stored, subject.source)]
    # What a named entry was made of says what it says. By text or source entries are found one by one: what else was merged with them
    # stays, and so does a version that does not hold the text any more.
    whole, versions = subject.entry is not None, subject.text is None
    gone = dict.fromkeys(named)
    merged_into = set(named) if whole else set()
    front = [*named]
    while front:
        found = reading.kin(front)
        made = [child for child, parent, how in found if parent in gone and (versions or how != "version")]
        made += [parent for child, parent, how in found if child in gone and how == "version" and versions]
        made += [parent for child, parent, how in found if child in gone and how not in ("merge", "version", "experience")]
        made += [parent for child, parent, how in found if child in merged_into and how == "merge"]
        front = [row for row in dict.fromkeys(made) if row not in gone]
        gone.update(dict.fromkeys(front))
    released = [parent for child, parent, how in reading.kin([*gone]) if how == "merge" and child in gone and parent not in gone]
    ordered = sorted(gone)
    alive = {stored.row for stored in _entries(reading, released) if stored.entry.cause == "merged"}
    return Plan(tuple(ordered), len(gone) - len(named), tuple(row for row in dict.fromkeys(released) if row in alive))


def _says_only(stored: StoredEntry, source: str) -> bool:
    """Whether nothing of an entry is left without a source: it has no other, or it was put together from several."""
    entry = stored.entry
    return set(entry.sources) <= {source} or (entry.origin in COMPOSED and not _merged(stored))


def _merged(stored: StoredEntry) -> bool:
    return stored.entry.origin == "consolidated" and bool(stored.entry.lineage)


def _entries(reading: Reading, rows: Sequence[int]) -> list[StoredEntry]:
    return [stored for start in range(0, len(rows), PART) for stored in reading.entries(rows[start : start + PART])]


def carry_out(
    tx: Writing, settings: Settings, analyser: Analyser, rows: Sequence[int], released: Sequence[int], subject: Subject
) -> tuple[Mapping[str, int], tuple[str, ...], int]:
    """Erases these entries in this transaction: (counts, ids that live again, the event's number)."""
    ended = 0
    for name in tx.open_tickets(rows):
        ticket = tx.ticket(name)
        if ticket is not None and ticket.state == "pending":
            end_without_outcome(tx, settings, ticket, "abandoned")
            ended += 1
    back = _release(tx, settings, analyser, rows, released)
    book = Book(tx, settings)
    postings: list[Posting] = []
    gone = [stored for stored in tx.entries(rows) if stored.entry.cause != "erased"]
    for stored in gone:
        _bury(tx, book, stored, postings)
    counts: Counter[str] = Counter(tx.erase([stored.row for stored in gone]))
    counts["abandoned"] = ended
    said = {"subject": subject.words, "counts": {name: count for name, count in sorted(counts.items()) if count}}
    event = tx.append("erase", entries=[stored.row for stored in gone], data=said, postings=postings)
    return counts, back, event


def _bury(tx: Writing, book: Book, stored: StoredEntry, postings: list[Posting]) -> None:
    """Ends an entry `erased`, whether it was alive or dead, and closes its account."""
    entry = stored.entry
    if entry.alive:
        postings += book.close(stored)
    else:
        tx.bump(f"dead:{entry.cause}", -1)
        tx.bump("dead:erased", 1)
    died = {"died_tick": tx.counter("tick"), "balance": 0, "rent_mark": tx.counter("rent_index")} if entry.alive else {}
    tx.change_entry(stored.row, standing="dead", cause="erased", pinned=False, heir=None, **died)


def _release(tx: Writing, settings: Settings, analyser: Analyser, rows: Sequence[int], released: Sequence[int]) -> tuple[str, ...]:
    """Lets entries live again that had been merged into one that goes, each with its part of what the heir holds now."""
    gone, waiting = set(rows), set(released)
    back: list[str] = []
    for heir in tx.entries(rows):
        parents = tx.lineage(heir.row)
        # Members of a heir that lives come back; those of a dead one stay dead, and can be restored.
        members = {stored.row: stored for stored in tx.entries([row for row, how, _ in parents if how == "merge" and row in waiting])}
        if not members:
            continue
        living = heir.entry.alive and heir.entry.retention == "earned"
        parts = proportional(max(0, heir.entry.balance), [part for _, _, part in parents]) if living else [0] * len(parents)
        fresh: list[int] = []
        postings: list[Posting] = []
        for (row, _, _), share in zip(parents, parts, strict=True):
            stored = members.get(row)
            if stored is None or stored.entry.cause != "merged":
                continue
            if not _returns(tx, heir, stored, gone):
                tx.change_entry(row, heir=None)
                continue
            revive(tx, stored, analyser)
            if share and stored.entry.retention == "earned":
                if not postings:
                    postings += Book(tx, settings).due(heir)
                postings.append(Posting(heir.row, row, share))
                tx.change_entry(row, balance=share, rent_mark=tx.counter("rent_index"))
            back.append(stored.entry.id)
            fresh.append(row)
        if postings:
            held = heir.entry.balance - sum(posting.amount for posting in postings if posting.credit in members)
            tx.change_entry(heir.row, balance=held, rent_mark=tx.counter("rent_index"))
        tx.drop_words(heir.row)
        for row in fresh:
            tx.count_words(row, counted=True)
        if fresh:
            tx.append("restore", entries=fresh, data={"cause": "merged", "by": "erase"}, postings=postings)
        for stored in tx.entries(fresh):
            judge_returned(tx, settings, analyser, stored)
    return tuple(back)


def _returns(tx: Writing, heir: StoredEntry, stored: StoredEntry, gone: set[int]) -> bool:
    """Whether a member of a heir that goes comes back: the heir lives, and nobody else alive says the same."""
    alive = [twin.row for twin in twins(tx, stored.entry) if twin.entry.alive and twin.row not in gone]
    return heir.entry.alive and (not alive or stored.entry.kind == "episodic")
