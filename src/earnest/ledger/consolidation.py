"""Finding near-duplicates that agree, without comparing every pair."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from earnest.core.agreement import difference
from earnest.core.analysis import Analyser
from earnest.core.entry import Entry, StoredEntry
from earnest.core.filters import Filter
from earnest.core.ranking import similarity
from earnest.core.ticket import CHANNEL_TIERS, Tier
from earnest.protocols import Reading

_PAGE: Final = 1_000
# Candidates share one of an entry's rarest terms. A near-duplicate (similarity s) misses at most a part 1 - s of them, so that this
# many are enough to meet it; terms that many entries hold tell nothing and would bring all pairs back.
_RAREST: Final = 8
_COMMON: Final = 64
_LARGEST: Final = 20


def groups(reading: Reading, analyser: Analyser, threshold: float) -> tuple[list[list[StoredEntry]], list[str]]:
    """Groups of entries to merge, and near-duplicates that were refused with the reason.

    Within one scope, kind, retention, standing and trust; not pinned, not named by an open ticket, not on probation. Two belong
    together only if nothing tells one from the other, so that a group is a chain of ever more detail. Richer, then older entries lead.
    """
    eligible = [stored for stored in _living(reading) if not (stored.entry.pinned or stored.open_tickets or stored.probation)]
    terms = {stored.row: frozenset(analyser.terms(stored.entry.text)) for stored in eligible}
    holders: dict[tuple[object, ...], list[int]] = defaultdict(list)
    by_row = {stored.row: stored for stored in eligible}
    for stored in eligible:
        for term in terms[stored.row]:
            holders[(*_class(stored), term)].append(stored.row)
    eligible.sort(key=lambda s: (-s.entry.balance, s.row))
    taken: set[int] = set()
    made: list[list[StoredEntry]] = []
    refused: dict[frozenset[int], str] = {}
    for lead in eligible:
        if lead.row in taken:
            continue
        group = [lead]
        for row in _near(lead, terms, holders):
            if row in taken or row == lead.row or len(group) >= _LARGEST:
                continue
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
            taken.update(stored.row for stored in group)
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


def _near(lead: StoredEntry, terms: dict[int, frozenset[str]], holders: dict[tuple[object, ...], list[int]]) -> list[int]:
    kind = _class(lead)
    rarest = sorted(terms[lead.row], key=lambda term: (len(holders[(*kind, term)]), term))[:_RAREST]
    near: set[int] = set()
    for term in rarest:
        rows = holders[(*kind, term)]
        if len(rows) <= _COMMON:
            near.update(rows)
    return sorted(near)


def _living(reading: Reading) -> list[StoredEntry]:
    made: list[StoredEntry] = []
    after = None
    while True:
        page = reading.page(Filter(scopes=None), after, _PAGE)
        made += page
        if len(page) < _PAGE:
            return made
        after = page[-1].entry.id
