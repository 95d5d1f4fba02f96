"""Entries: what memory holds, and the account that each of them keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from earnest.core.injection import marks

Kind = Literal["semantic", "episodic", "procedural", "rule"]
Origin = Literal["explicit", "inferred", "entity", "cross_doc", "turn", "experience", "consolidated", "imported"]
Retention = Literal["earned", "fading", "kept"]
Standing = Literal["active", "suspended", "dead"]
Cause = Literal["executed", "starved", "faded", "merged", "superseded", "forgotten", "erased"]

KINDS: Final = ("semantic", "episodic", "procedural", "rule")
ORIGINS: Final = ("explicit", "inferred", "entity", "cross_doc", "turn", "experience", "consolidated", "imported")
RETENTIONS: Final = ("earned", "fading", "kept")
STANDINGS: Final = ("active", "suspended", "dead")
DEATHS: Final[Mapping[Cause, str]] = {
    "executed": "its advice did measured harm, and it ran out of energy",
    "starved": "it earned less than its rent, and ran out of energy",
    "faded": "it was not recalled for so long that it faded",
    "merged": "it was joined with near-duplicates into one entry",
    "superseded": "a newer version took its place, or its document does not say it any more",
    "forgotten": "somebody asked for it to be forgotten",
    "erased": "somebody asked for it to be erased",
}
"""What each cause of death means, in words."""
CAUSES: Final = tuple(DEATHS)


@dataclass(frozen=True, slots=True)
class Entry:
    """One self-contained memory, as it stood when it was read.

    `balance` is in micro-units of energy (1 energy = 1_000_000) and belongs to entries of retention `earned`. Times are aware
    and in UTC; `created` is None where the age is unknown. `last_settled_tick` is None until an outcome was settled on it.
    `heir` is the id of the entry that took over from a merged or superseded one.
    `strength` is the forgetting curve's stability in half-lives; `last_recalled` is when it was last recalled or its clock began anew
    (it came back, became fading, was unpinned), None if its clock runs since it was recorded.
    """

    id: str
    text: str
    cue: str | None
    kind: Kind
    origin: Origin
    sources: tuple[str, ...]
    scope: str
    importance: float
    confidence: float
    retention: Retention
    pinned: bool
    strength: float
    balance: int
    standing: Standing
    cause: Cause | None
    created: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    born_tick: int
    last_settled_tick: int | None
    recalls: int
    lineage: tuple[str, ...]
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    version: int
    heir: str | None = None
    last_recalled: datetime | None = None

    @property
    def alive(self) -> bool:
        """Whether the entry is active or suspended."""
        return self.standing != "dead"

    @property
    def marks(self) -> tuple[str, ...]:
        """What in its words aims at the reader, by the names of `earnest.core.injection.MARKS`; nearly always nothing. O(length)."""
        return tuple(dict.fromkeys((*marks(self.text), *marks(self.cue or ""))))


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry with what the ledger keeps about it: its account, its escrow and its place in the store.

    `recorded_balance` is what it held when the rent index stood at `rent_mark`; `entry.balance` is what it holds now.
    """

    entry: Entry
    row: int
    recorded_balance: int
    rent_mark: int
    open_tickets: int
    harmed: bool
    probation: int

    @property
    def may_decide(self) -> bool:
        """Whether a new ticket may name it as the decider: in good standing, not on probation, and not empty."""
        return self.may_support and self.probation == 0

    @property
    def in_quarantine(self) -> bool:
        """Whether it waits for an outcome only because of what its words aim at; see `earnest.core.write_gate`."""
        return self.probation > 0 and self.entry.origin != "imported" and bool(self.entry.marks)

    @property
    def may_support(self) -> bool:
        """Whether a new ticket may name it at all. On probation it may stand beside a decision, which is how it is borne out."""
        entry = self.entry
        return entry.standing == "active" and (entry.retention != "earned" or entry.pinned or entry.balance > 0)


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry that passed the door and is about to be written. Fields as in `Entry`; `redacted` are the kinds of what was masked, and
    `created` "now" is when it is written."""

    id: str
    text: str
    cue: str | None
    kind: Kind
    origin: Origin
    sources: tuple[str, ...]
    scope: str
    importance: float
    confidence: float
    retention: Retention
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    strength: float = 1.0
    probation: int = 0
    redacted: tuple[str, ...] = ()
    created: datetime | Literal["now"] | None = "now"


def held_now(recorded: int, mark: int, index: int, *, pays: bool, pinned: bool) -> int:
    """What an account holds when the rent index stands at `index`, in micro-units.

    Rent is lazy: a tick moves only the index, and an account owes the distance since its mark. A pinned entry pays what it
    can and rests at zero; any other may go below zero while a ticket keeps it from being buried.
    """
    if not pays:
        return recorded
    owed = index - mark
    if pinned:
        return max(recorded - owed, min(recorded, 0))
    return recorded - owed
