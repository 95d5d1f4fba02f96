"""Making the vectors that are missing: in batches, each embedded outside of any transaction and written in a short one.

What is pending needs no list of its own: it is the living entries without a vector of the present model. So nothing is lost when a
process dies, an embedder fails or another one takes its place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final

from earnest.core.reports import ReembedReport, Vectors
from earnest.core.vectors import CUT, UNREAD, embedded_text
from earnest.errors import EarnestError, EmbedderFailed, StoreBusy
from earnest.protocols import Reading, Store, Writing
from earnest.recall.embedding import Embedding

Write = Callable[[], AbstractContextManager[Writing]]

LEASE: Final = 180.0
"""Seconds for which one process keeps the others from filling in the same vectors: longer than any one batch takes."""

_TOLD: Final = 20


def dimension_of(reading: Reading, model: str) -> int | None:
    """The dimension of a model's vectors; None if none were ever made."""
    return next((known.dimension for known in reading.models() if known.name == model), None)


def living_with(reading: Reading, model: str) -> int:
    """How many living entries have a vector of a model."""
    return next((known.living for known in reading.models() if known.name == model), 0)


def missing(reading: Reading, model: str) -> int:
    """How many living entries lack a vector of a model. O(1)."""
    return reading.counter("alive") + reading.counter("suspended") - living_with(reading, model)


def standing(reading: Reading, embedding: Embedding) -> Vectors:
    """How far recall goes by meaning, for this process. O(models)."""
    known = reading.models()
    living = reading.counter("alive") + reading.counter("suspended")
    mine = next((model for model in known if model.name == embedding.model), None)
    usable = mine.living if mine is not None else 0
    problem = embedding.why_not or (mine.problem if mine is not None and usable < living else None) or ""
    return Vectors(
        model=embedding.model,
        usable=usable,
        missing=living - usable if embedding.usable or embedding.why_not else 0,
        others={model.name: model.living for model in known if model is not mine and model.living},
        problem=problem,
    )


def missing_ids(reading: Reading, embedding: Embedding, limit: int = 3) -> tuple[str, ...]:
    """Some living entries without a vector of the present model, newest first. Looks only where there are a few with one."""
    if not embedding.usable or not living_with(reading, embedding.model) or not missing(reading, embedding.model):
        return ()
    rows = [row for row, *_ in reading.unembedded(embedding.model, None, limit)]
    return tuple(stored.entry.id for stored in reading.entries(rows))


