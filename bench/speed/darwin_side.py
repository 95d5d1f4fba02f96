"""darwin-memo from PyPI with its own lexical store, each durable step followed by its `save`, a bare commit before each.

Its `tick` consolidates every fifth time by default, which compares all pairs (about ten minutes at 10,000 entries by
extrapolation); here that is off. What does not finish within the bound is left out, and said so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from darwin_memo.ledger import Ledger
from darwin_memo.store import MemoryStore
from darwin_memo.survival import SurvivalConfig

from bench.speed.bare import Bare
from bench.speed.texts import Texts
from bench.speed.timing import Stopwatch

K: Final = 10
OPERATIONS: Final = ("add + save", "retrieve", "decide", "settle + save", "tick")


class DarwinSide:
    """One size."""

    def __init__(self, folder: Path, size: int, bound: float) -> None:
        self.size, self.bound = size, bound
        self.path = folder / f"darwin-{size}.json"
        self.bare_path = folder / f"bare-darwin-{size}.db"
        self.texts = Texts(seed=size)
        self.store: Any = MemoryStore()
        self.ledger: Any = Ledger(self.store, config=SurvivalConfig(consolidate_every=0), resource_scale=2.0)
        self.bare = Bare(self.bare_path)
        self.known: list[str] = []

    def fill(self) -> dict[str, float]:
        """Add everything and save once; how many a second."""
        self.known = self.texts.memories(self.size)
        start = time.perf_counter()
        for text in self.known:
            self.ledger.add("", text)
        self.ledger.save(self.path)
        return {"one save at the end": self.size / (time.perf_counter() - start)}

    def rounds(self, count: int) -> tuple[Stopwatch, list[str]]:
        """Every operation once a round until the rounds or the bound are over; which ones were not even done once."""
        watch, ends = Stopwatch(), time.monotonic() + self.bound
        pending: list[str] = []

        def decide() -> None:
            ticket = self.ledger.decide(self.texts.question(self.known[self.texts.pick(len(self.known))]))
            pending.append(ticket.id)

        acts: dict[str, Callable[[], Any]] = {
            "add + save": lambda: (self.ledger.add("", self.texts.memory()), self.ledger.save(self.path)),
            "retrieve": lambda: self.store.retrieve(self.texts.question(self.known[self.texts.pick(len(self.known))]), k=K),
            "decide": decide,
            "settle + save": lambda: (self.ledger.settle(pending.pop(), 1.0), self.ledger.save(self.path)),
            "tick": self.ledger.tick,
        }
        for _ in range(count):
            for name in OPERATIONS:
                if time.monotonic() > ends:
                    break
                text = self.texts.memory()
                watch.time("bare commit", lambda text=text: self.bare.commit(text))  # type: ignore[misc]
                watch.time(name, acts[name])
        return watch, [name for name in OPERATIONS if name not in watch.samples]

    def close(self) -> None:
        """Release the file."""
        self.bare.close()
