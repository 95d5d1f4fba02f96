"""Earnest with vectors given: search by words and meaning, durable adds beside a bare commit of row, terms and vector."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

from bench.speed.bare import Bare
from bench.speed.given import Given
from bench.speed.texts import Texts
from bench.speed.timing import Stopwatch
from earnest import Memory

K: Final = 10
_SLICES: Final = 10


class HybridSide:
    """One size: a store of `size` memories with vectors, and a bare file with the same texts and float32 vectors."""

    def __init__(self, folder: Path, size: int) -> None:
        self.size = size
        self.path, self.bare_path = folder / f"hybrid-{size}.db", folder / f"bare-hybrid-{size}.db"
        self.texts, self.given = Texts(seed=size), Given()
        self.memory = Memory.open(self.path, embedder=self.given, settings={"rent": 0.0001})
        self.bare = Bare(self.bare_path, vectors=True)
        self.known: list[str] = []

    def fill(self) -> dict[str, float]:
        """Write all memories in bulk; how many a second. What the vectors themselves cost to make is taken off."""
        spent = making = 0.0
        for _ in range(_SLICES):
            slice_ = self.texts.memories(self.size // _SLICES)
            self.known += slice_
            start = time.perf_counter()
            self.given.embed(slice_)
            between = time.perf_counter()
            self.memory.add_many([{"text": text} for text in slice_])
            spent += time.perf_counter() - between
            making += between - start
        self.memory.close()
        self.memory = Memory.open(self.path, embedder=self.given)
        return {"earnest": self.size / max(1e-9, spent - making), "making the vectors": self.size / making}

    def question(self) -> str:
        """About a memory that is there."""
        return self.texts.question(self.known[self.texts.pick(len(self.known))])

    def rounds(self, count: int) -> Stopwatch:
        """Searches and adds in turn; what was timed to warm up is thrown away."""
        watch = Stopwatch()
        for number in range(-5, count):
            timed = watch if number >= 0 else Stopwatch()
            question, text = self.question(), self.texts.memory()
            with timed.timing("making a vector"):
                self.given.embed([question])
            timed.time("search, hybrid", lambda q=question: self.memory.search(q, k=K))  # type: ignore[misc]
            timed.time("search, dense", lambda q=f"{question} ": self.memory.search(q, k=K, mode="dense"))  # type: ignore[misc]
            vector = self.given.embed([text])[0].tobytes()
            timed.time("bare commit", lambda t=text, v=vector: self.bare.commit(t, v))  # type: ignore[misc]
            timed.time("add", lambda t=text: self.memory.add(t))  # type: ignore[misc]
        return watch

    def disk(self) -> dict[str, float]:
        """Bytes a memory with its vector."""
        self.memory.close()
        size = sum(p.stat().st_size for p in self.path.parent.glob(self.path.name + "*"))
        self.memory = Memory.open(self.path, embedder=self.given)
        return {"earnest": size / self.size}

    def close(self) -> None:
        """Release both files."""
        self.memory.close()
        self.bare.close()


def hybrid_at(folder: Path, size: int, rounds: int, fresh: Any) -> dict[str, Any]:
    """Everything with vectors at one size. `fresh` measures fresh processes on a store: (first answers, resident)."""
    side = HybridSide(folder, size)
    bulk = side.fill()
    disk = side.disk()
    operations = side.rounds(rounds).summaries()
    questions = [side.question() for _ in range(8)]
    side.close()
    first, resident = fresh(side.path, questions)
    return {"bulk": bulk, "disk": disk, "operations": operations, "first_answer": first, "resident": resident}
