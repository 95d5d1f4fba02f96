"""Finding near-duplicates that agree, without comparing every pair."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from earnest.core.agreement import difference
from earnest.core.analysis import Analyser
from earnest.core.entry import Entry, StoredEntry
from earnest.core.filters import Filter
from earnest.core.ranking import similarity
from earnest.core.ticket import CHANNEL_TIERS, Tier
from earnest.ledger import walks
from earnest.protocols import Reading

# Two entries that are alike to a part t share a term among the first (1 - t) of each, terms ordered by how rare they are (prefix filtering:
# Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007). Terms that many entries hold tell nothing and would bring all pairs back.
_COMMON: Final = 64
_LARGEST: Final = 20


def groups(reading: Reading, analyser: Analyser, threshold: float) -> tuple[list[list[StoredEntry]], list[str]]:
    """Groups of entries to merge, and near-duplicates that were refused with the reason.

    Within one scope, kind, retention, standing and trust; not pinned, not named by an open ticket, not on probation. Two belong
    together only if nothing tells one from the other, so that a group is a chain of ever more detail. Richer, then older entries lead.
    """
    living = walks.entries(reading, Filter(scopes=None))
    eligible = [stored for stored in living if not (stored.entry.pinned or stored.open_tickets or stored.probation)]
    terms = {stored.row: frozenset(analyser.terms(stored.entry.text)) for stored in eligible}
    by_row = {stored.row: stored for stored in eligible}
    candidates = _candidates(eligible, terms, threshold)
    eligible.sort(key=lambda s: (-s.entry.balance, s.row))
    settled: set[int] = set()
    made: list[list[StoredEntry]] = []
    refused: dict[frozenset[int], str] = {}
    for lead in eligible:
        if lead.row in settled:
            continue
        # What was compared with an earlier lead is not compared with it once more.
        settled.add(lead.row)
        group = [lead]
        for row in sorted(candidates(lead) - settled):
            if len(group) >= _LARGEST:
                break
            other = by_row[row]
            sizes = len(terms[lead.row]), len(terms[row])
            # Two sets cannot be more alike than their sizes are.
            if min(sizes) < threshold * max(sizes) or similarity(terms[lead.row], terms[row]) < threshold:
                continue
            # With the lead alone would not do: what adds "in Berlin" to it and what adds "in Paris" are not one.
            told_apart = ((member, _apart(reading, member, other)) for member in group)
            member, reason = next((pair for pair in told_apart if pair[1] is not None), (lead, None))
            if reason is None:
                group.append(other)
            elif len(refused) < 1_000:
                refused.setdefault(frozenset((member.row, row)), f"{member.entry.id} and {other.entry.id} differ in {reason}")
        if len(group) > 1:
            settled.update(stored.row for stored in group)
            made.append(group)
    return made, [*refused.values()]


def _apart(reading: Reading, lead: StoredEntry, other: StoredEntry) -> str | None:
    """What keeps two near-duplicates from being one entry: what they say, what they answer, when they hold, or who wrote them."""
    one, two = lead.entry, other.entry
    told = difference(one.text, two.text)
    if told is None and one.cue and two.cue:
        told = difference(one.cue, two.cue)
    if told is None and (one.valid_from, one.valid_to) != (two.valid_from, two.valid_to):
        told = "validity"
    if told is None and one.kind == "episodic" and {*one.sources} != {*two.sources}:
        # What happened twice is two events, however alike they were.
        told = "occasion"
    if told is None and birth_tier(reading, one) != birth_tier(reading, two):
        told = "trust"
    return told


def birth_tier(reading: Reading, entry: Entry) -> Tier:
    """How far the hand is trusted that wrote an entry: by the channel of its first event. What was imported is only claimed."""
    if entry.origin == "imported":
        return "claimed"
    [born] = reading.events(entry=entry.id, kind=None, after=0, limit=1, newest=False)
    return CHANNEL_TIERS.get(born.channel, "claimed")


def _class(stored: StoredEntry) -> tuple[object, ...]:
    entry = stored.entry
    # Entries of several sources are a trust boundary of their own: a mixed one never lends its sources to a plain one.
    return (entry.scope, entry.kind, entry.retention, entry.standing, len(entry.sources) > 1)


def _candidates(entries: Sequence[StoredEntry], terms: Mapping[int, frozenset[str]], threshold: float) -> Callable[[StoredEntry], set[int]]:
    """A function that gives the rows which an entry has to be compared with. O(terms) to make, near-linear over all entries."""
    kinds = {stored.row: _class(stored) for stored in entries}
    holding: Counter[tuple[object, str]] = Counter((kinds[row], term) for row in kinds for term in terms[row])
    telling: dict[int, list[str]] = {}
    holders: dict[tuple[object, str], list[int]] = defaultdict(list)
    for row, kind in kinds.items():
        held = sorted(terms[row], key=lambda term, kind=kind: (holding[kind, term], term))  # type: ignore[misc]
        telling[row] = held[: len(held) - math.ceil(threshold * len(held)) + 1]
        for term in telling[row]:
            holders[kind, term].append(row)

    def near(stored: StoredEntry) -> set[int]:
        lists = (holders[kinds[stored.row], term] for term in telling[stored.row])
        return {row for rows in lists if len(rows) <= _COMMON for row in rows}

    return near
