"""Whether the documents of a store were cut by the rules that are in force."""

from __future__ import annotations

from earnest.core.patterns import lazily
from earnest.core.reports import Finding
from earnest.encoding.local import VERSION
from earnest.protocols import Reading

_LOCAL = lazily(r"local-(\d+)/")
_SHOWN = 3


def older_pieces(reading: Reading) -> list[Finding]:
    """One finding if documents were encoded by an older `LocalEncoder` than this one. O(documents)."""
    older = [
        known.source for known in reading.documents() if (found := _LOCAL.match(known.encoder)) is not None and int(found[1]) < VERSION
    ]
    if not older:
        return []
    shown = ", ".join(older[:_SHOWN]) + (f" and {len(older) - _SHOWN:,} more" if len(older) > _SHOWN else "")
    return [
        Finding(
            "older_pieces",
            "info",
            "Some documents are in pieces made by an older splitter than this version's.",
            f"{len(older):,} documents: {shown}",
            "encode their files again: `earnest encode PATH`; what they still say keeps its balance",
        )
    ]
