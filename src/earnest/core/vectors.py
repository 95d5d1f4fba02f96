"""Vectors as they are kept and compared: unit length, eight bits a component, and never across models.

A vector is stored row-wise quantised: a little-endian float32 `scale`, then one signed byte for each component; component i is
``scale × byte[i]``. The largest component gets ±127, and the scale makes the whole of unit length.
numpy is imported where it is needed: the bare install keeps no vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from earnest.errors import NotAvailable
from earnest.installed import bringing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

HEADER: Final = 4
"""Bytes of the scale before the components of a stored vector."""

LEVELS: Final = 127

UNREAD: Final = "vectors:unread"
"""The running number of embedded entries whose script the embedder said that it does not read."""

CUT: Final = "vectors:cut"
"""The running number of texts that were embedded in part, because they were too long for the embedder."""

MAX_DIMENSION: Final = 16_384

# A shorter vector than this has no direction that could be told from rounding.
_SHORTEST: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as a vector: the model that made it, and its unit vector as little-endian float32."""

    model: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class Embedded:
    """What an embedder gave for some texts: for each either its unit vector or what was wrong with it."""

    dimension: int
    vectors: tuple[bytes | None, ...]
    """Little-endian float32, of unit length; None where there is a problem."""
    problems: tuple[str | None, ...]


def numpy_here() -> bool:
    """Whether numpy is installed, without importing it."""
    return find_spec("numpy") is not None


def need_numpy(what: str, extra: str = "dense") -> None:
    """Raises NotAvailable if numpy is not installed."""
    if not numpy_here():
        raise NotAvailable(f"{what} needs numpy: {bringing(extra)} installs it")


def embedded_text(text: str, cue: str | None) -> str:
    """What is embedded of an entry: the question that it answers, if it has one, and what it says."""
    return f"{cue}\n{text}" if cue else text


def looked_over(raw: Any, count: int, dimension: int | None) -> Embedded:
    """What an embedder gave for `count` texts, checked row by row. O(count × dimension).

    `dimension` is what vectors of this model have; None if none is known yet, then the commonest of these rows counts.

    Raises:
        ValueError: It is no list of `count` vectors; the message says what came instead.
    """
    import numpy as np

    whole = _all_whole(raw, count, dimension)
    if whole is not None:
        return whole
    rows = _rows(raw, count)
    sizes = [None if row is None else len(row) for row in rows]
    known = [size for size in sizes if size]
    wanted = dimension or (max(set(known), key=lambda size: (known.count(size), size)) if known else 0)
    if wanted > MAX_DIMENSION:
        raise ValueError(f"gave vectors of {wanted} dimensions, at most {MAX_DIMENSION} are kept")
    vectors: list[bytes | None] = []
    problems: list[str | None] = []
    for row, size in zip(rows, sizes, strict=True):
        made, problem = None, None
        if row is None or not size:
            problem = "no vector"
        elif size != wanted:
            problem = f"a vector of {size} dimensions in place of {wanted}"
        elif not np.isfinite(row).all():
            problem = "a vector with NaN or infinity in it"
        else:
            # Scaled by the largest component first, so that no square overflows or vanishes.
            largest = float(np.abs(row).max())
            if largest < _SHORTEST:
                problem = "a vector of zeros, which points nowhere"
            else:
                scaled = row / largest
                made = (scaled / math.sqrt(float(scaled @ scaled))).astype("<f4").tobytes()
        vectors.append(made)
        problems.append(problem)
    return Embedded(wanted, tuple(vectors), tuple(problems))


def _all_whole(raw: Any, count: int, dimension: int | None) -> Embedded | None:
    """The same for a matrix in which nothing is wrong, as nearly all are, in a third of the time; None for anything else."""
    import numpy as np

    if not isinstance(raw, np.ndarray) or raw.ndim != 2 or raw.dtype.kind != "f" or not count or len(raw) != count:
        return None
    size = raw.shape[1]
    if not 0 < size <= MAX_DIMENSION or size != (dimension or size):
        return None
    matrix = raw.astype(np.float64, order="C")
    largest = np.abs(matrix).max(axis=1)
    # Not a number is not less than infinity either.
    if not (largest < np.inf).all() or (largest < _SHORTEST).any():
        return None
    matrix /= largest[:, None]
    # Row by row, as one vector alone would be measured: then it comes out the same in whatever company it is.
    matrix /= np.sqrt([float(row @ row) for row in matrix])[:, None]
    made, width = matrix.astype("<f4").tobytes(), 4 * size
    return Embedded(size, tuple(made[start : start + width] for start in range(0, len(made), width)), (None,) * count)


def _rows(raw: Any, count: int) -> list[Any]:
    """The rows of a matrix or list as float64 arrays of one dimension; None for a row that is none."""
    import numpy as np

    if isinstance(raw, str | bytes) or raw is None or not hasattr(raw, "__len__"):
        raise ValueError(f"gave {type(raw).__name__} in place of {count} vectors")
    if len(raw) != count:
        raise ValueError(f"gave {len(raw)} vectors for {count} texts")
    made: list[Any] = []
    for item in raw:
        try:
            row = None if item is None else np.asarray(item, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            row = None
        made.append(row if row is not None and row.ndim == 1 else None)
    return made


def encoded(vectors: Sequence[bytes]) -> list[bytes]:
    """Unit vectors (little-endian float32) in the form in which they are stored."""
    import numpy as np

    if not vectors:
        return []
    matrix = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)
    codes = np.rint(matrix * (LEVELS / np.abs(matrix).max(axis=1))[:, None]).astype(np.int8)
    # The scale makes what is kept of unit length again: then rounding turns a vector a little, and does not shorten it.
    scales = (1 / np.sqrt(np.square(codes, dtype=np.float32).sum(axis=1))).astype("<f4")
    heads, tails = scales.tobytes(), codes.tobytes()
    size = matrix.shape[1]
    return [heads[HEADER * i : HEADER * (i + 1)] + tails[size * i : size * (i + 1)] for i in range(len(vectors))]


def decoded(codes: Sequence[bytes]) -> Matrix:
    """Stored vectors of one dimension as float32[n, d], of about unit length."""
    import numpy as np

    size = len(codes[0])
    raw = np.frombuffer(b"".join(codes), dtype=np.uint8).reshape(len(codes), size)
    scales = np.ascontiguousarray(raw[:, :HEADER]).view("<f4")
    return raw[:, HEADER:].view(np.int8).astype(np.float32) * scales.astype(np.float32)


def dimension_of(code: bytes) -> int:
    """How many components a stored vector has."""
    return len(code) - HEADER


def question_vector(vector: bytes) -> NDArray[np.float32]:
    """A question's vector as float32[d]."""
    import numpy as np

    return np.frombuffer(vector, dtype="<f4").astype(np.float32, copy=False)
