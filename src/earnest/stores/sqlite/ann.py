"""Where to look among very many vectors: lists around centres, with one bit a component, by `faiss` (the extra `ann`).

Of everything that is read here only places come out: the shelf compares them one by one, so that scores are the same with and without.
It lives in this process's memory alone, and is made again from the shelf whenever that is wanted.

RaBitQ: Gao and Long, "RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error Bound for Approximate Nearest Neighbor Search",
SIGMOD 2024. Lists around centres: Jégou, Douze and Schmid, "Product Quantization for Nearest Neighbor Search", TPAMI 2011.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Positions = NDArray[np.int64]
    Scores = NDArray[np.float32]
    Mask = NDArray[np.bool_]
    Widened = Callable[[int, int], Scores]
    """Vectors as float32[stop - start, d], of the places from the first to before the second."""

FROM: Final = 200_000
"""Fewer vectors are found as soon without: the shelf's sign bits take 2 ms of a core for 100,000, and 4 ms for 300,000 (`bench.ann`)."""

PATIENT: Final = 32
"""Questions that a process asks first: whoever asks a few and ends, such as a command line, does not pay for learning."""

LISTS: Final = 256
"""Lists that up to `PER_LISTS` vectors are put into; twice as many for four times as many vectors, so that both parts of the work grow by
the root."""
PER_LISTS: Final = 65_536

PROBED: Final = 128
"""Lists that are looked into where nothing is filtered out. Where a part is, its square as many more: what passes a filter is often of one
matter, and then the lists around a question about another hold little of it."""

SHARE: Final = 0.25
"""A filter that leaves less than this part is not asked here: its entries may all lie in lists that are far from the question."""

# Vectors that the centres are learned from, for each list; and rounds of learning. More of either gains nothing that can be measured.
_SAMPLE: Final = 64
_ROUNDS: Final = 8
# Vectors that are widened to 32 bits at a time.
_CHUNK: Final = 8_192
# New vectors that are put into the lists together.
_LOT: Final = 1_024
# Beyond so many replaced vectors, the lists are made anew.
_MANY_ANEW: Final = 8_192
# Bits of a component of the question.
_QUESTION_BITS: Final = 4


def here() -> bool:
    """Whether the extra `ann` is installed, without loading it."""
    return find_spec("faiss") is not None


