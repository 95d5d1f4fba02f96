"""What verbs report back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from earnest.core.entry import Entry

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry that a search found. `score` is its relevance (never its balance), 0 to 1 where the built-in ranking made it; `why`
    says what made it rank; `sure`, 0 to 1, is what a floor is compared with: how much of the question it answers."""

    entry: Entry
    score: float
    why: str
    sure: float = 0.0


@dataclass(frozen=True, slots=True)
class TickReport:
    """What one tick did. `died` holds entry ids; `merged` and `expired` are counts.

    `rent` is what was charged in it, in micro-units, less what was given back: below zero where more of earlier ticks came back.
    """

    tick: int
    population: int
    died: tuple[str, ...]
    merged: int
    expired: int
    rent: int


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """What a consolidation did, or would do on a dry run: groups of near-duplicates that agree, each with its heir's id."""

    merged: int
    groups: tuple[tuple[str, ...], ...]
    heirs: tuple[str, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """An entry that is linked with another: by which `kind` of link, how closely (`score`, 0 to 1, along the whole way; `weight` of its
    last link) and for what `reason`; `hops` links away, the last of them from the entry `via` (an id)."""

    entry: Entry
    kind: str
    score: float
    weight: float
    reason: str
    hops: int
    via: str


@dataclass(frozen=True, slots=True)
class CleanupReport:
    """Which entries faded, or would on a dry run, the longest unused first. `kept` counts those that have faded but are named by an open
    ticket: they wait for its verdict."""

    entries: tuple[Entry, ...]
    kept: int = 0
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one opinion about an entry did: the entry after it, and which of its numbers went from what to what.

    `counted` is False where it changed nothing because the day's bound was reached; `reason` says why less happened than was said.
    """

    entry: Entry
    verdict: str
    counted: bool
    changed: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """What scheduled work did, or would do on a dry run.

    `changed`: living entries that it changed. `budget`: how many it might still change today when it began; None where the share does
    not bind. `due`: how many wait for a later run (all of them, on a dry run). `groups` and `heirs` as in a consolidation. `canaries`:
    questions that were watched; `broken` those that were not answered as before, upon which everything was `rolled_back`, but for
    the heirs in `stuck`, on which something was built in between. `faded`: entries that the forgetting curve ended, or would. `linked`:
    entries whose links were looked for; links are derived, and no change of an entry; `to_link`: how many wait for the next run to be
    compared with others. `compressed`: pairs of an entry and its shorter version ("" on a dry run, of those that would be tried); `saved`
    counts the characters; `refused`: pairs of an entry and why it stayed as long as it was.
    """

    changed: int
    budget: int | None
    due: int
    groups: tuple[tuple[str, ...], ...]
    heirs: tuple[str, ...]
    canaries: int
    broken: tuple[str, ...]
    rolled_back: bool
    stuck: tuple[str, ...] = ()
    faded: tuple[str, ...] = ()
    linked: int = 0
    to_link: int = 0
    compressed: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    saved: int = 0


@dataclass(frozen=True, slots=True)
class CompressionReport:
    """What scheduled compression did, or would try on a dry run. `entries` are pairs of the original's id and the shorter version's ("" on
    a dry run); `saved` counts characters; `refused` are pairs of an id and why it stayed as it was. `due`, `budget`, `canaries`, `broken`
    and `rolled_back` as in `MaintenanceReport`."""

    entries: tuple[tuple[str, str], ...]
    saved: int
    refused: tuple[tuple[str, str], ...]
    due: int
    budget: int | None
    canaries: int
    broken: tuple[str, ...]
    rolled_back: bool


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of a document that no entry was made of. `text` is cut to 200 characters; `reason` is for people."""

    source: str
    text: str
    reason: str


FileState = Literal["encoded", "unchanged", "failed", "missing", "pruned"]


@dataclass(frozen=True, slots=True)
class EncodedFile:
    """What became of one file: it was `encoded`, was `unchanged` since it was encoded last, or `failed` for the `reason`.

    `missing`: it was encoded before and is not in its folder any more; its entries live on. `pruned`: they were ended, as asked.
    `entries` counts those it stands for if it was encoded, those that ended if it was pruned.
    """

    path: str
    source: str
    state: FileState
    entries: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class EncodeReport:
    """What encoding made. `entries` are those that the documents now stand for; `joined` counts drafts that were there already.

    `replaced` are the ids of entries that an earlier encoding of these sources made and that they do not say any more. `files`
    says what became of each file, where files were asked for. Where a language model was asked, `cost` counts its calls, tokens and US
    dollars, and `unfinished` are the documents that it did not finish: their text is stored as it is, and encoding them again goes on.
    """

    entries: tuple[Entry, ...]
    by_origin: Mapping[str, int]
    skipped: tuple[Skipped, ...]
    joined: int = 0
    replaced: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[EncodedFile, ...] = ()
    unfinished: tuple[str, ...] = ()
    cost: Mapping[str, float] = field(default_factory=dict)

    @property
    def failed(self) -> tuple[EncodedFile, ...]:
        """The files that could not be encoded."""
        return tuple(file for file in self.files if file.state == "failed")


@dataclass(frozen=True, slots=True)
class Vectors:
    """How far recall goes by meaning: the process's `model` (empty: none), how many living entries have a vector of it, how many lack it.

    `others` counts living entries by the models of which they have vectors that are kept unused. `problem` says why recall goes by words
    alone, or what went wrong last; it is empty if nothing did.
    """

    model: str = ""
    usable: int = 0
    missing: int = 0
    others: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts and sums of a store. Energy is in micro-units; `alive` counts active entries, suspended ones are apart.

    `energy` is what the living hold now and `accounts` what all other accounts hold now, the rent that accrued since it was last booked
    included: together they are zero.
    """

    agent: str
    alive: int
    suspended: int
    dead: int
    total: int
    pending: int
    tick: int
    energy: int
    by_kind: Mapping[str, int]
    by_cause: Mapping[str, int]
    by_scope: Mapping[str, int]
    accounts: Mapping[str, int]
    decisions: int
    silent: int
    settled: int
    abandoned: int
    expired: int
    dropped: int
    pinned: int
    by_tier: Mapping[str, int] = field(default_factory=dict)
    """Settlements by the trust they were made with: measured, operator (typed), claimed."""
    vectors: Vectors = field(default_factory=Vectors)
    rules: Mapping[str, int] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)
    redacted: int = 0
    """Secrets that the write gate masked in entries."""


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """What filling in vectors did: `made` by the embedder, `reused` from entries that say the same, `left` living entries without one.

    `failed` counts texts that the embedder could not embed, `why` tells of up to twenty of them by entry id; `cut` counts texts that
    were embedded in part because they were too long for it.
    """

    model: str
    made: int
    reused: int
    left: int
    failed: int = 0
    why: Mapping[str, str] = field(default_factory=dict)
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `doctor` found: what, how it knows, and what to do."""

    code: str
    severity: Severity
    summary: str
    evidence: str
    fix: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The state of a store's health. Healthy when nothing worse than an information was found."""

    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        """Whether there is neither an error nor a warning."""
        return all(f.severity == "info" for f in self.findings)

    @property
    def failing(self) -> bool:
        """Whether there is an error: the memory does not do its job as it is."""
        return any(f.severity == "error" for f in self.findings)


@dataclass(frozen=True, slots=True)
class Check:
    """Whether the store is whole. `problems` are sentences; `repaired` those that a repair mended; `head` is the log's last hash."""

    ok: bool
    problems: tuple[str, ...]
    repaired: tuple[str, ...] = ()
    events: int = 0
    head: str = ""

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True, slots=True)
class Audit:
    """A digest of the log over a window of events. Sums of deltas are per meter, in its unit; energy is in micro-units."""

    first: int
    last: int
    by_kind: Mapping[str, int]
    by_meter: Mapping[str, Mapping[str, Any]]
    by_tier: Mapping[str, int]
    credited: int
    fined: int
    gainers: tuple[tuple[str, int], ...]
    losers: tuple[tuple[str, int], ...]
