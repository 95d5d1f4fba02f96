"""Looking a memory over: pages in every order, what a card says, how it went, who holds what."""

from __future__ import annotations

import random
from typing import Any, Final

import pytest

from earnest.core.survey import ORDERS, Order
from earnest.errors import InvalidInput, UnknownEntry
from earnest.memory import Memory
from earnest.testing import ManualClock, SeededRng

ENTRIES: Final = 30


@pytest.fixture
def memory() -> Memory:
    """A memory that lived through sixty ticks: some entries earn, some did harm, most starve."""
    from datetime import UTC, datetime

    made = Memory.open(clock=ManualClock(datetime(2026, 3, 1, tzinfo=UTC)), rng=SeededRng(3), settings={"rent": 0.1})
    for number in range(ENTRIES):
        made.add(f"Log files of service {number} may be deleted after {number + 2} days.", sources=["runbook"], tags=["logs"])
    made.add("A note that lives in a scope of its own.", scope="alice", retention="kept")
    chance = random.Random(5)
    for _ in range(25):
        for _ in range(3):
            number = chance.randrange(6)
            ticket = made.decide(f"May the log files of service {number} be deleted?")
            if ticket.id is not None:
                made.settle(ticket.id, delta=-5 if number == 0 else 4, meter="disk", scale=4)
        made.tick()
    return made


def _paged(memory: Memory, **asked: Any) -> list[str]:
    found: list[str] = []
    after = None
    while True:
        page = memory.survey(after=after, limit=7, **asked)
        found += [card.entry.id for card in page]
        if len(page) < 7:
            return found
        after = found[-1]


@pytest.mark.parametrize("order", ORDERS)
def test_pages_of_every_order_add_up_to_the_whole(memory: Memory, order: Order) -> None:
    whole = [card.entry.id for card in memory.survey(order=order, limit=500)]
    assert _paged(memory, order=order) == whole
    assert len(whole) == len(set(whole)) > 0


def test_orders_are_what_they_say(memory: Memory) -> None:
    rich = [card.entry.balance for card in memory.survey(order="richest")]
    assert rich == sorted(rich, reverse=True)
    assert [card.entry.balance for card in memory.survey(order="poorest")] == sorted(rich)
    newest = [card.entry.id for card in memory.survey(order="newest")]
    assert [card.entry.id for card in memory.survey(order="oldest")] == newest[::-1]
    dead = memory.survey(order="ended", limit=500)
    assert all(card.entry.standing == "dead" for card in dead)
    assert len(dead) == memory.stats().dead


def test_every_scope_is_looked_at_unless_one_is_named(memory: Memory) -> None:
    assert {card.entry.scope for card in memory.survey(limit=500)} == {"", "alice"}
    assert {card.entry.scope for card in memory.survey(scope="alice")} == {"alice"}
    assert memory.survey(scope="nobody") == []


def test_filters_leave_out_what_does_not_pass(memory: Memory) -> None:
    [first, *_] = memory.survey(order="richest")
    memory.pin(first.entry.id)
    assert [card.entry.id for card in memory.survey(pinned=True)] == [first.entry.id]
    assert first.entry.id not in _paged(memory, pinned=False)
    assert {card.entry.standing for card in memory.survey(standing="suspended")} <= {"suspended"}
    assert memory.survey(tags="logs", limit=500) and memory.survey(tags="log") == []
    for cause, number in memory.stats().by_cause.items():
        assert len(_paged(memory, cause=cause)) == number


def test_a_card_says_how_long_a_balance_lasts(memory: Memory) -> None:
    for card in memory.survey(order="richest"):
        assert card.runway is not None
        assert (card.runway - 1) * 100_000 < card.entry.balance <= card.runway * 100_000
    [kept] = memory.survey(scope="alice")
    assert kept.runway is None and kept.chance is None and kept.words == 0


def test_a_card_has_evidence_only_where_something_was_measured(memory: Memory) -> None:
    cards = memory.survey(order="oldest", limit=500) + memory.survey(order="ended", limit=500)
    for card in cards:
        assert (card.chance is None) == (card.words == 0)
        if card.entry.last_settled_tick is None:
            assert card.chance is None
    assert any(card.chance is not None and card.chance > 0.9 for card in cards)
    assert any(card.chance is not None and card.chance < 0.5 for card in cards)


