"""One model's vectors in memory: eight bits a component in blocks, one sign bit a component beside them to look where to look.

A hundred thousand vectors of 384 dimensions take 45 MB. Small shelves are compared one by one. On larger ones the sign bits pick
the likely few thousand (Hamming distance, after the mean was taken off), and only those are compared one by one. On very large ones the
extra `ann` says sooner which those are, in a process that asks more than a few questions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Final

from earnest.core.entry import KINDS
from earnest.core.onethread import one_thread
from earnest.core.vectors import HEADER
from earnest.stores.sqlite.ann import Lists

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Positions = NDArray[np.int64]
    Scores = NDArray[np.float32]
    Mask = NDArray[np.bool_]

BLOCK: Final = 8_192
"""Vectors in a block: growing never copies what is there."""

EXACT: Final = 20_000
"""Up to so many vectors are compared one by one."""

DEEPEST: Final = 2_048
DEEPER: Final = 32
"""Beyond `EXACT`, so many candidates are compared one by one for each that is wanted, and at least `DEEPEST`."""

LISTED: Final = 1_024
LISTED_DEEPER: Final = 16
"""So many are compared of those that the extra `ann` names, for each that is wanted: it knows better than sign bits."""

# Vectors that are widened at a time: few enough for the processor's own memory.
_WIDE: Final = 1_024
# Rows read at a time.
_BATCH: Final = 4_096
# Beyond so many changed entries since the last look, all of the dead are read again instead.
_MANY: Final = 2_000
# Sign bits are taken about the mean of the first so many vectors.
_SAMPLE: Final = 4_096

_KIND_NUMBERS: Final = {kind: number for number, kind in enumerate(KINDS)}

# What a shelf reads first, `_BATCH` vectors in one row: to make a Python object of every column of a hundred thousand rows takes three
# times as long as to read them. The inner order only decides who is first on the shelf; all columns are joined in the same one.
_JOINED: Final = f"""
SELECT count(*), max(vector), group_concat(entry), group_concat(scope),
       group_concat(CASE kind {" ".join(f"WHEN '{kind}' THEN {number:d}" for kind, number in _KIND_NUMBERS.items())} ELSE -1 END),
       CAST(group_concat(code, '') AS BLOB)
