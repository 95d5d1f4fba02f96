"""Taking in entries from elsewhere: each under an id of its own, on probation, once.

What was imported decides nothing until outcomes here have borne it out. What says what an entry here says joins it, without stake or
trust. What says what was executed here comes in suspended. What was dead there is dead here, and stays so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from earnest.core import check
from earnest.core.amounts import micro
from earnest.core.analysis import Analyser
from earnest.core.entry import NewEntry, StoredEntry
from earnest.core.moving import Item, identified
from earnest.core.settings import Settings
from earnest.core.write_gate import Gate
from earnest.errors import InvalidInput
from earnest.ledger import admission, door, lifecycle
from earnest.ledger.book import Book
from earnest.protocols import Reading, Rng, Writing

Fate = Literal["added", "joined", "already"]

Termed = Callable[[str, str | None], tuple[Sequence[str], Sequence[str]]]

PROBATION: Final = 3
"""Measured gains that an import has to stand beside before it may decide."""


def checked_item(rng: Rng, settings: Settings, format: str, item: Item, scope: str | None, probation: int) -> NewEntry:
    """An item as an entry that can be written, every field checked.

    Raises:
        InvalidInput: Names the field that cannot be used.
    """
    fields: dict[str, Any] = {
        "text": item.text, "cue": item.cue, "kind": item.kind, "origin": item.origin, "sources": item.sources,
        "scope": (item.scope or "") if scope is None else scope, "importance": item.importance, "confidence": item.confidence,
        "retention": item.retention, "metadata": item.metadata, "tags": item.tags, "valid_from": item.valid_from, "valid_to": item.valid_to,
    }  # fmt: skip
    new = door.checked_entry(rng, settings.default_retention, fields, Gate.of(settings.redact, settings.quarantine))
    return replace(
        new, id=id_of(format, item), created=check.moment("created", item.created), version=max(1, item.version),
        strength=check.number("strength", item.strength, low=0.0, high=1e9), probation=max(probation, item.probation, new.probation),
    )  # fmt: skip


def id_of(format: str, item: Item) -> str:
    """The id that an item gets here."""
    return item.name if item.keeps_name and item.name.isascii() and item.name.isalnum() else identified(format, item.name)


def fate(reading: Reading, new: NewEntry, dead: bool) -> tuple[Fate, StoredEntry | None]:
    """What becomes of an import here, and the entry that it is or joins if there is one already."""
    here = reading.entry(new.id)
    if here is not None:
        return "already", here
    if dead:
        return "added", None
    for twin in lifecycle.twins(reading, new):
        if lifecycle.one_episode(new, twin.entry) and lifecycle.says_it(twin.entry, new):
            return ("already" if set(new.sources) <= set(twin.entry.sources) else "joined"), twin
    return "added", None


def bring(
    tx: Writing, settings: Settings, rng: Rng, analyser: Analyser, new: NewEntry, item: Item, termed: Termed
) -> tuple[StoredEntry, Fate]:
    """Takes one entry in, in this transaction; `termed` makes the terms of one that is new."""
    what, here = fate(tx, new, item.cause is not None)
    if here is not None:
        return (lifecycle.joined(tx, here, new.sources) if what == "joined" else here), what
    terms = termed(new.text, new.cue)
    said: Mapping[str, Any] = {"probation": new.probation}
    if item.cause is not None:
        stored = lifecycle.insert(tx, settings, rng, new, terms, kind="import", given=0, **said)
        Book(tx, settings).bury(stored, item.cause, imported=True)
        return tx.entries([stored.row])[0], what
    by = admission.condemned(tx, settings, analyser, new, terms)
    if by is not None:
        stored = lifecycle.insert(tx, settings, rng, new, terms, kind="import", given=0, **said)
        return admission.convict(tx, settings, stored, by), what
    given = None if item.balance is None else max(1, min(item.balance, micro(settings.cap)))
    stored = lifecycle.insert(tx, settings, rng, new, terms, kind="import", given=given, **said)
    if not item.pinned:
        return stored, what
    return lifecycle.pin(tx, settings, stored.entry.id, True), what


def connect(tx: Writing, child: str, parents: Sequence[str]) -> int:
    """Records what an imported entry was made of, where both are here; returns how many parents were found."""
    stored = tx.entry(child)
    if stored is None:
        return 0
    known = {row for row, _, _ in tx.lineage(stored.row)}
    found = [one for name in parents if (one := tx.entry(name)) is not None and one.row != stored.row]
    tx.add_lineage(stored.row, [(one.row, "merge", 0) for one in found if one.row not in known])
    for one in found:
        if one.entry.cause == "merged" and one.entry.heir is None:
            tx.change_entry(one.row, heir=stored.row)
    return len(found)


def checked_probation(value: Any) -> int:
    """How many gains an import owes. Raises InvalidInput."""
    try:
        return check.integer("probation", value, low=0, high=1_000)
    except InvalidInput:
        raise InvalidInput(
            "probation", value, "must be a whole number from 0 to 1000: measured gains before an import may decide"
        ) from None
