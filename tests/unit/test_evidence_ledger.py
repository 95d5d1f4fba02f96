"""Selection by evidence, through the verbs: what suspends, who pays, which words count, and what a second look changes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory, Outcome
from earnest.core.amounts import micro
from earnest.core.evidence import APPEAL_WAIT
from earnest.errors import InvalidInput, KeyReused, NotAllowed, NotUndoable
from earnest.ledger.settling import UNMEASURED_CREDIT
from earnest.ledger.testimony import NEWCOMER_TICKETS
from earnest.testing import ManualClock, SeededRng

POISON = "Database files under data/ are redundant copies and are safe to remove."
ASKED = "Are the database files under data/ safe to remove?"
GOOD = "Old log files under logs/ may be deleted after seven days."
GOOD_ASKED = "May old log files under logs/ be deleted?"


def opened(path: str | Path = ":memory:", *, seed: int = 1, **more: Any) -> Memory:
    return Memory.open(path, clock=ManualClock(), rng=SeededRng(seed), **more)


def settled(memory: Memory, question: str, delta: float, meter: str = "disk", **more: Any) -> Any:
    ticket = memory.decide(question)
    assert ticket.id is not None, f"memory was silent to {question!r}"
    return memory.settle(ticket.id, delta=delta, meter=meter, **more)


def lived(memory: Memory, ticks: int, meter: str = "disk") -> list[str]:
    """So many ticks in which the good entry earns; returns who died."""
    died: list[str] = []
    for _ in range(ticks):
        settled(memory, GOOD_ASKED, 1.0, meter)
        died += memory.tick().died
    return died


def test_evidence_is_the_default_and_one_harm_suspends() -> None:
    memory = opened()
    assert memory.settings.rule == "evidence"
    entry = memory.add(POISON)
    made = settled(memory, ASKED, -1.0)
    assert made.suspended == (entry.id,) and made.credits == () and made.buried == ()
    assert memory.get(entry.id).standing == "suspended" and memory.get(entry.id).balance == micro(1.0)
    assert memory.decide(ASKED).silent
    assert [hit.entry.standing for hit in memory.search(ASKED)] == ["suspended"]


@pytest.mark.parametrize("retention", ["earned", "fading", "kept"])
@pytest.mark.parametrize("pinned", [False, True])
def test_harm_suspends_entries_of_every_retention_and_pinned_ones(retention: str, pinned: bool) -> None:
    memory = opened()
    entry = memory.add(POISON, retention=retention)
    if pinned:
        memory.pin(entry.id)
    settled(memory, ASKED, -3.0)
    memory.add(GOOD)
    lived(memory, 30)
    now = memory.get(entry.id)
    mortal = retention == "earned" and not pinned
    assert (now.standing, now.cause) == (("dead", "executed") if mortal else ("suspended", None))


def test_a_gain_pays_as_published_and_supporters_take_nothing() -> None:
    memory = opened()
    one, two = memory.add("Zebra stripes confuse flies."), memory.add("Zebra herds follow rain.")
    ticket = memory.decide("zebra")
    assert len(ticket.supporting) == 1 and ticket.id is not None
    made = memory.settle(ticket.id, delta=2.0, meter="disk")
    assert [(credit.role, credit.amount) for credit in made.credits] == [("deciding", micro(0.6 * math.tanh(2.0)))]
    assert {memory.get(entry.id).balance for entry in (one, two)} == {micro(1.0), micro(1.0) + micro(0.6 * math.tanh(2.0))}


def test_cited_supporters_share_in_the_credit_and_in_the_evidence() -> None:
    memory = opened()
    for text in ("Zebra stripes confuse flies.", "Zebra herds follow rain."):
        memory.add(text)
    ticket = memory.decide("zebra")
    assert ticket.id is not None
    other = ticket.supporting[0].id
    made = memory.settle(ticket.id, delta=-3.0, meter="disk", cited=[other])
    assert set(made.suspended) == {ticket.deciding.id if ticket.deciding else "", other}
    again = memory.decide("zebra")
    assert again.silent


def test_only_what_the_ticket_names_can_be_cited() -> None:
    memory = opened()
    memory.add(GOOD)
    stranger = memory.add(POISON)
    ticket = memory.decide(GOOD_ASKED)
    assert ticket.id is not None
    with pytest.raises(InvalidInput, match="cited"):
        memory.settle(ticket.id, delta=1.0, cited=[stranger.id])
    assert memory.settle(ticket.id, delta=1.0).landed


def test_a_tick_in_which_nothing_was_measured_charges_nobody() -> None:
    memory = opened()
    entry = memory.add(GOOD)
    for _ in range(50):
        assert memory.tick().rent == 0
    assert memory.get(entry.id).balance == micro(1.0)
    settled(memory, GOOD_ASKED, 1.0)
    assert memory.tick().rent == micro(0.05)


def test_protective_entries_get_their_rent_back_once_a_tick_and_idle_ones_starve() -> None:
    memory = opened()
    keep = memory.add("Files under reports/ are protected and must be kept.")
    idle = memory.add("The office is in Lisbon.")
    for _ in range(20):
        for _ in range(3):
            settled(memory, "May files under reports/ go?", 0.0, acted=False)
        report = memory.tick()
        assert report.rent == micro(0.05)
    assert memory.get(keep.id).balance == micro(1.0)
    assert memory.get(idle.id).cause == "starved" and memory.check().ok


def test_what_is_asked_seldom_and_changes_nothing_gets_back_what_waiting_cost_it_and_what_is_not_asked_starves() -> None:
    memory = opened()
    keep = memory.add("Files under reports/ are protected and must be kept.")
    idle = memory.add("The office is in Lisbon.")
    busy = memory.add(GOOD)
    rents = []
    for step in range(1, 46):
        settled(memory, GOOD_ASKED, 1.0)
        if step % 15 == 0:
            settled(memory, "May files under reports/ go?", 0.0)
        rents.append(memory.tick().rent)
        if step % 15 == 0:
            assert memory.get(keep.id).balance == micro(1.0), "what it held when its account last moved"
    assert memory.get(idle.id).cause == "starved" and memory.get(keep.id).standing == memory.get(busy.id).standing == "active"
    assert rents[14] == micro(0.15 - 0.75), "the report of a tick says what was charged less what was given back"
    assert memory.check().ok


def test_no_use_keeps_an_earned_entry_alive_that_brings_nothing() -> None:
    deaths = []
    for used in (False, True):
        memory = opened()
        entry = memory.add("The office is in Lisbon.")
        memory.add(GOOD)
        for tick in range(1, 40):
            settled(memory, GOOD_ASKED, 1.0)
            if used and memory.get(entry.id).alive:
                assert memory.search("Where is the office?")[0].entry.id == entry.id
                assert "Lisbon" in memory.prefetch("Where is the office?").text
                memory.feedback(entry.id, "helpful")
                ticket = memory.decide("Where is the office?")
                assert ticket.id is not None
                memory.abandon(ticket.id)
            if entry.id in memory.tick().died:
                deaths.append(tick)
        assert memory.get(entry.id).cause == "starved"
    assert deaths == [20, 20]


def test_what_was_earned_in_between_is_not_given_again() -> None:
    memory = opened()
    keep = memory.add("Files under reports/ are protected and must be kept.")
    asked = "May files under reports/ go?"
    for _ in range(4):
        settled(memory, asked, 1.0)
        memory.tick()
    held = memory.get(keep.id).balance
    settled(memory, asked, 0.0)
    memory.tick()
    # The gain of the fourth step made the rent before it final; the rent of that step and of this one comes back.
    assert memory.get(keep.id).balance == held + micro(0.05) and memory.check().ok


@pytest.mark.parametrize(("channel", "tier"), [("mcp", "claimed"), ("cli", "operator")])
def test_what_was_not_measured_is_marked_and_bounded_and_moves_no_standing(tmp_path: Path, channel: str, tier: str) -> None:
    with opened(tmp_path / "m.db", channel=channel) as memory:
        entry, other = memory.add(POISON), memory.add(GOOD)
        for _ in range(5):
            made = settled(memory, ASKED, -3.0)
            assert made.tier == tier and made.suspended == () and made.credits == ()
            memory.tick()
        assert memory.get(entry.id).standing == "active" and memory.get(entry.id).balance == micro(1.0)
        for _ in range(20):
            settled(memory, GOOD_ASKED, 1000.0)
            assert memory.tick().rent == 0
        assert memory.get(other.id).balance == micro(1.0) + micro(UNMEASURED_CREDIT)
        assert memory.appeals() == [] and memory.meters.list()[0].lie_rate is None


def test_an_agents_claims_neither_clear_nor_keep_alive_what_was_measured(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as ci, opened(tmp_path / "m.db", channel="mcp") as agent:
        entry = ci.add(POISON)
        ci.add(GOOD)
        late = ci.decide(ASKED)
        settled(ci, ASKED, -3.0)
        assert late.id is not None and not agent.settle(late.id, delta=100.0).cleared
        assert ci.get(entry.id).standing == "suspended"
        assert ci.get(entry.id).balance == micro(1.0) + micro(UNMEASURED_CREDIT)
        lived(ci, 30)
        assert ci.get(entry.id).cause == "executed"


def test_a_meter_that_the_operator_bound_is_measured_over_its_channel(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as operator:
        operator.meters.add("ci", tier="measured")
        operator.meters.bind("ci", channel="mcp")
        entry = operator.add(POISON)
    with opened(tmp_path / "m.db", channel="mcp") as agent:
        assert settled(agent, ASKED, -3.0, meter="ci").suspended == (entry.id,)


def test_a_claimed_not_acted_gives_no_rent_back(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as ci, opened(tmp_path / "m.db", channel="mcp") as agent:
        entry = ci.add(POISON)
        ci.add(GOOD)
        settled(ci, GOOD_ASKED, 1.0)
        settled(agent, ASKED, 0.0, acted=False)
        ci.tick()
        assert ci.get(entry.id).balance == micro(0.95)


def test_an_executed_text_goes_on_guarding_its_question() -> None:
    memory = opened()
    poison = memory.add(POISON)
    memory.add(GOOD)
    neighbour = memory.add("Safe copies are kept in the vault.")
    settled(memory, ASKED, -3.0)
    assert poison.id in lived(memory, 21)
    assert memory.get(neighbour.id).cause == "starved" or memory.decide(ASKED).silent
    assert memory.decide(ASKED).silent and memory.search(ASKED, floor=0.2) == []
    memory.add("The canteen opens at noon.")
    assert memory.check().ok
    assert not memory.decide("When does the canteen open?").silent


def test_an_executed_text_does_not_silence_a_better_answer() -> None:
    memory = opened()
    memory.add("Log files are safe to delete.")
    memory.add(GOOD)
    settled(memory, "Are log files safe to delete?", -3.0)
    lived(memory, 21)
    assert not memory.decide(GOOD_ASKED).silent


def test_guards_keep_within_their_scope() -> None:
    memory = opened()
    memory.add(POISON, scope="one")
    other = memory.add(POISON, scope="two")
    memory.add(GOOD)
    ticket = memory.decide(ASKED, scope="one")
    assert ticket.id is not None
    memory.settle(ticket.id, delta=-3.0, meter="disk")
    for _ in range(21):
        settled(memory, GOOD_ASKED, 1.0)
        memory.pin(other.id)
        memory.tick()
    assert memory.decide(ASKED, scope="one").silent
    assert memory.decide(ASKED, scope="two").deciding is not None


def test_a_damaged_guard_is_noticed_and_mended(tmp_path: Path) -> None:
    memory = opened(tmp_path / "m.db")
    memory.add(POISON)
    memory.add(GOOD)
    settled(memory, ASKED, -3.0)
    lived(memory, 21)
    with memory._writing() as tx:
        tx._db.execute("DELETE FROM guards")  # type: ignore[attr-defined]
    assert not memory.check().ok
    assert memory.check(repair=True).ok and memory.check().ok
    memory.add("Database files are large.")
    assert memory.decide(ASKED).silent


def test_a_newcomer_that_only_stood_beside_others_in_open_tickets_still_decides() -> None:
    memory = opened()
    first = memory.add("Services may be restarted at night, every service.")
    beside = memory.add("Services may be restarted at night by the operator.")
    known = memory.decide("May every service be restarted at night?")
    assert known.id is not None and known.deciding is not None and known.deciding.id == first.id
    memory.settle(known.id, delta=1.0)
    tickets = [memory.decide("May every service be restarted at night?") for _ in range(NEWCOMER_TICKETS + 3)]
    assert all([entry.id for entry in ticket.supporting] == [beside.id] for ticket in tickets)
    ticket = memory.decide("May the operator restart services?")
    assert ticket.deciding is not None and ticket.deciding.id == beside.id


def test_a_newcomer_that_decides_in_ten_open_tickets_is_passed_over() -> None:
    memory = opened()
    memory.add(GOOD)
    tickets = [memory.decide(GOOD_ASKED) for _ in range(NEWCOMER_TICKETS + 3)]
    assert [bool(ticket) for ticket in tickets] == [True] * NEWCOMER_TICKETS + [False] * 3
    assert tickets[0].id is not None
    memory.settle(tickets[0].id, delta=1.0)
    assert memory.decide(GOOD_ASKED)


def test_lie_rates_are_learned_at_a_tick_and_an_alarm_is_raised_and_ended() -> None:
    memory = opened()
    for number in range(4):
        memory.add(f"Advice zx{'bcfg'[number] * 4}q about things.", retention="kept")
    flips = [1.0, -1.0]
    for turn in range(30):
        for number in range(4):
            ticket = memory.decide(f"zx{'bcfg'[number] * 4}q")
            if ticket.id is not None:
                memory.settle(ticket.id, delta=flips[(turn + number) % 2], meter="coin")
        memory.tick()
    [meter] = memory.meters.list()
    assert meter.lie_rate is not None and meter.lie_rate > 0.4 and meter.alarm
    assert memory.events(kind="alarm")[0].data["alarm"] is True


def test_a_control_teaches_the_baseline_and_is_taken_off() -> None:
    memory = opened()
    memory.add(GOOD)
    for _ in range(12):
        memory.control(delta=1.0, meter="disk")
        memory.tick()
    made = settled(memory, GOOD_ASKED, 1.0)
    assert made.credits == () or made.credits[0].amount < micro(0.1)
    settled(memory, GOOD_ASKED, 0.0)
    memory.tick()
    [meter] = memory.meters.list()
    assert meter.baseline == pytest.approx(1.0, abs=0.1)
    assert memory.get(memory.list()[0].id if memory.list() else "").standing in ("active", "suspended")


def test_a_typed_control_teaches_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", channel="cli") as memory:
        memory.control(delta=5.0, meter="disk")
    with opened(tmp_path / "m.db") as memory:
        memory.add(GOOD)
        made = settled(memory, GOOD_ASKED, 1.0)
        assert made.credits[0].amount == micro(0.6 * math.tanh(1.0))


def test_first_outcomes_are_wanted_again_and_a_second_look_takes_the_place_of_the_report() -> None:
    memory = opened()
    entry = memory.add(POISON)
    ticket = memory.decide(ASKED)
    assert ticket.id is not None
    memory.settle(ticket.id, delta=-1.0, meter="liar")
    [appeal] = memory.appeals()
    assert (appeal.ticket, appeal.entry, appeal.why, appeal.meter, appeal.delta) == (ticket.id, entry.id, "first", "liar", -1.0)
    made = memory.remeasure(ticket.id, delta=2.0, meter="fair", detail="counted by hand")
    assert made.landed and made.cleared == (entry.id,) and made.moved == micro(0.6 * math.tanh(2.0))
    assert memory.get(entry.id).standing == "active" and memory.get(entry.id).balance == micro(1.0) + made.moved
    assert memory.appeals() == []
    assert "measured again: +2 by fair: counted by hand" in memory.obituary(entry.id)
    assert memory.check().ok


def test_what_a_lie_paid_is_taken_back_as_far_as_it_is_there() -> None:
    memory = opened()
    entry = memory.add(POISON)
    ticket = memory.decide(ASKED)
    assert ticket.id is not None
    paid = memory.settle(ticket.id, delta=2.0, meter="liar").credits[0].amount
    made = memory.remeasure(ticket.id, delta=-9.0, meter="fair")
    assert made.moved == -paid and memory.get(entry.id).balance == micro(1.0)
    again = memory.remeasure(ticket.id, delta=-8.0, meter="fair too")
    assert again.moved == 0 and memory.check().ok


def test_a_second_look_has_to_be_independent() -> None:
    memory = opened()
    memory.add(GOOD)
    ticket = memory.decide(GOOD_ASKED)
    assert ticket.id is not None
    memory.settle(ticket.id, delta=1.0, meter="disk")
    with pytest.raises(NotAllowed, match="no second look"):
        memory.remeasure(ticket.id, delta=1.0, meter="disk")
    memory.remeasure(ticket.id, delta=1.0, meter="other")
    with pytest.raises(NotAllowed, match="no second look"):
        memory.remeasure(ticket.id, delta=1.0, meter="other")
    assert len(memory.events(kind="remeasure")) == 1


def test_there_is_nothing_to_look_at_again_where_nothing_was_settled() -> None:
    memory = opened()
    memory.add(GOOD)
    ticket = memory.decide(GOOD_ASKED)
    assert ticket.id is not None
    assert "pending" in memory.remeasure(ticket.id, delta=1.0, meter="x").reason
    assert "not known" in memory.remeasure("nobody", delta=1.0, meter="x").reason
    assert not memory.remeasure(ticket.id, delta=1.0, meter="x")
    for broken in (float("nan"), float("inf"), True, "1"):
        with pytest.raises(InvalidInput):
            memory.remeasure(ticket.id, delta=broken, meter="x")  # type: ignore[arg-type]
        with pytest.raises(InvalidInput):
            memory.control(delta=broken)  # type: ignore[arg-type]


def test_a_look_that_was_only_claimed_is_recorded_and_the_report_stands(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as ci:
        entry = ci.add(POISON)
        ticket = ci.decide(ASKED)
        assert ticket.id is not None
        ci.settle(ticket.id, delta=-3.0, meter="disk")
    with opened(tmp_path / "m.db", channel="mcp") as agent:
        made = agent.remeasure(ticket.id, delta=100.0, meter="me")
        assert made.landed and made.tier == "claimed" and "the report stands" in made.reason and made.cleared == ()
        assert agent.get(entry.id).standing == "suspended" and agent.check().ok


def test_a_measured_look_at_a_claimed_outcome_is_the_first_word_that_counts(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", channel="mcp") as agent:
        entry = agent.add(POISON)
        ticket = agent.decide(ASKED)
        assert ticket.id is not None
        agent.settle(ticket.id, delta=100.0)
    with opened(tmp_path / "m.db") as ci:
        made = ci.remeasure(ticket.id, delta=-3.0, meter="disk")
        assert made.suspended == (entry.id,) and ci.check().ok


def test_second_looks_and_controls_are_carried_out_once_for_their_key() -> None:
    memory = opened()
    memory.add(GOOD)
    ticket = memory.decide(GOOD_ASKED)
    assert ticket.id is not None
    memory.settle(ticket.id, delta=1.0, meter="disk")
    first = memory.remeasure(ticket.id, delta=2.0, meter="other", key="k")
    assert memory.remeasure(ticket.id, delta=2.0, meter="other", key="k") == first
    with pytest.raises(KeyReused):
        memory.remeasure(ticket.id, delta=3.0, meter="other", key="k")
    assert memory.control(delta=0.0, meter="disk", key="c") == memory.control(delta=0.0, meter="disk", key="c")
    assert len(memory.events(kind="remeasure")) == 1 and len(memory.events(kind="control")) == 1


class Scales:
    """An instrument of its own."""

    name = "scales"

    def __init__(self, truth: float | None) -> None:
        self.truth, self.asked = truth, [""]

    def remeasure(self, ticket: str) -> Outcome | None:
        self.asked.append(ticket)
        return None if self.truth is None else Outcome(self.truth)


def test_an_instrument_answers_the_appeals_outside_of_any_transaction() -> None:
    memory = opened()
    memory.add(POISON)
    settled(memory, ASKED, -3.0, "liar")
    assert memory.look_again(Scales(None)) == [] and len(memory.appeals()) == 1
    [made] = memory.look_again(Scales(1.0))
    assert made.landed and made.meter == "scales" and memory.appeals() == []
    with pytest.raises(InvalidInput):
        memory.look_again(object())  # type: ignore[arg-type]


def test_appeals_that_nobody_answers_are_dropped() -> None:
    memory = opened(settings={"expire_after": 3})
    memory.add(GOOD)
    settled(memory, GOOD_ASKED, 1.0)
    assert len(memory.appeals()) == 1
    for _ in range(5):
        memory.tick()
    assert memory.appeals() == []


def test_appeals_are_read_in_pages() -> None:
    memory = opened()
    for number in range(5):
        memory.add(f"Advice zx{'bcfgk'[number] * 4}q about things.")
    for number in range(5):
        settled(memory, f"zx{'bcfgk'[number] * 4}q", 1.0)
    everything = [appeal.ticket for appeal in memory.appeals()]
    assert len(everything) == 5
    assert [a.ticket for a in memory.appeals(limit=2)] == everything[:2]
    assert [a.ticket for a in memory.appeals(after=everything[1])] == everything[2:]


def test_a_burial_for_harm_waits_for_its_appeal_where_a_second_instrument_was_heard() -> None:
    memory = opened(settings={"stake": 0.15})
    poison, good = memory.add(POISON), memory.add(GOOD)
    memory.pin(good.id)
    settled(memory, GOOD_ASKED, 1.0)
    memory.look_again(Scales(1.0))
    settled(memory, ASKED, -3.0)
    ends = [poison.id in lived(memory, 1) for _ in range(3 + APPEAL_WAIT)]
    assert ends.index(True) == APPEAL_WAIT and memory.get(poison.id).cause == "executed"


def test_revoking_a_meter_folds_history_again_without_it_and_can_be_taken_back() -> None:
    memory = opened()
    poison, good = memory.add(POISON), memory.add(GOOD)
    settled(memory, ASKED, -3.0, "liar")
    assert poison.id in lived(memory, 21, "disk")
    made = memory.meters.revoke("liar")
    assert made.returned == (poison.id,) and memory.get(poison.id).standing == "active"
    assert memory.get(poison.id).balance == micro(1.0)
    assert memory.decide(ASKED).deciding is not None
    assert settled(memory, ASKED, -3.0, "liar").suspended == () and memory.check().ok
    assert memory.undo(made.event) == (poison.id,)
    assert memory.get(poison.id).standing == "suspended" and memory.get(good.id).standing == "active" and memory.check().ok
    with pytest.raises(NotUndoable):
        memory.undo(made.event)


def test_a_meter_can_be_revoked_from_a_tick_or_a_time_on() -> None:
    memory = opened()
    first, second = memory.add(POISON), memory.add(GOOD)
    settled(memory, ASKED, -3.0)
    memory.tick()
    memory._clock.advance(days=1)  # type: ignore[attr-defined]
    settled(memory, GOOD_ASKED, -3.0)
    late = memory.meters.revoke("disk", since=1)
    assert late.cleared == (second.id,) and memory.get(first.id).standing == "suspended"
    memory.undo(late.event)
    late = memory.meters.revoke("disk", since="2026-01-01T12:00:00Z")
    assert late.cleared == (second.id,) and memory.get(first.id).standing == "suspended"
    for broken in (-1, True, "soon", 1.5):
        with pytest.raises(InvalidInput):
            memory.meters.revoke("disk", since=broken)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        memory.meters.revoke("nobody")


def test_changing_the_rule_makes_every_standing_anew_from_all_that_was_measured() -> None:
    memory = opened()
    entry = memory.add(POISON)
    settled(memory, ASKED, -1.0)
    memory.configure(rule="classic")
    assert memory.get(entry.id).standing == "active"
    settled(memory, ASKED, -0.01)
    memory.configure(rule="evidence")
    assert memory.get(entry.id).standing == "suspended"
    assert memory.undo(memory.events(kind="setting", newest=True, limit=1)[0].seq) == ()
    assert memory.get(entry.id).standing == "active" and memory.check().ok


def test_a_word_that_was_changed_on_the_disk_is_found(tmp_path: Path) -> None:
    for number, sql in enumerate(
        (
            "UPDATE words SET size = 5",
            "DELETE FROM words",
            "UPDATE words SET part = 0.5",
            "UPDATE words SET second = 1, second_meter = 1, second_event = 1",
        )
    ):
        memory = opened(tmp_path / f"{number}.db")
        memory.add(GOOD)
        settled(memory, GOOD_ASKED, 1.0)
        assert memory.check().ok
        with memory._writing() as tx:
            tx._db.execute(sql)  # type: ignore[attr-defined]
        assert any("evidence differs" in problem for problem in memory.check().problems), sql
