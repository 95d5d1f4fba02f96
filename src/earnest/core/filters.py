"""Which entries are looked at: filters are part of finding candidates, never a sieve over what was found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from earnest.core import check
from earnest.core.entry import KINDS, STANDINGS
from earnest.errors import InvalidInput


class _All:
    """The scope filter that takes every scope of the agent."""

    def __repr__(self) -> str:
        return "ALL"


ALL: Final = _All()


@dataclass(frozen=True, slots=True)
class Filter:
    """Exact conditions, all of which must hold. None means no condition.

    `as_of` keeps what was recorded by then and valid then; `since` and `until` bound the time that an entry is about
    (`valid_from`, else when it was recorded).
    """

    scopes: tuple[str, ...] | None = ("",)
    kinds: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    standings: tuple[str, ...] = ("active", "suspended")
    rules: bool = False
    """Whether entries of kind `rule` are looked at when no kind is named."""
    statuses: tuple[str, ...] | None = None
    """Only rules of these statuses."""

    def kinds_allow(self, kind: str) -> bool:
        """Whether entries of a kind can pass."""
        return kind in self.kinds if self.kinds is not None else self.rules or kind != "rule"


def replaced(chosen: Filter, **changes: Any) -> Filter:
    """A filter with some of its conditions changed; the values have been checked."""
    return replace(chosen, **changes)


def checked(
    *,
    scope: Any = "",
    kind: Any = None,
    source: Any = None,
    tags: Any = None,
    since: Any = None,
    until: Any = None,
    as_of: Any = None,
    standings: tuple[str, ...] = ("active", "suspended"),
) -> Filter:
    """A filter from what a caller gave, every part checked; a single name counts as a list of one."""
    scopes: tuple[str, ...] | None
    if scope is ALL:
        scopes = None
    elif isinstance(scope, str):
        scopes = (check.label("scope", scope, blank=True),)
    elif isinstance(scope, list | tuple | set | frozenset):
        if not scope or len(scope) > check.MAX_LIST:
            raise InvalidInput("scope", scope, f"a list of scopes holds 1 to {check.MAX_LIST} names; use ALL for every scope")
        scopes = tuple(dict.fromkeys(check.label("scope", name, blank=True) for name in scope))
    else:
        raise InvalidInput("scope", scope, "must be a name, a list of names, or ALL")
    if kind is None:
        kinds = None
    else:
        kinds = tuple(check.choice("kind", k, KINDS) for k in ([kind] if isinstance(kind, str) else _listed("kind", kind)))
    for standing in standings:
        check.choice("standing", standing, STANDINGS)
    made = Filter(
        scopes=scopes,
        kinds=kinds,
        sources=check.labels("source", source) or None,
        tags=check.labels("tags", tags) or None,
        since=check.moment("since", since),
        until=check.moment("until", until),
        as_of=check.moment("as_of", as_of),
        standings=standings,
    )
    if made.since and made.until and made.since > made.until:
        raise InvalidInput("since", since, "lies after `until`, so that nothing could match")
    return made


def _listed(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple) or not value or len(value) > check.MAX_LIST:
        raise InvalidInput(name, value, "must be one word or a list of words")
    return list(value)
