"""The comparison of shown and withheld decisions: what it counts, and what it says."""

from __future__ import annotations

import math
import random

import pytest

from earnest.core.settings import Settings
from earnest.core.uplift import BETS, Against, Arm, Comparison, Draw, Drawn, SettledDraw, compared, verdict
from earnest.ledger.uplift import contrast, measured


def lived(base: float, effect: float, exposure: float, count: int, seed: int = 1, strata: int = 1) -> list[Drawn]:
    rng = random.Random(seed)
    made = []
    for i in range(count):
        shown = rng.random() < exposure
        made.append(Drawn(i % strata, shown, exposure, float(rng.random() < base + (effect if shown else 0.0))))
    return made


def test_nothing_is_known_before_the_first_outcome() -> None:
    made = Comparison()
    assert made.interval(0.05) == (-2.0, 2.0) and made.effect == 0.0 and made.decisions == 0
    assert made.above(0.0) == pytest.approx(0.0) and made.below(0.0) == pytest.approx(0.0)


def test_a_clear_effect_is_found_and_the_interval_holds_it() -> None:
    made = compared(lived(0.2, 0.5, 0.5, 400))
    low, high = made.interval(0.05)
    assert 0.3 < low < 0.5 < high < 0.7 and low < made.effect < high
    harmful = compared(lived(0.7, -0.5, 0.5, 400))
    assert harmful.interval(0.05)[1] < -0.3


def test_gains_and_losses_are_treated_alike() -> None:
    rows = lived(0.4, 0.2, 0.7, 300, strata=3)
    low, high = compared(rows).interval(0.05)
    mirrored = compared(row._replace(outcome=-row.outcome) for row in rows)
    assert mirrored.interval(0.05) == pytest.approx((-high, -low), abs=1e-12)
    # Which of the two is called memory changes only the sign.
    swapped = compared(row._replace(shown=not row.shown, exposure=1 - row.exposure) for row in rows)
    assert swapped.interval(0.05) == pytest.approx((-high, -low), abs=1e-12)


def test_more_certainty_takes_a_wider_interval_and_more_outcomes_make_a_narrower_one() -> None:
    rows = lived(0.5, 0.1, 0.5, 1_000)
    few, many = compared(rows[:200]), compared(rows)
    assert few.interval(0.05)[0] < many.interval(0.05)[0] and many.interval(0.05)[1] < few.interval(0.05)[1]
    widths = [many.interval(alpha)[1] - many.interval(alpha)[0] for alpha in (0.2, 0.05, 0.01, 0.0001)]
    assert widths == sorted(widths) and len(set(widths)) == 4


def test_an_interval_is_where_the_evidence_reaches_its_bound() -> None:
    made = compared(lived(0.5, 0.2, 0.8, 500))
    low, high = made.interval(0.05)
    assert made.above(low) == pytest.approx(math.log(40), abs=1e-9)
    assert made.below(high) == pytest.approx(math.log(40), abs=1e-9)


def test_knowing_whose_decision_it_is_leaves_less_noise() -> None:
    rng = random.Random(3)
    rows = []
    for i in range(2_000):
        shown = rng.random() < 0.5
        rows.append(Drawn(i % 2, shown, 0.5, (0.9 if i % 2 else -0.9) + (0.05 if shown else 0.0)))
    known, unknown = compared(rows), compared(row._replace(stratum=0) for row in rows)
    assert known.interval(0.05)[0] > 0 > unknown.interval(0.05)[0]


@pytest.mark.parametrize("outcome", [-1e300, 1e300, 1.0, -1.0])
def test_an_outcome_beyond_the_bound_counts_as_the_bound(outcome: float) -> None:
    extreme = compared([Drawn(0, True, 0.5, outcome), Drawn(0, False, 0.5, -outcome)] * 30)
    cut = compared([Drawn(0, True, 0.5, math.copysign(1.0, outcome)), Drawn(0, False, 0.5, -math.copysign(1.0, outcome))] * 30)
    assert extreme.interval(0.05) == cut.interval(0.05)


@pytest.mark.parametrize("exposure", [0.5, 0.9, 0.99, 0.999999, 0.01])
def test_no_bet_can_lose_everything(exposure: float) -> None:
    worst = compared([Drawn(0, True, exposure, -1.0), Drawn(0, False, exposure, 1.0)] * 40)
    best = compared([Drawn(0, True, exposure, 1.0), Drawn(0, False, exposure, -1.0)] * 40)
    for made in (worst, best):
        low, high = made.interval(0.05)
        assert math.isfinite(made.above(0.0)) and math.isfinite(made.below(0.0)) and -2 <= low < high <= 2
    assert worst.effect < best.effect


def test_the_bets_span_three_orders_of_magnitude() -> None:
    assert list(BETS) == sorted(BETS, reverse=True) and BETS[0] / BETS[-1] == pytest.approx(1_024)


def test_the_verdict_is_in_plain_words() -> None:
    helped, harmed, unclear = compared(lived(0.2, 0.5, 0.5, 300)), compared(lived(0.7, -0.5, 0.5, 300)), compared(lived(0.5, 0, 0.5, 300))
    assert verdict(helped, *helped.interval(0.05), 0.05, 0.5) == "helps"
    assert verdict(harmed, *harmed.interval(0.05), 0.05, 0.5) == "harms"
    said = verdict(unclear, *unclear.interval(0.05), 0.05, 0.5)
    assert said.startswith("no difference found yet (needs about ") and said.endswith(" more decisions)")
    assert verdict(unclear, *unclear.interval(0.05), 0.05, 0.0) == "no difference found yet (holdout is 0, so none will be)"


