"""The ledger: decide, settle, abandon, expire, tick. Every row of `ledger.jsonl`, and the rules that its failures taught."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.core.entry import Entry
from earnest.core.ticket import Settlement
from earnest.errors import InvalidInput, NotAllowed
from earnest.testing.clock import ManualClock, SeededRng

TABLE: Final = Path(__file__).resolve().parents[1] / "data" / "ledger.jsonl"
ROWS: Final[list[dict[str, Any]]] = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines() if line.strip()]


def opened(path: str | Path = ":memory:", *, seed: int = 1, **more: Any) -> Memory:
    """A store under the classic rule: what these tests hold are its laws."""
    settings = {"rule": "classic", **more.pop("settings", {})}
    return Memory.open(path, clock=ManualClock(), rng=SeededRng(seed), settings=settings, **more)


def zebra(memory: Memory, **fields: Any) -> Entry:
    return memory.add("The zebra is striped.", **fields)


def decided(memory: Memory, query: str = "zebra", k: int = 3) -> str:
    ticket = memory.decide(query, k)
    assert ticket.id is not None
    return ticket.id


def settled(memory: Memory, delta: float, query: str = "zebra", **more: Any) -> Settlement:
    made = memory.settle(decided(memory, query), delta=delta, **more)
    assert made.landed
    return made


def energy(amount: float) -> int:
    return round(amount * 1_000_000)


def ticks(memory: Memory, times: int) -> None:
    for _ in range(times):
        memory.tick()


# the table, one function for each name


def row_starve(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened(settings={"stake": row["spawn"], "rent": row["upkeep"]})
    entry = zebra(memory)
    ticks(memory, row["ticks"] - 1)
    assert memory.get(entry.id).standing == "active", "alive one tick before"
    assert memory.tick().died == (entry.id,)
    dead = memory.get(entry.id)
    assert (dead.standing, dead.cause, dead.balance) == ("dead", "starved", 0)


def row_credit(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened(settings={"gain": row.get("gain", 0.6)})
    deciding = memory.add("zebra stripes")
    supporting = memory.add("zebra stripes and a mane of many colours")
    made = memory.settle(str(memory.decide("zebra stripes").id), delta=row["delta"], scale=row["scale"])
    moved = {credit.entry: credit.amount for credit in made.credits}
    assert moved[deciding.id] == energy(row["expect_decider"])
    assert moved[supporting.id] == energy(row.get("expect_supporter", row["expect_decider"] / 4))
    assert memory.get(deciding.id).balance == 1_000_000 + moved[deciding.id]


def row_cap(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened(settings={"stake": row["start"]})
    entry = zebra(memory)
    settled(memory, row["delta"], scale=row["scale"])
    assert memory.get(entry.id).balance == energy(row["expect"])


def row_negative(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened(settings={"stake": row["start"]})
    entry = zebra(memory)
    assert settled(memory, row["delta"], scale=row["scale"]).buried == (entry.id,)
    assert (memory.get(entry.id).standing, memory.get(entry.id).cause) == ("dead", "executed")


def row_zero_delta(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened()
    entry = zebra(memory)
    assert settled(memory, row["delta"]).credits == ()
    assert memory.get(entry.id).balance == 1_000_000 and memory.pending() == []


def row_refused_delta(row: dict[str, Any], tmp_path: Path) -> None:
    known: dict[Any, Any] = {"nan": math.nan, "inf": math.inf}
    delta = known.get(row["delta"], row["delta"])
    memory = opened()
    entry = zebra(memory)
    ticket = decided(memory)
    head = memory.check().head
    with pytest.raises(InvalidInput, match="delta"):
        memory.settle(ticket, delta=delta)
    assert memory.check().head == head and len(memory.pending()) == 1 and memory.get(entry.id).balance == 1_000_000


def row_scale_zero(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened()
    with pytest.raises(InvalidInput, match="scale"):
        memory.meters.add("disk", scale=row["scale"])
    zebra(memory)
    with pytest.raises(InvalidInput, match="scale"):
        memory.settle(decided(memory), delta=1.0, scale=row["scale"])


def row_settle_unknown(row: dict[str, Any], tmp_path: Path) -> None:
    made = opened().settle(row["ticket"], delta=1.0)
    assert not made.landed and row["ticket"] in made.reason and "not known" in made.reason


def row_settle_after_expiry(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened(settings={"expire_after": 1})
    entry = zebra(memory)
    ticket = decided(memory)
    ticks(memory, 2)
    held = memory.get(entry.id).balance
    made = memory.settle(ticket, delta=1.0)
    assert not made.landed and "expired" in made.reason and made.credits == ()
    assert memory.get(entry.id).balance == held


def row_settle_abandoned(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened()
    zebra(memory)
    ticket = decided(memory)
    assert memory.abandon(ticket)
    made = memory.settle(ticket, delta=1.0)
    assert not made.landed and "abandoned" in made.reason


def row_escrow(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened(settings={"rent": row["upkeep"]})
    entry = zebra(memory)
    ticket = decided(memory)
    ticks(memory, row["ticks"])
    assert memory.get(entry.id).alive, "still there at the last tick"
    memory.settle(ticket, delta=0.0)
    memory.tick()
    assert memory.get(entry.id).cause == "starved"


def row_merge_pool(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened()
    ids = []
    for held, text in zip(row["energies"], ("Log files may go after a week.", "Log files may go after seven days."), strict=True):
        memory.configure(stake=held)
        ids.append(memory.add(text).id)
    assert memory.merge(ids).balance == energy(row["expect_pool"])
    memory.configure(stake=3.0)
    rich = [memory.add(text).id for text in ("One of the rich.", "Another of the rich.")]
    assert memory.merge(rich).balance == 5_000_000, "capped"


def row_operator_settle(row: dict[str, Any], tmp_path: Path) -> None:
    memory = opened(channel="cli")
    entry = zebra(memory)
    assert settled(memory, 1.0).tier == row["source"]
    assert memory.events(kind="settle")[0].data["tier"] == "operator"
    assert "[operator]" in memory.obituary(entry.id)
    assert "operator_settled" in [finding.code for finding in memory.doctor().findings]


def row_restart(row: dict[str, Any], tmp_path: Path) -> None:
    assert row["steps"] == ["decide", "close", "open", "settle"]
    with opened(tmp_path / "m.db") as memory:
        entry = zebra(memory)
        ticket = decided(memory)
    with opened(tmp_path / "m.db", seed=2) as again:
        assert again.settle(ticket, delta=1.0).landed
        assert again.get(entry.id).balance == 1_456_956


CHECKS: Final[dict[str, Callable[[dict[str, Any], Path], None]]] = {
    "starve": row_starve, "starve_float": row_starve, "credit": row_credit, "credit_huge": row_credit, "cap": row_cap,
    "negative": row_negative, "zero_delta": row_zero_delta, "nan_delta": row_refused_delta, "inf_delta": row_refused_delta,
    "scale_zero": row_scale_zero, "bool_delta": row_refused_delta, "string_delta": row_refused_delta,
    "settle_unknown": row_settle_unknown, "settle_after_expiry": row_settle_after_expiry, "settle_abandoned": row_settle_abandoned,
    "escrow": row_escrow, "merge_pool": row_merge_pool, "operator_settle": row_operator_settle, "restart": row_restart,
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_row_of_the_ledger_table(row: dict[str, Any], tmp_path: Path) -> None:
    # The table's spawn and stake default to 1 with a rent of 0.05 and a cap of 5: so do the settings.
    CHECKS[row["name"]]({"upkeep": 0.05, **row} if "spawn" in row else row, tmp_path)


# a ticket ends once


@pytest.mark.parametrize("end", ["settle", "abandon", "expire"])
def test_a_ticket_that_ended_takes_no_second_end_and_says_how_it_ended(end: str) -> None:
    memory = opened(settings={"expire_after": 1})
    entry = zebra(memory)
    ticket = decided(memory)
    if end == "settle":
        memory.settle(ticket, delta=1.0)
    elif end == "abandon":
        memory.abandon(ticket)
    else:
        ticks(memory, 2)
    held, stats = memory.get(entry.id).balance, memory.stats()
    assert (stats.settled, stats.abandoned, stats.expired) == (end == "settle", end == "abandon", end == "expire")
    late = memory.settle(ticket, delta=50.0, meter="late")
    assert not late.landed and {"settle": "settled already", "abandon": "abandoned", "expire": "expired"}[end] in late.reason
    assert memory.abandon(ticket) is False
    assert memory.get(entry.id).balance == held and memory.stats().dropped == 1
    assert memory.meters.list() == [] or memory.meters.list()[0].name != "late", "a refused settlement makes no meter"
    assert memory.events(kind="settle_refused")[0].data == {
        "state": {"settle": "settled", "abandon": "abandoned", "expire": "expired"}[end]
    }


def test_abandoning_and_expiring_are_no_information_which_is_not_zero() -> None:
    memory = opened(settings={"expire_after": 1, "rent": 0.0})
    entry = zebra(memory)
    memory.abandon(decided(memory), reason="never acted on")
    decided(memory)
    ticks(memory, 2)
    kept = memory.get(entry.id)
    assert kept.balance == 1_000_000 and kept.last_settled_tick is None
    assert memory.stats().settled == 0 and "nothing_measured" in [f.code for f in memory.doctor().findings]
    assert "never acted on" in memory.obituary(entry.id) and "expired without an outcome" in memory.obituary(entry.id)


def test_a_ticket_is_open_for_as_many_ticks_as_it_may_be_and_expires_at_the_next() -> None:
    memory = opened(settings={"expire_after": 3, "rent": 0.0})
    zebra(memory)
    decided(memory)
    assert [memory.tick().expired for _ in range(5)] == [0, 0, 0, 1, 0]
    ticket = decided(memory)
    ticks(memory, 3)
    assert memory.settle(ticket, delta=1.0).landed, "still in time"


def test_a_tick_may_be_told_another_limit() -> None:
    memory = opened(settings={"rent": 0.0})
    zebra(memory)
    decided(memory)
    ticks(memory, 2)
    assert memory.tick(expire_after=100).expired == 0
    assert memory.tick(expire_after=3).expired == 1


def test_an_open_ticket_survives_the_process_that_opened_it(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        zebra(memory, sources=["book"])
        ticket = memory.decide("zebra")
    with opened(tmp_path / "m.db", seed=2) as again:
        [pending] = again.pending()
        assert (pending.id, pending.query, pending.answer, pending.age_ticks) == (ticket.id, "zebra", "The zebra is striped.", 0)
        assert again.settle(pending.id, delta=1.0).landed


def test_three_thousand_unsettled_questions_are_a_list_with_an_end_not_a_wall(tmp_path: Path) -> None:
    # E16: they expire, their entries come out of escrow, and nothing is kept open by asking.
    memory = opened(settings={"rent": 0.0})
    entry = zebra(memory)
    for _ in range(300):
        memory.decide("zebra")
    assert memory.stats().pending == 300 and len(memory.pending(limit=7)) == 7
    first = memory.pending(limit=100)
    assert len({p.id for p in (*first, *memory.pending(after=first[-1].id))}) == 300
    with pytest.raises(NotAllowed, match=r"open tickets \(300\)"):
        memory.forget(entry.id)
    ticks(memory, 50)
    assert memory.stats().pending == 300
    assert memory.tick().expired == 300
    assert memory.stats().pending == 0 and memory.stats().expired == 300
    memory.forget(entry.id)
    assert memory.check().ok


# credit and the accounts


def test_credit_follows_the_provenance_and_nobody_else_is_paid() -> None:
    memory = opened()
    deciding, bystander = memory.add("zebra stripes"), memory.add("The horse is brown.")
    supporting = memory.add("zebra stripes and a mane of many colours")
    made = settled(memory, 100.0, "zebra stripes", scale=100.0)
    assert [(c.entry, c.amount, c.role) for c in made.credits] == [
        (deciding.id, 456_956, "deciding"), (supporting.id, 114_239, "supporting"),
    ]  # fmt: skip
    assert memory.get(bystander.id).balance == 1_000_000


def test_the_setting_supporters_and_k_bound_who_rides_along() -> None:
    memory = opened()
    for n in range(6):
        memory.add(f"zebra number {'and ' * n}{n}")
    assert len(memory.decide("zebra", 6).supporting) == 2
    assert len(memory.decide("zebra", 2).supporting) == 1
    assert memory.decide("zebra", 1).supporting == ()
    memory.configure(supporters=4)
    assert len(memory.decide("zebra", 6).supporting) == 4
    memory.configure(supporters=0)
    assert memory.decide("zebra", 6).supporting == ()


def test_what_exceeds_the_cap_goes_to_the_account_cap_and_all_accounts_sum_to_nothing() -> None:
    memory = opened(settings={"stake": 4.9, "rent": 0.0})
    entry = zebra(memory)
    settled(memory, 1e9)
    stats = memory.stats()
    assert stats.accounts == {"mint": -4_900_000, "world": -600_000, "rent": 0, "cap": 500_000, "forfeit": 0}
    assert sum(stats.accounts.values()) + stats.energy == 0 and memory.get(entry.id).balance == 5_000_000
    settled(memory, 1e9)
    assert memory.stats().accounts["cap"] == 1_100_000 and memory.get(entry.id).balance == 5_000_000
    settled(memory, -1e9)
    assert memory.get(entry.id).balance == 4_400_000
    assert memory.check().ok


def test_what_is_left_of_a_dead_entry_is_forfeited_and_a_debt_is_forgiven() -> None:
    memory = opened(settings={"rent": 0.3})
    entry = zebra(memory)
    memory.tick()
    memory.forget(entry.id)
    assert memory.stats().accounts == {"mint": -1_000_000, "world": 0, "rent": 300_000, "cap": 0, "forfeit": 700_000}
    memory.add("The horse is brown.")
    ticks(memory, 4)
    assert memory.stats().accounts == {"mint": -2_000_000, "world": 0, "rent": 1_500_000, "cap": 0, "forfeit": 500_000}
    assert memory.stats().energy == 0 and memory.check().ok


def test_a_tick_reports_the_rent_that_it_charged_and_the_population_after_it() -> None:
    memory = opened()
    pinned = zebra(memory)
    memory.pin(pinned.id)
    memory.add("The mule is grey.", retention="kept")
    memory.add("The horse is brown.")
    ticks(memory, 19)
    made = memory.tick()
    assert (made.tick, made.population, len(made.died), made.rent) == (20, 2, 1, 100_000)
    made = memory.tick()
    assert (made.population, made.rent) == (2, 0), "a pinned entry that rests at zero pays nothing, a kept one never does"


def test_entries_that_are_kept_or_fading_are_measured_but_move_no_energy() -> None:
    memory = opened()
    kept, fading = zebra(memory, retention="kept"), memory.add("The horse is brown.", retention="fading")
    for query, entry in (("zebra", kept), ("horse", fading)):
        made = settled(memory, -5.0, query)
        assert all(credit.amount == 0 for credit in made.credits)
        after = memory.get(entry.id)
        assert (after.balance, after.standing, after.last_settled_tick) == (0, "active", 0)
        assert "settled −5" in memory.obituary(entry.id)
    assert set(memory.stats().accounts.values()) == {0} and memory.audit().losers == ()


def test_two_saturated_harms_end_a_fresh_entry_and_nine_one_at_the_cap() -> None:
    for stake, harms in ((1.0, 2), (5.0, 9)):
        memory = opened(settings={"stake": stake, "rent": 0.0})
        entry = zebra(memory)
        for n in range(harms):
            assert memory.get(entry.id).alive, n
            settled(memory, -1e9)
        assert memory.get(entry.id).cause == "executed"


def test_an_entry_that_did_harm_once_and_starves_later_is_called_executed() -> None:
    memory = opened()
    harmed, innocent = zebra(memory), memory.add("The horse is brown.")
    settled(memory, -0.01)
    ticks(memory, 20)
    assert memory.get(harmed.id).cause == "executed" and memory.get(innocent.id).cause == "starved"


def test_a_supporter_pays_its_part_of_a_harm_but_is_not_executed_for_it() -> None:
    memory = opened()
    deciding = memory.add("zebra stripes")
    supporting = memory.add("zebra stripes and a mane of many colours")
    made = settled(memory, -0.1, "zebra stripes")
    assert {credit.entry for credit in made.credits if credit.amount < 0} == {deciding.id, supporting.id}
    ticks(memory, 20)
    assert (memory.get(deciding.id).cause, memory.get(supporting.id).cause) == ("executed", "starved")


# escrow is no shield


def test_an_entry_that_a_ticket_names_is_neither_buried_nor_merged_nor_forgotten_before_the_verdict() -> None:
    memory = opened()
    entry, other = zebra(memory), memory.add("The horse is brown.")
    ticket = decided(memory)
    calls: list[Callable[[], object]] = [
        lambda: memory.forget(entry.id), lambda: memory.merge([entry.id, other.id]), lambda: memory.update(entry.id, text="x"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(NotAllowed, match="open ticket"):
            call()
    ticks(memory, 30)
    assert memory.get(entry.id).alive and memory.get(entry.id).balance == -500_000
    memory.settle(ticket, delta=0.0)
    assert memory.get(entry.id).standing == "dead"


def test_an_entry_that_empties_under_an_open_ticket_is_suspended_at_once_and_named_by_no_new_one() -> None:
    memory = opened()
    entry = zebra(memory)
    ticket = decided(memory)
    ticks(memory, 19)
    assert memory.get(entry.id).standing == "active"
    report = memory.tick()
    assert report.died == () and memory.get(entry.id).standing == "suspended"
    assert memory.stats().suspended == 1 and memory.stats().alive == 0
    assert memory.decide("zebra").id is None and not memory.answer("zebra")
    assert [hit.entry.standing for hit in memory.search("zebra")] == ["suspended"], "shown, and marked"
    assert memory.settle(ticket, delta=0.0).buried == (entry.id,)
    assert memory.get(entry.id).cause == "starved"


@pytest.mark.parametrize("end", ["abandon", "expire"])
def test_a_suspended_entry_dies_when_its_last_ticket_lets_go_of_it(end: str) -> None:
    memory = opened(settings={"rent": 0.5, "expire_after": 5})
    entry = zebra(memory)
    tickets = [decided(memory), decided(memory)]
    ticks(memory, 2)
    assert memory.get(entry.id).standing == "suspended"
    if end == "abandon":
        memory.abandon(tickets[0])
        assert memory.get(entry.id).standing == "suspended", "the other ticket still waits"
        memory.abandon(tickets[1])
    else:
        ticks(memory, 3)
        assert memory.get(entry.id).standing == "suspended"
        assert memory.tick().died == (entry.id,)
    assert memory.get(entry.id).cause == "starved"


def test_a_suspended_entry_that_earns_again_is_cleared() -> None:
    memory = opened(settings={"rent": 0.5})
    entry = zebra(memory)
    ticket = decided(memory)
    ticks(memory, 2)
    assert memory.get(entry.id).standing == "suspended"
    memory.settle(ticket, delta=1e9)
    assert memory.get(entry.id).standing == "active" and memory.get(entry.id).balance == 600_000
    assert memory.decide("zebra").id is not None
    assert "cleared" in memory.obituary(entry.id)


def test_no_entry_is_made_immortal_by_overlapping_tickets() -> None:
    # E3: tickets that overlap by one kept an executed entry in the store for forty disasters, deciding all of them.
    memory = opened(settings={"rent": 0.0})
    entry = zebra(memory)
    waiting = decided(memory)
    disasters = 0
    for _ in range(40):
        following = memory.decide("zebra").id
        made = memory.settle(waiting, delta=-100.0)
        disasters += 1
        if following is None:
            break
        waiting = following
    assert disasters == 3, "two drained it; the third was named before the second landed"
    assert made.buried == (entry.id,)
    dead = memory.get(entry.id)
    assert (dead.standing, dead.cause, dead.balance) == ("dead", "executed", 0)
    assert memory.decide("zebra").silent


def test_a_settlement_reports_who_was_suspended_and_who_was_buried() -> None:
    memory = opened(settings={"stake": 0.5})
    entry = zebra(memory)
    first, second = decided(memory), decided(memory)
    made = memory.settle(first, delta=-1e9)
    assert (made.suspended, made.buried) == ((entry.id,), ())
    made = memory.settle(second, delta=-1e9)
    assert (made.suspended, made.buried) == ((), (entry.id,))


def test_a_long_open_ticket_does_not_keep_charging_the_dead() -> None:
    memory = opened(settings={"rent": 0.5, "expire_after": 3})
    zebra(memory)
    decided(memory)
    ticks(memory, 4)
    accounts = memory.stats().accounts
    ticks(memory, 10)
    assert memory.stats().accounts == accounts and memory.stats().energy == 0


# tiers


@pytest.mark.parametrize(
    ("channel", "tier"), [("python", "measured"), ("settle-ci", "measured"), ("cli", "operator"), ("mcp", "claimed"), ("http", "claimed")]
)
def test_what_an_unbound_meter_says_weighs_what_its_channel_weighs(channel: str, tier: str) -> None:
    memory = opened(channel=channel)
    zebra(memory)
    memory.meters.add("ci", tier="measured")
    assert settled(memory, 1.0, meter="ci").tier == tier
    assert settled(memory, 1.0, meter="new").tier == tier
    assert {meter.name: meter.tier for meter in memory.meters.list()} == {"ci": "measured", "new": tier}


def test_a_meter_that_the_operator_bound_to_the_channel_weighs_its_own_tier(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as operator:
        operator.meters.add("ci", unit="tests", scale=2.0, tier="measured")
        assert operator.meters.bind("ci", channel="mcp").channels == ("mcp",)
        zebra(operator)
    with opened(tmp_path / "m.db", seed=2, channel="mcp") as agent:
        made = settled(agent, 2.0, meter="ci")
        assert (made.tier, made.credits[0].amount) == ("measured", 456_956), "and its scale holds"
        assert settled(agent, 2.0, meter="agent's own").tier == "claimed"
    with opened(tmp_path / "m.db", seed=3, channel="http") as other:
        assert settled(other, 2.0, meter="ci").tier == "claimed", "bound to another channel"


def test_the_scale_of_a_settlement_is_its_own_else_the_meters_else_one() -> None:
    memory = opened(settings={"rent": 0.0})
    zebra(memory)
    memory.meters.add("disk", unit="bytes", scale=100.0)
    assert settled(memory, 100.0, meter="disk").credits[0].amount == 456_956
    assert settled(memory, 100.0, meter="disk", scale=1e9).credits == ()
    assert settled(memory, 1.0).credits[0].amount == 456_956


@pytest.mark.parametrize(("channel", "tier"), [("cli", "operator"), ("mcp", "claimed")])
def test_what_was_typed_or_claimed_is_marked_everywhere(channel: str, tier: str) -> None:
    memory = opened(channel=channel, actor="someone")
    entry = zebra(memory)
    settled(memory, 1.0, meter="hand", detail="looked right")
    [event] = memory.events(kind="settle")
    assert (event.data["tier"], event.channel, event.actor) == (tier, channel, "someone")
    assert f"by hand [{tier}]" in memory.obituary(entry.id) and "looked right" in memory.obituary(entry.id)
    audit = memory.audit()
    assert audit.by_tier == {tier: 1} and audit.by_meter["hand"]["tiers"] == {tier: 1}
    assert {"cli": "operator_settled", "mcp": "agent_settled"}[channel] in [f.code for f in memory.doctor().findings]


def test_what_was_measured_carries_no_mark() -> None:
    memory = opened()
    entry = zebra(memory)
    settled(memory, 1.0, meter="disk")
    assert "by disk," in memory.obituary(entry.id) and "[" not in memory.obituary(entry.id)


def test_stats_tell_how_many_outcomes_were_typed_or_claimed(tmp_path: Path) -> None:
    for n, channel in enumerate(("python", "cli", "mcp", "mcp")):
        with opened(tmp_path / "m.db", seed=n, channel=channel) as memory:
            zebra(memory)
            settled(memory, 1.0)
            stats = memory.stats()
    assert stats.by_tier == {"measured": 1, "operator": 1, "claimed": 2}


@pytest.mark.parametrize("acted", [True, False, None])
def test_whether_anything_was_done_is_recorded(acted: bool | None) -> None:
    memory = opened()
    entry = zebra(memory)
    settled(memory, 0.0 if acted is False else 1.0, acted=acted)
    assert memory.events(kind="settle")[0].data["acted"] is acted
    assert ("not acted on" in memory.obituary(entry.id)) is (acted is False)


def test_the_rule_and_its_numbers_are_recorded_with_what_they_moved() -> None:
    memory = opened(settings={"gain": 1.0})
    entry = zebra(memory)
    settled(memory, 1e9)
    memory.configure(gain=0.1)
    [event] = memory.events(kind="settle")
    assert event.data["rule"] == ["classic", 1, {"gain": 1.0, "supporting_share": 0.25}]
    assert memory.get(entry.id).balance == 2_000_000 and memory.check().ok, "recorded amounts are never computed again"


# insight


def test_what_is_not_said_of_a_meter_again_stays_as_it_was() -> None:
    with Memory.open() as memory:
        memory.meters.add("disk", unit="bytes", scale=4096)
        changes: list[dict[str, Any]] = [{"tier": "claimed"}, {"unit": "bytes"}, {"scale": 4096}, {}]
        for change in changes:
            made = memory.meters.add("disk", **change)
            assert (made.unit, made.scale) == ("bytes", 4096), change
        assert memory.meters.add("disk", unit="").unit == "", "which is said"
        assert memory.meters.add("disk", scale=8).scale == 8


def test_meters_count_what_they_said() -> None:
    memory = opened()
    zebra(memory)
    settled(memory, 3.0, meter="disk")
    settled(memory, -1.0, meter="disk")
    [meter] = memory.meters.list()
    assert (meter.name, meter.settlements, meter.total) == ("disk", 2, 2.0)


def test_the_audit_sums_deltas_by_meter_and_energy_apart_from_them() -> None:
    memory = opened(settings={"rent": 0.0})
    good, bad = zebra(memory), memory.add("The horse is brown.")
    start = memory.events(newest=True, limit=1)[0].seq
    settled(memory, 1e9, meter="disk")
    settled(memory, -1e9, "horse", meter="wallet")
    audit = memory.audit(after=start)
    assert audit.by_meter["disk"]["total"] == 1e9 and audit.by_meter["wallet"]["total"] == -1e9
    assert (audit.credited, audit.fined) == (600_000, 600_000)
    assert audit.gainers == ((good.id, 600_000),) and audit.losers == ((bad.id, -600_000),)
    assert audit.by_kind == {"decide": 2, "meter": 2, "settle": 2}
    assert memory.audit(after=memory.events(newest=True, limit=1)[0].seq).by_kind == {}


def test_top_is_by_what_entries_hold_now() -> None:
    memory = opened()
    poor, rich = zebra(memory), memory.add("The horse is brown.")
    pinned = memory.add("The mule is grey.")
    memory.pin(pinned.id)
    settled(memory, 1e9, "horse")
    settled(memory, -0.1, "zebra")
    memory.tick()
    assert [entry.id for entry in memory.top(10)] == [rich.id, pinned.id, poor.id]
    assert [entry.id for entry in memory.top(1)] == [rich.id]


def test_an_obituary_tells_the_life_of_the_living_and_the_dead() -> None:
    memory = opened()
    entry = memory.add("Database files are redundant.", cue="May I delete them?", sources=["forum-post"], scope="s")
    assert "active, holds 1.000 energy" in memory.obituary(entry.id)
    for _ in range(2):
        ticket = memory.decide("database files", scope="s").id
        memory.settle(str(ticket), delta=-3000.0, meter="disk", detail="deleted data.db", acted=True)
    told = memory.obituary(entry.id)
    for part in ("forum-post", "May I delete them?", "scope    s", "settled −3,000 by disk, acted on, moved −0.600 energy: deleted"):
        assert part in told
    assert "dead, executed: its advice did measured harm" in told and "died, executed" in told


def test_every_event_says_who_did_it_and_by_which_channel() -> None:
    memory = opened(actor="nina", channel="cli")
    entry = zebra(memory)
    memory.pin(entry.id)
    settled(memory, 1.0)
    memory.tick()
    assert {(event.actor, event.channel) for event in memory.events()} == {("nina", "cli")}


def test_events_hold_no_text() -> None:
    memory = opened()
    zebra(memory, cue="What about the zebra?", sources=["book of zebras"], tags=["zebra"])
    settled(memory, 1.0)
    memory.merge([memory.add("A zebra here.").id, memory.add("A zebra there.").id])
    for event in memory.events():
        assert "zebra" not in json.dumps(event.data).lower()


# slots


def test_ticking_twice_in_one_slot_ticks_once_whoever_does_it(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as first, opened(tmp_path / "m.db", seed=2, actor="ci") as second:
        made = first.tick(slot="2026-01-01")
        assert second.tick(slot="2026-01-01") == made and second.stats().tick == 1
        assert second.tick(slot="2026-01-02").tick == 2
        assert first.tick().tick == 3 and first.tick().tick == 4, "without a slot every call is a step"
