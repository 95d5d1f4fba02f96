"""The day's budget for models under random histories of calls: what is reserved, what is booked, what a dead process leaves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest import Memory
from earnest.core.models import Price
from earnest.errors import BudgetSpent
from earnest.ledger import spending
from earnest.testing import ManualClock

PRICE = Price(2.0, 10.0)
BUDGET = 0.01
"""Ten thousand millionths: a few calls of the sizes below."""

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), st.integers(0, 900), st.integers(0, 300)),
        st.tuples(st.just("answered"), st.integers(0, 5), st.integers(0, 4_000)),
        st.tuples(st.just("failed"), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("unpriced"), st.integers(0, 9), st.integers(0, 9)),
        st.tuples(st.just("died"), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("night"), st.integers(1, 40), st.just(0)),
    ),
    max_size=25,
)


@given(steps=STEPS)
def test_a_day_holds_what_its_calls_cost_and_what_is_reserved_and_a_call_is_let_in_only_if_it_fits(
    steps: list[tuple[str, int, int]],
) -> None:
    clock = ManualClock()
    with Memory.open(":memory:", clock=clock, embedder="none") as memory:
        under_way: list[spending.Reserved] = []
        today = spent = calls = failed = unpriced = read = written = 0
        for kind, first, second in steps:
            now = clock.now()
            if kind == "night":
                clock.advance(days=first)
                today = 0
                continue
            with memory._writing() as tx:
                if kind == "reserve":
                    most = first * 2 + second * 10
                    try:
                        made = spending.reserve(tx, now, "m", PRICE, (first, second), BUDGET)
                    except BudgetSpent as refused:
                        assert today + most > 10_000
                        assert f"could cost ${most / 1e6:.4f}, and ${today / 1e6:.4f} of" in str(refused)
                        continue
                    assert made is not None and today + most <= 10_000 and made == spending.Reserved(spending.day_of(now), most)
                    under_way.append(made)
                    today += most
                    continue
                if kind == "unpriced":
                    spending.record(tx, now, spending.Used(first, second, None))
                    calls, unpriced, read, written = calls + 1, unpriced + 1, read + first, written + second
                    continue
                if not under_way:
                    continue
                reserved = under_way.pop(first % len(under_way))
                if kind == "died":
                    continue
                cost = second if kind == "answered" else 0
                spending.record(tx, now, spending.Used(7, 1, cost, failed=kind == "failed"), reserved)
                calls, failed, read, written, spent = calls + 1, failed + (kind == "failed"), read + 7, written + 1, spent + cost
                # What was reserved on another day is gone with that day; the call is paid by the day on which it ended.
                today += cost - (reserved.micros if reserved.day == spending.day_of(now) else 0)
            with memory._store.read() as reading:
                assert spending.spent_today(reading, clock.now()) == today >= 0
        with memory._store.read() as reading:
            told: dict[str, Any] = spending.cost(reading, clock.now(), BUDGET)
            assert spending.spent_today(reading, clock.now()) == today
        if not calls:
            assert told == {}
        else:
            assert told == {
                "calls": calls, "failed": failed, "tokens_in": read, "tokens_out": written, "unpriced": unpriced,
                "usd": pytest.approx(spent / 1e6), "usd_today": pytest.approx(today / 1e6), "budget": BUDGET,
            }  # fmt: skip


@given(tokens=st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), prices=st.tuples(st.floats(0.0, 1_000.0), st.floats(0.0, 1_000.0)))
def test_a_price_is_rounded_up_to_a_millionth_and_never_down(tokens: tuple[int, int], prices: tuple[float, float]) -> None:
    exact = tokens[0] * prices[0] + tokens[1] * prices[1]
    made = Price(*prices).micros(*tokens)
    assert isinstance(made, int) and made - 1 < exact <= made


@pytest.mark.parametrize("budget", [0.0, -1.0])
def test_without_a_budget_nothing_is_reserved_and_with_one_a_model_without_a_price_is_not_asked(budget: float) -> None:
    with Memory.open(":memory:", clock=ManualClock(), embedder="none") as memory, memory._writing() as tx:
        now = memory._clock.now()
        assert spending.reserve(tx, now, "m", PRICE, (10**9, 10**9), budget) is None and spending.spent_today(tx, now) == 0
        with pytest.raises(BudgetSpent, match="what this model costs is not known"):
            spending.reserve(tx, now, "m", None, (0, 0), 1e-9)


def test_a_prompt_to_another_model_or_another_prompt_has_another_name_and_the_border_between_the_two_counts() -> None:
    names = [spending.digest_of(model, prompt) for model, prompt in (("a", "bc"), ("ab", "c"), ("a", "b"), ("a", "\ud800"), ("a", "bc"))]
    assert len(set(names)) == 4 and names[0] == names[-1] and {len(name) for name in names} == {16}
