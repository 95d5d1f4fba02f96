"""Edits: of what is known about an entry, in place; and of what it says, by a version that supersedes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from earnest.core import check
from earnest.core.analysis import Analyser
from earnest.core.entry import NewEntry, StoredEntry
from earnest.core.events import canonical, micros
from earnest.core.settings import Settings
from earnest.core.write_gate import STRICT, Gate
from earnest.ledger import admission
from earnest.ledger.book import Book
from earnest.ledger.decisions import new_id
from earnest.ledger.door import gated, in_order
from earnest.ledger.lifecycle import insert, living, movable, refuse_saying_twice
from earnest.protocols import Rng, Writing


def edit(
    tx: Writing, settings: Settings, entry_id: str, changes: Mapping[str, Any], *, given: int | None = None, **data: Any
) -> StoredEntry:
    """Changes what is known about an entry, not what it says: balance and evidence stay with it.

    An entry that leaves retention `earned` forfeits its balance; one that becomes `earned` gets a stake, or what was `given`.
    """
    stored = living(tx, entry_id)
    entry, book = stored.entry, Book(tx, settings)
    in_order(changes.get("valid_from", entry.valid_from), changes.get("valid_to", entry.valid_to))
    before = {name: _plain(getattr(entry, name)) for name in changes}
    columns = {name: _column(name, value) for name, value in changes.items() if name != "tags"}
    if "tags" in changes:
        tx.set_tags(stored.row, changes["tags"])
    postings = []
    if "retention" in changes and changes["retention"] != entry.retention:
        columns |= {"balance": 0, "rent_mark": tx.counter("rent_index")}
        postings = book.close(stored)
        data["left"] = entry.balance
    if columns:
        tx.change_entry(stored.row, **columns)
    if changes.get("retention") == "earned" != entry.retention:
        postings += book.stake(tx.entries([stored.row])[0], given)
    tx.append("edit", entries=[stored.row], data={"fields": sorted(changes), **data}, postings=postings, before=before)
    book.verdict(tx.entries([stored.row])[0])
    return stored


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else list(value) if isinstance(value, tuple) else value


def _column(name: str, value: Any) -> Any:
    if name == "metadata":
        return canonical(value)
    return micros(value) if isinstance(value, datetime) else value


def says_other(stored: StoredEntry, text: Any, cue: Any) -> bool:
    """Whether an update changes what an entry says. Words that stay the same keep their balance and evidence."""
    said = None if text is None else check.text("text", text)
    asked = None if cue is None else check.optional_text("cue", cue, limit=check.MAX_CUE)
    return (text is not None and said != stored.entry.text) or (cue is not None and asked != stored.entry.cue)


def next_version(rng: Rng, stored: StoredEntry, text: Any, cue: Any, changes: Mapping[str, Any], gate: Gate = STRICT) -> NewEntry:
    """What the next version of an entry says and is: all that is not changed is carried over."""
    entry = stored.entry
    in_order(changes.get("valid_from", entry.valid_from), changes.get("valid_to", entry.valid_to))
    new = NewEntry(
        id=new_id(rng, 10),
        text=entry.text if text is None else check.text("text", text),
        cue=entry.cue if cue is None else check.optional_text("cue", cue, limit=check.MAX_CUE),
        kind=entry.kind,
        origin=entry.origin,
        sources=entry.sources,
        scope=entry.scope,
        importance=changes.get("importance", entry.importance),
        confidence=changes.get("confidence", entry.confidence),
        retention=changes.get("retention", entry.retention),
        valid_from=changes.get("valid_from", entry.valid_from),
        valid_to=changes.get("valid_to", entry.valid_to),
        tags=changes.get("tags", entry.tags),
        metadata=changes.get("metadata", entry.metadata),
        version=entry.version + 1,
        probation=stored.probation,
    )
    return gated(gate, new)


def supersede(
    tx: Writing,
    settings: Settings,
    rng: Rng,
    analyser: Analyser,
    stored: StoredEntry,
    new: NewEntry,
    terms: tuple[Sequence[str], Sequence[str]],
) -> StoredEntry:
    """Writes a new version of an entry: fresh stake, no evidence; the old one dies `superseded` with the new one as its heir.

    A version that hardly differs from what did harm, the old one for instance, is suspended with it and gets no more than the old one held.
    """
    if not stored.entry.pinned:
        movable(stored, "superseded")
    elif stored.open_tickets:
        movable(replace(stored, entry=replace(stored.entry, pinned=False)), "superseded")
    refuse_saying_twice(tx, new, {stored.row})
    by = admission.condemned(tx, settings, analyser, new, terms, [stored])
    given = None if by is None else max(0, stored.entry.balance)
    made = insert(tx, settings, rng, new, terms, kind="supersede", given=given, version=new.version)
    tx.add_lineage(made.row, [(stored.row, "version", stored.entry.balance)])
    if stored.entry.pinned:
        tx.change_entry(made.row, pinned=True)
    Book(tx, settings).bury(stored, "superseded", heir=made.row, until=new.valid_from, pinned=stored.entry.pinned)
    return made if by is None else admission.convict(tx, settings, tx.entries([made.row])[0], by)
