"""What people see of a memory when they look it over: entries with how they stand, how it went, what is held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from earnest.core.entry import Entry
from earnest.core.ticket import PendingTicket, Role, StoredSettlement, Tier

Order = Literal["oldest", "newest", "richest", "poorest", "ended"]
ORDERS: Final[tuple[Order, ...]] = ("oldest", "newest", "richest", "poorest", "ended")
"""How entries are listed: by age; by what they hold (only those that pay rent); by when they died, the last first."""


@dataclass(frozen=True, slots=True)
class Card:
    """One entry, and what the ledger knows about it.

    `runway` is how many ticks of rent its balance covers; None where it pays none, or is pinned. `chance` is the probability that
    following it helps, by `words` measured outcomes; None as long as there are none. `probation` is how many outcomes it has to
    be borne out by before it may decide.
    """

    entry: Entry
    open_tickets: int
    probation: int
    runway: int | None
    chance: float | None
    words: int


@dataclass(frozen=True, slots=True)
class Judged:
    """What one more outcome did to the evidence of an entry. `size` is in scales of the meter, without its baseline; `chance` is the
    probability that following it helps after this outcome, with the meters as they are believed now."""

    event: int
    tick: int
    meter: str
    size: float
    second: bool
    chance: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """One settlement that named an entry, the part that it played, and what it moved on its account, in micro-units."""

    settlement: StoredSettlement
    role: Role
    moved: int


@dataclass(frozen=True, slots=True)
class Life:
    """The whole life of an entry: its card, the open tickets that name it, its latest verdicts (newest first), its evidence as it grew
    (oldest first), who was made of it, and its story in words. `prior` is how likely following an entry helps of which nothing is known."""

    card: Card
    tickets: tuple[PendingTicket, ...]
    verdicts: tuple[Verdict, ...]
    judged: tuple[Judged, ...]
    heirs: tuple[str, ...]
    story: str
    prior: float


@dataclass(frozen=True, slots=True)
class Point:
    """How a memory stood after one tick. `energy` and `rent` are in micro-units; `died` counts by cause who died since the tick before."""

    event: int
    tick: int
    at: datetime
    population: int
    suspended: int
    pending: int
    expired: int
    energy: int
    rent: int
    died: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settled:
    """What a meter measured between two ticks, with one trust: how many outcomes, their sum in its unit, and how many were harms."""

    tick: int
    meter: str
    tier: Tier
    count: int
    total: float
    harms: int


@dataclass(frozen=True, slots=True)
class History:
    """Up to so many ticks, oldest first, and what was settled in them. `more` says whether there were ticks before these."""

    points: tuple[Point, ...]
    settled: tuple[Settled, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Balances:
    """How many living entries hold how much: `counts[i]` hold from `i` to `i + 1` times `step` micro-units; the last also those at the
    cap, the first also those in debt."""

    step: int
    counts: tuple[int, ...]
    pinned: int
