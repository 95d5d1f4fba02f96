"""What a merge and its undoing do with money, debts and dates; and by which outcomes an import is borne out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from earnest import Memory
from earnest.core.entry import Entry
from earnest.ledger import door, lifecycle
from tests.advice import ADVICE, ASKED, OTHER, OTHER_ASKED, opened, settle

TWO: Final = "Old log files under logs/ may be deleted after seven days, by anybody in the team."


def test_a_debt_is_forgiven_by_a_merge_and_the_accounts_still_sum_up_to_nothing() -> None:
    with opened(settings={"stake": 0.1, "rent": 0.06, "pass_over": 0.0}) as memory:
        looked_at = memory.add(OTHER)
        first = settle(memory, OTHER_ASKED, 3.0)
        assert memory.remeasure(first, delta=3.0, meter="auditor").landed
        members = [memory.add(ADVICE), memory.add("The database files under data/ are copies.")]
        settle(memory, ASKED, -3.0)
        settle(memory, "Are the database files under data/ copies?", -3.0)
        for _ in range(2):
            settle(memory, OTHER_ASKED, 3.0)
            memory.tick()
        held = [memory.get(member.id) for member in members]
        assert all((entry.standing, entry.balance) == ("suspended", -20_000) for entry in held), "burial waits for the second looks"
        heir = memory.merge([member.id for member in members])
        assert heir.balance == 0 and memory.get(looked_at.id).alive
        assert memory.check().problems == ()


@pytest.mark.parametrize("retention", ["kept", "fading", "earned"])
def test_undoing_a_merge_gives_back_what_was_put_in_and_an_account_only_to_who_had_one(retention: str) -> None:
    with opened() as memory:
        members = [memory.add(text, retention=retention) for text in (ADVICE, OTHER)]
        before = [memory.get(member.id).balance for member in members]
        heir = memory.merge([member.id for member in members])
        assert heir.balance == sum(before)
        [event] = memory.events(kind="merge")
        memory.undo(event.seq)
        assert [memory.get(member.id).balance for member in members] == before
        [ended] = memory.events(entry=heir.id, kind="forget")
        assert (ended.data["left"], ended.data["merge"], memory.get(heir.id).balance) == (0, event.seq, 0)
        assert (sum(before) > 0) is (retention == "earned") and memory.check().problems == ()


def test_what_was_measured_of_an_heir_dates_the_member_that_decided_it_once_they_are_apart_again() -> None:
    with opened() as memory:
        one, other = memory.add(ADVICE), memory.add(OTHER)
        memory.merge([one.id, other.id])
        for _ in range(3):
            memory.tick()
        settle(memory, ASKED, 1.0)
        memory.tick()
        [event] = memory.events(kind="merge")
        memory.undo(event.seq)
        assert [memory.get(each.id).last_settled_tick for each in (one, other)] == [3, None]


def imported(memory: Memory, text: str, probation: int) -> Entry:
    new = replace(door.checked_entry(memory._rng, "earned", {"text": text, "origin": "imported"}), probation=probation)
    with memory._writing() as tx:
        stored, _ = lifecycle.add(tx, memory.settings, memory._rng, memory._analyser, new, memory._terms(text, None))
    return stored.entry


@pytest.mark.parametrize(
    ("delta", "acted", "channel", "control", "borne"),
    [
        (1.0, True, "python", None, True),
        (1.0, None, "python", None, True),
        (-0.2, True, "python", None, False),
        (0.0, True, "python", None, False),
        (1.0, False, "python", None, False),
        (1.0, True, "mcp", None, False),
        (1.0, True, "cli", None, False),
        # What the meter shows by itself is no gain.
        (0.5, True, "python", 4.0, False),
        (3.5, True, "python", 4.0, True),
    ],
)
def test_only_a_measured_gain_beyond_the_baseline_of_something_done_bears_an_import_out(
    tmp_path: Path, delta: float, acted: bool | None, channel: str, control: float | None, borne: bool
) -> None:
    with opened(tmp_path / "m.db") as memory:
        memory.add_many([{"text": f"Fact {n} is about matter{n}."} for n in range(8)])
        memory.add("Old log files under logs/ may be deleted.")
        foreign = imported(memory, "Old log files under logs/ may be deleted by anybody in the team.", probation=1)
        if control is not None:
            memory.control(delta=control, meter="disk")
    with opened(tmp_path / "m.db", channel=channel) as memory:
        ticket = memory.decide(ASKED)
        assert ticket.id is not None and [entry.id for entry in ticket.supporting] == [foreign.id]
        memory.settle(ticket.id, delta=delta, meter="disk", acted=acted)
        assert bool(memory.events(entry=foreign.id, kind="graduate")) is borne