@pytest.mark.parametrize(("base", "effect", "exposure"), [(0.5, 0.2, 0.5), (0.9, 0.05, 0.5), (0.3, 0.3, 0.9), (0.8, -0.2, 0.75)])
def test_the_number_of_decisions_needed_is_a_fair_guess(base: float, effect: float, exposure: float) -> None:
    guess = compared(lived(base, effect, exposure, 20_000, seed=5)).needed(0.05)
    taken = []
    for seed in range(20):
        made = Comparison()
        for row in lived(base, effect, exposure, 4 * guess, seed=seed):
            made.add(row)
            low, high = made.interval(0.05) if made.decisions % 20 == 0 else (-1.0, 1.0)
            if low > 0 or high < 0:
                break
        taken.append(made.decisions)
    # Half of the lives need no more than that, and nearly all no more than four times as many.
    assert guess / 4 < sorted(taken)[10] < 1.5 * guess
    assert sorted(taken)[18] < 4 * guess


# from draws to comparisons


def arms(row: SettledDraw, against: Against) -> tuple[bool, float] | None:
    made = contrast(row, against)
    return None if made is None else (made[0], round(made[1], 12))


def settled(arm: Arm, delta: float, *, rival: int | None = 2, shown: float = 0.8, alone: float = 0.1, entry: int = 1) -> SettledDraw:
    draw = Draw(entry, arm, shown, alone, 1.0 - shown - alone, rival)
    return SettledDraw(draw, delta, 2.0, "measured")


def test_each_question_takes_its_own_two_arms() -> None:
    assert arms(settled("shown", 1), "nothing") == (True, round(0.8 / 0.9, 12))
    assert arms(settled("all", 1), "nothing") == (False, round(0.8 / 0.9, 12))
    assert arms(settled("alone", 1), "nothing") is None
    assert arms(settled("shown", 1), "rival") == (True, round(0.8 / 0.9, 12))
    assert arms(settled("alone", 1), "rival") == (False, round(0.8 / 0.9, 12))
    assert arms(settled("all", 1), "rival") is None


def test_without_a_rival_withholding_one_is_withholding_all() -> None:
    assert arms(settled("all", 1, rival=None, alone=0.0), "rival") == (False, 0.8)
    assert arms(settled("shown", 1, rival=None, alone=0.0), "rival") == (True, 0.8)
    # There is a rival, but it is never drawn: such a decision says nothing about it.
    assert arms(settled("shown", 1, alone=0.0), "rival") is None
    assert arms(settled("shown", 1, shown=0.8, alone=0.2), "nothing") is None


def test_effects_are_in_scales_and_cut_to_the_bound() -> None:
    rows = [*[settled("shown", 6.0)] * 8, settled("all", 0.0)] * 100
    narrow = measured(rows, {}, Settings(), against="nothing", alpha=0.05)
    wide = measured(rows, {}, Settings(uplift_bound=4.0), against="nothing", alpha=0.05)
    assert narrow.effect is not None and wide.effect is not None and wide.low is not None and wide.high is not None
    assert narrow.effect == pytest.approx(1.0, abs=0.15) and narrow.cut == 800
    assert wide.low < 3.0 < wide.high and wide.effect == pytest.approx(3.0, abs=0.5) and wide.cut == 0
    assert (narrow.shown_mean, narrow.withheld_mean) == (3.0, 0.0) == (wide.shown_mean, wide.withheld_mean)
    assert (narrow.decisions, narrow.holdouts, narrow.tiers) == (900, 100, {"measured": 900})


def test_a_cut_that_turns_the_sign_is_said() -> None:
    rows = [settled("shown", 2.0), settled("shown", 2.0), settled("shown", -40.0)] * 3 + [settled("all", 0.0)]
    rows *= 40
    made = measured(rows, {}, Settings(holdout=0.1), against="nothing", alpha=0.05)
    assert made.effect is not None and made.effect > 0 and made.shown_mean is not None and made.shown_mean < 0
    assert "uncut, the averages point the other way" in made.verdict and "uplift_bound" in made.verdict


def test_both_kinds_of_outcome_are_needed() -> None:
    none = measured([], {}, Settings(), against="nothing", alpha=0.05)
    assert (none.effect, none.verdict, none.found, none.measured) == (None, "unmeasured (holdout is 0)", 0, False)
    waiting = measured([], {}, Settings(holdout=0.1), against="nothing", alpha=0.05)
    assert waiting.verdict == "unmeasured (no outcome of a randomised decision yet)"
    half = measured([settled("shown", 1)] * 9, {}, Settings(holdout=0.1), against="nothing", alpha=0.05)
    assert half.verdict == "unmeasured (no outcome of both kinds yet, shown and withheld)" and half.decisions == 9


def test_the_largest_outcomes_over_the_smallest_scale_stay_numbers() -> None:
    draws = [Draw(1, "shown", 0.5, 0.0, 0.5), Draw(1, "all", 0.5, 0.0, 0.5)]
    rows = [SettledDraw(draw, delta, 1e-300, "measured") for draw in draws for delta in (1.7e308, -1.7e308)]
    made = measured(rows, {}, Settings(holdout=0.5), against="nothing", alpha=0.05)
    assert made.effect is not None and math.isfinite(made.effect) and made.cut == 4
    assert made.shown_mean is not None and math.isfinite(made.shown_mean)


def test_lost_decisions_are_counted_by_their_arm() -> None:
    ends = {("shown", "expired"): 2, ("shown", "settled"): 9, ("all", "abandoned"): 3, ("all", "expired"): 1, ("alone", "expired"): 5}
    made = measured([], ends, Settings(holdout=0.1), against="nothing", alpha=0.05)
    assert (made.lost_shown, made.lost_withheld) == (2, 4)
    assert measured([], ends, Settings(holdout=0.1), against="rival", alpha=0.05).lost_withheld == 5
