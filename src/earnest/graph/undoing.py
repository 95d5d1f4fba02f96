"""Taking back what was stated of links; handlers for `ledger.undo`."""

from __future__ import annotations

from typing import Final

from earnest.core.analysis import Analyser
from earnest.core.events import Event
from earnest.core.links import Link
from earnest.core.settings import Settings
from earnest.errors import NotAllowed
from earnest.ledger import lifecycle
from earnest.protocols import Writing


def unlinked(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    """Takes back that a link was stated: it goes, or is again what it was before that."""
    one, other = (lifecycle.found(tx, entry) for entry in event.entries)
    low, high = sorted((one.row, other.row))
    if not tx.drop_link(Link(low, high, event.data["kind"], 1.0)):
        raise NotAllowed(f"entries {one.entry.id} and {other.entry.id} are not linked any more")
    for kind, weight, reason, stated in (tx.before_edit(event.seq) or {}).get("links", []):
        tx.put_link(Link(low, high, kind, weight, reason, stated))
    return one.entry.id, other.entry.id


def linked_again(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    """Takes back that links were cut: they are there again, as they were."""
    one, other = (lifecycle.living(tx, entry) for entry in event.entries)
    low, high = sorted((one.row, other.row))
    for kind, weight, reason, stated in (tx.before_edit(event.seq) or {}).get("links", []):
        tx.put_link(Link(low, high, kind, weight, reason, stated))
    return one.entry.id, other.entry.id


HANDLERS: Final = {"link": unlinked, "unlink": linked_again}
