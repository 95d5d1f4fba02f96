"""Finding links: by the names that entries share, by what happened before and after, and by meaning. Within one agent and scope alone.

Names and neighbours in time are found by an index, as an entry is written. Likeness takes a search, so that it is found in `maintain`.
Everything found can be found again: nothing here is the only place where something is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from earnest.core import links
from earnest.core.analysis import Analyser
from earnest.core.calendar import FIRST, LAST
from earnest.core.entities import find_entities
from earnest.core.entry import Entry, StoredEntry
from earnest.core.filters import Filter
from earnest.core.links import Link
from earnest.core.ranking import similarity
from earnest.core.settings import Settings
from earnest.errors import NotAllowed
from earnest.protocols import Reading, Writing

AT_ONCE: Final = 8
"""Births in one transaction whose links are found in it. More of them are a bulk load, and wait for `maintain`."""

NAMES: Final = 6
"""Names of one entry that are looked up, the longest first."""

HUB: Final = 32
"""Entries that share a name from which it tells nothing: everybody is linked to a hub, and so nobody is."""

NAMED: Final = 0.9
"""Weight of a link by a name that no third entry holds."""

TURN: Final = 0.5
"""Weight of a link between a turn of a conversation and the next one."""

DAY: Final = 0.3
"""Weight of a link between two dated entries of one moment; a day apart it weighs half of that, and further apart there is none."""

DATED: Final = 2
"""Entries of about the same time that an entry is linked with."""

NEAREST: Final = 6
"""Entries alike that an entry is linked with."""

ALIKE: Final = 0.3
"""Share of their words from which two texts are linked as alike."""

NEAR: Final = 0.5
"""Cosine from which two texts are linked as alike, where the embedder says nothing of its own."""

BATCH: Final = 100
"""Entries whose links are found in one transaction of `maintain`."""

FIND, LIKEN = "linked", "linked:near"
"""Counters: the last row whose links by name and time, and by likeness, were found in order."""


def weave(tx: Writing, settings: Settings, analyser: Analyser, rows: Sequence[int], now: datetime) -> None:
    """Finds the links of entries that were just written or came back: by name, by time, and those that they inherit from what they
    replace. Some index look-ups for each.

    Raises:
        IndexDamaged: The index cannot be looked into.
    """
    if not settings.links:
        return
    for stored in tx.entries(rows):
        if not stored.entry.alive or stored.entry.kind == "rule":
            continue
        for link in (*_inherited(tx, stored), *_by_name(tx, analyser, stored), *_by_time(tx, stored)):
            add(tx, settings, link, now)
    if rows and tx.counter(FIND) == min(rows) - 1:
        tx.bump(FIND, max(rows) - tx.counter(FIND))


def add(tx: Writing, settings: Settings, link: Link, now: datetime) -> bool:
    """Writes a link unless an end of it is full of better ones; says whether it stands."""
    if link.entry == link.other:
        return False
    one, other, _ = link.key
    held = {row: tx.links_of([row]) for row in (one, other)}
    known = next((each for each in held[one] if each.key == link.key), None)
    if known is not None:
        made = links.joined(known, link)
        if made != known:
            tx.put_link(made)
        return True
    half_life = settings.decay_half_life
    leaving: dict[tuple[int, int, str], Link] = {}
    for row in (one, other):
        rest = [each for each in held[row] if each.key not in leaving]
        out = links.displaced(rest, link, settings.links, now, half_life)
        if out is None:
            return False
        leaving.update((each.key, each) for each in out)
    for each in leaving.values():
        tx.drop_link(each)
    tx.put_link(replace(link, entry=one, other=other, used=now))
    return True


def _inherited(tx: Writing, stored: StoredEntry) -> Iterator[Link]:
    """What somebody stated of the entries that this one replaces holds for it."""
    for parent, _, _ in tx.lineage(stored.row):
        for link in tx.stated_links(parent):
            yield Link(stored.row, link.end(parent), link.kind, link.weight, link.reason, True)


def _by_name(reading: Reading, analyser: Analyser, stored: StoredEntry) -> Iterator[Link]:
    entry = stored.entry
    found = find_entities([(entry.text, ("",))])
    shared: dict[int, list[tuple[str, float]]] = {}
    for name in sorted(found, key=lambda name: (-len(name), name))[:NAMES]:
        words = analyser.question(name).words
        terms = [word.terms[0] for word in words if word.weight >= 0.5]
        rows = [row for row in reading.holding(terms, entry.scope, 2**62, HUB + 1) if row != stored.row] if terms else []
        if not rows and len(terms) > 2 and entry.text.startswith(name):
            # "Restarting Kalar Seven takes an hour": the capital of the first word may be the sentence's.
            name = name.split(" ", 1)[1]
            rows = [row for row in reading.holding(terms[1:], entry.scope, 2**62, HUB + 1) if row != stored.row]
        if len(rows) < HUB:
            for row in rows:
                shared.setdefault(row, []).append((name, NAMED / (1 + len(rows)) ** 0.5))
    for other in reading.entries([*shared]):
        if other.entry.kind != "rule":
            names = shared[other.row]
            yield Link(stored.row, other.row, "entity", links.together(w for _, w in names), _reason("both name", [n for n, _ in names]))


def _reason(word: str, names: Sequence[str]) -> str:
    return f"{word} {', '.join(names)}"[:200]


def _by_time(reading: Reading, stored: StoredEntry) -> Iterator[Link]:
    entry = stored.entry
    place = Filter(scopes=(entry.scope,))
    if entry.kind == "episodic":
        for around in reading.placed([stored.row], place, 1):
            if not around.session:
                break
            for rows, said in ((around.before, "said just before it"), (around.after, "said just after it")):
                for row in rows[:1]:
                    yield Link(stored.row, row, "temporal", TURN, said)
            return
    day = timedelta(days=1)
    if entry.valid_from is None or not FIRST + day <= entry.valid_from <= LAST - day:
        return
    near = reading.within(place, entry.valid_from - day, entry.valid_from + day, 4 * DATED)
    apart: list[tuple[float, int]] = []
    for other in reading.entries([row for row in near if row != stored.row]):
        if other.entry.valid_from is not None:
            apart.append((abs((other.entry.valid_from - entry.valid_from) / day), other.row))
    for days, row in sorted(apart)[:DATED]:
        yield Link(stored.row, row, "temporal", DAY * 0.5**days, "about the same day")


def liken(tx: Writing, settings: Settings, analyser: Analyser, model: str, near: float, stored: StoredEntry, now: datetime) -> int:
    """Finds the links of one entry by likeness: by its vector of that model if it has one, else by words. Returns how many stand."""
    made = 0
    for link in alike(tx, analyser, model, near, stored):
        made += add(tx, settings, link, now)
    return made


def alike(reading: Reading, analyser: Analyser, model: str, near: float, stored: StoredEntry) -> list[Link]:
    """Links of an entry by likeness, the most alike first. A scan of the vectors, or one query of the index."""
    entry = stored.entry
    place = Filter(scopes=(entry.scope,))
    codes = reading.codes(model, [stored.row]) if model else {}
    if codes:
        from earnest.core.vectors import decoded

        vector = decoded([codes[stored.row]]).astype("<f4").tobytes()
        found = reading.nearest(model, vector, place, NEAREST + 1)
        least = near or NEAR
        return [
            Link(stored.row, row, "semantic", min(1.0, cosine), f"alike in meaning, {cosine:.2f}")
            for row, cosine in found
            if row != stored.row and cosine >= least
        ]
    mine = frozenset(analyser.terms(entry.text))
    candidates, _ = reading.candidates(analyser.question(entry.text), place, 4 * NEAREST, ALIKE)
    likeness = ((similarity(mine, candidate.text_terms), candidate.row) for candidate in candidates if candidate.row != stored.row)
    best = sorted((pair for pair in likeness if pair[0] >= ALIKE), reverse=True)[:NEAREST]
    return [Link(stored.row, row, "semantic", min(1.0, share), f"alike in words, {share:.2f}") for share, row in best]


def travel(tx: Writing, settings: Settings, ways: Mapping[tuple[int, int], datetime]) -> None:
    """Strengthens the links between these pairs of rows that recall went along, each at its time. O(links of the rows)."""
    wanted = {(min(way), max(way)): at for way, at in ways.items()}
    for link in tx.links_of([one for one, _ in wanted]) if wanted else []:
        at = wanted.get(link.key[:2])
        if at is not None:
            tx.put_link(links.travelled(link, at, settings.decay_half_life))


def later(tx: Writing, row: int) -> None:
    """Leaves the links of the entries from this row on to `maintain`."""
    for counter in (FIND, LIKEN):
        tx.bump(counter, min(0, row - 1 - tx.counter(counter)))


def state(
    tx: Writing, settings: Settings, one: StoredEntry, other: StoredEntry, kind: links.LinkKind, weight: float, why: str, now: datetime
) -> Link:
    """Writes a link that somebody states.

    Raises:
        NotAllowed: The two are one, lie in different scopes, one is dead, or one is full of stated links.
    """
    _of_one_scope(one.entry, other.entry)
    link = Link(one.row, other.row, kind, weight, why, True, now)
    if not add(tx, settings, link, now):
        raise NotAllowed(
            f"entry {one.entry.id} or {other.entry.id} has {settings.links} stated links already; unlink one, or raise the setting `links`"
        )
    return link


def _of_one_scope(one: Entry, other: Entry) -> None:
    if one.id == other.id:
        raise NotAllowed(f"entry {one.id} cannot be linked with itself")
    for entry in (one, other):
        if not entry.alive:
            raise NotAllowed(f"entry {entry.id} is dead ({entry.cause}) and cannot be linked; restore it first")
    if one.scope != other.scope:
        raise NotAllowed(f"entries {one.id} and {other.id} lie in scopes {one.scope!r} and {other.scope!r}: links never cross scopes")
