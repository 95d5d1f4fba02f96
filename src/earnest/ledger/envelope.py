"""The envelope of scheduled work: how much of a memory may be changed in a day by nobody's request, and how it is known to do no harm.

Consolidation (and whatever else is scheduled) changes at most a stated share of the living a day; the rest waits for the next one.
Questions whose answers are known are asked before and after: if one that was answered is not answered any more, everything that the
run did is taken back, and what it had merged is not tried again. A verb that somebody calls, starvation, and stores of fewer than
fifty living entries are not bound by the share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from earnest.core import check
from earnest.core.agreement import adds_nothing
from earnest.core.analysis import folded
from earnest.core.entry import Entry, StoredEntry
from earnest.core.events import Event
from earnest.errors import InvalidInput
from earnest.protocols import Reading, Writing

SMALL: Final = 50
"""Living entries below which a day's share would be less than a pair of duplicates: the share does not bind."""

CANARIES: Final = 50
"""Questions that a run chooses for itself, at most: two searches each."""

_PER_ENTRY: Final = 2
"""Questions about one entry, so that one that is asked often does not take all places."""

_SETTLED: Final = 200
"""Settlements that are looked through, newest first, for questions that were answered well."""

SCHEDULE: Final = "schedule"
"""How the log marks what scheduled work did."""

ROLLBACKS: Final = 1_000
"""Runs that were taken back, newest first, whose entries scheduled work leaves alone."""

