"""What holds no more is not recalled: an entry says until when it holds, and a question without a time is about now."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final

from earnest.core import timewords
from earnest.core.entry import Entry
from earnest.core.filters import Filter

if TYPE_CHECKING:
    from earnest.recall.search import Found

_MORE: Final = 4
_MOST: Final = 4_000
"""Hits that are looked through at most for enough that hold."""


def holds(entry: Entry, now: datetime) -> bool:
    """Whether an entry may be recalled to a question about now: `valid_to`, if it has one, lies ahead.

    An event goes on having happened after its end, and the dead are looked at for other reasons.
    """
    return entry.valid_to is None or entry.valid_to > now or entry.kind == "episodic" or entry.standing == "dead"


def holding(found_of: Callable[[int], list[Found]], k: int, chosen: Filter, query: str, now: datetime) -> list[Found]:
    """The `k` best hits that hold, where the question is about now; all hits where it, or a filter, names a time.

    Args:
        found_of: Gives so many of the best hits.
        k: How many hits that are alive are wanted.

    Cost: one search, and a wider one only where something was found that holds no more.
    """
    found = found_of(k)
    if all(holds(hit.stored.entry, now) for hit in found):
        return found
    if chosen.since or chosen.until or chosen.as_of or timewords.spans(query, now):
        return found
    wide = k
    while True:
        kept = [hit for hit in found if holds(hit.stored.entry, now)]
        living = sum(hit.stored.entry.standing != "dead" for hit in kept)
        if living >= k or wide >= _MOST or sum(hit.stored.entry.standing != "dead" for hit in found) < wide:
            return best(kept, k)
        wide = min(_MORE * wide, _MOST)
        found = found_of(wide)


def best(found: list[Found], k: int) -> list[Found]:
    """The best hits up to the `k`th that is alive."""
    made: list[Found] = []
    for hit in found:
        if k <= 0:
            break
        made.append(hit)
        k -= hit.stored.entry.standing != "dead"
    return made
