"""A filter as SQL: fixed texts with bound values, to be part of whatever statement finds entries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from earnest.core.events import micros
from earnest.core.filters import Filter

_LISTED: Final = "(SELECT value FROM json_each(?))"
_SCOPES: Final = f"SELECT scope FROM scopes WHERE name IN {_LISTED}"


def conditions(chosen: Filter, *, indexed: bool = False) -> tuple[list[str], list[Any]]:
    """Conditions on `entries e` and the values bound to them. With `indexed`, without what the index and the shelves answer by themselves:
    scopes and kinds, and that an entry lives."""
    where: list[str] = []
    values: list[Any] = []

    def among(condition: str, names: Sequence[str]) -> None:
        where.append(condition)
        values.append(json.dumps([*names]))

    if not indexed:
        if chosen.scopes is not None and len(chosen.scopes) == 1:
            # One scope keeps the order of its index, so that a page of it is not sorted out of all of it.
            where.append("e.scope = (SELECT scope FROM scopes WHERE name = ?)")
            values.append(chosen.scopes[0])
        elif chosen.scopes is not None:
            among(f"e.scope IN ({_SCOPES})", chosen.scopes)
        if chosen.kinds is not None:
            among(f"e.kind IN {_LISTED}", chosen.kinds)
        elif not chosen.rules:
            where.append("e.kind <> 'rule'")
    if set(chosen.standings) != ({"active", "suspended"} if indexed else {"active", "suspended", "dead"}):
        among(f"e.standing IN {_LISTED}", chosen.standings)
    if chosen.statuses is not None:
        among(f"e.entry IN (SELECT entry FROM rules WHERE status IN {_LISTED})", chosen.statuses)
    if chosen.sources is not None:
        named = f"(SELECT source FROM sources WHERE name IN {_LISTED})"
        among(f"e.entry IN (SELECT entry FROM entry_sources WHERE source IN {named})", chosen.sources)
    if chosen.tags is not None:
        among(f"e.entry IN (SELECT entry FROM entry_tags WHERE tag IN {_LISTED})", chosen.tags)
    if chosen.since is not None:
        where.append("coalesce(e.valid_from, e.created) >= ?")
        values.append(micros(chosen.since))
    if chosen.until is not None:
        where.append("coalesce(e.valid_from, e.created) <= ?")
        values.append(micros(chosen.until))
    if chosen.as_of is not None:
        then = micros(chosen.as_of)
        where.append("coalesce(e.created, 0) <= ? AND coalesce(e.valid_from, ?) <= ? AND coalesce(e.valid_to, ?) > ?")
        values.extend((then, then, then, then + 1, then))
    return where, values


def scope_rows(db: Any, names: Sequence[str]) -> list[int]:
    """The rows of the scopes of these names; a scope that nothing was put into has none."""
    return [row for (row,) in db.execute(_SCOPES, (json.dumps([*names]),))]
