"""What `doctor` looks for in the ledger itself: entries that cannot end, riders, tickets that pile up, contradictions, work taken back.

Each check is a function of a snapshot; each threshold is a named constant. `doctor` lists them in its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from earnest.core import segmenting
from earnest.core.agreement import disagreement, opposed
from earnest.core.amounts import micro
from earnest.core.analysis import Analyser
from earnest.core.entry import StoredEntry
from earnest.core.filters import Filter
from earnest.core.reports import Finding
from earnest.core.settings import Settings
from earnest.ledger import walks
from earnest.protocols import Reading

ZOMBIE_TICKS: Final = 10
"""Ticks that an entry may be empty, kept from its end by open tickets, before it is named: most verdicts are in by then."""

ZOMBIES_READ: Final = 1_000
"""Suspended entries that are looked at, the oldest first."""

ESCROW_TICKETS: Final = 100
"""Open tickets from which it matters how they compare with those that ended."""

RIDER_OUTCOMES: Final = 10
"""Outcomes that an entry must have been part of before what it never did says anything."""

RICHEST: Final = 20
"""Entries that are looked at for riders: what nobody lives from is no free ride."""

LATEST_OUTCOMES: Final = 100
"""Settlements that are looked through, newest first, for credit that reached nobody."""

UNTRACKED: Final = 0.5
"""Part of those whose outcome reached nobody from which it is a finding; at least `MIN_UNTRACKED` of them."""
MIN_UNTRACKED: Final = 5

NEWEST: Final = 25
"""Births, newest first, whose entries are compared with their nearest: a contradiction comes in with what is new."""

NEAREST: Final = 10
"""Entries that each of them is compared with."""

OPPOSING: Final = frozenset({"negation", "advice", "opposites"})
"""Ways to differ in which two texts cannot both be right. Two numbers or names may be two facts."""

ROLLBACK_DAYS: Final = 7
"""Days of the log for which a rollback is told."""

_TAKEN_BACK: Final = {"merges": "merges", "faded": "fadings", "compressed": "shorter texts"}
"""What a rollback counts, and how it is told."""


def zombies(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """Entries that are empty and cannot be buried, because tickets that nobody ends still name them. O(suspended entries)."""
    rent = micro(settings.rent)
    if not totals.get("suspended") or not rent:
        return
    suspended = reading.page(Filter(scopes=None, standings=("suspended",), rules=True), None, ZOMBIES_READ)
    held = [stored for stored in suspended if stored.open_tickets and -stored.entry.balance >= ZOMBIE_TICKS * rent]
    if held:
        worst = min(held, key=lambda stored: stored.entry.balance)
        ticks = -worst.entry.balance // rent
        yield Finding(
            "zombies",
            "warning",
            "Entries that should be dead are kept by tickets that nobody ends.",
            f"{len(held)} empty entries are named by open tickets; {worst.entry.id} has been empty for {ticks} ticks",
            "settle or abandon their tickets: `earnest pending`; a lower `expire_after` ends forgotten ones sooner",
        )


def escrow(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """Open tickets that pile up faster than they are ended."""
    pending = int(totals["pending"])
    ended = sum(int(totals.get(name, 0)) for name in ("settled", "abandoned", "expired"))
    if pending >= ESCROW_TICKETS and pending > ended:
        yield Finding(
            "escrow_buildup",
            "warning",
            "Decisions are opened and not ended: what they name can be neither judged nor buried.",
            f"{pending} tickets are open, {ended} were ever ended",
            "use `answer` (or `earnest query`) where no outcome will be measured; tick, so that old tickets expire",
        )


def free_riders(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """Entries that live from what they were recalled beside, and never decided anything. O(a few entries)."""
    if not totals.get("paid"):
        return
    riders = [stored for stored in reading.richest(RICHEST) if _rides(reading, stored)]
    if riders:
        yield Finding(
            "free_riders",
            "warning",
            "Entries live from outcomes that others decided.",
            f"{len(riders)} of the {RICHEST} richest were {RIDER_OUTCOMES} times paid as supporters alone; one is {riders[0].entry.id}",
            "take the supporters' share away: `earnest config supporting_share 0`, or use the rule `evidence`, under which it is 0",
        )


def _rides(reading: Reading, stored: StoredEntry) -> bool:
    found = reading.settlements_of(stored.row, RIDER_OUTCOMES)
    return len(found) == RIDER_OUTCOMES and all(role == "supporting" for _, role, _ in found) and sum(moved for *_, moved in found) > 0


def untracked(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """Outcomes that were measured and reached no entry. O(a few settlements)."""
    told = reading.events(entry=None, kind="settle", after=0, limit=LATEST_OUTCOMES, newest=True)
    real = [event for event in told if event.data["delta"] != 0 and event.data["tier"] == "measured"]
    if sum(not _reached(event.data) for event in real) < MIN_UNTRACKED:
        # Asked before any ticket is read: in a store that is well, hardly one outcome reached nobody.
        return
    real = [event for event in real if not _withheld(reading, event.ticket)]
    lost = [event for event in real if not _reached(event.data)]
    if len(lost) >= MIN_UNTRACKED and len(lost) > UNTRACKED * len(real):
        yield Finding(
            "credit_untracked",
            "warning",
            "Most outcomes reach no entry: what was measured judges nobody.",
            f"{len(lost)} of the last {len(real)} measured outcomes that were not zero moved nothing",
            "settle while the entries that decided are alive, and keep what is to be judged with retention `earned`",
        )


def _reached(data: Mapping[str, Any]) -> bool:
    """Whether an outcome paid or fined somebody, or (under `evidence`) says something of somebody."""
    return any(amount for _, amount in data["moved"]) or (data["rule"][0] == "evidence" and bool(data.get("words")))


def _withheld(reading: Reading, ticket_id: str | None) -> bool:
    ticket = reading.ticket(ticket_id) if ticket_id else None
    return ticket is not None and ticket.holdout


def contradictions(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """Entries that may both decide and say opposite things, among the newest and those nearest to them. O(a few searches)."""
    if not totals.get("alive") or reading.index_problem():
        return
    analyser = segmenting.analyser(settings.languages)
    pairs: dict[frozenset[str], tuple[str, str, str]] = {}
    for stored in _newest(reading):
        for other in _nearest(reading, analyser, stored):
            one, two = stored.entry, other.entry
            # Asked in this order: hardly any pair passes the first, which costs least.
            if opposed(one.text, two.text) and (reason := disagreement(one.text, two.text)) in OPPOSING:
                pairs[frozenset((one.id, two.id))] = (one.id, two.id, str(reason))
    if pairs:
        first, second, reason = next(iter(pairs.values()))
        yield Finding(
            "contradictions",
            "warning",
            "Entries that may both decide say opposite things.",
            f"{len(pairs)} pairs among the newest entries; {first} and {second} differ in {reason}",
            f"look at both (`earnest show {first}`, `earnest show {second}`), and forget or edit the wrong one; else outcomes must decide",
        )


def _newest(reading: Reading) -> list[StoredEntry]:
    born = [reading.events(entry=None, kind=kind, after=0, limit=NEWEST, newest=True) for kind in ("add", "encode", "supersede")]
    events = sorted((event for events in born for event in events), key=lambda event: -event.seq)[:NEWEST]
    found = [reading.entry(event.entries[0]) for event in events if event.entries]
    return [stored for stored in found if stored is not None and stored.may_decide]


def _nearest(reading: Reading, analyser: Analyser, stored: StoredEntry) -> Sequence[StoredEntry]:
    entry = stored.entry
    question = analyser.question(entry.text)
    if not question.words:
        return ()
    chosen = Filter(scopes=(entry.scope,), kinds=(entry.kind,), standings=("active",))
    found, _ = reading.candidates(question, chosen, NEAREST, 0.5)
    return [other for other in reading.entries([c.row for c in found]) if other.row != stored.row and other.may_decide]


def rollbacks(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    """Scheduled work that was taken back lately."""
    event, last = walks.latest(reading, "rollback"), walks.latest(reading)
    if event is None or last is None:
        return
    if last.at - event.at <= timedelta(days=ROLLBACK_DAYS):
        broken, asked, stuck = event.data["broken"], event.data["canaries"], event.data["stuck"]
        undone = ", ".join(f"{count} {name}" for key, name in _TAKEN_BACK.items() if (count := event.data.get(key))) or "nothing"
        fix = "look at the entries that it names (`earnest audit --kind rollback`): scheduled work leaves them alone from now on"
        if event.data.get("merges"):
            fix += f"; merge by hand what should be one, and raise merge_threshold (now {settings.merge_threshold:g}) if this comes again"
        yield Finding(
            "maintenance_rolled_back",
            "warning",
            "Scheduled work made known questions be answered worse, and was taken back.",
            f"event {event.seq} at {event.at:%Y-%m-%d %H:%M} UTC: {broken} of {asked} canary questions broke; taken back: {undone}"
            + (f"; {stuck} of them stand, for something was built on them" if stuck else ""),
            fix,
        )
