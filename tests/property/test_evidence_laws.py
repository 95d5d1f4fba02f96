"""Laws of selection by evidence on a store: orders that do not matter, meters that can be taken out, costs that do not grow."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earnest import Memory
from earnest.core import evidence as evidence_rule
from earnest.core.evidence import RULE, Heard, Word
from earnest.core.sizes import Law
from earnest.ledger import testimony
from earnest.testing import ManualClock, SeededRng

LETTERS = "bcfgkmpqvx"
COSTLY = settings(max_examples=max(6, settings().max_examples // 10), deadline=None, suppress_health_check=[*HealthCheck])


def word(number: int) -> str:
    return "zx" + "".join(LETTERS[int(digit)] for digit in f"{number:04}") + "q"


def opened(entries: int, **more: Any) -> tuple[Memory, list[str]]:
    memory = Memory.open(":memory:", clock=ManualClock(), rng=SeededRng(1), settings={"floor": 0.0, **more})
    return memory, [memory.add(f"{word(number)} filler").id for number in range(entries)]


def evidence(memory: Memory, entries: list[str]) -> list[tuple[str, float]]:
    """How each entry stands and what its words come to."""
    with memory._store.read() as reading:
        said = testimony.Testimony(reading, memory._read_settings(reading))
        made: list[tuple[str, float]] = []
        for entry in entries:
            stored = reading.entry(entry)
            assert stored is not None
            made.append((stored.entry.cause or stored.entry.standing, round(said.weigh(stored.row).odds, 9)))
        return made


@dataclass(frozen=True)
class Step:
    """One outcome of a history."""

    entry: int
    delta: float
    meter: str


STEPS = st.lists(
    st.builds(Step, st.integers(0, 3), st.sampled_from((1.0, 0.4, -0.4, -1.0, -2.5)), st.sampled_from(("a", "b"))), min_size=1, max_size=8
)
HISTORY = st.lists(STEPS, min_size=1, max_size=8)


@COSTLY
@given(steps=STEPS, seed=st.integers(0, 1_000))
def test_within_a_tick_the_order_of_settlements_changes_neither_evidence_nor_balances(steps: list[Step], seed: int) -> None:
    orders = [[*range(len(steps))] for _ in range(2)]
    random.Random(seed).shuffle(orders[1])
    found = []
    for order in orders:
        memory, ids = opened(4)
        tickets = [memory.decide(word(step.entry)).id for step in steps]
        for place in order:
            ticket = tickets[place]
            assert ticket is not None
            memory.settle(ticket, delta=steps[place].delta, meter=steps[place].meter)
        memory.tick()
        found.append((evidence(memory, ids), [memory.get(entry).balance for entry in ids]))
        assert memory.check().problems == ()
    assert found[0] == found[1]


@COSTLY
@given(history=HISTORY, controls=st.lists(st.floats(-0.5, 0.5), max_size=8))
def test_revoking_a_meter_is_as_if_it_had_never_spoken(history: list[list[Step]], controls: list[float]) -> None:
    """As far as the same decisions were taken: what the liar's words kept from deciding did not decide."""
    found = []
    for silent in (False, True):
        memory, ids = opened(4, stake=5.0)
        decided = []
        for tick, steps in enumerate(history):
            # All decisions of a tick are taken before its outcomes come in, and by entries that only `b` judges or nobody yet.
            tickets = [(step, memory.decide(word(step.entry)).id) for step in steps]
            if tick < len(controls):
                memory.control(delta=controls[tick], meter="b")
            for step, ticket in tickets:
                decided.append(ticket is not None)
                if ticket is None:
                    continue
                if step.meter == "a" and silent:
                    memory.abandon(ticket)
                else:
                    memory.settle(ticket, delta=step.delta, meter=step.meter)
            memory.tick()
        if not silent:
            memory.meters.revoke("a") if any(step.meter == "a" for steps in history for step in steps) else None
        found.append((decided, evidence(memory, ids)))
        assert memory.check().problems == ()
    if found[0][0] == found[1][0]:
        assert found[0][1] == found[1][1]


