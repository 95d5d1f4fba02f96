"""Time and chance that a test decides."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime | None = None) -> None:
        """`start` defaults to 2026-01-01 00:00 UTC; a time without a zone is taken for UTC."""
        begun = start or datetime(2026, 1, 1, tzinfo=UTC)
        self._now = begun if begun.tzinfo else begun.replace(tzinfo=UTC)

    def now(self) -> datetime:
        """The moment it was set to, in UTC."""
        return self._now.astimezone(UTC)

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Move it on, or back with negative numbers."""
        self._now += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)

    def set(self, moment: datetime) -> None:
        """Set it to a moment."""
        self._now = moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class SeededRng:
    """Chance that repeats: the same seed gives the same ids, tokens and draws."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def random(self) -> float:
        """A float in [0, 1)."""
        return self._random.random()

    def token(self, size: int) -> bytes:
        """`size` bytes."""
        return self._random.randbytes(size)
