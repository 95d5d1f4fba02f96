"""What `doctor` looks for in how entries are used: those that somebody called outdated and nobody replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from earnest.core.reports import Finding
from earnest.core.settings import Settings
from earnest.protocols import Reading

OUTDATED: Final = 100
"""Entries called outdated that are counted at most."""


def outdated(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """Living entries that were called outdated, and stand. O(these)."""
    rows = reading.outdated(OUTDATED)
    if rows:
        [first] = reading.entries(rows[:1])
        many = f"{len(rows)} entries are" if len(rows) > 1 else "1 entry is"
        yield Finding(
            "outdated",
            "info",
            "Readers called entries outdated, and nothing has replaced them.",
            f"{many} called outdated and living, the oldest is {first.entry.id}",
            f"`earnest show {first.entry.id}`, then `earnest edit {first.entry.id} --text …` if it is, `earnest audit --kind feedback` and "
            "`earnest undo` if it is not",
        )
