"""Earnest on a real file, a bare commit before every write, so that whatever else the machine does hits both."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any, Final

from bench.speed.bare import Bare
from bench.speed.texts import Texts
from bench.speed.timing import Stopwatch
from earnest import Memory

K: Final = 10
RENT: Final = 0.0001
"""So little that a few hundred ticks starve nobody by accident."""
DYING: Final = 1_000
_SLICES: Final = 10


class EarnestSide:
    """One size: a store of `size` memories and a bare file with the same texts."""

    def __init__(self, folder: Path, size: int) -> None:
        self.size = size
        self.path = folder / f"earnest-{size}.db"
        self.bare_path = folder / f"bare-{size}.db"
        self.texts = Texts(seed=size)
        self.memory = Memory.open(self.path, embedder="none", settings={"rent": RENT})
        self.bare = Bare(self.bare_path)
        self.rng = random.Random(f"earnest-speed:rounds:{size}")
        self.known: list[str] = []

    def fill(self) -> dict[str, float]:
        """Write all memories in bulk on both sides, slice by slice in turn; how many a second each did."""
        spent = {"earnest": 0.0, "bare": 0.0}
        for _ in range(_SLICES):
            slice_ = self.texts.memories(self.size // _SLICES)
            self.known += slice_
            start = time.perf_counter()
            self.memory.add_many([{"text": text} for text in slice_])
            between = time.perf_counter()
            self.bare.fill(slice_)
            spent["earnest"] += between - start
            spent["bare"] += time.perf_counter() - between
        return {name: len(self.known) / seconds for name, seconds in spent.items()}

    def question(self) -> str:
        """About a memory that is there."""
        return self.texts.question(self.rng.choice(self.known))

    def rounds(self, count: int, warm: int = 3) -> Stopwatch:
        """Every verb once a round, in a drawn order, each behind a bare commit."""
        watch = Stopwatch()
        for number in range(-warm, count):
            # What is done to warm up is timed too, and thrown away.
            timed = watch if number >= 0 else Stopwatch()
            verbs = [self._add, self._ask, self._tick]
            self.rng.shuffle(verbs)
            for verb in verbs:
                verb(timed)
        return watch

    def _bare(self, watch: Stopwatch) -> None:
        text = self.texts.memory()
        watch.time("bare commit", lambda: self.bare.commit(text))

    def _add(self, watch: Stopwatch) -> None:
        self._bare(watch)
        text = self.texts.memory()
        watch.time("add", lambda: self.memory.add(text))

    def _ask(self, watch: Stopwatch) -> None:
        """One question, searched for and then decided, so that what a decision costs beside its search is seen; and its outcome."""
        question = self.question()
        words = [word for word in question.rstrip("?").split() if word not in ("what", "is", "and", "the")]
        watch.time("bare FTS5 search", lambda: self.bare.search(words, K))
        watch.time("search", lambda: self.memory.search(question, k=K))
        self._bare(watch)
        ticket = watch.time("decide", lambda: self.memory.decide(question))
        watch.note("decide beyond search", watch.samples["decide"].wall[-1] - watch.samples["search"].wall[-1])
        self._bare(watch)
        if ticket.id is None:
            return
        name = ticket.id
        watch.time("settle", lambda: self.memory.settle(name, delta=1.0, meter="bench", scale=2.0, acted=True))

    def _tick(self, watch: Stopwatch) -> None:
        """One tick that has outcomes to learn from, if any came since the last, and one that has none."""
        self._bare(watch)
        watch.time("tick after outcomes", self.memory.tick)
        self._bare(watch)
        watch.time("tick", self.memory.tick)

    def tick_alone(self, watch: Stopwatch) -> None:
        """One bare commit and one tick."""
        watch.time("bare commit", lambda: self.bare.commit("a text of some few words"))
        watch.time("tick", self.memory.tick)

    def dying(self, count: int) -> Stopwatch:
        """Ticks in each of which a thousand entries starve."""
        watch = Stopwatch()
        for _ in range(count):
            self._settle_one()
            self.memory.configure(stake=RENT / 2)
            self.memory.add_many([{"text": text} for text in self.texts.memories(DYING)])
            self.memory.configure(stake=1.0)
            self._bare(watch)
            report = watch.time("tick, 1,000 dying", self.memory.tick)
            if len(report.died) != DYING:
                raise SystemExit(f"{len(report.died)} died where {DYING} should: the bench is wrong")
        return watch

    def _settle_one(self) -> None:
        """An outcome, because a tick in which none was settled charges nobody."""
        name = next(found for found in iter(lambda: self.memory.decide(self.question()).id, "") if found is not None)
        self.memory.settle(name, delta=1.0, meter="bench", scale=2.0, acted=True)

    def disk(self) -> dict[str, float]:
        """Bytes a memory, after a checkpoint, with one event, account and index row each."""
        sizes: dict[str, Any] = {"earnest": self.path, "bare": self.bare_path}
        return {name: sum(p.stat().st_size for p in path.parent.glob(path.name + "*")) / self.size for name, path in sizes.items()}

    def reopen(self) -> None:
        """Close and open again, so that the write-ahead log is folded in."""
        self.memory.close()
        self.memory = Memory.open(self.path, embedder="none")

    def close(self) -> None:
        """Release both files."""
        self.memory.close()
        self.bare.close()
