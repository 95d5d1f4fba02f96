"""Ranking by more than relevance, where a call or the store asks for it: what an entry earned, how sure its author was, how fresh it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from earnest.core.entry import StoredEntry
from earnest.recall.search import Found

DEEP: Final = 32
"""Hits that are weighed at least, so that one that ranked a little lower can come up."""


def weighed(found: Sequence[Found], by: Collection[str], factor: Callable[[str, StoredEntry], float], k: int) -> list[Found]:
    """The `k` best living hits by relevance times these factors, each 0 to 1; how sure a hit is, which a floor looks at, stays.

    Executed texts that guard a question keep their scores: what they warn of is not less so for being old.
    """
    made: list[Found] = []
    for f in found:
        if not f.stored.entry.alive:
            made.append(f)
            continue
        weights = tuple((name, factor(name, f.stored)) for name in by)
        made.append(replace(f, score=f.score * math.prod(share for _, share in weights), weights=weights))
    made.sort(key=lambda f: (-f.score, -f.stored.row))
    kept = {f.stored.row for f in [f for f in made if f.stored.entry.alive][:k]}
    return [f for f in made if f.stored.row in kept or not f.stored.entry.alive]