def lists_for(generation: int) -> int:
    """How many lists so many vectors are put into."""
    made = LISTS
    while generation > PER_LISTS * (made // LISTS) ** 2:
        made *= 2
    return made


def generation_of(count: int) -> int:
    """The power of two that is not above a count: what is learned depends on it alone, so that processes that read the same vectors at
    different times learn the same."""
    return 1 << (count.bit_length() - 1)


class Ann:
    """Lists of places around centres. Adding and asking take turns; both are safe for threads."""

    def __init__(self, dimension: int, widened: Widened, count: int, stopped: Callable[[], bool] = lambda: False) -> None:
        """Learns the centres from the first vectors and takes in `count` of them. On one thread; about 10 s for a million.

        Args:
            widened: Gives the vectors of a stretch of places.
            stopped: Asked between the steps: whether nobody wants it any more. What is made then is not to be used.

        Raises:
            RuntimeError: `faiss` could not.
        """
        import faiss

        self.count = 0
        self.generation = generation_of(count)
        self._widened, self._turn = widened, threading.Lock()
        self._lists = lists_for(self.generation)
        # Counts for this thread alone.
        faiss.omp_set_num_threads(1)
        self._centres = faiss.IndexFlatIP(dimension)
        sample = self._sampled(dimension, stopped)
        if stopped():
            return
        learning = faiss.Clustering(dimension, self._lists)
        learning.niter, learning.spherical, learning.seed = _ROUNDS, True, 1
        learning.max_points_per_centroid, learning.min_points_per_centroid = _SAMPLE, 1
        learning.train(sample, self._centres)
        self._index = faiss.IndexIVFRaBitQ(self._centres, dimension, self._lists, faiss.METRIC_INNER_PRODUCT)
        self._index.train(sample)
        while self.count < count and not stopped():
            self.take_in(min(count, self.count + _CHUNK))

    def _sampled(self, dimension: int, stopped: Callable[[], bool]) -> Scores:
        """Vectors from all over the generation, evenly."""
        import numpy as np

        wanted = min(self.generation, _SAMPLE * self._lists)
        step = self.generation // wanted
        made = np.empty((wanted, dimension), np.float32)
        done = 0
        for start in range(0, self.generation, _CHUNK):
            if stopped():
                break
            part = self._widened(start, min(start + _CHUNK, self.generation))[::step]
            made[done : done + len(part)] = part[: wanted - done]
            done = min(wanted, done + len(part))
        return made

    @property
    def outgrown(self) -> bool:
        """Whether there are so many more vectors now that the centres should be learned anew."""
        return self.count >= 4 * self.generation

    def take_in(self, count: int) -> None:
        """Takes in the vectors up to a place. About 10 µs for each."""
        import faiss

        with self._turn:
            if count > self.count:
                faiss.omp_set_num_threads(1)
                self._index.add(self._widened(self.count, count))
                self.count = count

    def likely(self, question: Scores, mask: Mask, share: float, wanted: int) -> Positions | None:
        """The places of the mask that are likely nearest to a question, about `wanted` of them; None if it cannot be said here.

        Args:
            share: Which part of all the mask leaves, above 0.
        """
        import faiss
        import numpy as np

        if share < SHARE:
            return None
        asked = faiss.IVFRaBitQSearchParameters()
        asked.nprobe = min(self._lists, round(PROBED / share**2))
        asked.qb = _QUESTION_BITS
        bits = np.packbits(mask, bitorder="little")
        # Both are held here until it has answered: it points at them.
        selecting: Any = faiss.IDSelectorBitmap
        chosen = selecting(bits)
        asked.sel = chosen
        with self._turn:
            _, found = self._index.search(np.ascontiguousarray(question[None, :]), wanted, params=asked)
        places: Positions = found[0]
        # Fewer than are wanted: most of what the mask leaves lies elsewhere.
        return None if len(places) and places[-1] < 0 else np.sort(places)


class Lists:
    """The lists of one shelf: made in a thread of their own when enough was asked, kept in step, and let go of when they are outgrown.

    The shelf tells what it takes in and replaces, one thread at a time; any number of threads may ask.
    """

    def __init__(self, dimension: int, widened: Widened) -> None:
        import numpy as np

        self._dimension, self._widened = dimension, widened
        self._lock = threading.Lock()
        self._asked = 0
        self._made: Ann | None = None
        self._making: threading.Thread | None = None
        self._closed = threading.Event()
        self._unfit = False
        self._anew: Positions = np.empty(0, np.int64)

    @property
    def ready(self) -> bool:
        """Whether questions are asked here by now."""
        return self._made is not None

    def close(self) -> None:
        """Let go of everything; what is being made is given up. Idempotent."""
        self._closed.set()
        self._made = None

    def wait(self, timeout: float | None = None) -> bool:
        """Until what is being made is made, or so many seconds; whether it is."""
        making = self._making
        if making is not None:
            making.join(timeout)
        return self.ready

    def took_in(self, count: int) -> None:
        """The shelf has so many vectors now. Small lots are left for later: they are compared one by one until then."""
        made = self._made
        if made is None or count - made.count < _LOT:
            return
        made.take_in(count)
        if made.outgrown:
            self._made = None

    def replaced(self, place: int) -> None:
        """The shelf has another vector at a place now."""
        import numpy as np

        if self._made is not None or self._making is not None:
            self._anew = np.union1d(self._anew, np.array([place], np.int64))
            if len(self._anew) > _MANY_ANEW:
                self._made = None

    def likely(self, question: Scores, mask: Mask, left: int, wanted: int) -> Positions | None:
        """The places of a mask, which leaves `left` of them, that are likely nearest to a question; at least `wanted`.

        None if that cannot be said here: too few are left, it is not made yet, or `faiss` is not installed.
        """
        import numpy as np

        if left < FROM or self._unfit:
            return None
        made = self._made
        if made is None:
            self._want(len(mask))
            return None
        known, anew = made.count, self._anew
        found = made.likely(question, mask, left / len(mask), wanted)
        if found is None:
            return None
        # What came since, or has another vector since, is compared whatever the lists say.
        late = known + np.flatnonzero(mask[known:])
        anew = anew[anew < len(mask)]
        return np.unique(np.concatenate((found, late, anew[mask[anew]])))

    def _want(self, count: int) -> None:
        import numpy as np

        with self._lock:
            self._asked += 1
            if self._asked < PATIENT or self._making is not None or self._closed.is_set():
                return
            if not here():
                self._unfit = True
                return
            self._anew = np.empty(0, np.int64)
            self._making = threading.Thread(target=self._make, args=(count,), daemon=True, name="earnest makes lists")
            self._making.start()

    def _make(self, count: int) -> None:
        try:
            made = Ann(self._dimension, self._widened, count, self._closed.is_set)
        except (RuntimeError, MemoryError, ImportError):
            # Recall goes on as without the extra.
            self._unfit = True
            return
        finally:
            with self._lock:
                self._making = None
        if not self._closed.is_set() and len(self._anew) <= _MANY_ANEW:
            self._made = made
