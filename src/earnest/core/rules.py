"""Rules: what to do when something comes up, and the few ways in which a rule may come into force and go out of it.

A rule is an entry of kind `rule`: its cue is the trigger, its text the action. Beside that it has a status. Nothing makes a
rule active but a person who accepts it, or a trial that proves it (`core.gate`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from earnest.core import check
from earnest.core.events import Event, micros
from earnest.core.gate import Judgement, Terms
from earnest.errors import InvalidInput, NotAllowed

RuleType = Literal["avoid", "prefer", "pattern", "workflow"]
Status = Literal["pending", "trial", "active", "rejected", "expired"]
Leave = Literal["accepted", "proved", "refused", "harmful", "unproven", "unused", "begun", "shifted", "doubted", "undone"]

TYPES: Final[tuple[RuleType, ...]] = ("avoid", "prefer", "pattern", "workflow")
"""avoid: what went wrong; prefer: what went well; pattern: what something is a sign of; workflow: steps in order."""
STATUSES: Final[tuple[Status, ...]] = ("pending", "trial", "active", "rejected", "expired")

NEXT: Final[Mapping[Status, frozenset[Status]]] = {
    "pending": frozenset({"trial", "active", "rejected"}),
    "trial": frozenset({"active", "rejected"}),
    "active": frozenset({"trial", "pending", "expired"}),
    "rejected": frozenset(),
    "expired": frozenset(),
}
"""Where a rule may go from each status. Rejected and expired rules stay so; only `undo` of the event that made them so leads back."""

REASONS: Final[Mapping[str, str]] = {
    "accepted": "accepted",
    "proved": "proved by a trial",
    "refused": "refused",
    "harmful": "rejected by a trial: it does harm",
    "unproven": "rejected by a trial: it could not be shown to help",
    "unused": "expired: too seldom used",
    "begun": "on trial",
    "shifted": "on trial again: outcomes have become worse since it was proved",
    "doubted": "pending again: outcomes have become worse since it was accepted",
    "undone": "taken back",
}
"""Why a rule has its status, in words."""

MAX_TRIGGER: Final = 300
MAX_ACTION: Final = 600

# What makes a pattern, by which rules are proposed.
DOUBTFUL: Final = 0.6
"""Confidence below which an entry that tells of a failure is an error pattern."""
VALUED: Final = 0.7
"""Importance from which an entry that was recalled is a success pattern …"""
RECALLED: Final = 2
"""… if it was recalled so often."""

FEW_HITS: Final = 3
"""Hits within a half-life below which an active rule expires at its end."""


@dataclass(frozen=True, slots=True)
class StoredRule:
    """What the store keeps of a rule beside its entry.

    `event` made its status what it is (None: it is pending since its birth). `ends` is when its half-life ends, and `hits_before` the
    hits that it had when that began; of active rules alone. `heard`, `level` and `alarm` are the watch on an active rule (`core.gate`).
    """

    row: int
    status: Status
    event: int | None
    ends: datetime | None
    hits_before: int
    heard: int
    level: float
    alarm: float


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """A trial as the store keeps it: of which rule, on what terms, the events that began and ended it, and what came of it."""

    number: int
    row: int
    terms: Terms
    begun: int
    ended: int | None
    verdict: str | None


@dataclass(frozen=True, slots=True)
class Experience:
    """Why an entry may give reason for a rule: its outcomes that were bad and good, and whether it is doubtful or valued and recalled."""

    row: int
    bad: int
    good: int
    doubtful: bool
    valued: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as people see it. `evidence` are the ids of the entries that it was made from.

    by: who accepted it, or what proved it, or why else it has its status. since: when it got it. trial: what its latest trial has
    shown so far, with the terms that were fixed before. score: how well it matches, where it was asked for by a text; 0 otherwise.
    """

    id: str
    type: RuleType
    trigger: str
    action: str
    status: Status
    hits: int
    evidence: tuple[str, ...]
    scope: str = ""
    by: str = ""
    since: datetime | None = None
    ends: datetime | None = None
    sources: tuple[str, ...] = ()
    trial: Trial | None = None
    score: float = 0.0
    standing: str = "active"

    @property
    def said(self) -> str:
        """The rule in one sentence: its trigger and its action. One that was written down as an entry has no trigger."""
        return f"{self.trigger}: {self.action}" if self.trigger else self.action


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial of a rule: its number in the store's life, its terms, what was measured, and how it ended (None while it runs)."""

    number: int
    terms: Terms
    seen: Judgement
    verdict: str | None