class Filling:
    """One run over the entries that lack a vector (or over all living ones, if `every`), newest first."""

    def __init__(self, store: Store, write: Write, embedding: Embedding, holder: str | None, *, every: bool = False) -> None:
        """`holder` names the one who fills, so that two processes do not do the same work; None for a few entries at once."""
        self._store, self._write, self._embedding = store, write, embedding
        self._holder, self._every = holder, every
        self.made = self.reused = self.cut = 0
        self.failed: dict[int, str] = {}

    def run(
        self, *, limit: int | None = None, progress: Callable[[int, int], None] | None = None, stopped: Callable[[], bool] = lambda: False
    ) -> ReembedReport:
        """Fill in up to `limit` vectors.

        Raises:
            EmbedderFailed: The embedder is down; what was made before stays, and the store knows why. StoreError.
        """
        model = self._embedding.model
        with self._store.read() as reading:
            of = missing(reading, model) if not self._every else reading.counter("alive") + reading.counter("suspended")
        if not of:
            return self._report(of)
        self._take_hold()
        before: int | None = None
        done = 0
        try:
            while not stopped() and (limit is None or done < limit):
                size = self._embedding.batch if limit is None else min(self._embedding.batch, limit - done)
                before, count = self._batch(before, size)
                if before is None:
                    break
                done += count
                if progress is not None:
                    progress(min(done, of), of)
        finally:
            self._let_go()
        with self._store.read() as reading:
            return self._report(missing(reading, model))

    def _report(self, left: int) -> ReembedReport:
        with self._store.read() as reading:
            ids = {stored.row: stored.entry.id for stored in reading.entries([*self.failed][:_TOLD])}
        told = {ids[row]: why for row, why in self.failed.items() if row in ids}
        return ReembedReport(self._embedding.model, self.made, self.reused, left, len(self.failed), told, self.cut)

    def _batch(self, before: int | None, size: int) -> tuple[int | None, int]:
        """The next entries, down from a row: the lowest row that was looked at (None: there are no more), and how many there were."""
        model, refused = self._embedding.model, self._embedding.refused
        with self._store.read() as reading:
            wanted = reading.unembedded(model, before, size, every=self._every)
            if not wanted:
                return None, 0
            lowest = wanted[-1][0]
            wanted = [item for item in wanted if item[0] not in refused]
            known = {} if self._every else reading.known_vectors(model, [twin for *_, twin in wanted])
            dimension = dimension_of(reading, model)
        vectors = {row: known[twin] for row, _, _, twin in wanted if twin in known}
        fresh = [(row, embedded_text(text, cue)) for row, text, cue, twin in wanted if twin not in known]
        reused, problem, cut = len(vectors), None, 0
        if fresh:
            try:
                got = self._embedding.vectors([text for _, text in fresh], dimension)
            except EmbedderFailed as error:
                self._keep(vectors, str(error))
                raise
            cut = len(got.shortened)
            for (row, _), code, trouble in zip(fresh, got.codes, got.problems, strict=True):
                if code is not None:
                    vectors[row] = code
                else:
                    problem = self.failed[row] = refused[row] = trouble or "no vector"
        put = self._keep(vectors, problem, cut)
        self.cut += cut
        self.reused += min(reused, put)
        self.made += max(0, put - reused)
        return lowest, len(wanted)

    def _keep(self, vectors: dict[int, bytes], problem: str | None, cut: int = 0) -> int:
        if not vectors and problem is None:
            return 0
        with self._write() as tx:
            if self._holder is not None:
                tx.hold_model(self._embedding.model, self._holder, LEASE)
            # Somebody may have ended an entry in the meantime, or taken its text away for good.
            living = {stored.row: stored.entry.text for stored in tx.entries([*vectors]) if stored.entry.alive}
            put = tx.put_vectors(self._embedding.model, {row: code for row, code in vectors.items() if row in living})
            if not self._every:
                tx.bump(UNREAD, sum(not self._embedding.reads(text) for text in living.values()))
            tx.bump(CUT, cut)
            if problem is not None:
                tx.note_model(self._embedding.model, problem)
        return put

    def _take_hold(self) -> None:
        if self._holder is None:
            return
        with self._write() as tx:
            if not tx.hold_model(self._embedding.model, self._holder, LEASE):
                raise StoreBusy(
                    f"another process is making the vectors of {self._embedding.model}; when it is done (or {LEASE:.0f} s after it "
                    "was ended), there is nothing left to do"
                )

    def _let_go(self) -> None:
        if self._holder is None:
            return
        with self._write() as tx:
            tx.hold_model(self._embedding.model, self._holder, 0.0)
            if not missing(tx, self._embedding.model):
                tx.note_model(self._embedding.model, None)


class Filler:
    """A thread that fills in vectors while others work: for embedders that take their time. It ends when nothing is left to do."""

    PAUSES: Final[Sequence[float]] = (1.0, 5.0, 15.0, 60.0)
    """Seconds before it tries again after one failure, two, …"""

    def __init__(self, begin: Callable[[], Filling]) -> None:
        """`begin` makes a run over what is missing."""
        self._begin = begin
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._again = False
        self._stop = threading.Event()

    def wake(self) -> None:
        """There may be something to do."""
        with self._lock:
            self._again = True
            if self._stop.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._work, name="earnest-embedding", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        failures = 0
        while not self._stop.is_set():
            with self._lock:
                if not self._again:
                    self._thread = None
                    return
                self._again = False
            try:
                self._begin().run(stopped=self._stop.is_set)
                failures = 0
            except EarnestError:
                # The store knows why, and `doctor` says it. It is tried again, more and more seldom.
                pause = self.PAUSES[min(failures, len(self.PAUSES) - 1)]
                failures += 1
                with self._lock:
                    self._again = True
                self._stop.wait(pause)

    def wait(self, seconds: float) -> bool:
        """Give it so long to finish; whether it did."""
        thread = self._thread
        if thread is None or not thread.is_alive():
            return True
        thread.join(seconds)
        return not thread.is_alive()

    def stop(self, seconds: float) -> None:
        """End it after the batch that it is at. A call that does not return is left to itself: what it brings is not written."""
        self._stop.set()
        self.wait(seconds)
