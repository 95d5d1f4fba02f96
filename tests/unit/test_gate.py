"""The measured gate: what its terms promise holds in worlds whose rules are known, and each verdict has its reason."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import pairwise

import pytest

from bench.rules.__main__ import RESULTS
from bench.rules.report import lines, world_row
from bench.rules.worlds import SHIFTS, WORLDS, live, watch
from earnest.core.gate import (
    ALPHA,
    WATCH_ALPHA,
    WATCH_FIRST,
    Judgement,
    Terms,
    alpha_of,
    judged,
    skewed,
    watched,
)
from earnest.core.uplift import Drawn
from tests.docs.pages import ROOT, read


def outcomes(effect: float, count: int, *, base: float = 0.5, seed: str = "gate") -> Iterator[Drawn]:
    """Decisions that succeed or fail, with a rule that changes the probability of success by `effect`."""
    rng = random.Random(seed)
    for _ in range(count):
        shown = rng.random() < 0.5
        yield Drawn(0, shown, 0.5, 1.0 if rng.random() < base + effect * shown else -1.0)


def after(made: Iterator[Drawn], terms: Terms) -> Judgement:
    """The first verdict that is none of waiting."""
    seen: list[Drawn] = []
    for one in made:
        seen.append(one)
        if len(seen) % 20 == 0 or len(seen) >= terms.decisions:
            judgement = judged(seen, terms)
            if judgement.verdict != "open":
                return judgement
    return judged(seen, terms)


# alpha


def test_the_shares_of_alpha_sum_up_to_alpha() -> None:
    shares = [alpha_of(number, 0) for number in range(1, 100_000)]
    assert sum(shares) == pytest.approx(ALPHA, rel=1e-3) and sum(shares) < ALPHA
    assert all(first > second > 0 for first, second in pairwise(shares))


def test_a_rule_that_was_proved_gives_its_share_back() -> None:
    assert alpha_of(7, 3) == pytest.approx(4 * alpha_of(7, 0))
    assert alpha_of(1, 1_000) == ALPHA, "never more than alpha itself"


# verdicts


def test_a_rule_that_helps_is_proved() -> None:
    judgement = after(outcomes(0.3, 1_000), Terms(alpha_of(1, 0)))
    assert judgement.verdict == "proved" and judgement.decisions < 1_000
    assert judgement.effect is not None and judgement.low is not None and judgement.high is not None
    assert 0 < judgement.low < judgement.effect < judgement.high
    assert judgement.strength >= -math.log(alpha_of(1, 0))


def test_a_rule_that_harms_is_rejected_before_its_time() -> None:
    judgement = after(outcomes(-0.4, 1_000, base=0.7), Terms(alpha_of(1, 0)))
    assert judgement.verdict in ("harmful", "unproven") and judgement.decisions < 500
    assert judgement.effect is not None and judgement.effect < 0


def test_great_harm_is_called_harm() -> None:
    judgement = after((Drawn(0, d.shown, 0.5, -1.0 if d.shown else 1.0) for d in outcomes(0.0, 1_000)), Terms(0.001))
    assert judgement.verdict == "harmful" and judgement.reason == "outcomes are worse with it"


def test_a_rule_that_does_nothing_ends_unproven_when_its_time_is_over() -> None:
    judgement = after(outcomes(0.0, 400), Terms(alpha_of(1, 0), decisions=300))
    assert (judgement.verdict, judgement.decisions) == ("unproven", 300)
    assert "300 outcomes" in judgement.reason


def test_what_helps_less_than_it_is_worth_is_given_up_early() -> None:
    rows = (Drawn(0, d.shown, 0.5, 0.5 + 0.005 * d.shown) for d in outcomes(0.0, 2_000))
    judgement = after(rows, Terms(1e-30, decisions=2_000))
    assert judgement.verdict == "unproven" and judgement.decisions < 2_000 and "less than" in judgement.reason


def test_nothing_is_said_before_both_arms_have_an_outcome() -> None:
    assert judged([], Terms(0.01)) == Judgement("open", None, None, None, 0, 0)
    only = judged([Drawn(0, True, 0.5, 1.0)] * 40, Terms(0.01, decisions=100))
    assert (only.verdict, only.effect, only.shown, only.withheld) == ("open", None, 40, 0)
    assert judged([Drawn(0, True, 0.5, 1.0)] * 50, Terms(0.01, decisions=50)).verdict == "unproven"


def test_outcomes_are_cut_at_the_bound_and_shown_in_the_meters_scale() -> None:
    rows = [Drawn(0, d.shown, 0.5, 1e300 if d.shown else -1e300) for d in outcomes(0.0, 200)]
    cut = judged(rows, Terms(0.01, bound=3.0))
    plain = judged([Drawn(0, d.shown, 0.5, math.copysign(1, d.outcome)) for d in rows], Terms(0.01))
    assert cut.effect is not None and plain.effect is not None
    assert cut.effect == pytest.approx(3 * plain.effect) and cut.strength == plain.strength


def test_an_open_trial_can_be_judged_without_its_interval() -> None:
    rows = list(outcomes(0.0, 60))
    short = judged(rows, Terms(0.001), open_too=False)
    assert short.effect is None and short.verdict == "open" and short.strength == judged(rows, Terms(0.001)).strength


def test_losses_that_differ_by_arm_prove_nothing() -> None:
    rows = list(outcomes(0.4, 400))
    terms = Terms(alpha_of(1, 0), decisions=10_000)
    assert judged(rows, terms).verdict == "proved"
    assert judged(rows, terms, lost=(0, 120)).verdict == "open"
    assert judged(rows, Terms(terms.alpha, decisions=400), lost=(0, 120)).verdict == "unproven"
    assert judged(rows, terms, lost=(60, 55)).verdict == "proved", "losses alike in both arms skew nothing"


def test_a_skew_is_told_from_chance() -> None:
    assert skewed((200, 200), (0, 100)) and not skewed((200, 200), (30, 35))
    assert not skewed((5, 5), (0, 10)), "too few to tell"


# the watch


def test_the_watch_learns_its_level_first() -> None:
    heard, level, alarm = 0, 0.0, 0.0
    for n in range(WATCH_FIRST):
        heard, level, alarm, worse = watched(heard, level, alarm, float(n % 2))
        assert not worse
    assert heard == WATCH_FIRST and level == pytest.approx(0.5) and alarm == 0.0


def test_a_fall_is_noticed_and_a_rise_is_not() -> None:
    def until(outcome: float) -> int:
        heard, level, alarm = WATCH_FIRST, 0.5, 0.0
        for n in range(1, 500):
            heard, level, alarm, worse = watched(heard, level, alarm, outcome)
            if worse:
                return n
        return 0

    assert 0 < until(-1.0) < 30 and until(0.5) == until(1.0) == 0


def test_the_watch_is_fair_while_nothing_changes() -> None:
    """One step multiplies the capital by 1 on average or less, where the mean has not fallen by more than the slack."""
    for mean in (-0.2, 0.0, 0.4):
        p = (1 + mean) / 2
        steps = [watched(WATCH_FIRST, mean, 0.0, outcome)[2] for outcome in (1.0, -1.0)]
        assert p * math.exp(steps[0]) + (1 - p) * math.exp(steps[1]) <= 1.0
    assert 0 < WATCH_ALPHA < 0.01


# worlds


@pytest.mark.parametrize("name", ["one helps, one harms, eight do nothing", "ten that do nothing"])
def test_among_ten_rules_only_the_one_that_helps_is_let_in(name: str, request: pytest.FixtureRequest) -> None:
    count = 200 if request.config.getoption("--full") else 16
    lives = [
        ["".join(verdict[0] for verdict in lived.verdicts), lived.needed]
        for lived in (live(WORLDS[name], f"{name}:{n}") for n in range(count))
    ]
    row = world_row(name, lives)
    assert row["lives with a false one"] <= ALPHA and row["false among let in"] <= ALPHA
    if row["helpful let in"] is not None:
        assert row["helpful let in"] >= 0.8 and row["harmful stopped"] == 1.0
    assert "reached in every world" in "\n".join(lines({"worlds": {name: lives}, "shifts": {}}))


def test_the_page_says_what_the_results_say() -> None:
    results = RESULTS.load(ROOT / "bench" / "results" / "rules.json")
    assert all(len(lives) == 200 for lives in results["worlds"].values())
    page = read(ROOT / "docs" / "rules.md")
    for name in ("one helps, one harms, eight do nothing", "the same, small effects", "the same, at 90 % success"):
        row = world_row(name, results["worlds"][name])
        told = (
            f"{row['helpful let in']:.1%}".replace("%", " %"),
            f"{row['after']:,.0f}",
            f"{row['lives with a false one']:.1%}".replace("%", " %"),
        )
        assert any(all(part in line for part in told) for line in page.split("\n")), (name, told)
    for name in ("ten that do nothing", "fifty that do nothing"):
        false = f"{world_row(name, results['worlds'][name])['lives with a false one']:.1%}".replace("%", " %")
        assert f"| {name} | – | – | – | – | {false} |" in page
    assert all(world_row(name, lives)["lives with a false one"] <= ALPHA for name, lives in results["worlds"].items())
    life = live(WORLDS["ten that do nothing"], "rules:ten that do nothing:0")
    assert results["worlds"]["ten that do nothing"][0] == ["".join(verdict[0] for verdict in life.verdicts), life.needed]


def test_a_false_one_would_be_told() -> None:
    name = "one helps, one harms, eight do nothing"
    wrong = [["pup" + "u" * 7, [100] * 10]] * 4
    assert world_row(name, wrong)["lives with a false one"] == 1.0 and world_row(name, wrong)["false among let in"] == 0.5
    assert "NOT reached" in "\n".join(lines({"worlds": {name: wrong}, "shifts": {}}))


def test_a_proved_rule_is_sent_back_when_its_world_changes() -> None:
    harm = SHIFTS["it begins to harm after 500"]
    at = [watch(harm, f"shift:{n}") for n in range(40)]
    assert sum(harm.calm < when < harm.most for when in at) >= 36
    still = [watch(SHIFTS["nothing changes, 1,000 outcomes"], f"calm:{n}") for n in range(60)]
    assert sum(when > 0 for when in still) <= 6
