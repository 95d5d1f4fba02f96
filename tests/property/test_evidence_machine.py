"""A stateful machine: the ledger on a store against the same rule in memory, outcome by outcome.

`EvidenceState` knows no store, no log, no lazy rent and no cache; the ledger does. After every step both must have the same standings,
the same balances to the micro-unit, the same beliefs about the meters, and want the same second looks.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from earnest import Memory
from earnest.core.evidence_state import EvidenceState
from earnest.core.ticket import Revocation
from earnest.ledger import testimony
from earnest.testing.clock import ManualClock

PICK: Final = st.integers(0, 59)
DELTAS: Final = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 3.0, -3.0, 0.01, 1e300, -1e300]), st.floats(-4, 4, allow_nan=False).map(lambda x: round(x, 3))
)
METERS: Final = ("fair", "liar")
NEVER_EXPIRES: Final = 1_000_000


def word(number: int) -> str:
    letters = "bcfgkmpqvx"
    return "zx" + "".join(letters[int(digit)] for digit in f"{number:04}") + "q"


class SplitRng:
    """Names from one stream, chance from another, so that the rule in memory can draw the same chance."""

    def __init__(self, seed: int) -> None:
        self._names, self._chance = random.Random(seed), random.Random(seed + 1)

    def random(self) -> float:
        return self._chance.random()

    def token(self, size: int) -> bytes:
        return self._names.randbytes(size)


class EvidenceMachine(RuleBasedStateMachine):
    """Drives a `Memory` and an `EvidenceState` side by side."""

    @initialize(seed=st.integers(0, 10_000), entries=st.integers(1, 4))
    def opened(self, seed: int, entries: int) -> None:
        self.memory = Memory.open(
            clock=ManualClock(), rng=SplitRng(seed), settings={"floor": 0.0, "expire_after": NEVER_EXPIRES, "rule": "evidence"}
        )
        self.state: EvidenceState[str] = EvidenceState(random.Random(seed + 1).random, second=True)
        self.words: dict[str, str] = {}
        self.places: dict[str, tuple[str, int]] = {}
        self.said_by: dict[int, str] = {}
        self.revoked: set[str] = set()
        self.looked: Counter[tuple[str, str]] = Counter()
        self.steps = 0
        for _ in range(entries):
            self.add()

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            assert self.memory.check().problems == ()
            self.memory.close()

    @rule()
    def add(self) -> None:
        text = word(len(self.words) + 1)
        entry = self.memory.add(f"{text} filler")
        self.words[entry.id] = text
        self.state.add(entry.id)

    @rule(
        picks=st.lists(PICK, min_size=1, max_size=6), delta=DELTAS, meter=st.sampled_from(METERS),
        acted=st.sampled_from((None, True, True, False)), twice=st.booleans(),
    )  # fmt: skip
    def outcomes(self, picks: list[int], delta: float, meter: str, acted: bool | None, twice: bool) -> None:
        """Decisions of a few entries, settled in another order than they were taken; each entry at most once, so that none waits empty."""
        opened = []
        for entry in dict.fromkeys([*self.words][pick % len(self.words)] for pick in picks):
            ticket = self.memory.decide(self.words[entry])
            decision = self.state.decide([(entry, 1.0)])
            assert (ticket.id is None) == (decision is None)
            if ticket.id is not None and decision is not None:
                assert ticket.deciding is not None and ticket.deciding.id == decision.entry == entry
                assert (ticket.deciding.standing == "suspended") == decision.retrial
                opened.append((ticket.id, decision))
        for ticket_id, decision in reversed(opened) if twice else opened:
            made = self.memory.settle(ticket_id, delta=delta, meter=meter, acted=acted)
            change = self.state.settle(decision.place, delta, meter, acted=acted)
            self.places[ticket_id] = decision.entry, decision.place
            self.said_by[decision.place] = meter
            assert (made.suspended, made.cleared) == (change.suspended, change.cleared)

    @rule(pick=PICK, delta=DELTAS, meter=st.sampled_from(("second", "third")))
    def look(self, pick: int, delta: float, meter: str) -> None:
        if not self.places:
            return
        ticket = [*self.places][pick % len(self.places)]
        if self.looked[ticket, meter]:
            return
        self.looked[ticket, meter] += 1
        entry, place = self.places[ticket]
        made = self.memory.remeasure(ticket, delta=delta, meter=meter)
        change = self.state.remeasure(entry, place, delta, meter)
        assert made.landed and (made.suspended, made.cleared) == (change.suspended, change.cleared)

    @rule(delta=st.floats(-1, 1), meter=st.sampled_from(METERS))
    def control(self, delta: float, meter: str) -> None:
        self.memory.control(delta=delta, meter=meter)
        self.state.control(delta, meter)

    @rule(times=st.sampled_from((1, 1, 1, 2, 6)))
    def time(self, times: int) -> None:
        for _ in range(times):
            report = self.memory.tick()
            ticked = self.state.tick()
            assert {(entry, self.memory.get(entry).cause) for entry in report.died} == set(ticked.died)

    @rule(meter=st.sampled_from((*METERS, "second")), chance=st.integers(0, 5))
    def revoke(self, meter: str, chance: int) -> None:
        # Seldom: after it, little is left to compare.
        if not chance and meter in {made.name for made in self.memory.meters.list()}:
            self.take_back(meter)

    def take_back(self, meter: str) -> Revocation:
        made = self.memory.meters.revoke(meter)
        change = self.state.revoke(meter)
        self.revoked.add(meter)
        assert set(made.suspended) == set(change.suspended) and {*made.cleared, *made.returned} == set(change.cleared)
        return made

    @invariant()
    def agree(self) -> None:
        if not hasattr(self, "memory"):
            return
        with self.memory._store.read() as reading:
            evidence = testimony.Testimony(reading, self.memory._read_settings(reading))
            believed = reading.beliefs()
            stored = {entry: reading.entry(entry) for entry in self.words}
            odds = {entry: evidence.weigh(kept.row).odds for entry, kept in stored.items() if kept is not None}
        for entry, kept in stored.items():
            assert kept is not None
            account = self.state.entries[entry]
            expected: Any = account.ending or ("suspended" if account.suspended else "active")
            assert (kept.entry.cause or kept.entry.standing) == expected, entry
            assert odds[entry] == pytest.approx(self.state.evidence(account).odds, abs=1e-9)
            if account.alive:
                assert kept.entry.balance == account.held
        for name, (belief, *_) in believed.items():
            known = self.state.beliefs[name]
            assert (belief.lies, belief.words, belief.caught) == pytest.approx((known.lies, known.words, known.caught), abs=1e-9)
        wanted = {(appeal.entry, self.places[appeal.ticket][1]) for appeal in self.memory.appeals()}
        # The rule remembers what it asked for; nobody is asked to look at what does not count, or for the dead.
        living = [account for account in self.state.entries.values() if account.alive]
        counts = {place for place, meter in self.said_by.items() if meter not in self.revoked}
        assert wanted == {(account.name, place) for account in living for place in account.wanted if place in counts}


def test_the_ledger_on_a_store_does_what_the_rule_does_in_memory() -> None:
    run_state_machine_as_test(
        EvidenceMachine,
        settings=settings(
            max_examples=max(10, settings().max_examples // 4), stateful_step_count=40, deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )  # fmt: skip


def test_they_agree_over_long_lives_under_liars() -> None:
    seen: Counter[str] = Counter()
    for seed, lies in ((1, 0.1), (2, 0.35), (3, 0.5)):
        machine = EvidenceMachine()
        chance = random.Random(seed)
        machine.opened(seed=seed, entries=5)
        good = {entry: index != 0 for index, entry in enumerate(machine.words)}
        for _ in range(45):
            for index, entry in enumerate([*good] * 2):
                size = chance.choice((1.0, 0.5)) if good[entry] else -2.0
                said = -size if chance.random() < lies else size
                before = machine.state.entries[entry].suspended
                machine.outcomes([[*machine.words].index(entry)], said, METERS[index % 2], True, False)
                seen["tried again"] += before and not machine.state.entries[entry].suspended
            if chance.random() < 0.2 and machine.places:
                machine.look(chance.randrange(len(machine.places)), chance.choice((1.0, -1.0)), "second")
            machine.time(1)
            machine.agree()
        for meter in METERS:
            seen["returned"] += len(machine.take_back(meter).returned)
            machine.agree()
        seen.update(machine.memory.stats().by_cause)
        seen["alarms"] += len(machine.memory.events(kind="alarm"))
        seen["suspended"] += len(machine.memory.events(kind="suspend", limit=1_000))
        machine.teardown()
    assert all(seen[what] for what in ("tried again", "returned", "alarms", "suspended")), seen
