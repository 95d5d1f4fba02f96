"""One moment of a store."""

from __future__ import annotations

from typing import Protocol

from earnest.protocols.reading_entries import ReadingEntries
from earnest.protocols.reading_ledger import ReadingLedger
from earnest.protocols.reading_log import ReadingLog
from earnest.protocols.reading_recall import ReadingRecall


class Reading(ReadingEntries, ReadingRecall, ReadingLedger, ReadingLog, Protocol):
    """One snapshot of one agent's store."""
