"""A list that is read page by page is read whole: every item once, in order, and nothing behind what was asked for."""

from __future__ import annotations

from typing import Final

import pytest

from earnest.core import paging
from earnest.core.paging import PAGE, paged

LENGTHS: Final = (0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 3 * PAGE + 7)


class Shelf:
    """Numbers from 1 on, read in pages; notes what was asked for."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.asked: list[tuple[int, int]] = []

    def page(self, after: int, size: int) -> list[int]:
        self.asked.append((after, size))
        return [*range(after + 1, min(after + size, self.length) + 1)]


@pytest.mark.parametrize("most", [None, 0, 1, PAGE - 1, PAGE, PAGE + 1, 10 * PAGE])
@pytest.mark.parametrize("length", LENGTHS)
def test_every_item_comes_once_in_order_and_no_more_than_asked(length: int, most: int | None) -> None:
    shelf = Shelf(length)
    found = [*paged(shelf.page, 0, lambda number: number, most=most)]
    assert found == [*range(1, (length if most is None else min(length, most)) + 1)]
    assert sum(size for _, size in shelf.asked) <= (length + PAGE if most is None else most)


def test_a_page_is_read_when_it_is_needed() -> None:
    shelf = Shelf(3 * PAGE)
    reading = paged(shelf.page, 0, lambda number: number)
    assert shelf.asked == [] and next(reading) == 1
    assert shelf.asked == [(0, paging.PAGE)]


def test_a_list_goes_on_after_a_place() -> None:
    assert [*paged(Shelf(5).page, 3, lambda number: number)] == [4, 5]
