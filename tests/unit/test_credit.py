"""The `classic` credit rule and whole micro-units: pure functions over plain values."""

from __future__ import annotations

import math
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest.core.amounts import ACCOUNTS, MICRO, micro, shown_delta, shown_energy
from earnest.core.credit import RULES, Classic
from earnest.core.entry import held_now
from earnest.core.ticket import Role, Share, tier_of
from earnest.ledger.merging import proportional


def share(row: int, role: Role = "deciding") -> Share:
    return Share(row, f"e{row}", role)


def amounts(delta: float, scale: float, *shares: Share, rule: Classic | None = None) -> dict[int, int]:
    return {credit.share.entry_row: credit.amount for credit in (rule or Classic()).credits(delta, scale, shares)}


ONE_AND_TWO: Final = (share(1), share(2, "supporting"), share(3, "supporting"))


def test_the_decider_takes_all_and_each_supporter_a_quarter() -> None:
    assert amounts(100.0, 100.0, *ONE_AND_TWO) == {1: 456_956, 2: 114_239, 3: 114_239}


def test_a_fine_is_the_mirror_of_a_credit() -> None:
    assert amounts(-100.0, 100.0, *ONE_AND_TWO) == {1: -456_956, 2: -114_239, 3: -114_239}


@pytest.mark.parametrize("delta", [1e9, 1e300, 1.7e308])
def test_a_huge_delta_saturates_at_the_gain(delta: float) -> None:
    assert amounts(delta, 1.0, *ONE_AND_TWO) == {1: 600_000, 2: 150_000, 3: 150_000}
    assert amounts(-delta, 1.0, share(1)) == {1: -600_000}


@pytest.mark.parametrize(("delta", "scale"), [(1e308, 1e-300), (1e300, 5e-324), (-1e308, 1e-308)])
def test_a_quotient_beyond_the_floats_saturates_too(delta: float, scale: float) -> None:
    assert amounts(delta, scale, share(1)) == {1: 600_000 if delta > 0 else -600_000}


@pytest.mark.parametrize("delta", [0.0, -0.0, 5e-324, 1e-9, -1e-9])
def test_what_rounds_to_nothing_is_left_out(delta: float) -> None:
    assert amounts(delta, 1.0, *ONE_AND_TWO) == {}


def test_a_supporters_part_may_round_away_while_the_deciders_does_not() -> None:
    assert amounts(2e-6, 1.0, *ONE_AND_TWO) == {1: 1}


def test_without_a_decider_the_cited_entries_share_evenly() -> None:
    assert amounts(1e9, 1.0, share(1, "cited"), share(2, "cited"), share(3, "cited")) == {1: 200_000, 2: 200_000, 3: 200_000}


def test_a_withheld_entry_takes_nothing() -> None:
    assert amounts(1e9, 1.0, share(1), share(2, "withheld")) == {1: 600_000}


def test_nobody_named_nothing_moved() -> None:
    assert amounts(1e9, 1.0) == {}


def test_gain_and_share_are_parameters_and_are_told() -> None:
    rule = Classic(gain=1.2, supporting_share=0.5)
    assert amounts(1e9, 1.0, *ONE_AND_TWO, rule=rule) == {1: 1_200_000, 2: 600_000, 3: 600_000}
    assert rule.parameters() == {"gain": 1.2, "supporting_share": 0.5}
    assert (rule.name, rule.version) == ("classic", 1)


def test_a_gain_of_nothing_moves_nothing() -> None:
    assert amounts(1e9, 1.0, *ONE_AND_TWO, rule=Classic(gain=0.0)) == {}


def test_rules_are_made_by_name_with_the_settings_numbers() -> None:
    assert RULES["classic"](0.3, 0.1) == Classic(0.3, 0.1)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(1e-300, 1e300))
def test_a_credit_is_whole_bounded_and_of_the_sign_of_the_delta(delta: float, scale: float) -> None:
    for row, amount in amounts(delta, scale, *ONE_AND_TWO).items():
        assert isinstance(amount, int) and 0 < abs(amount) <= (600_000 if row == 1 else 150_000)
        assert (amount > 0) == (delta > 0)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_a_better_outcome_never_pays_less(first: float, second: float, scale: float) -> None:
    low, high = sorted((first, second))
    assert amounts(low, scale, share(1)).get(1, 0) <= amounts(high, scale, share(1)).get(1, 0)