def test_a_life_shows_the_evidence_as_it_grew(memory: Memory) -> None:
    for card in memory.survey(order="richest"):
        life = memory.life(card.entry.id)
        assert life.card == card
        assert 0.8 < life.prior < 0.9
        if life.judged:
            assert life.judged[-1].chance == pytest.approx(card.chance)
            assert len(life.judged) == card.words
            assert [one.event for one in life.judged] == sorted(one.event for one in life.judged)
        assert all(verdict.settlement.meter == "disk" for verdict in life.verdicts)
        assert card.entry.id in life.story


def test_a_life_names_open_tickets_and_heirs(memory: Memory) -> None:
    ticket = memory.decide("May the log files of service 3 be deleted?")
    assert ticket.id is not None and ticket.deciding is not None
    assert [one.id for one in memory.life(ticket.deciding.id).tickets] == [ticket.id]
    memory.abandon(ticket.id)
    after = memory.update(ticket.deciding.id, text="Log files of service 3 may be deleted after nine weeks.")
    assert memory.life(ticket.deciding.id).heirs == (after.id,)
    assert memory.life(after.id).card.entry.lineage == (ticket.deciding.id,)


def test_history_counts_everybody_who_died(memory: Memory) -> None:
    history = memory.history()
    assert [point.tick for point in history.points] == list(range(1, 26)) and not history.more
    died: dict[str, int] = {}
    for point in history.points:
        for cause, number in point.died.items():
            died[cause] = died.get(cause, 0) + number
    assert died == dict(memory.stats().by_cause)
    assert history.points[-1].population == memory.stats().alive + memory.stats().suspended
    assert history.points[-1].energy == memory.stats().energy
    assert sum(one.total for one in history.settled) == pytest.approx(memory.meters.list()[0].total)
    assert sum(one.count for one in history.settled) == memory.stats().settled


def test_pages_of_history_join_without_a_gap(memory: Memory) -> None:
    whole = memory.history()
    late = memory.history(ticks=10)
    early = memory.history(ticks=15, before=late.points[0].event)
    assert late.more and not early.more
    assert early.points + late.points == whole.points
    assert early.settled + late.settled == whole.settled


def test_balances_count_every_payer(memory: Memory) -> None:
    [first, *_] = memory.survey(order="richest")
    before = memory.balances(buckets=10)
    payers = memory.survey(order="oldest", limit=500, scope="")
    assert sum(before.counts) == len(payers)
    for place, number in enumerate(before.counts):
        low, high = place * before.step, (place + 1) * before.step
        held = [card for card in payers if low <= card.entry.balance < high or (place == 9 and card.entry.balance >= high)]
        assert len(held) == number
    memory.pin(first.entry.id)
    assert memory.balances(buckets=10).counts == before.counts
    assert memory.balances(buckets=10).pinned == 1


def test_looking_writes_nothing(memory: Memory) -> None:
    before = memory.events(newest=True, limit=1)
    memory.survey(), memory.history(), memory.balances()
    memory.life(memory.survey(order="ended")[0].entry.id)
    assert memory.events(newest=True, limit=1) == before


@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("survey", {"order": "best"}), ("survey", {"limit": 0}), ("survey", {"limit": 501}), ("survey", {"cause": "bored"}),
        ("survey", {"pinned": 1}), ("survey", {"standing": "lost"}), ("history", {"ticks": 0}), ("history", {"ticks": True}),
        ("history", {"before": -1}), ("balances", {"buckets": 0}), ("balances", {"buckets": 101}), ("cards", {"ids": "abc"}),
        ("cards", {"ids": ["x"] * 501}),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(memory: Memory, verb: str, asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        getattr(memory, verb)(**asked)


def test_nobody_has_no_life(memory: Memory) -> None:
    for look in (memory.life, memory.card, lambda id: memory.cards([id]), lambda id: memory.survey(after=id)):
        with pytest.raises(UnknownEntry):
            look("abcdefghijklmnop")


def test_an_empty_memory_is_looked_over_too() -> None:
    with Memory.open() as memory:
        assert memory.survey() == [] and memory.history().points == () and sum(memory.balances().counts) == 0
