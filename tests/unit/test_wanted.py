"""What lists name as work to be done is still wanted: nothing of a revoked meter, nothing about who is gone, nothing that has ended."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from earnest import Memory
from earnest.core.entry import Entry
from earnest.testing.clock import ManualClock, SeededRng

ASKED = "May old log files under logs be deleted after seven days?"


def opened() -> tuple[Memory, Entry]:
    """A store with an entry that was measured once by `disk`, and is named by nobody any more."""
    memory = Memory.open(clock=ManualClock(), rng=SeededRng(1), embedder="none")
    memory.meters.add("disk", scale=1.0, tier="measured")
    memory.add("The canteen opens at noon.")
    entry = memory.add("Old log files under logs may be deleted after seven days.")
    assert memory.settle(str(memory.decide(ASKED).id), delta=1.0, meter="disk").landed
    return memory, entry


GONE: dict[str, Callable[[Memory, Entry], object]] = {
    "its meter is revoked": lambda memory, entry: memory.meters.revoke("disk"),
    "it is forgotten": lambda memory, entry: memory.forget(entry.id),
    "it is erased": lambda memory, entry: memory.erase(entry=entry.id),
    "it says something else": lambda memory, entry: memory.update(entry.id, text="Log files are kept for ever."),
    "somebody looked again": lambda memory, entry: memory.remeasure(memory.appeals()[0].ticket, delta=1.0, meter="disk-2"),
}


@pytest.mark.parametrize("what", GONE)
def test_a_second_look_is_wanted_no_more_when(what: str) -> None:
    memory, entry = opened()
    assert [appeal.entry for appeal in memory.appeals()] == [entry.id]
    GONE[what](memory, entry)
    assert memory.appeals() == [] and memory.check().ok


@pytest.mark.parametrize("what, kind", [("its meter is revoked", "revoke"), ("it is forgotten", "forget")])
def test_a_second_look_is_wanted_again_when_what_took_it_away_is_undone(what: str, kind: str) -> None:
    memory, entry = opened()
    GONE[what](memory, entry)
    memory.undo(memory.events(kind=kind)[-1].seq)
    assert [appeal.entry for appeal in memory.appeals()] == [entry.id]


def test_a_second_look_stays_wanted_by_who_took_over_what_was_measured() -> None:
    memory, entry = opened()
    other = memory.add("Old log files under logs may be deleted after seven days, all of them.")
    heir = memory.merge([entry.id, other.id])
    assert len(memory.appeals()) == 1 and memory.get(heir.id).standing == "active"


def test_doctor_does_not_ask_for_second_looks_that_nobody_can_use() -> None:
    memory, _ = opened()
    memory.remeasure(memory.appeals()[0].ticket, delta=1.0, meter="disk-2")
    memory.settle(str(memory.decide(ASKED).id), delta=1.0, meter="disk")
    for _ in range(12):
        memory.tick()
    assert "appeals_unanswered" in {finding.code for finding in memory.doctor().findings}
    memory.meters.revoke("disk")
    assert "appeals_unanswered" not in {finding.code for finding in memory.doctor().findings}


def test_a_trial_whose_meter_was_revoked_is_told_as_stalled_at_once() -> None:
    memory, _ = opened()
    rule = memory.rules.add("avoid", trigger="deploying the Lomi server", action="Do not skip the tests.")
    memory.rules.trial(rule.id, decisions=60, meter="disk")
    assert "trial_stalled" not in {finding.code for finding in memory.doctor().findings}
    memory.meters.revoke("disk")
    [told] = [finding for finding in memory.doctor().findings if finding.code == "trial_stalled"]
    assert "disk was revoked" in told.evidence and rule.id in told.fix


def test_a_ticket_that_was_abandoned_or_whose_every_entry_was_erased_is_pending_no_more() -> None:
    memory, entry = opened()
    first, second = memory.decide(ASKED), memory.decide("When does the canteen open?")
    assert {ticket.id for ticket in memory.pending()} == {first.id, second.id}
    memory.abandon(str(second.id))
    assert [ticket.id for ticket in memory.pending()] == [first.id] and memory.stats().pending == 1
    memory.erase(entry=entry.id)
    assert memory.pending() == [] and memory.stats().pending == 0 and memory.check().ok
