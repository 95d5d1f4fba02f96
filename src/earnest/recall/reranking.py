"""A second look at the best hits by a model that reads question and text together. Optional, and never inside a transaction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from earnest.errors import EarnestError
from earnest.protocols import Reranker
from earnest.recall.search import Found

RERANKED: Final = 30
"""Hits that are looked at once more: a model that reads pairs takes milliseconds for each."""


def reranked(reranker: Reranker | None, query: str, found: list[Found]) -> tuple[list[Found], str]:
    """The hits with the best `RERANKED` of them in the order of the reranker's scores, and what went wrong with it, if anything did.

    Hits keep their own scores' descending order by place: a reranker says what comes first, not how relevant it is, and what a score is
    compared with means the same with and without one. Its own score is told among the parts. Where it fails or answers nonsense, the order
    stays as it was.
    """
    if reranker is None or len(found) < 2:
        return found, ""
    head, rest = found[:RERANKED], found[RERANKED:]
    try:
        scores = _numbers(reranker.rerank(query, [f.stored.entry.text for f in head]), len(head))
    except (EarnestError, OSError, RuntimeError, ValueError, TypeError) as error:
        return found, f"; not reranked: {type(error).__name__}: {error}"
    order = sorted(range(len(head)), key=lambda place: (-scores[place], place))
    made = [
        replace(head[place], score=head[rank].score, parts=(*head[place].parts, ("reranker", scores[place])))
        for rank, place in enumerate(order)
    ]
    return made + rest, ""


def _numbers(raw: Any, count: int) -> Sequence[float]:
    """The scores that a reranker gave, checked."""
    made = [float(score) for score in raw]
    if len(made) != count:
        raise ValueError(f"it gave {len(made)} scores for {count} texts")
    if not all(math.isfinite(score) for score in made):
        raise ValueError("it gave a score that is no finite number")
    return made
