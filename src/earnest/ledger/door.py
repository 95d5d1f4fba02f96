"""What a caller gives of an entry, checked at the door and let through the write gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from earnest.core import check
from earnest.core.entry import KINDS, ORIGINS, RETENTIONS, NewEntry
from earnest.core.write_gate import STRICT, Gate
from earnest.errors import InvalidInput
from earnest.ledger.decisions import new_id
from earnest.protocols import Rng

METADATA_FIELDS: Final = ("importance", "confidence", "retention", "metadata", "tags", "valid_from", "valid_to")


_FIELDS: Final = (
    "text", "cue", "kind", "scope", "sources", "importance", "confidence", "retention", "metadata", "tags", "valid_from", "valid_to",
)  # fmt: skip


def checked_entry(rng: Rng, default_retention: str, fields: Mapping[str, Any], gate: Gate = STRICT) -> NewEntry:
    """An entry from what a caller gave, every field checked, and let through the write gate.

    Raises:
        InvalidInput: Names the field and what it may be.
    """
    if unknown := set(fields) - {*_FIELDS, "origin"}:
        raise InvalidInput("entry", sorted(unknown), f"has no such fields; there are {', '.join(_FIELDS)}")
    if "text" not in fields:
        raise InvalidInput("text", None, "is missing: an entry says something")
    begins, ends = check.moment("valid_from", fields.get("valid_from")), check.moment("valid_to", fields.get("valid_to"))
    in_order(begins, ends)
    retention = fields.get("retention")
    new = NewEntry(
        id=new_id(rng, 10),
        text=check.text("text", fields["text"]),
        cue=check.optional_text("cue", fields.get("cue"), limit=check.MAX_CUE),
        kind=check.choice("kind", fields.get("kind", "semantic"), KINDS),
        origin=check.choice("origin", fields.get("origin", "explicit"), ORIGINS),
        sources=check.labels("sources", fields.get("sources")),
        scope=check.label("scope", fields.get("scope", ""), blank=True),
        importance=check.number("importance", fields.get("importance", 0.5), low=0.0, high=1.0),
        confidence=check.number("confidence", fields.get("confidence", 1.0), low=0.0, high=1.0),
        retention=check.choice("retention", default_retention if retention is None else retention, RETENTIONS),
        valid_from=begins,
        valid_to=ends,
        tags=check.labels("tags", fields.get("tags")),
        metadata=check.metadata("metadata", fields.get("metadata")),
    )
    return gated(gate, new)


def gated(gate: Gate, new: NewEntry) -> NewEntry:
    """An entry as the write gate lets it through: without what must not be kept, and waiting if what it says is marked."""
    masked: list[str] = []
    text, cue = gate.passed(new.text), None if new.cue is None else gate.passed(new.cue)
    sources, tags = gate.labels(new.sources, masked), gate.labels(new.tags, masked)
    metadata = gate.metadata(new.metadata, masked) if new.metadata else new.metadata
    waits = gate.waits(text.text, cue.text if cue else None)
    redacted = (*text.masked, *(cue.masked if cue else ()), *masked)
    if not redacted and waits <= new.probation:
        # What holds nothing that must go is let through as it is, as nearly everything is.
        return new
    return replace(
        new,
        text=text.text,
        cue=cue.text[: check.MAX_CUE] if cue else None,
        sources=sources,
        tags=tags,
        metadata=metadata,
        probation=max(new.probation, waits),
        redacted=(*new.redacted, *redacted),
    )


def checked_changes(fields: Mapping[str, Any], gate: Gate = STRICT) -> dict[str, Any]:
    """Edits from a caller, each checked and let through the write gate; None for a time takes it away."""
    masked: list[str] = []
    made: dict[str, Any] = {}
    for name, value in fields.items():
        if name in ("importance", "confidence"):
            made[name] = check.number(name, value, low=0.0, high=1.0)
        elif name == "retention":
            made[name] = check.choice(name, value, RETENTIONS)
        elif name == "metadata":
            made[name] = gate.metadata(check.metadata(name, value), masked)
        elif name == "tags":
            made[name] = gate.labels(check.labels(name, value), masked)
        elif name in ("valid_from", "valid_to"):
            made[name] = check.moment(name, value)
        else:
            raise InvalidInput("update", name, f"cannot be changed; these can: text, cue, {', '.join(METADATA_FIELDS)}")
    return made


def in_order(begins: datetime | None, ends: datetime | None) -> None:
    """Refuses an end that lies before the beginning. Raises InvalidInput."""
    if begins and ends and begins > ends:
        raise InvalidInput("valid_to", ends.isoformat(), f"lies before valid_from, which is {begins.isoformat()}")