@COSTLY
@given(history=HISTORY)
def test_energy_is_conserved_and_undoing_a_revocation_restores_every_standing(history: list[list[Step]]) -> None:
    memory, ids = opened(4, stake=5.0)
    for steps in history:
        for step in steps:
            ticket = memory.decide(word(step.entry)).id
            if ticket is not None:
                memory.settle(ticket, delta=step.delta, meter=step.meter)
        memory.tick()
    before = evidence(memory, ids)
    for meter in memory.meters.list():
        revoked = memory.meters.revoke(meter.name)
        assert all(standing == "active" for standing, _ in evidence(memory, ids)) or len(memory.meters.list()) > 1
        memory.undo(revoked.event)
        assert evidence(memory, ids) == before
    # The check folds every posting: all accounts together, and each entry's against what it holds.
    assert memory.check().problems == ()


EXTREMES = st.sampled_from((0.0, 5e-324, -5e-324, 1.0, -1.0, 1e300, -1e300, 1.7e308, -1.7e308))
SCALES = st.sampled_from((1.0, 1e-300, 1e300))


@COSTLY
@given(deltas=st.lists(st.tuples(EXTREMES, SCALES), min_size=1, max_size=6), control=EXTREMES, look=EXTREMES)
def test_every_finite_number_lands_and_nothing_is_ever_without_a_number(
    deltas: list[tuple[float, float]], control: float, look: float
) -> None:
    memory, ids = opened(len(deltas))
    for number, (delta, scale) in enumerate(deltas):
        ticket = memory.decide(word(number)).id
        assert ticket is not None and memory.settle(ticket, delta=delta, scale=scale, meter="a").landed
        assert memory.remeasure(ticket, delta=look, scale=scale, meter="b").landed
        memory.control(delta=control, scale=scale, meter="a")
        memory.tick()
    shown = [number for meter in memory.meters.list() for number in (meter.total, meter.lie_rate, meter.baseline) if number is not None]
    assert all(math.isfinite(number) for number in shown)
    assert all(math.isfinite(odds) for _, odds in evidence(memory, ids)) and memory.check().problems == ()


@pytest.mark.parametrize("verb", ["settle", "remeasure", "tick"])
def test_what_a_word_costs_does_not_grow_with_the_population(verb: str) -> None:
    counted = []
    for population in (5, 600):
        memory, _ = opened(2)
        memory.add_many([{"text": f"Something else altogether, number {number}."} for number in range(population)])
        done = ""
        for _ in range(4):
            done = memory.decide(word(0)).id or ""
            memory.settle(done, delta=1.0, meter="a")
            memory.tick()
        ticket = memory.decide(word(0)).id
        assert ticket is not None
        statements: list[str] = []
        with memory._store.read() as reading:
            connection = reading._db  # type: ignore[attr-defined]
        connection.set_exec_trace(lambda cursor, sql, bindings, made=statements: made.append(sql) or True)
        if verb == "settle":
            memory.settle(ticket, delta=1.0, meter="a")
        elif verb == "remeasure":
            memory.remeasure(done, delta=1.0, meter="b")
        else:
            memory.tick()
        connection.set_exec_trace(None)
        counted.append(len(statements))
    assert counted[0] == counted[1] > 5


SAID = st.lists(st.tuples(st.floats(-4, 4).filter(lambda size: abs(size) > 0.05), st.integers(0, 2), st.sampled_from("ab")), max_size=14)


@given(said=SAID, size=st.floats(0.05, 4), rate=st.floats(0.02, 0.45), noise=st.floats(0, 1), later=st.booleans())
def test_one_more_harm_never_speaks_for_an_entry(
    said: list[tuple[float, int, str]], size: float, rate: float, noise: float, later: bool
) -> None:
    ear = (rate, evidence_rule.weight(rate), Law(0.9, 5.0, noise))
    ordered = sorted(said, key=lambda step: step[1])
    words = [Word(place, place, tick, meter, size_) for place, (size_, tick, meter) in enumerate(ordered, 1)]
    tick = max((word.tick for word in words), default=0) + later
    harm = Word(len(words) + 1, len(words) + 1, tick, "a", -size)
    before, after = (
        evidence_rule.folded([Heard(word, {}, RULE) for word in one], {"a": ear, "b": ear}, RULE.limit) for one in (words, [*words, harm])
    )
    assert after <= before + 1e-9