_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Canary:
    """A question, and what counts as its answer: a text that the answer holds, or an entry's id; None is what is answered now."""

    question: str
    scope: str = ""
    expect: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A canary with the entry that answers it before anything is changed."""

    canary: Canary
    before: Entry


Ask = Callable[[str, str], Entry | None]
"""Who decides a question in a scope; None for silence."""


def checked(given: Iterable[Any] | None) -> list[Canary] | None:
    """Canaries from a caller: pairs of a question and what its answer holds, or mappings of `question`, `expect` and `scope`."""
    if given is None:
        return None
    made = []
    for place, item in enumerate(check.items("canaries", given)):
        name = f"canaries[{place}]"
        if isinstance(item, Mapping):
            unknown = set(item) - {"question", "expect", "scope"}
            if unknown:
                raise InvalidInput(name, sorted(unknown), "has no such fields; there are question, expect and scope")
            question, expect, scope = item.get("question"), item.get("expect"), item.get("scope", "")
        elif isinstance(item, Sequence) and not isinstance(item, str) and len(item) == 2:
            (question, expect), scope = item, ""
        else:
            raise InvalidInput(name, item, "must be a pair of a question and what its answer holds, or a mapping of question and expect")
        made.append(
            Canary(
                check.text(f"{name}.question", question),
                check.label(f"{name}.scope", scope, blank=True),
                None if expect is None else check.text(f"{name}.expect", expect),
            )
        )
    return made


def budget(reading: Reading, share: float, now: datetime) -> int | None:
    """How many living entries scheduled work may still change today; None where nothing bounds it. O(what it did today)."""
    living = reading.counter("alive") + reading.counter("suspended")
    merged = _scheduled(reading, "merge", now)
    compressed = len(_scheduled(reading, "supersede", now))
    merges = len(merged) + compressed
    used = sum(len(event.entries) - 1 for event in merged) + len(_scheduled(reading, "death", now)) + compressed
    if living < SMALL and used == 0:
        return None
    # What was merged or compressed today lived when the day began, and its heirs did not.
    return max(0, int(share * (living + used - merges)) - used)


def _scheduled(reading: Reading, kind: str, now: datetime) -> list[Event]:
    """The events of a kind that scheduled work wrote today. O(those of today)."""
    made: list[Event] = []
    after = 0
    while page := reading.events(entry=None, kind=kind, after=after, limit=_PAGE, newest=True):
        today = [event for event in page if event.at.date() == now.date()]
        made += [event for event in today if event.data.get("by") == SCHEDULE]
        if len(today) < len(page):
            break
        after = page[-1].seq
    return made


def left_alone(reading: Reading) -> frozenset[str]:
    """Entries that scheduled work merged once and had to take back."""
    events = reading.events(entry=None, kind="rollback", after=0, limit=ROLLBACKS, newest=True)
    return frozenset(entry for event in events for entry in event.entries)


def within(groups: Sequence[Sequence[StoredEntry]], most: int | None, avoided: frozenset[str]) -> list[Sequence[StoredEntry]]:
    """The groups that fit into what is left of the day, in order; a group is taken whole or waits."""
    made, used = [], 0
    for group in groups:
        if any(stored.entry.id in avoided for stored in group):
            continue
        if most is None or used + len(group) <= most:
            made.append(group)
            used += len(group)
    return made


def from_the_store(reading: Reading, groups: Sequence[Sequence[StoredEntry]]) -> list[Canary]:
    """Questions with known answers: first those about the entries that are to be changed, then those that were answered well lately.

    An entry's questions are its cue, and what it was asked when it decided and was measured.
    """
    made: dict[tuple[str, str], Canary] = {}
    for question, scope in _questions(reading, groups):
        if question:
            made.setdefault((question, scope), Canary(question, scope))
        if len(made) == CANARIES:
            break
    return list(made.values())


def _questions(reading: Reading, groups: Sequence[Sequence[StoredEntry]]) -> Iterator[tuple[str | None, str]]:
    """Questions that the store knows the answer to, each with its scope, read as they are asked for."""
    for stored in (stored for group in groups for stored in group):
        yield stored.entry.cue, stored.entry.scope
        for settled, role, _ in reading.settlements_of(stored.row, _PER_ENTRY):
            ticket = reading.ticket(settled.ticket_id)
            if ticket is not None and role == "deciding":
                yield ticket.query, stored.entry.scope
    for event in reading.events(entry=None, kind="settle", after=0, limit=_SETTLED, newest=True):
        ticket = reading.ticket(event.ticket) if event.ticket and event.data.get("delta", 0) > 0 else None
        share = next((share for share in ticket.shares if share.role == "deciding"), None) if ticket else None
        if ticket is not None and share is not None:
            [decider] = reading.entries([share.entry_row])
            yield ticket.query, decider.entry.scope


def known(canaries: Sequence[Canary], ask: Ask) -> list[Known]:
    """The canaries that are answered as they should be now: only they can tell whether a change did harm."""
    made = []
    for canary in canaries:
        before = ask(canary.question, canary.scope)
        if before is not None and (canary.expect is None or _holds(before, canary.expect)):
            made.append(Known(canary, before))
    return made


def broken(canaries: Sequence[Known], ask: Ask) -> list[Canary]:
    """Those that are not answered as before: by the same entry, by its heir, or by one that says all that it said."""
    return [one.canary for one in canaries if not _still(one, ask(one.canary.question, one.canary.scope))]


def rolled_back(tx: Writing, rows: Sequence[int], wrong: Sequence[Canary], *, canaries: int, stuck: int, **done: int) -> None:
    """Writes down that a run was taken back.

    Args:
        rows: The entries that it had changed, which scheduled work leaves alone from now on.
        wrong: The canaries that broke; none where the run could not be looked over.
        canaries: How many were asked.
        stuck: How much of it stands, because something was built on it.
        done: What it had done: `merges`, `faded`, `compressed`.
    """
    told = "; ".join(canary.question for canary in wrong)
    data = {"canaries": canaries, "broken": len(wrong), "stuck": stuck, **done}
    tx.append("rollback", entries=rows, data=data, note=told[: check.MAX_DETAIL])


def _holds(entry: Entry, expect: str) -> bool:
    return expect == entry.id or expect in entry.lineage or folded(expect) in folded(entry.text)


def _still(one: Known, after: Entry | None) -> bool:
    if after is None:
        return False
    if one.canary.expect is not None:
        return _holds(after, one.canary.expect)
    before = one.before
    return after.id == before.id or before.id in after.lineage or adds_nothing(before.text, after.text)
