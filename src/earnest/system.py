"""The real clock and the real source of chance."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """The present moment."""
        return datetime.now(UTC)


class SystemRng:
    """The operating system's entropy."""

    def random(self) -> float:
        """A float in [0, 1) with 53 random bits."""
        return secrets.randbits(53) / (1 << 53)

    def token(self, size: int) -> bytes:
        """`size` bytes that nobody can guess."""
        return secrets.token_bytes(size)
