"""What taking back gives back: what an entry left, or a fresh stake; and which later event stands in the way of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest import Memory
from earnest.core.amounts import micro
from earnest.core.evidence import RULE
from earnest.errors import NotAllowed
from earnest.ledger.revocation import first_event
from earnest.testing import ManualClock, SeededRng
from tests.advice import ADVICE, ASKED, OTHER, OTHER_ASKED, opened, settle


@pytest.mark.parametrize("ticks", [0, 1, 4])
def test_what_was_forgotten_comes_back_with_what_it_held_and_what_starved_with_a_fresh_stake(ticks: int) -> None:
    with opened(settings={"rule": "classic", "stake": 0.25, "rent": 0.05}) as memory:
        entry = memory.add(ADVICE)
        for _ in range(ticks):
            memory.tick()
        held = memory.get(entry.id).balance
        assert held == micro(0.25) - ticks * micro(0.05)
        memory.forget(entry.id, reason="by mistake")
        [event] = memory.events(kind="forget")
        memory.undo(event.seq)
        assert memory.get(entry.id).balance == held
        while memory.get(entry.id).alive:
            memory.tick()
        [death] = memory.events(kind="death")
        memory.undo(death.seq)
        assert memory.get(entry.id).balance == micro(0.25) and memory.check().problems == ()


def test_a_revocation_is_taken_back_unless_the_same_meter_was_revoked_again_since() -> None:
    with opened() as memory:
        one, other = memory.add(ADVICE), memory.add(OTHER)
        settle(memory, ASKED, -2.0, "a")
        settle(memory, OTHER_ASKED, -2.0, "b")
        first, second = memory.meters.revoke("a"), memory.meters.revoke("b")
        assert {memory.get(each.id).standing for each in (one, other)} == {"active"}
        memory.undo(first.event)
        assert [memory.get(each.id).standing for each in (one, other)] == ["suspended", "active"], "of the other meter nothing changed"
        again = memory.meters.revoke("b")
        with pytest.raises(NotAllowed, match=f"event {again.event} revoked the meter again later"):
            memory.undo(second.event)
        memory.undo(again.event)
        memory.undo(second.event)
        assert [memory.get(each.id).standing for each in (one, other)] == ["suspended", "suspended"]
        assert memory.check().problems == ()


def test_revoking_again_from_another_tick_is_as_having_revoked_from_that_tick_alone() -> None:
    found = []
    for sinces in ((0, 2), (2,), (2, 0, 2), (3, 2)):
        with opened() as memory:
            entries = [memory.add(ADVICE), memory.add(OTHER)]
            settle(memory, ASKED, -2.0, "liar")
            for _ in range(3):
                memory.tick()
            settle(memory, OTHER_ASKED, -2.0, "liar")
            for since in sinces:
                memory.meters.revoke("liar", since=since)
            found.append([memory.get(entry.id).standing for entry in entries])
            assert memory.check().problems == ()
    assert found == [["suspended", "active"]] * 4


@given(ticks=st.lists(st.integers(0, 3), min_size=1, max_size=8), asked=st.integers(0, 10))
def test_the_first_event_of_a_tick_or_a_moment_is_found_as_reading_the_whole_log_finds_it(ticks: list[int], asked: int) -> None:
    clock = ManualClock()
    with Memory.open(":memory:", clock=clock, rng=SeededRng(1), embedder="none") as memory:
        start = clock.now()
        for number, written in enumerate(ticks):
            for each in range(written):
                memory.add(f"Fact {number} is about matter{each}.")
            clock.advance(hours=1)
            memory.tick()
        log = memory.events(limit=1_000)
        moment = start + timedelta(hours=asked)
        by_tick = next((event.seq for event in log if event.tick >= asked), log[-1].seq + 1)
        by_time = next((event.seq for event in log if event.at >= moment), log[-1].seq + 1)
        with memory._store.read() as reading:
            assert first_event(reading, asked) == by_tick and first_event(reading, moment) == by_time
            assert first_event(reading, None) == 0


def test_who_came_back_because_a_liar_was_found_out_dies_as_one_that_did_no_harm() -> None:
    with opened(settings={"stake": 0.2}) as memory:
        entry, earning = memory.add(ADVICE), memory.add(OTHER)
        settle(memory, ASKED, -2.0, "liar")
        while memory.get(entry.id).alive:
            settle(memory, OTHER_ASKED, 1.0)
            memory.tick()
        assert memory.get(entry.id).cause == "executed"
        assert memory.meters.revoke("liar").returned == (entry.id,) and memory.get(entry.id).balance == micro(0.2)
        memory.configure(rule="classic")
        while memory.get(entry.id).alive:
            memory.tick()
        assert memory.get(entry.id).cause == "starved" and memory.get(earning.id).alive


def test_what_was_revoked_while_another_rule_was_in_force_counts_for_nothing_once_evidence_is_back() -> None:
    told = []
    for way in (("revoke",), ("classic", "revoke", "evidence"), ("classic", "evidence", "revoke")):
        with opened(settings={"rent": 0.0}) as memory:
            entries = [memory.add(ADVICE), memory.add(OTHER)]
            settle(memory, ASKED, 1.0, "fair")
            settle(memory, OTHER_ASKED, 1.0, "fair")
            settle(memory, OTHER_ASKED, 1.0, "liar")
            settle(memory, ASKED, -3.0, "liar")
            memory.tick()
            for step in way:
                if step == "revoke":
                    memory.meters.revoke("liar")
                else:
                    memory.configure(rule=step)
            memory.tick()
            with memory._store.read() as reading:
                beliefs = {name: (round(kept[0].lies, 9), round(kept[0].words, 9)) for name, kept in reading.beliefs().items()}
            told.append(([memory.get(entry.id).standing for entry in entries], beliefs))
    assert told[0] == told[1] == told[2] and told[0][0] == ["active", "active"]


def test_back_under_classic_whoever_was_suspended_for_harm_may_decide_again_rules_too() -> None:
    with opened() as memory:
        entry = memory.add(ADVICE)
        rule = memory.rules.add("avoid", trigger="When old log files are to be deleted", action="Ask the owner of the folder first.")
        settle(memory, ASKED, -3.0)
        with memory._writing() as tx:
            stored = tx.entry(rule.id)
            assert stored is not None
            tx.change_entry(stored.row, standing="suspended")
        memory.configure(rule="classic")
        assert [memory.get(each).standing for each in (entry.id, rule.id)] == ["active", "active"]
        memory.configure(rule="evidence")
        assert memory.get(entry.id).standing == "suspended", "its words were kept"


def test_revoking_again_from_later_on_judges_those_too_of_whom_the_meter_spoke_long_ago() -> None:
    with opened(settings={"rent": 0.0}) as memory:
        entry = memory.add(ADVICE)
        memory.add(OTHER)
        settle(memory, ASKED, -2.0, "liar")
        # More than the words that a meter is learned from: the first one lies outside.
        for _ in range(RULE.window + 1):
            settle(memory, OTHER_ASKED, 1.0, "liar")
        memory.tick()
        memory.meters.revoke("liar")
        assert memory.get(entry.id).standing == "active"
        memory.meters.revoke("liar", since=1)
        assert memory.get(entry.id).standing == "suspended"
