"""Moments at the ends of what a calendar can hold. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

FIRST: Final = datetime.min.replace(tzinfo=UTC)
LAST: Final = datetime.max.replace(tzinfo=UTC)


def days_before(now: datetime, days: float) -> datetime:
    """The moment so many days before now, or the first one of the calendar where that lies before it. `days` is 0 or more, or infinite."""
    held = (now - FIRST) / timedelta(days=1)
    return now - timedelta(days=days) if days < held else FIRST