def before(rule: StoredRule, running: StoredTrial | None) -> dict[str, Any]:
    """What `undo` needs to bring a rule back to where it is."""
    return {
        "status": rule.status, "ends": None if rule.ends is None else micros(rule.ends), "hits_before": rule.hits_before,
        "heard": rule.heard, "level": rule.level, "alarm": rule.alarm, "trial": None if running is None else running.number,
    }  # fmt: skip


def moved(old: Status, new: Status, entry_id: str) -> Status:
    """The new status, if that step is allowed.

    Raises:
        NotAllowed: It is not; the message says what the rule's status is and which way leads on.
    """
    if new in NEXT[old]:
        return new
    if new == old:
        raise NotAllowed(f"rule {entry_id} is {old} already")
    if old in ("rejected", "expired"):
        raise NotAllowed(
            f"rule {entry_id} is {old} and stays so; `undo` of the event that made it so brings it back (`earnest audit --entry "
            f"{entry_id}` shows its number), or write another rule"
        )
    ways = ", ".join(sorted(NEXT[old]))
    raise NotAllowed(f"rule {entry_id} is {old} and cannot become {new}; from there it can become {ways}")


def type_of(metadata: Mapping[str, Any]) -> RuleType:
    """The type of a rule, as its entry's metadata has it; `prefer` where it has none."""
    said = metadata.get("rule")
    return next((name for name in TYPES if name == said), "prefer")


def lapse(rule: StoredRule, hits: int, now: datetime, half_life: timedelta) -> tuple[Status, datetime | None]:
    """What a half-life that has ended makes of an active rule: its status, and when the next one ends.

    Enough hits in one half-life carry it through the next. However late this is asked, the next one begins now.
    """
    if rule.ends is None or now < rule.ends:
        return rule.status, rule.ends
    if hits - rule.hits_before < FEW_HITS:
        return "expired", None
    return rule.status, later(now, half_life)


def later(now: datetime, by: timedelta) -> datetime | None:
    """A moment after now; None where that lies beyond every calendar."""
    try:
        return now + by
    except OverflowError:
        return None


def told(event: Event) -> str:
    """Who or what gave a rule its status, in words."""
    data, why = event.data, event.data.get("why")
    said = REASONS.get(str(why), str(why))
    who = f"by {event.actor} over {event.channel}" + (f" ({event.note})" if event.note else "")
    if why in ("accepted", "refused", "undone"):
        return f"{said} {who}"
    if why == "begun":
        return f"{said} (number {data['trial']}), begun {who}"
    if data.get("effect") is not None:
        spread = f"{data['effect']:+.3g} scale a decision, {data['low']:+.3g} to {data['high']:+.3g}"
        return f"{said} (trial {data['trial']}: {spread}, {data['shown'] + data['withheld']:,} decisions)"
    return said


def checked_fields(type: Any, trigger: Any, action: Any) -> tuple[RuleType, str, str]:
    """A rule's parts as a caller gave them, each checked; on one line each.

    Raises:
        InvalidInput: Names the part.
    """
    kind = check.choice("type", type, TYPES)
    parts = []
    for name, value, most in (("trigger", trigger, MAX_TRIGGER), ("action", action, MAX_ACTION)):
        said = " ".join(check.text(name, value).split())
        if len(said) > most:
            raise InvalidInput(name, value, f"is {len(said):,} characters long; of a rule's {name} at most {most} are kept")
        parts.append(said)
    return kind, parts[0], parts[1]
