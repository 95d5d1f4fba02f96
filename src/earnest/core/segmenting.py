"""Where words of Chinese end, by a dictionary: the extra `zh`. Only questions are cut by it, so that the index does not depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Final

from earnest.core.analysis import Analyser
from earnest.core.unspaced import Segmenter

LONGEST: Final = 200
"""Characters of one run that are cut; a longer one is taken by its pairs alone."""


@lru_cache(maxsize=8)
def analyser(languages: str) -> Analyser:
    """The analyser of these languages, which have commas between them, as every memory of a process uses it: one for all that are analysed
    alike, since each remembers up to 8,192 words, some 4 MB once it is full."""
    return Analyser(languages.split(",") if languages else (), cut)


def cut(run: str) -> Sequence[str]:
    """The words of a run of Chinese; none where the extra is not installed. Loaded by the first question that needs it."""
    segmenter = chinese()
    return segmenter(run) if segmenter else ()


@cache
def chinese() -> Segmenter | None:
    """The segmenter of the extra `zh`; None if that is not installed. Loading it takes 150 ms, once in a process."""
    try:
        import rjieba
    except ImportError:
        return None
    cutter: Any = rjieba

    def words(run: str) -> list[str]:
        return [] if len(run) > LONGEST else [str(word) for word in cutter.cut(run)]

    return words
