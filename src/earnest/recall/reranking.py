"""A second look at the best hits by a model that reads question and text together. Optional, and never inside a transaction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from earnest.core.reports import Finding
from earnest.errors import EarnestError
from earnest.protocols import Reranker
from earnest.recall.resting import Rest
from earnest.recall.search import RERANKER, Found

RERANKED: Final = 30
"""Hits that are looked at once more: a model that reads pairs takes milliseconds for each."""


class Reranking:
    """The reranker of one process, or the reason why it has none. It is shown questions and texts, never a balance. Safe for threads."""

    def __init__(self, reranker: Reranker | None, spec: str = "none", why_not: str | None = None) -> None:
        """`spec` is the setting that it was made for, `why_not` why that could not be made."""
        self._reranker = reranker
        self.spec, self.why_not = spec, why_not
        self.trouble: str | None = why_not
        """What went wrong when it was asked last; None if nothing did."""
        self._rest = Rest()

    @property
    def usable(self) -> bool:
        """Whether there is a reranker to ask."""
        return self._reranker is not None

    @property
    def resting(self) -> bool:
        """Whether the reranker was down a moment ago, so that nobody waits for it now."""
        return self._rest.under_way

    def depth(self, wanted: int) -> int:
        """How many hits to find where `wanted` are asked for: a reranker may lift what stands below the last of them."""
        return max(wanted, RERANKED) if self.usable else wanted

    def ordered(self, query: str, found: list[Found]) -> tuple[list[Found], str]:
        """The hits with the best `RERANKED` of them in the order of the reranker's scores, and what went wrong with it, if anything did.

        Hits keep their own scores' descending order by place: a reranker says what comes first, not how relevant it is, and what a score
        is compared with means the same with and without one. Its own score is told among the parts. Where it fails or answers nonsense,
        the order stays as it was.
        """
        if self._reranker is None:
            return found, "" if self.why_not is None or not found else f"; not reranked: {self.why_not}"
        if len(found) < 2:
            return found, ""
        if self.resting:
            return found, f"; not reranked: it failed a moment ago ({self.trouble})"
        head, rest = found[:RERANKED], found[RERANKED:]
        try:
            scores = _numbers(self._reranker.rerank(query, [f.stored.entry.text for f in head]), len(head))
        except (EarnestError, OSError, RuntimeError, ValueError, TypeError, OverflowError) as error:
            why = f"{type(error).__name__}: {error}"
            self.trouble = why
            if isinstance(error, EarnestError) and getattr(error, "passing", False):
                self._rest.begin()
            return found, f"; not reranked: {why}"
        self.trouble = None
        self._rest.end()
        order = sorted(range(len(head)), key=lambda place: (-scores[place], place))
        made = [
            replace(head[place], score=head[rank].score, parts=(*head[place].parts, (RERANKER, scores[place])))
            for rank, place in enumerate(order)
        ]
        return made + rest, ""

    def close(self) -> None:
        """Leave what is under way to itself: whoever waits for it gets the order as it was. Idempotent."""
        close = getattr(self._reranker, "close", None)
        if callable(close):
            close()


def _numbers(raw: Any, count: int) -> Sequence[float]:
    """The scores that a reranker gave, checked."""
    made = [float(score) for score in raw]
    if len(made) != count:
        raise ValueError(f"it gave {len(made)} scores for {count} texts")
    if not all(math.isfinite(score) for score in made):
        raise ValueError("it gave a score that is no finite number")
    return made


def findings(reranking: Reranking) -> Iterator[Finding]:
    """What `doctor` says about the reranker of this process: that it cannot be made, or that it failed when it was last asked."""
    if reranking.why_not is not None:
        yield Finding(
            "reranker_absent",
            "warning",
            "The store's reranker cannot be made here: hits stay in the order that recall gives them.",
            reranking.why_not,
            "mend what the message names, or `earnest config reranker none`",
        )
    elif reranking.trouble is not None:
        yield Finding(
            "reranker_failing",
            "warning",
            "The reranker failed when it was last asked: nothing is lost, hits stay in the order that recall gives them.",
            reranking.trouble,
            "mend what the message names; it is asked again by itself",
        )
