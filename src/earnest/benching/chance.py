"""Chance that a seed decides: the same seed, the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from earnest.environments import world_rng

T = TypeVar("T")


class Chance:
    """An `earnest.protocols.Rng` with a seed, and what drawing questions needs beside it."""

    def __init__(self, seed: int) -> None:
        self._source = world_rng("bench recall", seed, 0)

    def random(self) -> float:
        """A float in [0, 1)."""
        return self._source.random()

    def token(self, size: int) -> bytes:
        """`size` bytes."""
        return self._source.randbytes(size)

    def below(self, size: int) -> int:
        """A whole number from 0 to `size` - 1."""
        return self._source.randrange(size)

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """So many of the items, or all of them, each once, in chance order."""
        return self._source.sample(items, min(count, len(items)))
