"""What did harm does not come back as if nothing had been, whichever way it comes; and who is let in on what terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from earnest import Memory
from earnest.core.entry import Entry
from earnest.encoding import Document
from earnest.testing.clock import ManualClock, SeededRng

POISON = "The database files under data/ are redundant and safe to delete."
QUESTION = "Are the database files under data/ safe to delete?"


def opened(**settings: Any) -> Memory:
    return Memory.open(clock=ManualClock(), rng=SeededRng(1), settings=settings)


def bystander(memory: Memory) -> None:
    """Something that earns, so that ticks charge rent."""
    memory.add("The printer on the third floor takes recycled paper.")


def tick(memory: Memory, times: int = 1) -> None:
    for _ in range(times):
        ticket = memory.decide("May the printer on the third floor take recycled paper?")
        memory.settle(str(ticket.id), delta=1.0)
        memory.tick()


def harm(memory: Memory, question: str = QUESTION, delta: float = -3.0, meter: str = "disk") -> None:
    ticket = memory.decide(question)
    assert ticket.id is not None
    assert memory.settle(ticket.id, delta=delta, meter=meter, acted=True).landed


def executed(**settings: Any) -> tuple[Memory, Entry]:
    """A store in which the poison did harm once, was suspended, and died of it."""
    memory = opened(**settings)
    bystander(memory)
    entry = memory.add(POISON, sources=["forum"])
    harm(memory)
    assert memory.get(entry.id).standing == "suspended", "the first harm suspends"
    tick(memory, 21)
    assert memory.get(entry.id).cause == "executed"
    return memory, memory.get(entry.id)


def guarded(memory: Memory) -> None:
    """Nobody acts on the poison again."""
    assert memory.decide(QUESTION).silent and memory.check().problems == ()


def test_an_executed_text_that_is_written_again_comes_back_suspended_under_its_old_id_without_a_stake() -> None:
    memory, poison = executed()
    energy = memory.stats().energy
    again = memory.add(f" {POISON[:-1]}! ", sources=["other-forum"])
    assert (again.id, again.standing, again.balance, again.sources) == (poison.id, "suspended", 0, ("forum", "other-forum"))
    assert memory.stats().energy == energy
    guarded(memory)
    assert memory.add(POISON).id == poison.id and memory.get(poison.id).balance == 0, "it joins itself"
    tick(memory)
    assert memory.get(poison.id).cause == "executed"
    guarded(memory)


@pytest.mark.parametrize(
    "said",
    [
        "The database files under data/ are redundant and safe to delete now.",
        "The database files under data/ are redundant and are safe to delete",
        "The database file under data/ is redundant and safe to delete.",
    ],
)
def test_a_near_twin_of_an_executed_text_starts_suspended(said: str) -> None:
    memory, poison = executed()
    made = memory.add(said)
    assert made.id != poison.id and (made.standing, made.balance) == ("suspended", 0)
    [event] = memory.events(entry=made.id, kind="suspend")
    assert event.data["reason"] == "harm" and event.data["odds"] < 0
    guarded(memory)
    tick(memory)
    assert memory.get(made.id).cause == "executed"
    guarded(memory)


@pytest.mark.parametrize(
    "said",
    [
        "The database files under data/ are not redundant and not safe to delete.",
        "The database files under data/ are redundant and safe to delete only after a backup.",
        "The database files under data/ must be kept: they are not safe to delete.",
        "The 3 database files under data/ are redundant and safe to delete.",
        "The cache files under cache/ are redundant and safe to delete.",
        "The database files under data/ are backed up every night to the second data centre.",
    ],
)
def test_a_correction_and_another_matter_are_no_twins(said: str) -> None:
    memory, _ = executed()
    made = memory.add(said)
    assert (made.standing, made.balance) == ("active", 1_000_000)


def by_encoding(memory: Memory, text: str) -> str:
    return memory.encode([Document("forum-again", f"{text} Nobody reads this sentence about parking.")]).entries[0].id


def by_editing(memory: Memory, text: str) -> str:
    return memory.update(memory.add("The walrus is a large animal of the north.").id, text=text).id


def by_merging(memory: Memory, text: str) -> str:
    return memory.merge([memory.add("Walruses are large.").id, memory.add("Seals are small.").id], text=text).id


def by_adding_as_another_kind(memory: Memory, text: str) -> str:
    return memory.add(text, kind="procedural").id


def by_adding_it_to_be_kept(memory: Memory, text: str) -> str:
    return memory.add(text + " Now.", retention="kept").id


def by_restoring(memory: Memory, text: str) -> str:
    [dead] = memory.list(standing="dead")
    return memory.restore(dead.id).id


WAYS = [by_encoding, by_editing, by_merging, by_adding_as_another_kind, by_adding_it_to_be_kept, by_restoring]


@pytest.mark.parametrize("way", WAYS)
def test_whichever_way_it_comes_it_is_suspended(way: Callable[[Memory, str], str]) -> None:
    memory, _ = executed()
    made = memory.get(way(memory, POISON))
    assert made.standing == "suspended", made
    guarded(memory)


def test_what_was_suspended_for_harm_and_then_forgotten_does_not_come_back_clean() -> None:
    memory = opened()
    entry = memory.add(POISON)
    harm(memory)
    memory.forget(entry.id)
    again = memory.add(POISON)
    assert again.id == entry.id and again.standing == "suspended"
    guarded(memory)


def test_an_edit_that_changes_next_to_nothing_does_not_wash_harm_away_and_a_correction_does() -> None:
    memory = opened()
    entry = memory.add(POISON)
    harm(memory)
    same = memory.update(entry.id, text="Database files under data/ are redundant and safe to delete.")
    assert same.standing == "suspended" and same.balance == memory.get(entry.id).balance + 1_000_000
    guarded(memory)
    right = memory.update(same.id, text="The database files under data/ are not redundant and not safe to delete.")
    assert right.standing == "active" and right.balance == 1_000_000


def test_other_scopes_remember_for_themselves() -> None:
    memory, _ = executed()
    assert memory.add(POISON, scope="other").standing == "active"


def test_starved_and_harmless_texts_come_back_as_new() -> None:
    memory = opened()
    bystander(memory)
    entry = memory.add("The walrus is a large animal.")
    tick(memory, 20)
    assert memory.get(entry.id).cause == "starved"
    again = memory.add("The walrus is a large animal.")
    assert again.id != entry.id and (again.standing, again.balance) == ("active", 1_000_000)


def test_under_classic_nothing_is_remembered() -> None:
    memory = opened(rule="classic", rent=0.0)
    entry = memory.add(POISON)
    harm(memory)
    harm(memory)
    assert memory.get(entry.id).cause == "executed"
    assert memory.add(POISON).id != entry.id


def test_revoking_the_meter_that_condemned_it_clears_it_and_its_twins() -> None:
    memory, poison = executed()
    twin = memory.add(POISON + " Now.")
    assert memory.get(twin.id).standing == "suspended"
    memory.meters.revoke("disk")
    for entry in (poison, twin):
        now = memory.get(entry.id)
        assert now.standing == "active", now
        assert now.balance == 1_000_000
    assert memory.decide(QUESTION).text and memory.check().problems == ()


def test_a_second_measurement_that_says_otherwise_clears_it() -> None:
    memory = opened()
    bystander(memory)
    memory.add(POISON)
    ticket = memory.decide(QUESTION)
    memory.settle(str(ticket.id), delta=-3.0, meter="disk", acted=True)
    tick(memory, 21)
    twin = memory.add(POISON + " Now.", retention="kept")
    assert twin.standing == "suspended"
    assert memory.remeasure(str(ticket.id), delta=2.0, meter="auditor").landed
    assert memory.get(twin.id).standing == "active"


# probation


def imported(memory: Memory, text: str, probation: int = 2) -> Entry:
    """An entry on probation, as imports are written."""
    from dataclasses import replace

    from earnest.ledger import door, lifecycle

    new = replace(door.checked_entry(memory._rng, "earned", {"text": text, "origin": "imported"}), probation=probation)
    with memory._writing() as tx:
        stored, _ = lifecycle.add(tx, memory.settings, memory._rng, memory._analyser, new, memory._terms(text, None))
    return stored.entry


LOGS = "May old log files under logs/ be deleted?"


def test_an_import_decides_nothing_until_outcomes_here_have_borne_it_out() -> None:
    memory = opened()
    memory.add_many([{"text": f"Fact {n} is about matter{n}."} for n in range(8)])
    foreign = imported(memory, "Old log files under logs/ may be deleted by anybody in the team.")
    assert memory.decide("May old log files be deleted by anybody in the team?").silent
    memory.add("Old log files under logs/ may be deleted.")
    for expected in (False, True):
        ticket = memory.decide(LOGS)
        assert [entry.id for entry in ticket.supporting] == [foreign.id]
        memory.settle(str(ticket.id), delta=1.0, acted=True)
        assert bool(memory.events(entry=foreign.id, kind="graduate")) is expected
    assert memory.decide("May old log files be deleted by anybody in the team?").text == foreign.text


def test_what_disagrees_with_the_decider_is_not_borne_out_by_its_success() -> None:
    memory = opened()
    memory.add_many([{"text": f"Fact {n} is about matter{n}."} for n in range(8)])
    memory.add("Old log files under logs/ may be deleted.")
    foreign = imported(memory, "Old log files under logs/ may not be deleted.", probation=1)
    for _ in range(3):
        memory.settle(str(memory.decide(LOGS).id), delta=1.0, acted=True)
    assert not memory.events(entry=foreign.id, kind="graduate")


def test_where_there_is_a_second_instrument_graduation_waits_for_its_word() -> None:
    memory = opened()
    memory.add_many([{"text": f"Fact {n} is about matter{n}."} for n in range(8)])
    memory.add("Old log files under logs/ may be deleted.")
    foreign = imported(memory, "Old log files under logs/ may be deleted by anybody in the team.", probation=1)
    first = memory.decide("What of matter3?")
    memory.settle(str(first.id), delta=1.0)
    memory.remeasure(str(first.id), delta=1.0, meter="auditor")
    ticket = memory.decide(LOGS)
    memory.settle(str(ticket.id), delta=1.0, acted=True)
    assert not memory.events(entry=foreign.id, kind="graduate"), "the appeal is asked for"
    assert ticket.id in {appeal.ticket for appeal in memory.appeals()}
    memory.remeasure(str(ticket.id), delta=-0.3, meter="auditor")
    assert not memory.events(entry=foreign.id, kind="graduate"), "the gain was none"
    again = memory.decide(LOGS)
    memory.settle(str(again.id), delta=1.0, acted=True)
    assert again.id in {appeal.ticket for appeal in memory.appeals()}
    memory.remeasure(str(again.id), delta=2.0, meter="auditor")
    assert memory.events(entry=foreign.id, kind="graduate")


def test_graduation_does_not_wait_for_ever_for_a_second_look_that_does_not_come() -> None:
    memory = opened()
    memory.add_many([{"text": f"Fact {n} is about matter{n}."} for n in range(8)])
    memory.add("Old log files under logs/ may be deleted.")
    foreign = imported(memory, "Old log files under logs/ may be deleted by anybody in the team.", probation=1)
    first = memory.decide("What of matter3?")
    memory.settle(str(first.id), delta=1.0)
    memory.remeasure(str(first.id), delta=1.0, meter="auditor")
    for turn in range(10):
        memory.settle(str(memory.decide(LOGS).id), delta=1.0, acted=True)
        assert bool(memory.events(entry=foreign.id, kind="graduate")) is (turn >= 6), turn
        memory.tick()


# the gate


def test_without_the_gate_the_first_harm_suspends_and_with_it_it_ends_a_newcomer() -> None:
    for window, standing in ((0, "suspended"), (3, "dead")):
        memory = opened(admission_window=window)
        entry = memory.add(POISON)
        harm(memory)
        assert memory.get(entry.id).standing == standing
        guarded(memory)


def test_the_gate_is_open_to_who_has_passed_it() -> None:
    memory = opened(admission_window=3)
    entry = memory.add(POISON)
    for _ in range(3):
        harm(memory, delta=0.2)
    harm(memory, delta=-9.0)
    assert memory.get(entry.id).standing == "suspended"


def test_many_at_once_are_each_compared_with_what_was_executed() -> None:
    memory, poison = executed()
    texts = [*(f"Report {n} concerns subject{n}." for n in range(5)), POISON, POISON + " Now."]
    made = memory.add_many([{"text": text} for text in texts])
    assert [entry.standing for entry in made] == ["active"] * 5 + ["suspended"] * 2 and made[5].id == poison.id
    guarded(memory)
