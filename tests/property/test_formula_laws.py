"""Laws of the formulas that move energy and trust: what they share out, what they do not depend on, where they bend."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from earnest.core import fading
from earnest.core.amounts import ACCOUNTS, CAP, FORFEIT, MINT, RENT, WORLD
from earnest.core.baseline import Baseline, Control, slope
from earnest.core.calendar import FIRST, days_before
from earnest.core.credit import ByEvidence
from earnest.core.evidence import RULE, Belief, EvidenceRule, Word, WordRow, effect, folded, heard, listened, tallied, weigh, weight
from earnest.core.gate import Terms, judged, skewed
from earnest.core.learning import histories, word_of
from earnest.core.links import Link, joined
from earnest.core.settings import Settings
from earnest.core.sizes import LEAST_SPREAD, STEEPNESS, Sizes
from earnest.core.ticket import Share
from earnest.core.uplift import Comparison, Draw, Drawn, SettledDraw, Uplift, compared, verdict
from earnest.ledger.uplift import measured

MICRO_GAIN: Final = 600_000


def drawn(rows: list[tuple[bool, float]], exposure: float = 0.5) -> list[Drawn]:
    return [Drawn(0, shown, exposure, outcome) for shown, outcome in rows]


HISTORIES: Final = st.lists(st.tuples(st.booleans(), st.floats(-1.0, 1.0)), min_size=1, max_size=30)


# accounts


def test_the_accounts_that_are_no_entries_keep_the_numbers_that_files_already_hold() -> None:
    published = {-1: "mint", -2: "world", -3: "rent", -4: "cap", -5: "forfeit"}
    assert published == ACCOUNTS and (MINT, WORLD, RENT, CAP, FORFEIT) == (-1, -2, -3, -4, -5)


# credit by evidence


@given(
    cited=st.integers(0, 6), supporting=st.integers(0, 3), withheld=st.integers(0, 3), decided=st.booleans(), size=st.floats(-50.0, 50.0)
)
def test_under_evidence_n_cited_entries_take_one_part_of_n_and_one_beside_a_decider_and_of_n_without(
    cited: int, supporting: int, withheld: int, decided: bool, size: float
) -> None:
    names = ["cited"] * cited + ["supporting"] * supporting + ["withheld"] * withheld + ["deciding"] * decided
    shares = [Share(row, f"e{row}", role) for row, role in enumerate(names, 1)]  # type: ignore[arg-type]
    paid = {share.share.role: share.amount for share in ByEvidence().credits(size * 3.0, 3.0, shares)}
    whole = MICRO_GAIN * math.tanh(size) if size > 0 else 0.0
    assert set(paid) <= {"deciding", "cited"}, "who was merely recalled beside it takes nothing"
    assert paid.get("deciding", 0) == pytest.approx(whole if decided else 0.0, abs=1)
    assert paid.get("cited", 0) == pytest.approx((whole / (cited + 1 if decided else cited)) if cited else 0.0, abs=1)


# baselines


TICKED: Final = st.lists(
    st.tuples(st.integers(0, 30), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)), min_size=3, max_size=25, unique_by=lambda row: row[0]
)


@given(rows=TICKED, factor=st.floats(0.01, 100.0))
def test_how_far_a_ticks_noise_is_shared_does_not_depend_on_the_unit(rows: list[tuple[int, float, float]], factor: float) -> None:
    def shared(unit: float) -> float:
        return slope(
            Baseline([Control(tick, control * unit, 1) for tick, control, _ in rows]), [[(tick, size * unit) for tick, _, size in rows]]
        )

    assume(max(abs(control) for _, control, _ in rows) > 1e-3)
    assert 0.0 <= shared(1.0) <= 1.0
    assert shared(factor) == pytest.approx(shared(1.0), abs=1e-6)


# how alike effects may be


@given(size=st.floats(0.01, 100.0), count=st.integers(10**6, 10**9))
def test_however_alike_effects_were_a_harm_one_part_in_ten_beyond_is_still_in_doubt(size: float, count: int) -> None:
    log = math.log(size)
    law = Sizes(float(count), count * log, count * log * log).law()
    assert law.steepness <= STEEPNESS / (0.1 * math.sqrt(2.0)) * (1 + 1e-9) and LEAST_SPREAD == 0.1
    assert math.exp(law.bound) == pytest.approx(size * math.exp(0.9), rel=1e-3) and law.noise == 0.0


# the measured gate


@given(rows=HISTORIES, decisions=st.sampled_from((5, 1_000)))
def test_a_trial_shows_its_interval_unless_it_is_open_and_that_was_not_asked_for(rows: list[tuple[bool, float]], decisions: int) -> None:
    terms = Terms(0.05, decisions=decisions)
    asked, unasked = judged(drawn(rows), terms), judged(drawn(rows), terms, open_too=False)
    both = asked.shown > 0 and asked.withheld > 0
    assert (asked.effect is not None) is both
    assert (unasked.effect is not None) is (both and unasked.verdict != "open")
    assert asked.verdict == unasked.verdict


@pytest.mark.parametrize(
    ("settled", "lost", "told"),
    [
        # Three standard errors of two shares of 100, pooled: 0.2079 where 50 and 70 are lost, 0.2074 where 50 and 71 are.
        ((50, 30), (50, 70), False),
        ((50, 29), (50, 71), True),
        ((29, 50), (71, 50), True),
        # Of 400 three standard errors are 0.060: a difference of 0.1 does not count yet, more does.
        ((400, 360), (0, 40), False),
        ((400, 359), (0, 41), True),
        # Nineteen in one arm tell nothing, twenty do.
        ((19, 200), (0, 200), False),
        ((20, 200), (0, 200), True),
    ],
)
def test_an_arm_that_loses_a_tenth_more_by_three_standard_errors_is_skewed_and_one_that_loses_less_is_not(
    settled: tuple[int, int], lost: tuple[int, int], told: bool
) -> None:
    assert skewed(settled, lost) is told and skewed(settled[::-1], lost[::-1]) is told


# uplift


@pytest.mark.parametrize(("low", "high", "found"), [(0.1, 0.3, 1), (-0.3, -0.1, -1), (-0.1, 0.1, 0), (0.0, 0.2, 0), (-0.2, 0.0, 0)])
def test_an_effect_is_found_where_the_interval_leaves_nothing_out_on_one_side_of_zero(low: float, high: float, found: int) -> None:
    assert Uplift((low + high) / 2, low, high, 10, 5, "").found == found
    assert Uplift(None, None, None, 0, 0, "").found == 0


@given(rows=HISTORIES, alpha=st.floats(0.001, 0.5))
def test_more_decisions_are_needed_for_more_certainty_and_always_some(rows: list[tuple[bool, float]], alpha: float) -> None:
    seen = compared(drawn(rows))
    assert seen.needed(alpha / 2) >= seen.needed(alpha) > 0 == Comparison().needed(alpha)


@given(rows=HISTORIES, alpha=st.floats(0.001, 0.5))
def test_the_decisions_still_needed_are_told_as_one_figure_rounded_up_and_at_least_ten(
    rows: list[tuple[bool, float]], alpha: float
) -> None:
    seen = compared(drawn(rows))
    said = verdict(seen, -1.0, 1.0, alpha, holdout=0.1)
    told = said.split("about ")[1].split(" more")[0].replace(",", "")
    wanted = max(10, seen.needed(alpha) - seen.decisions)
    assert told.isdigit() and set(told[1:]) <= {"0"}
    assert wanted <= int(told) < wanted + 10 ** (len(str(wanted)) - 1)


# what words come to

EAR_LAW: Final = Sizes(50.0, 0.0, 8.0).law()


@given(rate=st.floats(0.02, 0.45), sizes=st.lists(st.floats(0.01, 1e6), min_size=2, max_size=2))
def test_a_larger_harm_never_weighs_less_and_at_the_bound_nothing_jumps(rate: float, sizes: list[float]) -> None:
    ear = (rate, weight(rate), EAR_LAW)
    small, large = sorted(sizes)
    assert listened(-large, ear) <= listened(-small, ear) <= 0.0
    bound = math.exp(EAR_LAW.bound)
    assert listened(-bound * (1 + 1e-9), ear) == pytest.approx(listened(-bound * (1 - 1e-9), ear), rel=1e-6)
    assert listened(small, ear) == pytest.approx(small * math.log((1 - rate) / rate))


WORDS: Final = st.lists(
    st.tuples(st.floats(-3.0, 3.0), st.sampled_from(("a", "b")), st.booleans(), st.one_of(st.none(), st.floats(-3.0, 3.0))), max_size=12
)


@given(rows=WORDS, since=st.integers(0, 4), through=st.integers(4, 14))
def test_what_a_meter_said_of_an_entry_is_counted_by_sign_with_the_sums_of_its_logarithms(
    rows: list[tuple[float, str, bool, float | None]], since: int, through: int
) -> None:
    words = [
        Word(n, n, n, meter, size, 1.0, again, None if again is None else "look", n, borrowed)
        for n, (size, meter, borrowed, again) in enumerate(rows, 1)
    ]
    beliefs = {name: Belief(since=since, through=through) for name in ("a", "b", "look")}
    effects: dict[str, list[float]] = {}
    for one in words:
        if not one.borrowed and since <= one.event <= through:
            effects.setdefault(one.meter, []).append(effect(one.size))
            if one.second is not None:
                effects.setdefault("look", []).append(effect(one.second))
    expected = {name: [x for x in said if abs(x) > RULE.silent_effect] for name, said in effects.items()}
    found = tallied(heard(words, beliefs), beliefs)
    assert set(found) == {name for name, said in expected.items() if said}
    for name, tally in found.items():
        logs = [math.log(abs(x)) for x in expected[name]]
        assert (tally.gains, tally.harms) == (sum(x > 0 for x in expected[name]), sum(x < 0 for x in expected[name]))
        assert (tally.total, tally.square) == pytest.approx((sum(logs), sum(log * log for log in logs)), abs=1e-9)


@given(harm=st.floats(0.05, 0.5), others=st.floats(0.0, 5.0))
def test_a_lie_caught_on_an_entry_itself_is_no_ground_to_try_it_again(harm: float, others: float) -> None:
    """An entry that is surely good and was blamed once: of what that catches its meter at, nothing counts for the entry itself."""
    words = [Word(n, n, n, "m", 3.0) for n in range(1, 9)] + [Word(9, 9, 9, "m", -harm)]
    belief = Belief(caught=1.0 + others, counted=len(words) + 4.0 * others, since=1, through=len(words))
    found = weigh(words, {"m": belief})
    assert found.probability > RULE.sure
    assert (found.caught, found.counted) == pytest.approx((others, 4.0 * others))


@given(rows=st.lists(st.floats(-2.0, 2.0), min_size=1, max_size=8), lies=st.floats(1.0, 40.0))
def test_an_entrys_own_words_are_left_in_only_where_that_is_asked_for(rows: list[float], lies: float) -> None:
    words = [Word(n, n, n, "m", size) for n, size in enumerate(rows, 1)]
    belief = Belief(lies=lies, words=100.0, since=1, through=len(rows), sizes=Sizes(20.0, -14.0, 15.0))
    for rule in (EvidenceRule(leave_one_out=False), EvidenceRule(learn=False)):
        rate = lies / 100.0 if rule.learn else rule.prior_lies / rule.prior_words
        held = min(max(rate, rule.rate_low), rule.rate_high)
        said = heard(words, {"m": belief}, rule)
        plain = folded(said, {"m": (held, weight(held), belief.sizes.law())}, rule.limit, rule) if said else rule.prior_odds
        assert weigh(words, {"m": belief}, rule).odds == pytest.approx(plain)


@given(rows=HISTORIES, bound=st.floats(0.25, 8.0), scale=st.floats(0.5, 50.0))
def test_an_uplift_is_told_in_the_meters_scale_whatever_the_bound_is(rows: list[tuple[bool, float]], bound: float, scale: float) -> None:
    def told(unit: float, of: float) -> Uplift:
        draws = [Draw(1, "shown" if shown else "all", 0.5, 0.0, 0.5) for shown, _ in rows]
        settled = [SettledDraw(draw, outcome * of * unit, unit, "measured") for draw, (_, outcome) in zip(draws, rows, strict=True)]
        return measured(settled, {}, Settings(holdout=0.5, uplift_bound=of), against="nothing", alpha=0.05)

    plain, wide = told(1.0, 1.0), told(scale, bound)
    assert (plain.decisions, plain.holdouts, plain.cut, wide.cut) == (wide.decisions, wide.holdouts, 0, wide.cut)
    assert plain.measured is wide.measured
    if plain.low is not None and plain.high is not None and plain.effect is not None:
        expected = (bound * plain.low, bound * plain.effect, bound * plain.high)
        assert (wide.low, wide.effect, wide.high) == pytest.approx(expected, abs=1e-6)


# the calendar


@given(
    now=st.datetimes(timezones=st.just(UTC)),
    days=st.one_of(st.floats(0.0, 4_000_000.0), st.just(math.inf), st.integers(0, 4_000_000).map(float)),
)
def test_so_many_days_before_is_that_moment_or_the_first_of_the_calendar(now: datetime, days: float) -> None:
    found = days_before(now, days)
    assert FIRST <= found <= now
    try:
        assert found == now - timedelta(days=days)
    except OverflowError:
        assert found == FIRST


@given(days=st.integers(0, 3_000_000))
def test_the_first_moment_itself_is_as_many_days_before_as_it_is(days: int) -> None:
    now = FIRST + timedelta(days=days)
    assert days_before(now, float(days)) == days_before(now, days + 1.0) == FIRST


# fading


@given(age=st.floats(-5.0, 5_000.0), half_life=st.floats(0.01, 1_000.0), strength=st.floats(1.0, 16.0), importance=st.floats(0.0, 1.0))
def test_an_entry_loses_half_of_what_is_left_in_each_half_life_from_the_first_moment_on(
    age: float, half_life: float, strength: float, importance: float
) -> None:
    left = fading.retention(age, half_life, strength)
    assert left == pytest.approx(0.5 ** (max(0.0, age) / (half_life * strength)))
    assert fading.worth(importance, age, half_life, strength) == pytest.approx(importance * left)
    later = fading.retention(max(0.0, age) + half_life * strength, half_life, strength)
    assert later == pytest.approx(left / 2)


@given(strength=st.floats(1.0, 16.0), left=st.floats(0.0, 1.0))
def test_a_recall_strengthens_by_what_was_forgotten_and_helpful_feedback_by_a_fifth_of_its_half_at_least(
    strength: float, left: float
) -> None:
    assert fading.recalled(strength, left) == pytest.approx(min(16.0, strength + (1.0 - left)))
    assert fading.helped(strength, left) == pytest.approx(min(16.0, strength + 0.5 * (0.2 + 0.8 * (1.0 - left))))


@given(
    began=st.datetimes(timezones=st.just(UTC)),
    importance=st.floats(0.0, 1.0),
    half_life=st.floats(0.01, 1e7),
    threshold=st.floats(0.0, 1.0),
    strength=st.floats(1.0, 16.0),
)
def test_the_day_on_which_an_entry_fades_is_in_the_calendar_or_there_is_none(
    began: datetime, importance: float, half_life: float, threshold: float, strength: float
) -> None:
    found = fading.fades_at(began, importance, strength, half_life, threshold)
    days = fading.lasts(importance, half_life, threshold, strength)
    if found is None:
        assert began.year + days / 365.0 >= 9_990
    else:
        assert found == began + timedelta(days=days) and days >= 0


# histories that are folded once

SAID: Final = st.lists(
    st.tuples(st.integers(1, 2), st.sampled_from((0.0, 0.6, -0.4, -0.9)), st.sampled_from((None, -0.8, -0.4, 0.6))), min_size=1, max_size=4
)


def rows_of(entry: int, said: list[tuple[int, float, float | None]]) -> list[WordRow]:
    return [
        (entry, n, n, tick, "m", size, 1.0, again, None if again is None else "look", 0 if again is None else n, 0)
        for n, (tick, size, again) in enumerate(sorted(said, key=lambda word: word[0]), 10 * entry)
    ]


@given(one=SAID, ticks=st.lists(st.integers(1, 2), min_size=4, max_size=4))
def test_entries_are_only_folded_as_one_where_their_words_come_to_the_same_odds(
    one: list[tuple[int, float, float | None]], ticks: list[int]
) -> None:
    """The second says the same as the first in other ticks: what comes in a run counts less, so that they may not be alike."""
    first = rows_of(1, one)
    again = [
        (tick, size, look) for tick, (_, size, look) in zip(sorted(ticks[: len(one)]), sorted(one, key=lambda word: word[0]), strict=True)
    ]
    other = rows_of(2, again)
    windows = {"m": (1, 100), "look": (1, 100)}
    beliefs = {name: Belief(lies=30.0, words=100.0, since=1, through=100) for name in windows}
    found = histories([*first, *other], windows)
    odds = [round(weigh([word_of(row) for row in rows], beliefs).odds, 9) for rows in (first, other)]
    if len(found) == 1:
        assert odds[0] == odds[1] and found[0].rows == [1, 2]
    else:
        assert [history.rows for history in found] == [[1], [2]]
        assert [history.rows for history in histories(first, windows)] == [[1]]


def test_harms_that_second_looks_found_in_one_tick_are_not_folded_with_those_of_two() -> None:
    together, apart = rows_of(1, [(1, 0.0, -0.8), (1, 0.0, -0.8)]), rows_of(2, [(1, 0.0, -0.8), (2, 0.0, -0.8)])
    beliefs = {name: Belief(lies=30.0, words=100.0, since=1, through=100) for name in ("m", "look")}
    odds = [weigh([word_of(row) for row in rows], beliefs).odds for rows in (together, apart)]
    assert odds[0] > odds[1], "what comes in a run has one cause"
    assert len(histories([*together, *apart], {"m": (1, 100), "look": (1, 100)})) == 2


# links


@given(
    known=st.tuples(st.floats(0.05, 1.0), st.booleans(), st.sampled_from(("", "before"))),
    found=st.tuples(st.floats(0.05, 1.0), st.booleans(), st.sampled_from(("", "now"))),
)
def test_a_link_found_again_weighs_the_more_of_both_and_keeps_its_reason_unless_it_had_none_or_somebody_gives_another(
    known: tuple[float, bool, str], found: tuple[float, bool, str]
) -> None:
    one, two = (Link(1, 2, "related", weight, reason=reason, stated=stated) for weight, stated, reason in (known, found))
    made = joined(one, two)
    assert (made.weight, made.stated) == (max(known[0], found[0]), known[1] or found[1])
    assert made.reason == (found[2] if found[1] or not known[2] else known[2])
