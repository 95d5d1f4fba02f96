"""What answers hold beyond the façade's own records, which are sent as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from earnest.core.entry import Entry
from earnest.core.events import Event
from earnest.core.reports import Finding, Hit, Related
from earnest.core.rules import Rule
from earnest.core.survey import Card
from earnest.core.ticket import Appeal, Meter, PendingTicket
from earnest.core.uplift import Uplift


@dataclass(frozen=True, slots=True)
class EntryPage:
    """A page of entries; `next` is what to give as `after` for the page that follows, null on the last one."""

    items: list[Entry]
    next: str | None


@dataclass(frozen=True, slots=True)
class CardPage:
    """A page of entries with how they stand."""

    items: list[Card]
    next: str | None


@dataclass(frozen=True, slots=True)
class HitList:
    """What a search found, best first; `next` is always null: ask for more with a larger k."""

    items: list[Hit]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class TicketPage:
    """A page of open tickets."""

    items: list[PendingTicket]
    next: str | None


@dataclass(frozen=True, slots=True)
class AppealPage:
    """A page of second looks that are wanted."""

    items: list[Appeal]
    next: str | None


@dataclass(frozen=True, slots=True)
class EventPage:
    """A page of the log; `next` is the number to give as `after`."""

    items: list[Event]
    next: int | None


@dataclass(frozen=True, slots=True)
class MeterList:
    """Every meter."""

    items: list[Meter]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class UpliftList:
    """Several uplifts."""

    items: list[Uplift]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """An agent that has a memory here."""

    name: str


@dataclass(frozen=True, slots=True)
class AgentList:
    """The agents that the token may speak for and that have a memory."""

    items: list[AgentSummary]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """Who the caller is, by the token, and what the service is."""

    version: str
    token: str
    agent: str | None
    operator: bool
    read_only: bool
    channel: str
    store: str | None
    """The agent whose memory this service holds alone; null if it holds a folder of them."""


@dataclass(frozen=True, slots=True)
class NewTurnAnswer:
    """What a turn of a conversation left: the new entries, what found them, what did not go as asked, how much was known already."""

    items: list[Entry]
    by: str
    notes: list[str]
    known: int


@dataclass(frozen=True, slots=True)
class ClosedTicket:
    """A ticket that was closed without an outcome."""

    ticket: str
    abandoned: bool


@dataclass(frozen=True, slots=True)
class Recorded:
    """A measurement of doing nothing: the number of its event, and what the meter's word weighs on this channel."""

    event: int
    delta: float
    meter: str
    tier: str


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure took away, or would take: counts only. `complete` if it was carried out and nothing was found afterwards."""

    complete: bool
    subject: str
    dry_run: bool
    counts: Mapping[str, int]
    released: tuple[str, ...]
    event: int | None
    probed: Mapping[str, int]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """The entries that changed when an event was taken back."""

    event: int
    entries: list[str]


@dataclass(frozen=True, slots=True)
class Story:
    """An entry's life, in words."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Health:
    """What `doctor` found."""

    healthy: bool
    failing: bool
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class AccountsNow:
    """The accounts of energy, in micro-units. Their sum is zero."""

    accounts: Mapping[str, int]
    sum: int


@dataclass(frozen=True, slots=True)
class RulePage:
    """A page of rules."""

    items: list[Rule]
    next: str | None


@dataclass(frozen=True, slots=True)
class RuleList:
    """The rules that a text calls for, best first."""

    items: list[Rule]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class AnalysisAnswer:
    """The rules that an analysis proposed, by what, from how many patterns, and what did not go as asked."""

    items: list[Rule]
    by: str
    patterns: int
    notes: list[str]


@dataclass(frozen=True, slots=True)
class RelatedList:
    """What an entry is linked with."""

    items: list[Related]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class LinksCut:
    """How many links were cut."""

    cut: int


@dataclass(frozen=True, slots=True)
class SettingsNow:
    """The settings in force."""

    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Alive:
    """That the service is there."""

    status: str
