"""Lists that are read page by page, so that no bound is hidden in them and no more is in memory than need be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

A = TypeVar("A")
T = TypeVar("T")

PAGE = 1_000


def paged(page: Callable[[A, int], Sequence[T]], after: A, place: Callable[[T], A], *, most: int | None = None) -> Iterator[T]:
    """The items of a list in order, each page read when it is needed.

    Args:
        page: Reads up to so many items after a place; fewer only at the end.
        after: The place to begin after.
        place: The place of an item.
        most: At most so many items; all of them unless given.
    """
    while most is None or most > 0:
        size = PAGE if most is None else min(PAGE, most)
        found = page(after, size)
        yield from found
        if len(found) < size:
            return
        after = place(found[-1])
        most = None if most is None else most - size