FROM (SELECT vector, entry, scope, kind, code FROM vectors WHERE vector > ? AND model = ? ORDER BY vector LIMIT ?)
"""


class Shelf:
    """The vectors of one model, as one snapshot after the other had them. Its owner keeps threads apart while it follows."""

    def __init__(self, model: int, dimension: int) -> None:
        import numpy as np

        self.model, self.dimension = model, dimension
        self.count = 0
        self._words = -(-dimension // 64)
        self._blocks: list[NDArray[np.int8]] = []
        self._bits: list[NDArray[np.uint64]] = []
        self._rows = np.empty(0, np.int64)
        self._scales = np.empty(0, np.float32)
        self._scopes = np.empty(0, np.int64)
        self._kinds = np.empty(0, np.int8)
        self._alive = np.empty(0, np.bool_)
        self._mean: Scores | None = None
        self._ascending = True
        """Whether vectors lie in the order of their entries, as they do where each was made with its entry: then nothing is sorted."""
        self._places: tuple[Positions, Positions] | None = None
        self._vector = self._event = 0
        self.lists = Lists(dimension, self._widened)

    # keeping in step

    def follow(self, db: Any) -> None:
        """Takes in what was committed since the last look, deletions too. O(what changed); the first time O(vectors)."""
        vector, event = db.execute("SELECT (SELECT max(vector) FROM vectors), (SELECT max(event) FROM events)").fetchone()
        vector, event = vector or 0, event or 0
        first = self._event == 0
        touched: set[int] = set()
        if first:
            self._take_in_joined(db)
        if vector > self._vector:
            touched.update(row for batch in self._take_in(db, first) if not first for row in batch)
            self._vector = vector
            self.lists.took_in(self.count)
        if first:
            self._bury(row for (row,) in db.execute("SELECT entry FROM entries WHERE standing = 'dead'"))
        elif event > self._event:
            sql = "SELECT DISTINCT j.value FROM events e, json_each(e.entries) j WHERE e.event > ?"
            touched.update(row for (row,) in db.execute(sql, (self._event,)))
        self._event = max(self._event, event)
        if touched and not first:
            self._look_again(db, touched)

    def _take_in_joined(self, db: Any) -> None:
        """Takes in the vectors of an empty shelf, so long as SQLite joins the codes byte by byte: that it treats bytes as text is not
        promised for bytes that are none, so that what it gives is measured. What is left is taken in row by row."""
        import numpy as np

        while True:
            count, last, entries, scopes, kinds, codes = db.execute(_JOINED, (self._vector, self.model, _BATCH)).fetchone()
            if not count or len(codes) != count * (HEADER + self.dimension):
                return
            rows, places, sorts = (np.fromstring(text, dtype=np.int64, sep=",") for text in (entries, scopes, kinds))
            self._put(rows, places, sorts, np.frombuffer(codes, dtype=np.uint8))
            self._vector = last

    def _take_in(self, db: Any, first: bool) -> Iterator[list[int]]:
        """Takes in new vectors, and tells for each batch whose they are."""
        rows = db.execute(
            "SELECT entry, scope, kind, code FROM vectors WHERE vector > ? AND model = ? ORDER BY vector", (self._vector, self.model)
        )
        while batch := list(islice(rows, _BATCH)):
            known = [] if first else self.places([row[0] for row in batch]).tolist()
            if any(place >= 0 for place in known):
                self._replace(batch, known)
            else:
                self._append(batch)
            yield [row[0] for row in batch]

    def _append(self, batch: Sequence[tuple[Any, ...]]) -> None:
        import numpy as np

        entries, scopes, kinds, codes = zip(*batch, strict=True)
        self._put(entries, scopes, [_KIND_NUMBERS.get(kind, -1) for kind in kinds], np.frombuffer(b"".join(codes), dtype=np.uint8))

    def _put(self, entries: Any, scopes: Any, kinds: Any, codes: NDArray[np.uint8]) -> None:
        """Puts vectors behind the ones that are there."""
        import numpy as np

        raw = codes.reshape(len(entries), HEADER + self.dimension)
        start, stop = self.count, self.count + len(entries)
        self._make_room(stop)
        self._rows[start:stop] = entries
        added = self._rows[max(0, start - 1) : stop]
        self._ascending = self._ascending and bool((added[1:] > added[:-1]).all())
        self._scopes[start:stop] = scopes
        self._kinds[start:stop] = kinds
        self._alive[start:stop] = True
        self._scales[start:stop] = np.ascontiguousarray(raw[:, :HEADER]).view("<f4")[:, 0]
        done = 0
        while done < len(entries):
            block, offset = divmod(start + done, BLOCK)
            some = min(len(entries) - done, BLOCK - offset)
            self._blocks[block][offset : offset + some] = raw[done : done + some, HEADER:].view(np.int8)
            done += some
        self.count = stop
        self._places = None
        if self._mean is not None:
            self._sign(start)

    def _replace(self, batch: Sequence[tuple[Any, ...]], known: Sequence[int]) -> None:
        """Vectors that were made anew take the place of the ones before; the others join them."""
        import numpy as np

        for item, place in zip(batch, known, strict=True):
            if place < 0:
                self._append([item])
                continue
            raw = np.frombuffer(item[3], dtype=np.uint8)
            self._blocks[place // BLOCK][place % BLOCK] = raw[HEADER:].view(np.int8)
            self._scales[place] = np.frombuffer(item[3], dtype="<f4", count=1)[0]
            if self._mean is not None:
                self._sign(place, place + 1)
            self.lists.replaced(place)

    def _make_room(self, wanted: int) -> None:
        import numpy as np

        while len(self._blocks) * BLOCK < wanted:
            self._blocks.append(np.empty((BLOCK, self.dimension), np.int8))
        room = len(self._blocks) * BLOCK
        if len(self._rows) < room:
            for name in ("_rows", "_scales", "_scopes", "_kinds", "_alive"):
                old = getattr(self, name)
                new = np.empty(room, old.dtype)
                new[: self.count] = old[: self.count]
                setattr(self, name, new)

    def _look_again(self, db: Any, rows: set[int]) -> None:
        """How the entries that something happened to stand now, and whether they still have a vector."""
        if len(rows) > _MANY:
            here = {row for (row,) in db.execute("SELECT entry FROM vectors WHERE model = ?", (self.model,))}
            dead = {row for (row,) in db.execute("SELECT entry FROM entries WHERE standing = 'dead'")}
            living, asked = here - dead, self._rows[: self.count].tolist()
        else:
            sql = """SELECT v.entry FROM vectors v JOIN entries e USING (entry)
                     WHERE v.model = ? AND v.entry IN (SELECT value FROM json_each(?)) AND e.standing <> 'dead'"""
            living, asked = {row for (row,) in db.execute(sql, (self.model, json.dumps([*rows])))}, [*rows]
        for row, place in zip(asked, self.places(asked).tolist(), strict=True):
            if place >= 0:
                self._alive[place] = row in living

    def _bury(self, rows: Iterator[int]) -> None:
        places = self.places([*rows])
        self._alive[places[places >= 0]] = False

    # looking

    def places(self, rows: Sequence[int]) -> Positions:
        """Where these entries lie; -1 for those that are not here. O(rows × log vectors)."""
        import numpy as np

        held = self._rows[: self.count]
        asked = np.asarray(rows, dtype=np.int64)
        if not len(held):
            return np.full(len(asked), -1, np.int64)
        if self._ascending:
            at = np.minimum(np.searchsorted(held, asked), len(held) - 1)
            return np.where(held[at] == asked, at, -1)
        if self._places is None:
            order = np.argsort(held, kind="stable").astype(np.int64)
            self._places = held[order], order
        ordered, order = self._places
        at = np.minimum(np.searchsorted(ordered, asked), len(ordered) - 1)
        return np.where(ordered[at] == asked, order[at], -1)

    def mask(self, scopes: Sequence[int] | None, kinds: Sequence[str] | None, *, rules: bool) -> Mask:
        """Which of the living vectors lie in these scopes and are of these kinds; None for all. O(vectors)."""
        import numpy as np

        n = self.count
        made = self._alive[:n].copy()
        if scopes is not None:
            held = self._scopes[:n]
            made &= held == scopes[0] if len(scopes) == 1 else np.isin(held, scopes)
        if kinds is not None:
            made &= np.isin(self._kinds[:n], [_KIND_NUMBERS[kind] for kind in kinds])
        elif not rules:
            made &= self._kinds[:n] != _KIND_NUMBERS["rule"]
        return made

    def best(self, question: Scores, mask: Mask, limit: int) -> tuple[list[int], list[float]]:
        """The entries nearest to a question among those of the mask, and their cosines, nearest first; ties go to the later entry."""
        import numpy as np

        n = len(mask)
        wanted = int(np.count_nonzero(mask))
        if wanted == 0:
            return [], []
        places: Positions | None
        if wanted > max(EXACT, 4 * (deep := max(DEEPEST, DEEPER * limit))):
            places = self.lists.likely(question, mask, wanted, max(LISTED, LISTED_DEEPER * limit))
            if places is None:
                places = self._likely(question, mask, deep)
        else:
            places = np.flatnonzero(mask)
        with one_thread():
            scores = self._all_scores(question, n)[places] if len(places) * 4 > n else self.scores(question, places)
        return self._first(places, scores, limit)

    def _widened(self, start: int, stop: int) -> Scores:
        """The vectors of a stretch of places in 32 bits."""
        import numpy as np

        made = np.empty((stop - start, self.dimension), np.float32)
        done = 0
        while done < len(made):
            block, offset = divmod(start + done, BLOCK)
            part = self._blocks[block][offset : min(BLOCK, offset + len(made) - done)]
            np.multiply(part, self._scales[start + done : start + done + len(part), None], out=made[done : done + len(part)])
            done += len(part)
        return made

    def _first(self, places: Positions, scores: Scores, limit: int) -> tuple[list[int], list[float]]:
        import numpy as np

        if len(places) > limit:
            # Everything as near as the last one that is wanted, so that ties are cut by the entries and not by chance.
            least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            kept = np.flatnonzero(scores >= least)
            places, scores = places[kept], scores[kept]
        rows = self._rows[places]
        order = np.lexsort((-rows, -scores))[:limit]
        return rows[order].tolist(), scores[order].tolist()

    def scores(self, question: Scores, places: Positions) -> Scores:
        """The cosines of some vectors with a question, rounded to six places."""
        import numpy as np

        made = np.empty(len(places), np.float32)
        order = np.argsort(places, kind="stable")
        sorted_places = places[order]
        edges = np.searchsorted(sorted_places, np.arange(len(self._blocks) + 1) * BLOCK)
        for block, (start, stop) in enumerate(pairwise(edges.tolist())):
            for begin in range(start, stop, _WIDE):
                end = min(stop, begin + _WIDE)
                wide = self._blocks[block][sorted_places[begin:end] - block * BLOCK].astype(np.float32)
                made[order[begin:end]] = wide @ question
        return np.round(made * self._scales[places], 6)

    def _all_scores(self, question: Scores, n: int) -> Scores:
        import numpy as np

        made = np.empty(n, np.float32)
        wide = np.empty((_WIDE, self.dimension), np.float32)
        for start in range(0, n, _WIDE):
            block, offset = divmod(start, BLOCK)
            size = min(_WIDE, n - start)
            part = wide[:size]
            part[...] = self._blocks[block][offset : offset + size]
            np.dot(part, question, out=made[start : start + size])
        return np.round(made * self._scales[:n], 6)

    # the sign bits

    def _sign(self, start: int, stop: int | None = None) -> None:
        """Sign bits of the vectors from one place on, about the mean, with ones for what is above it."""
        import numpy as np

        assert self._mean is not None
        n = self.count if stop is None else stop
        while len(self._bits) < len(self._blocks):
            self._bits.append(np.zeros((self._words, BLOCK), np.uint64))
        scaled, above = np.empty((_WIDE, self.dimension), np.float32), np.empty((_WIDE, self.dimension), np.bool_)
        padded = np.zeros((_WIDE, 8 * self._words), np.uint8)
        for begin in range(start - start % _WIDE, n, _WIDE):
            low, high = max(begin, start), min(begin + _WIDE, n)
            block, offset = divmod(low, BLOCK)
            held = self._blocks[block][offset : offset + high - low]
            # Compared in units of each vector's own scale: its codes against the mean divided by that scale.
            size = high - low
            np.multiply(held, self._scales[low:high, None], out=scaled[:size])
            np.greater(scaled[:size], self._mean, out=above[:size])
            packed = np.packbits(above[:size], axis=1, bitorder="little")
            padded[:size, : packed.shape[1]] = packed
            self._bits[block][:, offset : offset + size] = padded[:size].view("<u8").T

    def _likely(self, question: Scores, mask: Mask, deep: int) -> Positions:
        """The places that differ least from the question in their sign bits, at least `deep` of them if there are so many."""
        import numpy as np

        if self._mean is None:
            sample = min(self.count, _SAMPLE)
            widened = self._blocks[0][:sample].astype(np.float32) * self._scales[:sample, None]
            self._mean = widened.mean(axis=0)
            self._sign(0)
        packed = np.packbits(question > self._mean, bitorder="little")
        padded = np.zeros(8 * self._words, np.uint8)
        padded[: len(packed)] = packed
        asked = padded.view("<u8")
        n = len(mask)
        far = np.empty(n, np.uint16)
        for block in range(-(-n // BLOCK)):
            start, stop = block * BLOCK, min(n, (block + 1) * BLOCK)
            part = far[start:stop]
            part[...] = 0
            for word in range(self._words):
                part += np.bitwise_count(self._bits[block][word, : stop - start] ^ asked[word])
        far[~mask] = 64 * self._words + 1
        counts = np.cumsum(np.bincount(far, minlength=64 * self._words + 2))
        most = int(np.searchsorted(counts, deep))
        return np.flatnonzero(far <= min(most, 64 * self._words))
