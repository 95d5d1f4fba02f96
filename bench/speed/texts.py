"""Memories of about 20 words from a skewed vocabulary, and questions about them; the same ones for ever for a seed."""

from __future__ import annotations

import random
from typing import Final

from earnest.core.stopwords import STOPWORDS

WORDS: Final = 20_000
SKEW: Final = 1.05
"""Zipf exponent of the vocabulary: a few words are in every tenth memory, most in a handful."""
_SYLLABLES: Final = tuple(first + second for first in "bdklmnprstv" for second in "aeiou")
_GLUE: Final = ("the", "of", "a", "to", "in", "and", "for", "with", "on", "is", "was", "by", "at", "from")


class Texts:
    """A stream of memories. Cost: some 20 µs a memory."""

    def __init__(self, seed: int = 1) -> None:
        self._rng = random.Random(f"earnest-speed:{seed}")
        words = dict.fromkeys("".join(self._rng.choices(_SYLLABLES, k=self._rng.randint(2, 4))) for _ in range(3 * WORDS))
        self.words = [word for word in words if word not in STOPWORDS][:WORDS]
        total, self._cumulative = 0.0, []
        for rank in range(1, len(self.words) + 1):
            total += 1 / rank**SKEW
            self._cumulative.append(total)

    def memory(self) -> str:
        """A sentence of 16 to 24 words, a third of them the small words of every sentence."""
        size = self._rng.randint(16, 24)
        content = self._rng.choices(self.words, cum_weights=self._cumulative, k=size)
        said = [self._rng.choice(_GLUE) if self._rng.random() < 1 / 3 else word for word in content]
        return " ".join(said).capitalize() + "."

    def memories(self, count: int) -> list[str]:
        """So many memories."""
        return [self.memory() for _ in range(count)]

    def question(self, about: str) -> str:
        """A question about a memory: three of its own words and a small one between each."""
        held = [word for word in about.rstrip(".").casefold().split() if word not in STOPWORDS]
        asked = self._rng.sample(held, min(3, len(held)))
        return f"what is {' and the '.join(asked)}?"

    def pick(self, count: int) -> int:
        """A number below `count`."""
        return self._rng.randrange(count)
