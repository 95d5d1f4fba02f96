"""Where words of Chinese end, by a dictionary: the extra `zh`. Only questions are cut by it, so that the index does not depend on it."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from earnest.core.unspaced import Segmenter

LONGEST: Final = 200
"""Characters of one run that are cut; a longer one is taken by its pairs alone."""


@cache
def chinese() -> Segmenter | None:
    """The segmenter of the extra `zh`; None if that is not installed. Loading it takes 150 ms, once in a process."""
    try:
        import rjieba
    except ImportError:
        return None
    cutter: Any = rjieba

    def cut(run: str) -> list[str]:
        return [run] if len(run) > LONGEST else [str(word) for word in cutter.cut(run)]

    return cut
