"""Links between entries: what kinds there are, how use strengthens them, how they fade, and which ones a full entry keeps. Pure.

A link has no direction. Its weight lies above 0 and at most at 1. Links that were found (derived) fade when nobody travels them, by
the same half-life as entries; links that somebody stated do not. Travelling strengthens, the more the longer the last time lies back,
so that asking the same thing a thousand times in a row adds next to nothing (Hebb 1949 for the rule, the spacing effect for the brake).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from earnest.core.fading import age_days, retention

LinkKind = Literal["semantic", "temporal", "entity", "related"]
KINDS: Final[tuple[LinkKind, ...]] = ("semantic", "temporal", "entity", "related")
"""What can be stored. `supersession` is told besides, from the lineage of versions and merges, and is no link that could be cut."""

LEARNS: Final = 0.25
"""Part of what a link's weight lacks to 1 that one trip adds at most."""

RESTED: Final = 1.0
"""Days after which a trip adds half of that; sooner it adds less."""

LEAST: Final = 0.05
"""Weight below which a link that was found is as good as gone."""

MOST: Final = 100
"""Links that an entry can have at the very most, whatever the setting."""

MOST_NODES: Final = 1_000
"""Entries that a walk over links visits at most."""

HOP: Final = 0.5
"""Factor for each hop beyond the first."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link between the entries of two rows. `used` is when it was made or last travelled; `stated` says that somebody made it by hand."""

    entry: int
    other: int
    kind: LinkKind
    weight: float
    reason: str = ""
    stated: bool = False
    used: datetime | None = None
    trips: int = 0

    @property
    def key(self) -> tuple[int, int, LinkKind]:
        """What tells it from every other link: its ends, the lower row first, and its kind."""
        return min(self.entry, self.other), max(self.entry, self.other), self.kind

    def end(self, row: int) -> int:
        """The entry at the other end."""
        return self.other if row == self.entry else self.entry


def weight(link: Link, now: datetime, half_life: float) -> float:
    """What a link weighs now, 0 to 1; `half_life` in days."""
    if link.stated or link.used is None:
        return link.weight
    return link.weight * retention(age_days(link.used, now), half_life)


def travelled(link: Link, now: datetime, half_life: float) -> Link:
    """The link after a trip: at least as heavy as it was before it, at most 1."""
    mine = weight(link, now, half_life)
    rest = 1.0 if link.used is None else 1.0 - retention(age_days(link.used, now), RESTED)
    return replace(link, weight=min(1.0, max(LEAST, mine + LEARNS * rest * (1.0 - mine))), used=now, trips=link.trips + 1)


def joined(known: Link, found: Link) -> Link:
    """A link that was there and is found once more: the heavier of both, stated if one of them is."""
    return replace(
        known,
        weight=max(known.weight, found.weight),
        stated=known.stated or found.stated,
        reason=found.reason if found.stated or not known.reason else known.reason,
    )


def displaced(links: Sequence[Link], new: Link, most: int, now: datetime, half_life: float) -> list[Link] | None:
    """Which links of an entry make room for a new one, so that it has at most `most`; None where the new one is not let in.

    Stated links never make room. A found one is only let in where it weighs more than what it displaces.
    """
    over = len(links) + 1 - most
    if over <= 0:
        return []
    found = sorted((link for link in links if not link.stated), key=lambda link: (weight(link, now, half_life), link.key))
    leaving = found[:over]
    if len(leaving) < over or most < 1:
        return None
    if not new.stated and any(weight(link, now, half_life) >= new.weight for link in leaving):
        return None
    return leaving


def together(weights: Iterable[float]) -> float:
    """What several reasons for one link weigh together: ``1 - Π(1 - w)``."""
    left = 1.0
    for each in weights:
        left *= 1.0 - each
    return 1.0 - left
