"""Naming what is wrong with how a memory is used, with the evidence and the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from earnest.core.amounts import micro
from earnest.core.reports import Diagnosis, Finding, Vectors
from earnest.core.settings import Settings
from earnest.ledger import symptoms, symptoms_evidence, symptoms_use, uplift, walks
from earnest.ledger.embedding_doctor import embedding_findings
from earnest.protocols import Reading

INDEX_LAGS: Final = "it holds"
"""How a driver begins to say that the index holds another number of entries than live."""

Check = Callable[[Reading, Settings, Mapping[str, Any]], Iterator[Finding]]
"""A check: what it finds in a snapshot, given the settings and the totals. O(what is unusual), not O(entries)."""

# Below these counts a ratio says nothing yet.
MIN_DECISIONS: Final = 10
MIN_OUTCOMES: Final = 5
MIN_DEATHS: Final = 3
MIN_TICKS: Final = 10
QUIET_READ: Final = 200


class Remembered:
    """What checks that go by the log alone found at one head of it: so long as nothing is written, they find the same again.

    A store that is looked at more often than it is written to (a dashboard, a scrape) then makes its searches once. One head is kept.
    """

    def __init__(self) -> None:
        self._kept: tuple[str, dict[Check, tuple[Finding, ...]]] = ("", {})

    def findings(self, check: Check, reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> tuple[Finding, ...]:
        """What a check finds in a snapshot."""
        last = walks.latest(reading)
        head = last.hash if last else ""
        if self._kept[0] != head:
            self._kept = (head, {})
        known = self._kept[1]
        if check not in known:
            known[check] = tuple(check(reading, settings, totals))
        return known[check]


def diagnose(
    reading: Reading,
    settings: Settings,
    vectors: Vectors | None = None,
    without: Sequence[str] = (),
    remembered: Remembered | None = None,
) -> Diagnosis:
    """Looks at running numbers, at what is unusual, and at a few samples: the cost hardly grows with the store.

    `vectors` is how far recall goes by meaning in this process, `without` are ids of some entries that have no vector; `remembered` is
    what the same store was found to have before.
    """
    totals = reading.totals()
    made: list[Finding] = []
    for check in CHECKS:
        # Where the index is damaged, what was found by it once is not said again.
        if remembered is not None and check in BY_THE_LOG and not reading.index_problem():
            made += remembered.findings(check, reading, settings, totals)
        else:
            made += check(reading, settings, totals)
    if vectors is not None:
        made += embedding_findings(reading, vectors, without)
    order = {"error": 0, "warning": 1, "info": 2}
    return Diagnosis(tuple(sorted(made, key=lambda f: order[f.severity])))


def _n(totals: Mapping[str, Any], name: str) -> int:
    return int(totals.get(name, 0))


def _unmeasured(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    if _n(totals, "settled") == 0:
        yield Finding(
            "nothing_measured",
            "info",
            "Nothing has been measured yet, so nothing is known about how this memory does.",
            f"{_n(totals, 'decisions')} decisions, {_n(totals, 'silent')} silent answers, no settlement",
            "settle decisions by what they changed: memory.settle(ticket.id, delta=…, meter=…), or `earnest settle`",
        )


def _silent(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    silent, decisions = _n(totals, "silent"), _n(totals, "decisions")
    asked = silent + decisions
    if asked >= MIN_DECISIONS and silent > 0.8 * asked:
        yield Finding(
            "silent_majority",
            "error",
            "Memory is silent to most of what it is asked, so most questions can never earn.",
            f"{silent} of {asked} questions found nothing above the floor of {settings.floor}",
            "encode documents in the words that questions use, or lower the floor: `earnest config floor 0.3`",
        )


def _unpaid(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    settled = _n(totals, "settled")
    if settled >= MIN_OUTCOMES and _n(totals, "outcomes:zero") == settled:
        # Advice that only ever holds back is spared its rent under `evidence`: that may be all that this memory is for.
        spared = settings.rule == "evidence" and all(
            event.data["acted"] is False for event in reading.events(entry=None, kind="settle", after=0, limit=MIN_DECISIONS, newest=True)
        )
        ends = "what is not asked will starve" if settings.rule == "evidence" else "everything will starve"
        yield Finding(
            "never_paid",
            "warning" if spared else "error",
            f"Every outcome so far was zero: nothing can be told apart, and {ends}.",
            f"{settled} settlements, all with delta 0",
            "settle in a resource that moves when the advice is followed, and check that `verify` reads the answer as an action",
        )


def _cliff(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    starved, dead = _n(totals, "dead:starved"), _n(totals, "dead")
    if dead >= MIN_DEATHS and starved * 2 >= dead and _n(totals, "paid") == 0:
        life = settings.stake / settings.rent if settings.rent else 0
        yield Finding(
            "starvation_cliff",
            "error",
            "Entries starve before anything was ever earned: the clock runs, but nobody is paid.",
            f"{starved} of {dead} deaths by starvation, no positive outcome yet; a stake lasts {life:.0f} ticks",
            "tick only as often as outcomes come in, lower the rent, or keep protective knowledge with retention `kept` or a pin",
        )


def _ticking(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    since = _n(totals, "tick") - _n(totals, "last_paid_tick")
    if _n(totals, "paid") == 0 or since < MIN_TICKS or micro(settings.rent) == 0:
        return
    # A tick in which nothing was settled charges nothing under `evidence`: only those that did can starve anybody.
    ticks = reading.events(entry=None, kind="tick", after=0, limit=min(since, QUIET_READ), newest=True)
    quiet = sum(1 for event in ticks if event.data["rent"] != 0 or event.data["died"])
    if quiet < MIN_TICKS and totals["longest_runway"] is not None:
        return
    longest = totals["longest_runway"]
    left = 0 if longest is None else max(0, longest - _n(totals, "rent_index")) / micro(settings.rent)
    if quiet >= left:
        yield Finding(
            "ticking_without_evidence",
            "warning",
            "The clock runs on although nothing has been earned for long: what once earned will starve.",
            f"{since} ticks since the last credit, the longest runway left is {left:.0f} ticks",
            "tick where outcomes are settled, not by the wall clock",
        )


def _stale(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    oldest = totals["oldest_pending"]
    if oldest is not None and _n(totals, "tick") - oldest > settings.expire_after:
        yield Finding(
            "tickets_stale",
            "warning",
            "Decisions wait for an outcome that nobody brings.",
            f"tickets open: {totals['pending']:,}; the oldest waits for {_n(totals, 'tick') - oldest} ticks",
            "settle what was measured and abandon the rest: `earnest pending`, then `earnest settle` or `earnest abandon`",
        )


def _dropped(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    dropped, settled = _n(totals, "dropped"), _n(totals, "settled")
    if dropped >= MIN_OUTCOMES and dropped > 0.2 * (dropped + settled):
        yield Finding(
            "settlements_dropped",
            "warning",
            "Many settlements named a ticket that was not open: their outcomes were lost.",
            f"{dropped} dropped, {settled} landed",
            "settle each ticket once, before it expires, on the store that opened it; `landed` and `reason` say what happened",
        )


def _operator(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    settled, measured = _n(totals, "settled"), _n(totals, "tier:measured")
    typed, claimed = _n(totals, "tier:operator"), _n(totals, "tier:claimed")
    if typed > measured:
        yield Finding(
            "operator_settled",
            "warning",
            "More outcomes were typed by a person than measured: the numbers are only as good as the typing.",
            f"{typed} of {settled} settlements are marked operator, {measured} measured",
            "let a program measure, or bind the meter that it settles by: `earnest meters bind NAME CHANNEL`",
        )
    if claimed > measured:
        yield Finding(
            "agent_settled",
            "warning",
            "More outcomes were claimed by agents than measured: an agent may be grading its own work.",
            f"{claimed} of {settled} settlements are marked claimed, {measured} measured",
            "settle from outside the agent (CI, a disk, a wallet), or bind the meter: `earnest meters bind NAME CHANNEL`",
        )


def _index(reading: Reading, settings: Settings, totals: Mapping[str, Any]) -> Iterator[Finding]:
    problem = reading.index_problem()
    if problem:
        lags = problem.startswith(INDEX_LAGS)
        yield Finding(
            "index_lag" if lags else "index_damaged",
            "error",
            f"The keyword index {'does not hold what the entries say' if lags else 'is damaged'}: searches refuse to answer from it.",
            problem,
            "`earnest check --repair` rebuilds it from the entries",
        )


CHECKS: Final[tuple[Check, ...]] = (
    _unmeasured,
    _silent,
    _unpaid,
    _cliff,
    _ticking,
    _stale,
    _dropped,
    _operator,
    _index,
    symptoms.zombies,
    symptoms.escrow,
    symptoms.free_riders,
    symptoms.untracked,
    symptoms.contradictions,
    symptoms.rollbacks,
    symptoms_use.outdated,
    symptoms_evidence.lying_meters,
    symptoms_evidence.unanswered_appeals,
    symptoms_evidence.waivers,
    uplift.findings,
)
"""Every check that `doctor` makes. A part that can go wrong adds its own here."""

BY_THE_LOG: Final[frozenset[Check]] = frozenset({symptoms.contradictions})
"""Those that make searches, and whose findings can't change without an event: not with the clock, nor with what is noted of use."""
