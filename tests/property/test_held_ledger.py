"""What the ledger promises of money and of second looks, at amounts other than the usual ones: stakes, rents, caps, unmeasured credit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earnest import Memory
from earnest.core.amounts import micro
from earnest.core.ticket import Role, Share, StoredTicket, Tier
from earnest.ledger import settling, testimony
from earnest.testing import ManualClock, SeededRng

ADVICE: Final = "Old log files under logs/ may be deleted after seven days."
ASKED: Final = "May old log files under logs/ be deleted?"
COSTLY: Final = settings(max_examples=max(6, settings().max_examples // 8), deadline=None, suppress_health_check=[*HealthCheck])


def opened(path: str | Path = ":memory:", **more: Any) -> Memory:
    return Memory.open(path, clock=ManualClock(), rng=SeededRng(1), embedder="none", **more)


def settled(memory: Memory, delta: float, meter: str = "disk", **more: Any) -> tuple[str, Any]:
    ticket = memory.decide(ASKED)
    assert ticket.id is not None
    return ticket.id, memory.settle(ticket.id, delta=delta, meter=meter, **more)


@COSTLY
@given(stake=st.floats(0.1, 4.0), deltas=st.lists(st.floats(0.01, 5.0), min_size=1, max_size=12))
def test_claims_pay_an_entry_half_a_stake_over_its_life_at_most_whatever_the_stake_is(stake: float, deltas: list[float]) -> None:
    with opened(channel="mcp", settings={"stake": stake, "cap": 100.0}) as memory:
        entry = memory.add(ADVICE)
        claimed = 0
        for delta in deltas:
            _, made = settled(memory, delta)
            claimed += micro(0.6 * math.tanh(delta))
            assert made.tier == "claimed"
        assert memory.get(entry.id).balance == micro(stake) + min(claimed, micro(0.5 * stake))
        assert memory.check().problems == ()


def test_every_second_look_that_is_called_for_is_in_the_log_but_those_at_first_outcomes() -> None:
    with opened() as memory:
        entry = memory.add(ADVICE)
        tickets: list[str] = []
        for _ in range(40):
            name, _ = settled(memory, 1.0)
            tickets.append(name)
            if len(tickets) <= 2:
                memory.remeasure(name, delta=1.0, meter="scales")
        for _ in range(6):
            ticket = memory.decide(ASKED)
            if ticket.silent:
                break
            assert ticket.id is not None
            memory.settle(ticket.id, delta=-3.0, meter="disk")
        assert memory.get(entry.id).standing == "suspended"
        wanted = memory.appeals()
        assert {look.why for look in wanted} == {"appeal", "random"}
        events = memory.events(kind="appeal")
        told = [(row, why) for event in events for row, why in event.data["wanted"]]
        assert len({row for row, _ in told}) == len(wanted)
        assert {why for _, why in told} == {"appeal", "random"} and {event.entries for event in events} == {(entry.id,)}


def test_a_claim_does_not_make_the_meters_be_learned_again_and_a_measurement_does() -> None:
    with opened(channel="mcp") as memory:
        memory.add(ADVICE)
        settled(memory, 1.0)
        with memory._store.read() as reading:
            assert reading.counter("unlearned") == 0
    with opened() as memory:
        memory.add(ADVICE)
        settled(memory, 1.0)
        with memory._store.read() as reading:
            assert reading.counter("unlearned") > 0
        memory.tick()
        with memory._store.read() as reading:
            assert reading.counter("unlearned") == 0


ECONOMY: Final = st.fixed_dictionaries(
    {"stake": st.floats(0.2, 3.0), "rent": st.floats(0.0, 0.5), "cap": st.floats(3.0, 6.0), "gain": st.floats(0.1, 2.0)}
)


@COSTLY
@given(economy=ECONOMY, rule=st.sampled_from(("evidence", "classic")), deltas=st.lists(st.floats(0.05, 4.0), min_size=1, max_size=10))
def test_what_an_entry_holds_is_its_stake_its_gains_up_to_the_cap_and_the_rent_of_each_tick(
    economy: dict[str, float], rule: str, deltas: list[float]
) -> None:
    with opened(settings={**economy, "rule": rule}) as memory:
        entry = memory.add(ADVICE)
        rent, cap = micro(economy["rent"]), micro(economy["cap"])
        held = micro(economy["stake"])
        for delta in deltas:
            _, made = settled(memory, delta)
            paid = micro(economy["gain"] * math.tanh(delta))
            assert [credit.amount for credit in made.credits] == [paid]
            held = min(held + paid, cap)
            report = memory.tick()
            assert report.rent == rent
            held -= rent
            now = memory.get(entry.id)
            if held <= 0:
                assert (now.standing, now.cause, now.balance) == ("dead", "starved", 0) and report.died == (entry.id,)
                break
            assert now.balance == held and now.standing == "active"
        assert memory.check().problems == ()


@pytest.mark.parametrize("rule", ["evidence", "classic"])
def test_the_accounts_of_a_store_sum_up_to_nothing_and_a_death_leaves_nothing_behind(rule: str) -> None:
    with opened(settings={"rule": rule, "rent": 0.3}) as memory:
        kept = memory.add(ADVICE)
        idle = memory.add("Zebra herds follow rain.")
        for _ in range(5):
            settled(memory, 2.0)
            memory.tick()
        # The rent of the last tick is owed until the account moves: after one more outcome nobody owes any.
        settled(memory, 2.0)
        assert memory.get(idle.id).cause == "starved" and memory.get(kept.id).standing == "active"
        with memory._store.read() as reading:
            others = sum(reading.counter(f"account:{name}") for name in ("mint", "world", "rent", "cap", "forfeit"))
            energy = reading.energy()
        assert others + energy == 0
        assert energy == memory.get(kept.id).balance and memory.check().ok


def test_nothing_left_is_empty_and_a_millionth_is_not() -> None:
    with opened(settings={"rule": "classic", "stake": 0.6, "rent": 0.0}) as memory:
        entry = memory.add(ADVICE)
        fined, paid, open_still = (memory.decide(ASKED).id for _ in range(3))
        assert fined is not None and paid is not None and open_still is not None
        memory.settle(fined, delta=-1e9, meter="disk")
        now = memory.get(entry.id)
        assert (now.standing, now.balance) == ("suspended", 0), "an open ticket names it, or it were dead"
        memory.settle(paid, delta=1.0, scale=600_000.0, meter="disk")
        now = memory.get(entry.id)
        assert (now.standing, now.balance) == ("active", 1)
        assert [event.data["reason"] for event in memory.events(kind="clear")] == ["earned"]
        memory.abandon(open_still)
        assert memory.get(entry.id).alive


@pytest.mark.parametrize(("stake", "alive"), [(0.15, False), (0.150001, True)])
def test_rent_takes_the_last_millionth_and_with_it_the_life(stake: float, alive: bool) -> None:
    with opened(settings={"rule": "classic", "stake": stake, "rent": 0.05}) as memory:
        entry = memory.add(ADVICE)
        ends = [memory.tick().died for _ in range(3)]
        assert ends == [(), (), () if alive else (entry.id,)]
        assert memory.get(entry.id).balance == (1 if alive else 0)
        ticket = memory.decide(ASKED).id
        assert (ticket is not None) is alive
        if ticket is not None:
            memory.abandon(ticket)
            assert memory.get(entry.id).alive


@pytest.mark.parametrize("before", [0, 1, 50])
def test_a_control_counts_from_the_first_tick_of_a_store_on(before: int) -> None:
    with opened(settings={"rent": 0.0}) as memory:
        memory.add(ADVICE)
        for _ in range(before):
            memory.tick()
        memory.control(delta=1.0, meter="disk")
        # One control, half believed; of the rest of its own tick's noise half is taken as well.
        _, made = settled(memory, 1.0)
        assert made.credits[0].amount == micro(0.6 * math.tanh(1.0 - 0.75))
        for _ in range(50):
            memory.tick()
        _, later = settled(memory, 1.0)
        # A half-life later it weighs half against the pseudo-control of nothing.
        assert later.credits[0].amount == pytest.approx(micro(0.6 * math.tanh(1.0 - 0.5 / 1.5)), abs=1)


def test_a_revoked_meter_takes_its_own_words_with_it_and_no_others() -> None:
    with opened() as memory:
        both = memory.add(ADVICE)
        tickets = [memory.decide(ASKED).id for _ in range(4)]
        for ticket, (delta, meter) in zip(tickets, ((-2.0, "liar"), (0.5, "fair"), (-2.0, "liar"), (-1.5, "fair")), strict=True):
            assert ticket is not None
            memory.settle(ticket, delta=delta, meter=meter)
        memory.meters.revoke("liar")
        assert memory.get(both.id).standing == "suspended", "the other meter's harm still stands"
        with memory._store.read() as reading:
            said = testimony.Testimony(reading, memory._read_settings(reading))
            row = reading.entry(both.id)
            assert row is not None
            assert [(word.meter, word.size) for word in said.words(row.row)] == [("fair", 0.5), ("fair", -1.5)]
            assert said.weigh(row.row).words == 2


@pytest.mark.parametrize("rule", ["evidence", "classic"])
def test_a_ticks_event_tells_what_the_store_holds_after_it(rule: str) -> None:
    with opened(settings={"rule": rule, "rent": 0.15, "stake": 0.5}) as memory:
        memory.add(ADVICE)
        died = 0
        for number in range(10):
            memory.add(f"Zebra herd {number} follows rain {number * 7}.", cue=f"zebra{number}")
            outcome = (0.0, 2.0, 1.0)[number % 3]
            waiting = memory.decide(ASKED).id
            settled(memory, outcome)
            report = memory.tick(expire_after=3)
            [event] = memory.events(kind="tick", limit=1, newest=True)
            stats = memory.stats()
            assert waiting in {ticket.id for ticket in memory.pending()}
            assert {name: event.data[name] for name in ("population", "suspended", "died", "expired", "energy", "pending")} == {
                "population": stats.alive, "suspended": stats.suspended, "died": len(report.died), "expired": report.expired,
                "energy": stats.energy, "pending": stats.pending,
            }  # fmt: skip
            assert (report.population, event.data["rent"]) == (stats.alive, report.rent)
            assert stats.energy == sum(entry.balance for entry in memory.list(standing="active"))
            died += len(report.died)
        assert died > 3


@given(
    roles=st.lists(st.sampled_from(("cited", "supporting", "withheld")), max_size=6),
    decided=st.booleans(),
    tier=st.sampled_from(("measured", "operator", "claimed")),
)
def test_an_outcome_is_evidence_of_who_decided_in_full_and_of_who_was_cited_in_part_and_of_nobody_else(
    roles: list[Role], decided: bool, tier: Tier
) -> None:
    named: list[Role] = [*roles, "deciding"] if decided else roles
    shares = tuple(Share(row, f"e{row}", role) for row, role in enumerate(named, 1))
    stored = StoredTicket(1, "t", ASKED, ADVICE, "pending", False, 1.0, 0, ManualClock().now(), None, shares)
    found = settling.parts(settling.Measured(stored, 1.0, 1.0, "disk", tier, None, shares))
    cited = roles.count("cited")
    expected = {
        share.entry_row: 1.0 if share.role == "deciding" else 1.0 / (cited + decided)
        for share in shares
        if share.role in ("deciding", "cited")
    }
    assert found == (expected if tier == "measured" else {})


@pytest.mark.parametrize("stake", [0.000001, 1.0])
def test_an_entry_is_cleared_by_its_evidence_as_long_as_it_holds_anything(stake: float) -> None:
    with opened(settings={"stake": stake, "rent": 0.0}) as memory:
        entry = memory.add(ADVICE)
        settled(memory, -2.0, "liar")
        assert (memory.get(entry.id).standing, memory.get(entry.id).balance) == ("suspended", micro(stake))
        memory.meters.revoke("liar")
        assert (memory.get(entry.id).standing, memory.get(entry.id).balance) == ("active", micro(stake))


@pytest.mark.parametrize("rule", ["evidence", "classic"])
def test_what_a_gain_brings_beyond_the_cap_goes_to_the_account_of_the_cap_to_the_last_millionth(rule: str) -> None:
    with opened(settings={"rule": rule, "stake": 1.0, "cap": 1.0, "rent": 0.0}) as memory:
        entry = memory.add(ADVICE)
        for count in (1, 2):
            settled(memory, 1.0, scale=600_000.0)
            assert memory.get(entry.id).balance == micro(1.0)
            with memory._store.read() as reading:
                assert abs(reading.counter("account:cap")) == count
        assert memory.check().problems == ()


def test_who_was_suspended_for_being_empty_and_was_pinned_since_is_cleared_when_the_last_ticket_lets_go_of_it() -> None:
    with opened(settings={"rule": "classic", "stake": 0.6, "rent": 0.0}) as memory:
        entry = memory.add(ADVICE)
        fined, waiting = memory.decide(ASKED).id, memory.decide(ASKED).id
        memory.settle(str(fined), delta=-1e9, meter="disk")
        assert memory.get(entry.id).standing == "suspended"
        memory.pin(entry.id)
        memory.abandon(str(waiting))
        assert (memory.get(entry.id).standing, memory.get(entry.id).balance) == ("active", 0)
        assert [event.data["reason"] for event in memory.events(kind="clear")] == ["kept"]


@pytest.mark.parametrize(("acted", "looks"), [(None, 1), (True, 1), (False, 0)])
def test_no_second_look_is_asked_for_where_nothing_was_done(acted: bool | None, looks: int) -> None:
    with opened() as memory:
        memory.add(ADVICE)
        settled(memory, 1.0, acted=acted)
        assert len(memory.appeals()) == looks


@pytest.mark.parametrize("pinned", [False, True])
def test_a_fine_is_taken_to_the_last_millionth_and_of_a_pinned_entry_no_more_than_it_holds(pinned: bool) -> None:
    with opened(settings={"rule": "classic", "stake": 0.6, "rent": 0.0}) as memory:
        entry = memory.add(ADVICE)
        if pinned:
            memory.pin(entry.id)
        settled(memory, -1.0, scale=600_000.0)
        assert memory.get(entry.id).balance == micro(0.6) - 1
        kept_open = memory.decide(ASKED).id
        settled(memory, -1e9)
        assert memory.get(entry.id).balance == (0 if pinned else -1) and kept_open is not None
        assert memory.check().problems == ()
