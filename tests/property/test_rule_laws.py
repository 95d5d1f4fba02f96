"""Laws of rules over random lives: only allowed steps, nothing in force without an approver or a proof, and a log that says so."""

from __future__ import annotations

import datetime
import math
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from earnest import Memory
from earnest.core.acting import Caller
from earnest.core.drafts import fault, neutral
from earnest.core.gate import ALPHA, Terms, alpha_of, judged, watched
from earnest.core.rules import MAX_ACTION, MAX_TRIGGER, NEXT, STATUSES, Status, moved
from earnest.core.uplift import Drawn
from earnest.errors import EarnestError, NotAllowed, NotUndoable
from earnest.testing import ManualClock, SeededRng

ASK: Final = "How do I deploy the payment service?"
CHANNELS: Final = ("python", "cli", "mcp", "http")


class Rules(RuleBasedStateMachine):
    """Everything that can happen to rules, in any order, over every channel."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock(datetime.datetime(2026, 1, 5, tzinfo=datetime.UTC))
        self.memory = Memory.open(":memory:", clock=self.clock, rng=SeededRng(3), settings={"rules_half_life": 10.0})
        self.ids: list[str] = []
        self.seen: dict[str, Status] = {}
        self.undone = False
        self.open: list[str] = []

    @initialize()
    def begin(self) -> None:
        self.memory.add("Deploys of the payment service go to the staging cluster first.", retention="kept")
        for text in ("Run the database migration first.", "Restart the cache twice.", "Tell the people on call."):
            made = self.memory.rules.add("workflow", trigger="deploying the payment service", action=text)
            self.ids.append(made.id)
            self.seen[made.id] = made.status

    def teardown(self) -> None:
        found = self.memory.check()
        assert found.ok, found.problems
        self.memory.close()

    def over(self, channel: str) -> None:
        self.memory._opened_for = Caller("someone", channel)

    @rule(which=st.integers(0, 2), accept=st.booleans(), channel=st.sampled_from(CHANNELS))
    def verify(self, which: int, accept: bool, channel: str) -> None:
        before = self.seen[self.ids[which]]
        self.over(channel)
        try:
            made = self.memory.rules.verify(self.ids[which], accept=accept)
        except NotAllowed:
            wanted: Status = "active" if accept else "rejected"
            assert wanted not in NEXT[before] or (accept and channel in ("mcp", "http"))
        else:
            assert made.status == ("active" if accept else "rejected") and not (accept and channel in ("mcp", "http"))

    @rule(which=st.integers(0, 2), channel=st.sampled_from(CHANNELS))
    def trial(self, which: int, channel: str) -> None:
        self.over(channel)
        try:
            made = self.memory.rules.trial(self.ids[which], decisions=50)
        except NotAllowed:
            assert "trial" not in NEXT[self.seen[self.ids[which]]] or channel in ("mcp", "http")
        else:
            assert made.trial is not None and 0 < made.trial.terms.alpha <= ALPHA

    @rule(count=st.integers(1, 12), effect=st.sampled_from((-1.0, 0.0, 1.0)), channel=st.sampled_from(("python", "mcp")))
    def live(self, count: int, effect: float, channel: str) -> None:
        for _ in range(count):
            self.over("python")
            ticket = self.memory.decide(ASK)
            if ticket.id is None:
                return
            shown = {one.id for one in ticket.rules}
            assert all(self.memory.rules.get(one).status in ("active", "trial") for one in shown)
            self.over(channel)
            self.memory.settle(ticket.id, delta=0.5 + 0.5 * effect * (len(shown) > 1), meter="ci", scale=1)

    @rule()
    def leave_open(self) -> None:
        self.over("python")
        ticket = self.memory.decide(ASK)
        if ticket.id is not None:
            self.open.append(ticket.id)

    @rule()
    def give_up(self) -> None:
        if self.open:
            self.memory.abandon(self.open.pop())

    @rule(days=st.integers(0, 12))
    def pass_time(self, days: int) -> None:
        self.clock.advance(days=days)
        self.over("python")
        self.memory.tick()

    @rule(which=st.integers(0, 2))
    def bury_and_bring_back(self, which: int) -> None:
        self.over("python")
        status = self.memory.rules.get(self.ids[which]).status
        try:
            self.memory.forget(self.ids[which])
        except NotAllowed:
            return
        assert self.ids[which] not in {one.id for one in self.memory.prefetch(ASK).rules}
        self.memory.restore(self.ids[which])
        assert self.memory.rules.get(self.ids[which]).status == status

    @rule()
    def take_back(self) -> None:
        events = self.memory.events(kind="rule", newest=True, limit=1)
        if not events:
            return
        try:
            self.memory.undo(events[0].seq)
        except NotUndoable:
            return
        self.undone = True
        [entry] = events[0].entries
        assert self.memory.rules.get(entry).status == events[0].data["before"]

    @invariant()
    def only_allowed_steps_were_made(self) -> None:
        for event in self.memory.events(kind="rule", limit=100_000):
            old, new = event.data["before"], event.data["status"]
            assert new in NEXT[old] or event.data["why"] == "undone", (old, new)
        self.undone = False
        self.seen = {one.id: one.status for one in self.memory.rules.list()}

    @invariant()
    def what_is_in_force_says_by_whom_or_by_what(self) -> None:
        for one in self.memory.rules.list(status="active"):
            assert one.by.startswith(("accepted by ", "proved by a trial", "taken back by ")), one.by
        with self.memory._store.read() as reading:
            for one in self.memory.rules.list():
                stored = reading.entry(one.id)
                assert stored is not None
                running = [trial for trial in reading.trials_of(stored.row) if trial.ended is None]
                assert len(running) == (one.status == "trial")

    @invariant()
    def only_what_is_in_force_reaches_a_prompt(self) -> None:
        active = {one.id for one in self.memory.rules.list(status="active")}
        assert {one.id for one in self.memory.prefetch(ASK).rules} <= active

    @invariant()
    def counts_agree(self) -> None:
        counted = {status: count for status in STATUSES if (count := len(self.memory.rules.list(status=status)))}
        assert dict(self.memory.stats().rules) == counted


def test_rules_keep_their_laws(request: pytest.FixtureRequest) -> None:
    full = request.config.getoption("--full")
    run_state_machine_as_test(
        Rules,
        settings=settings(
            max_examples=20 if full else 8, stateful_step_count=30 if full else 15, deadline=None, derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip


@given(st.sampled_from(STATUSES), st.sampled_from(STATUSES))
@settings(deadline=None, derandomize=True)
def test_a_step_is_made_or_refused_and_never_another(old: Status, new: Status) -> None:
    try:
        assert moved(old, new, "x") == new and new in NEXT[old]
    except NotAllowed as error:
        assert new not in NEXT[old] and old in str(error)


ROWS: Final = st.lists(st.tuples(st.booleans(), st.floats(allow_nan=False)), max_size=60)


@given(ROWS, st.integers(1, 500), st.integers(0, 20))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_a_judgement_stays_a_number_whatever_was_measured(rows: list[tuple[bool, float]], number: int, proved: int) -> None:
    terms = Terms(alpha_of(number, proved), decisions=50)
    made = judged([Drawn(0, shown, 0.5, outcome) for shown, outcome in rows], terms)
    assert 0 < terms.alpha <= ALPHA and made.decisions == len(rows)
    assert all(value is None or math.isfinite(value) for value in (made.effect, made.low, made.high, made.strength, made.mean))
    if made.effect is not None and made.low is not None and made.high is not None:
        assert made.low <= made.effect <= made.high
    if len(rows) >= 50:
        assert made.verdict != "open"


@given(st.lists(st.floats(allow_nan=False), max_size=200))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_the_watch_stays_a_number(outcomes: list[float]) -> None:
    state: tuple[int, float, float] = (0, 0.0, 0.0)
    for outcome in outcomes:
        *rest, worse = watched(*state, outcome)
        state = (int(rest[0]), float(rest[1]), float(rest[2]))
        assert math.isfinite(state[1]) and math.isfinite(state[2]) and -1 <= state[1] <= 1
        assert not worse or state[0] > 30


@given(st.text(max_size=400), st.text(max_size=700))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_any_text_can_be_looked_over_and_made_harmless(trigger: str, action: str) -> None:
    why = fault(trigger, action)
    assert why is None or (isinstance(why, str) and why)
    if len(trigger) > MAX_TRIGGER or len(action) > MAX_ACTION:
        assert why is not None
    plain = neutral(action)
    assert "<" not in plain and "```" not in plain and "\n" not in plain


@given(
    st.fixed_dictionaries(
        {}, optional={name: st.text(max_size=50) | st.integers() | st.none() for name in ("type", "trigger", "action", "scope")}
    )
)
@settings(deadline=None, derandomize=True, max_examples=80)
def test_a_rule_is_written_or_refused_with_a_typed_error(fields: dict[str, Any]) -> None:
    good: dict[str, Any] = {"type": "avoid", "trigger": "a key expired", "action": "check the key"}
    with Memory.open(":memory:", rng=SeededRng(1)) as memory:
        try:
            made = memory.rules.add(**{**good, **fields})
        except EarnestError:
            assert memory.stats().total == 0
        else:
            assert made.status == "pending" and memory.stats().rules == {"pending": 1}