@pytest.mark.parametrize(("energy", "expected"), [(1.0, 1_000_000), (0.05, 50_000), (-0.6, -600_000), (0.0000005, 0), (0.0000015, 2)])
def test_energy_becomes_whole_micro_units_with_halves_to_even(energy: float, expected: int) -> None:
    assert micro(energy) == expected


def test_ten_rents_of_a_tenth_are_exactly_one() -> None:
    assert 10 * micro(0.1) == MICRO
    assert sum([0.1] * 10) != 1.0, "which floats are not"


def test_accounts_that_are_not_entries_have_negative_numbers() -> None:
    assert set(ACCOUNTS.values()) == {"mint", "world", "rent", "cap", "forfeit"}
    assert all(account < 0 for account in ACCOUNTS)


@pytest.mark.parametrize(
    ("amount", "signed", "shown"),
    [(1_000_000, False, "1.000"), (-600_000, False, "−0.600"), (456_956, True, "+0.457"), (0, True, "0.000"), (-1, True, "−0.000")],
)
def test_energy_is_shown_with_three_digits(amount: int, signed: bool, shown: str) -> None:
    assert shown_energy(amount, signed=signed) == shown


@pytest.mark.parametrize(
    ("delta", "shown"),
    [
        (4096.0, "+4,096"),
        (-1_047_552.0, "−1,047,552"),
        (0.0, "0"),
        (0.25, "+0.25"),
        (1e300, "+1e+300"),
        (18_460_712.34, "+18,460,712"),
        (-999_999.9, "−1,000,000"),
        (94_878.91, "+94,878.9"),
        (-1.23456789, "−1.23457"),
    ],
)
def test_a_delta_is_shown_as_people_write_it(delta: float, shown: str) -> None:
    assert shown_delta(delta) == shown


# rent without a walk over the population


def test_rent_is_the_distance_that_the_index_moved() -> None:
    assert held_now(1_000_000, 200_000, 350_000, pays=True, pinned=False) == 850_000


def test_who_pays_no_rent_keeps_what_it_holds() -> None:
    assert held_now(1_000_000, 0, 10**9, pays=False, pinned=False) == 1_000_000


def test_an_account_kept_open_by_a_ticket_goes_below_zero() -> None:
    assert held_now(100_000, 0, 150_000, pays=True, pinned=False) == -50_000


def test_a_pinned_account_rests_at_zero() -> None:
    assert held_now(100_000, 0, 150_000, pays=True, pinned=True) == 0


@given(st.integers(0, 5_000_000), st.lists(st.integers(0, 500_000), max_size=20), st.booleans())
def test_rent_paid_tick_by_tick_or_at_once_is_the_same(held: int, rents: list[int], pinned: bool) -> None:
    step, index = held, 0
    for rent in rents:
        step = held_now(step, index, index + rent, pays=True, pinned=pinned)
        index += rent
    assert step == held_now(held, 0, index, pays=True, pinned=pinned)


# the trust of a settlement


@pytest.mark.parametrize(
    ("channel", "tier"),
    [
        ("python", "measured"), ("settle-ci", "measured"), ("cli", "operator"), ("dashboard", "operator"), ("mcp", "claimed"),
        ("http", "claimed"), ("something new", "claimed"),
    ],
)  # fmt: skip
def test_an_unbound_meter_weighs_what_its_channel_weighs(channel: str, tier: str) -> None:
    assert tier_of("measured", channel, False) == tier


def test_a_bound_meter_weighs_its_own_tier() -> None:
    assert tier_of("measured", "mcp", True) == "measured"
    assert tier_of("claimed", "python", True) == "claimed"


# proportional parts


def test_parts_are_in_proportion_and_sum_to_the_whole() -> None:
    assert proportional(100, [1, 1, 1]) == [34, 33, 33]
    assert proportional(1_900_000, [1_200_000, 700_000]) == [1_200_000, 700_000]
    assert proportional(5, [0, 0]) == [3, 2]
    assert proportional(0, [3, 4]) == [0, 0]


@given(st.integers(0, 10**12), st.lists(st.integers(0, 10**9), min_size=1, max_size=9))
def test_parts_sum_exactly_and_none_is_off_by_a_unit(total: int, weights: list[int]) -> None:
    made = proportional(total, weights)
    assert sum(made) == total
    if any(weights):
        whole = sum(weights)
        assert all(math.floor(total * w / whole - 1) <= part for part, w in zip(made, weights, strict=True))
        assert all(part - total * w // whole in (0, 1) for part, w in zip(made, weights, strict=True))
