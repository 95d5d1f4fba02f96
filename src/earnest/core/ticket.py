"""Decisions and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from earnest.core.entry import Entry
from earnest.core.rules import Rule

TicketState = Literal["pending", "settled", "abandoned", "expired"]
Role = Literal["deciding", "supporting", "cited", "withheld"]
Tier = Literal["claimed", "operator", "measured"]

TIERS: Final[tuple[Tier, ...]] = ("claimed", "operator", "measured")

CHANNEL_TIERS: Final[dict[str, Tier]] = {
    "python": "measured",
    "settle-ci": "measured",
    "settle-evm": "measured",
    "cli": "operator",
    "dashboard": "operator",
    "mcp": "claimed",
    "http": "claimed",
}
"""What a settlement weighs by the channel that it came in by, when its meter was not bound to that channel. A program that embeds
the library is the operator's own code; a person types on the command line; an agent claims over MCP and HTTP."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What memory says to a question, with its provenance. Falsy when memory is silent.

    `text` is the deciding entry's text (empty on silence); `annotated` adds its age, its sources and any conflicting entries.
    """

    text: str
    deciding: Entry | None
    supporting: tuple[Entry, ...]
    annotated: str
    silent: bool
    from_memory: bool
    rules: tuple[Rule, ...] = field(default=(), kw_only=True)
    """The rules in force that the question calls for; of a ticket also those on trial whose coin came up so. They stand beside the answer,
    or in its place where no entry answers."""

    def __bool__(self) -> bool:
        return not self.silent


@dataclass(frozen=True, slots=True)
class Ticket(Answer):
    """An answer whose outcome is awaited. `id` is None when memory was silent: nothing was opened then.

    Slots of `Answer` hold the provenance; `exposure` is the probability with which these entries were shown. With `holdout`, memory
    would have answered but was withheld at random: the text is empty, and the outcome of doing without it is awaited all the same.
    """

    id: str | None = None
    holdout: bool = False
    exposure: float = 1.0


@dataclass(frozen=True, slots=True)
class Share:
    """One entry's part in a decision."""

    entry_row: int
    entry_id: str
    role: Role


@dataclass(frozen=True, slots=True)
class StoredTicket:
    """A ticket as the store keeps it."""

    row: int
    id: str
    query: str
    answer: str
    state: TicketState
    holdout: bool
    exposure: float
    opened_tick: int
    opened: datetime
    resolved_event: int | None
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class PendingTicket:
    """An open decision: who shaped it and how long it has been waiting."""

    id: str
    query: str
    answer: str
    deciding: str | None
    supporting: tuple[str, ...]
    opened_tick: int
    opened: datetime
    age_ticks: int
    holdout: bool = False


@dataclass(frozen=True, slots=True)
class Meter:
    """Who measures: a unit, a scale that turns its deltas into credit, and a trust tier that holds on the bound channels.

    `lie_rate` is None until it was learned: how often its words contradict their own entries' histories, 0 to 0.5. `baseline` is what it
    shows when nothing is done, in its unit; None without controls. In `alarm` it tells hardly anything. `revoked` is the number of
    the event from which its words do not count; None if they do.
    """

    name: str
    unit: str
    scale: float | None
    tier: Tier
    channels: tuple[str, ...]
    settlements: int
    total: float
    created: datetime
    lie_rate: float | None = None
    baseline: float | None = None
    alarm: bool = False
    revoked: int | None = None


@dataclass(frozen=True, slots=True)
class Control:
    """One measurement of doing nothing."""

    event: int
    meter: str
    channel: str
    tier: Tier
    delta: float
    scale: float
    tick: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Look:
    """One second measurement of a settled ticket."""

    event: int
    meter: str
    channel: str
    tier: Tier
    delta: float
    scale: float
    tick: int
    at: datetime


@dataclass(frozen=True, slots=True)
class SettledShare:
    """A settlement as the clock sees it: the row of the entry that decided (None in a holdout), and what was measured."""

    entry_row: int | None
    delta: float
    acted: bool | None
    tier: Tier
    meter: str


LookReason = Literal["first", "appeal", "random"]


@dataclass(frozen=True, slots=True)
class Appeal:
    """A second look that is wanted: measure what this ticket settled once more, by an instrument of its own.

    why: `first` (one of the entry's first outcomes), `appeal` (its standing is at stake) or `random` (drawn after the report was in).
    since: the tick of asking. meter and delta: who settled it, and what was reported.
    """

    ticket: str
    entry: str
    why: LookReason
    since: int
    asked: datetime
    query: str
    meter: str
    delta: float


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What `remeasure` did. Falsy when nothing landed; `reason` then says why in one sentence.

    `moved` is what the entries' accounts gained or lost by the correction, in micro-units; `suspended`, `cleared` and
    `buried` are entry ids.
    """

    landed: bool
    reason: str
    ticket: str
    delta: float | None = None
    meter: str | None = None
    tier: Tier | None = None
    moved: int = 0
    suspended: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()
    buried: tuple[str, ...] = ()
    tick: int | None = None

    def __bool__(self) -> bool:
        return self.landed


@dataclass(frozen=True, slots=True)
class StoredSettlement:
    """The one resolution of a ticket by a delta."""

    ticket_id: str
    event: int
    delta: float
    scale: float
    meter: str
    channel: str
    tier: Tier
    acted: bool | None
    detail: str
    tick: int
    at: datetime


@dataclass(frozen=True, slots=True)
class TicketRecord:
    """A decision and what became of it. `roles` tells each entry's part in it, by its id; `outcome` is None unless it was settled."""

    id: str
    query: str
    answer: str
    state: TicketState
    holdout: bool
    exposure: float
    opened_tick: int
    opened: datetime
    roles: Mapping[str, Role]
    outcome: StoredSettlement | None


@dataclass(frozen=True, slots=True)
class Credit:
    """What the world paid one entry for one settlement, or took from it, in micro-units. What exceeds the cap goes on to `cap`."""

    entry: str
    amount: int
    role: Role


@dataclass(frozen=True, slots=True)
class Settlement:
    """What `settle` did. Falsy when nothing landed; `reason` then says why in one sentence.

    `credits` are in micro-units; `suspended`, `buried` and `cleared` are entry ids.
    """

    landed: bool
    reason: str
    ticket: str
    delta: float | None = None
    meter: str | None = None
    tier: Tier | None = None
    credits: tuple[Credit, ...] = ()
    suspended: tuple[str, ...] = ()
    buried: tuple[str, ...] = ()
    tick: int | None = None
    cleared: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.landed


@dataclass(frozen=True, slots=True)
class Revocation:
    """What revoking a meter did: `since` is the event from which its words do not count. The others are entry ids; `returned` are
    executed ones that live again."""

    meter: str
    event: int
    since: int
    suspended: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()


def tier_of(meter_tier: Tier, channel: str, bound: bool) -> Tier:
    """The trust of a settlement: the meter's own tier where the operator bound it to the channel, else the channel's."""
    return meter_tier if bound else CHANNEL_TIERS.get(channel, "claimed")
