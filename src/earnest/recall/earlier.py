"""What was known at an earlier time and has been merged since: found by what it became, which says all that it said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from earnest.core.analysis import Analyser
from earnest.core.entry import Entry, StoredEntry
from earnest.core.filters import Filter
from earnest.protocols import Reading
from earnest.recall.search import Found

DEEP: Final = 8
"""Merges of merges that are followed back."""


def with_merged(
    reading: Reading, analyser: Analyser, found: Sequence[Found], chosen: Filter, k: int, again: Callable[[Filter], Sequence[Found]]
) -> list[Found]:
    """The hits of a question about an earlier time (`chosen.as_of`), with what was merged since among them, at most `k`, best first.

    An heir was made after that time, so that it is no hit itself; of its members, which say nothing that it does not, those that were known
    then have its relevance. `again` asks the question with another filter. Cost: that search, and O(the members of its hits).
    """
    then = chosen.as_of
    if then is None:
        return [*found]
    rows = {hit.stored.row for hit in found}
    made = [*found]
    for hit in again(replace(chosen, as_of=None)):
        created = hit.stored.entry.created
        if not hit.stored.entry.lineage or created is None or created <= then:
            continue
        for stored in _members(reading, hit.stored.entry.lineage, chosen, then):
            if stored.row not in rows:
                rows.add(stored.row)
                made.append(replace(hit, stored=stored, terms=frozenset(analyser.terms(stored.entry.text))))
    if len(made) == len(found):
        return made
    guards = sum(hit.stored.entry.cause == "executed" for hit in found)
    return sorted(made, key=lambda hit: (-hit.score, -hit.stored.row))[: k + guards]


def _members(reading: Reading, ids: Sequence[str], chosen: Filter, then: datetime) -> Iterator[StoredEntry]:
    waiting = [(name, 0) for name in ids]
    while waiting:
        name, depth = waiting.pop()
        stored = reading.entry(name)
        if stored is None or stored.entry.cause != "merged":
            continue
        if _held(stored.entry, chosen, then):
            yield stored
        elif depth < DEEP:
            waiting += [(each, depth + 1) for each in stored.entry.lineage]


def _held(entry: Entry, chosen: Filter, then: datetime) -> bool:
    """Whether an entry was recorded and valid by that time, and passes what the filter asks of time, source and tag. Its scope and kind are
    its heir's."""
    about = entry.valid_from or entry.created
    return (
        (entry.created is None or entry.created <= then)
        and (entry.valid_from is None or entry.valid_from <= then)
        and (entry.valid_to is None or entry.valid_to > then)
        and (chosen.sources is None or not set(chosen.sources).isdisjoint(entry.sources))
        and (chosen.tags is None or not set(chosen.tags).isdisjoint(entry.tags))
        and (chosen.since is None or (about is not None and about >= chosen.since))
        and (chosen.until is None or (about is not None and about <= chosen.until))
    )
