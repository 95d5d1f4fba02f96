"""Where time, chance and the author of a write come from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...


class Rng(Protocol):
    """Where chance comes from."""

    def random(self) -> float:
        """A float in [0, 1)."""
        ...

    def token(self, size: int) -> bytes:
        """`size` bytes that nobody can guess (in tests: that a seed decides)."""
        ...


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes and how: stamped on every event of a transaction."""

    at: datetime
    actor: str
    channel: str
