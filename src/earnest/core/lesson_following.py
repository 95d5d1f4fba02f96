"""What a text of lessons takes over from another one, both come from a third: what was changed or taken away there alone. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from earnest.core.lessons import Fact, Lessons

_GONE: Final = object()
_SETS: Final = ("sources", "tags", "from")
_NAMING: Final = ("cited", "beside", "withheld")


def followed(base: Lessons, side: Lessons, other: Lessons) -> Lessons:
    """`side` with what `other` alone changed since `base`, so that joining the two does not bring back what was taken away.

    Outcomes, ends, looks, controls and steps of rules never go: they are at most told in another way. A link goes where `other` cut it,
    if `side` did no more than travel it. An open ticket goes where it ended without an outcome.
    """
    return replace(
        side,
        settings=_kept(base.settings, side.settings, other.settings),
        meters=_kept(base.meters, side.meters, other.meters),
        links=_kept(base.links, side.links, other.links, _stated),
        open=_kept(base.open, side.open, other.open),
        settled=_told(base.settled, side.settled, other.settled),
        ended=_told(base.ended, side.ended, other.ended),
        entries={
            name: _entry(base.entries[name], said, other.entries[name]) if name in base.entries and name in other.entries else said
            for name, said in side.entries.items()
        },
    )


def without(lessons: Lessons, base: Lessons | None, sides: tuple[Lessons, Lessons]) -> Lessons:
    """Without entries that were erased on a side, and those that one side alone no longer tells of and no decision names.

    What an erased entry decided goes as well, and so does everything that would be about an entry or a ticket that no line tells of.
    """
    kept = replace(
        lessons,
        open=dict(_spared(lessons.open, lessons.erased, 3)),
        settled=dict(_spared(lessons.settled, lessons.erased, 1)),
        ended=dict(_spared(lessons.ended, lessons.erased, 1)),
    )
    gone = set(lessons.erased)
    if base is not None:
        named = {name for facts, at in _decisions(kept) for fact in facts.values() for name in (fact[at], *_beside(fact))}
        named |= {name for fact in kept.open.values() for name in fact[4]}
        gone |= {
            name for one, other in (sides, sides[::-1]) for name, said in one.entries.items()
            if name in base.entries and name not in other.entries and name not in named and said == base.entries[name]
        }  # fmt: skip
    if not gone:
        return kept
    entries = {name: _unlinked(said, gone) for name, said in kept.entries.items() if name not in gone}
    return replace(
        kept,
        entries=entries,
        links={way: fact for way, fact in kept.links.items() if way[0] not in gone and way[1] not in gone},
        rules=frozenset(each for each in kept.rules if json.loads(each)[1] not in gone),
        looks=frozenset(each for each in kept.looks if json.loads(each)[1] in kept.settled),
    )


def _decisions(lessons: Lessons) -> Iterator[tuple[Mapping[str, Fact], int]]:
    """Facts about tickets, and where each names its decider."""
    yield from ((lessons.open, 3), (lessons.settled, 1), (lessons.ended, 1))


def _kept(
    base: Mapping[Any, Any], side: Mapping[Any, Any], other: Mapping[Any, Any], same: Callable[[Any], Any] = lambda said: said
) -> dict[Any, Any]:
    """What a side says, but where it says what it came from and the other does not: then what the other says, or nothing."""
    made: dict[Any, Any] = {}
    for name, said in side.items():
        stayed = name in base and same(said) == same(base[name])
        if not stayed or (name in other and other[name] == base[name]):
            made[name] = said
        elif name in other:
            made[name] = other[name] if said == base[name] else said
    return made


def _stated(link: Fact) -> Fact:
    """A link without its weight, which grows by being travelled."""
    return (*link[:3], link[4])


def _told(base: Mapping[str, Fact], side: Mapping[str, Fact], other: Mapping[str, Fact]) -> dict[str, Fact]:
    return {name: other[name] if name in other and base.get(name) == fact else fact for name, fact in side.items()}


def _entry(base: Mapping[str, Any], side: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Field by field: an id stands for one text, so that fields do not depend on each other."""
    made: dict[str, Any] = {}
    for name in {**side, **other}:
        was, here, there = (said.get(name, _GONE) for said in (base, side, other))
        chosen = there if here == was else here
        if name in _SETS and here != was != there != here:
            old, mine, others = ({*said} if isinstance(said, list) else set() for said in (was, here, there))
            chosen = sorted((mine | others) - (old - mine) - (old - others), key=str) or _GONE
        if chosen is not _GONE:
            made[name] = chosen
    return made


def _beside(fact: Fact) -> Iterator[str]:
    more = fact[-1]
    for role in _NAMING:
        yield from more.get(role, ())
    for entry, _, _, _, _, rival, _ in more.get("draws", ()):
        yield from (entry, rival)


def _spared(facts: Mapping[str, Fact], erased: frozenset[str], at: int) -> Iterator[tuple[str, Fact]]:
    """Decisions without erased entries. One that an erased entry made, or of which nothing is left, is gone."""
    for ticket, fact in facts.items():
        names = {fact[at], *_beside(fact), *(fact[4] if at == 3 else ())}
        if not erased & names:
            yield ticket, fact
            continue
        if at == 3:
            # The erasure ended it: an open ticket that names an erased entry ends without an outcome.
            continue
        more: dict[str, Any] = {name: value for name, value in fact[-1].items() if name not in (*_NAMING, "draws", "asked")}
        for role in _NAMING:
            if left := [name for name in fact[-1].get(role, ()) if name not in erased]:
                more[role] = left
        if draws := [
            [*draw[:5], "" if draw[5] in erased else draw[5], draw[6]] for draw in fact[-1].get("draws", ()) if draw[0] not in erased
        ]:
            more["draws"] = draws
        decider = "" if fact[at] in erased else fact[at]
        if decider or draws or "cited" in more or "beside" in more:
            yield ticket, (*fact[:at], decider, *fact[at + 1 : -1], more)


def _unlinked(said: Mapping[str, Any], gone: set[str]) -> dict[str, Any]:
    """An entry that names none of these as what it came from."""
    made = dict(said)
    if "from" in made and made["from"] != (left := [name for name in made["from"] if name not in gone]):
        made["from"] = left
        if not left:
            del made["from"]
    return made
