"""The evidence rule over plain values: what words come to, what is learned of meters, who decides, what is looked at twice."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from earnest.core.baseline import NO_CONTROLS, Baseline, Control, by_tick, slope
from earnest.core.evidence import (
    RULE,
    Belief,
    Choice,
    EvidenceRule,
    Seat,
    Word,
    appeal,
    choose,
    effect,
    looks_wanted,
    retrial_probability,
    runway,
    sigmoid,
    weigh,
    weight,
    without_revoked,
)
from earnest.core.evidence_state import EvidenceState
from earnest.core.learning import learn
from earnest.core.sizes import NO_SIZES, NOISE_FULL, NOISE_UNIT, PRIOR_COUNT, PRIOR_SPREAD, Sizes, likelihood


def word(place: int, size: float, meter: str = "m", **more: object) -> Word:
    return replace(Word(place, place, place, meter, size), **more)  # type: ignore[arg-type]


def test_an_entry_without_words_is_probably_good_and_decides() -> None:
    nothing = weigh([], {})
    assert nothing.active and nothing.odds == pytest.approx(0.8 * math.log(9)) and nothing.probability == pytest.approx(0.853, abs=0.001)


def test_one_harm_of_an_ordinary_effect_from_an_unknown_meter_suspends() -> None:
    assert not weigh([word(1, -0.82)], {}).active
    assert weigh([word(1, -0.7)], {}).active


def test_odds_are_the_prior_and_the_weighed_effects() -> None:
    expected = RULE.prior_odds + weight(0.1) * (effect(1.0) + effect(-0.25))
    assert weigh([word(1, 1.0), word(2, -0.25)], {}).odds == pytest.approx(expected)


def test_the_clip_leaves_large_harms_large_and_bounds_huge_ones() -> None:
    assert (
        effect(-3.0) == pytest.approx(-2.54, abs=0.01)
        and effect(-1e9) == pytest.approx(-4.0)
        and effect(0.1) == pytest.approx(0.1, abs=0.001)
    )


def test_words_are_folded_in_the_order_of_their_decisions_whatever_the_order_of_arrival() -> None:
    words = [word(place, random.Random(place).uniform(-2, 2)) for place in range(1, 40)]
    shuffled = [*words]
    random.Random(5).shuffle(shuffled)
    assert weigh(words, {}).odds == weigh(shuffled, {}).odds


def test_a_favourite_falls_after_a_few_harms() -> None:
    known = {"m": Belief(lies=0.2, words=100.0)}
    history = [word(place, 1.0) for place in range(1, 60)]
    assert weigh(history, known).odds == pytest.approx(RULE.limit)
    harms = [word(100 + n, -1.0) for n in range(5)]
    assert weigh(history + harms[:4], known).active and not weigh(history + harms, known).active


def test_of_harms_that_come_at_once_the_largest_counts_in_full_and_the_others_less() -> None:
    known = {"m": Belief(lies=RULE.run_rate * 100.0, words=100.0)}
    gains = [word(place, 1.0) for place in range(1, 9)]
    harms = [-0.3, -0.9, -0.6]
    at_once = [word(9 + n, size, tick=9) for n, size in enumerate(harms)]
    before, after = (weigh(words, known).odds for words in (gains, gains + at_once))
    assert before - after == pytest.approx(-weight(RULE.run_rate) * (effect(-0.9) + effect(-0.6) / 4 + effect(-0.3) / 9))
    # Neither a small harm sent ahead nor the order among them changes that.
    assert weigh(gains + [word(9 + n, size, tick=9) for n, size in enumerate(sorted(harms))], known).odds == pytest.approx(after)
    one_a_tick = weigh(gains + [word(9 + n, size) for n, size in enumerate(harms)], known).odds
    assert before - one_a_tick == pytest.approx(-weight(RULE.run_rate) * sum(map(effect, harms))) and one_a_tick < after


def test_a_run_ends_with_a_gain_with_its_tick_and_with_its_meter() -> None:
    known = {name: Belief(lies=RULE.run_rate * 100.0, words=100.0) for name in ("m", "n")}

    def lost(*more: tuple[float, int, str]) -> float:
        gains = [word(place, 1.0) for place in range(1, 9)]
        said = [word(9 + n, size, meter, tick=tick) for n, (size, tick, meter) in enumerate(more)]
        return (weigh(gains, known).odds - weigh(gains + said, known).odds) / weight(RULE.run_rate)

    whole, run = 2 * -effect(-0.8), -effect(-0.8) * 1.25
    assert lost((-0.8, 9, "m"), (-0.8, 9, "m")) == pytest.approx(run)
    assert lost((-0.8, 9, "m"), (-0.8, 10, "m")) == pytest.approx(whole)
    assert lost((-0.8, 9, "m"), (-0.8, 9, "n")) == pytest.approx(whole)
    assert lost((-0.8, 9, "m"), (0.5, 9, "m"), (-0.8, 9, "m")) == pytest.approx(whole - effect(0.5))
    assert lost((-0.8, 9, "m"), (0.5, 9, "n"), (-0.8, 9, "m")) == pytest.approx(run - effect(0.5))


@pytest.mark.parametrize(("rate", "power"), [(0.05, 0.5), (0.1, 1.0), (0.2, 2.0), (0.4, 2.0)])
def test_a_run_is_discounted_as_far_as_its_meter_is_known_to_err(rate: float, power: float) -> None:
    known = {"m": Belief(lies=rate * 100.0, words=100.0)}
    gains = [word(place, 1.0) for place in range(1, 9)]
    run = [word(9 + n, -0.8, tick=9) for n in range(2)]
    lost = weigh(gains, known).odds - weigh([*gains, *run], known).odds
    assert lost == pytest.approx(-weight(rate) * effect(-0.8) * (1.0 + 2.0**-power))


def test_a_harm_too_large_to_be_a_lie_counts_in_full_whatever_came_before_it() -> None:
    gains = [word(place, 0.5) for place in range(1, 30)]
    alone = weigh([*gains, word(40, -3.0, tick=40)], {}).odds
    small = weigh([*gains, word(39, -0.5, tick=40)], {}).odds
    assert alone - weigh([*gains, word(39, -0.5, tick=40), word(40, -3.0, tick=40)], {}).odds == pytest.approx(
        weigh(gains, {}).odds - small
    )


@pytest.mark.parametrize(("rate", "longer"), [(0.002, 1.25), (0.2, 3.0)])
def test_a_favourite_that_turned_bad_falls_within_one_tick_too(rate: float, longer: float) -> None:
    known = {"m": Belief(lies=rate * 100.0, words=100.0)}

    def needed(*, at_once: bool) -> int:
        words = [word(place, 1.0) for place in range(1, 60)]
        count = 0
        while weigh(words, known).active:
            count += 1
            words.append(word(100 + count, -1.0, tick=100 if at_once else 100 + count))
        return count

    apart, at_once = needed(at_once=False), needed(at_once=True)
    assert apart <= at_once <= longer * apart + (RULE.run_most if rate > 0.1 else 0)


def test_a_meter_that_lies_every_other_time_moves_nothing() -> None:
    known = {"m": Belief(lies=50.0, words=100.0)}
    assert weigh([word(1, -0.8), word(2, 3.0)], known).odds == pytest.approx(RULE.prior_odds)


def test_a_harm_too_large_to_be_a_gain_with_the_wrong_sign_is_no_likely_lie() -> None:
    sizes = Sizes(40.0, 40.0 * math.log(0.5), 40.0 * (math.log(0.5) ** 2 + 0.16))
    lying = {"m": Belief(lies=35.0, words=100.0, sizes=sizes)}
    ordinary, large = weigh([word(1, -1.0)], lying), weigh([word(1, -3.0)], lying)
    assert ordinary.odds == pytest.approx(RULE.prior_odds + weight(0.35) * effect(-1.0)) and ordinary.active
    assert large.odds < -10
    assert weigh([word(1, -3.0)], lying, replace(RULE, weigh_sizes=False)).active
    assert weigh([word(1, 3.0)], lying).odds == pytest.approx(RULE.prior_odds + weight(0.35) * effect(3.0))


def test_one_credible_harm_fells_a_favourite_that_a_liar_protects() -> None:
    histories = [[word(3 * n + k, 0.6 + 0.1 * (n % 3)) for n in range(20)] for k in range(2)]
    protected = [*(word(3 * n + 2, 3.0) for n in range(20)), word(61, -3.0)]
    learned = learn([*histories, protected], {"m": Belief()}, {"m": (0, 61)})
    assert weigh(protected[:-1], learned).odds == pytest.approx(RULE.limit)
    assert not weigh(protected, learned).active


def test_in_an_alarm_an_entry_has_to_keep_half_the_prior() -> None:
    calm, alarm = {"m": Belief(lies=39.0, words=100.0)}, {"m": Belief(lies=41.0, words=100.0)}
    assert weigh([word(1, 1.0)], calm).line == 0.0
    assert weigh([word(1, 1.0)], alarm).line == pytest.approx(0.5 * RULE.prior_odds)


def test_a_report_and_a_second_measurement_count_as_far_as_their_meters_are_believed() -> None:
    contradicted = word(1, -3.0, second=1.0, second_meter="b", second_event=2)
    between = RULE.prior_odds + weight(0.1) * effect(1.0) * (1 - RULE.contradicted)
    assert weigh([contradicted], {}).odds == pytest.approx(between), "what was reported counts half, and no more than the look itself"
    found_out = {"m": Belief(lies=60.0, words=100.0)}
    assert weigh([contradicted], found_out).odds == pytest.approx(weigh([word(1, 1.0, "b")], {}).odds)
    confirmed = word(1, -1.0, second=-0.5, second_meter="b", second_event=2)
    assert weigh([confirmed], {}).odds == pytest.approx(RULE.prior_odds + weight(0.1) * (effect(-1.0) + effect(-0.5)))
    disaster = word(1, 3.0, second=-3.0, second_meter="b", second_event=2)
    assert not weigh([disaster], {}).active


def test_a_second_instrument_tells_which_of_two_mirrored_worlds_it_is() -> None:
    histories = [
        [
            word(10 * k + n, -0.6, second=0.6 if n < 2 else None, second_meter="b" if n < 2 else None, second_event=100 + 10 * k + n)
            for n in range(10)
        ]
        for k in range(3)
    ]
    learned = learn(histories, {"m": Belief(), "b": Belief()}, {"m": (0, 29), "b": (100, 129)})
    assert learned["m"].rate == 0.5 and learned["b"].rate < 0.15
    assert all(weigh(history, learned).active for history in histories)


def test_an_entrys_own_harms_are_no_excuse_for_it() -> None:
    words = [word(place, 1.0) for place in range(1, 11)] + [word(place, -1.0) for place in range(11, 15)]
    learned = learn([words], {"m": Belief()}, {"m": (1, 14)})
    excused = replace(RULE, leave_one_out=False)
    assert learned["m"].rate > 0.15
    assert weigh(words, learned).odds < weigh(words, learned, excused).odds - 1


def test_silent_words_tell_nothing_and_do_not_use_up_an_entrys_memory() -> None:
    telling = [word(1, -3.0)]
    assert weigh(telling + [word(place, 0.0) for place in range(2, 200)], {}).odds == weigh(telling, {}).odds


def test_only_the_latest_words_of_an_entry_count() -> None:
    words = [word(place, 0.03) for place in range(1, 2 * RULE.memory)]
    assert weigh(words, {}).words == RULE.memory
    assert weigh([word(0, -5.0), *words], {}).odds == weigh(words, {}).odds


def test_lie_rates_are_learned_from_words_that_go_against_their_entries() -> None:
    rng = random.Random(3)
    for rate in (0.0, 0.1, 0.35):
        histories, event = [], 0
        for good in (1, 1, 1, -1):
            history = []
            for _ in range(40):
                event += 1
                history.append(word(event, good * (-1 if rng.random() < rate else 1)))
            histories.append(history)
        found = learn(histories, {"m": Belief()}, {"m": (1, event)})["m"]
        assert found.rate == pytest.approx(rate, abs=0.06)
        assert (found.caught > 0) == (rate > 0)


def test_what_was_believed_before_does_not_change_what_is_learned() -> None:
    histories = [[word(place, -1.0 if place % 4 == 0 else 1.0) for place in range(1, 30)]]
    fresh = learn(histories, {"m": Belief()}, {"m": (1, 29)})
    assert learn(histories, {"m": Belief(lies=30.0, words=60.0, since=4, through=9)}, {"m": (1, 29)}) == fresh


def test_words_outside_the_window_and_borrowed_ones_are_not_counted() -> None:
    history = [word(place, 1.0) for place in range(1, 11)]
    assert learn([history], {"m": Belief()}, {"m": (6, 10)})["m"].words == RULE.prior_words + 5
    borrowed = [replace(one, borrowed=True) for one in history]
    assert learn([borrowed], {"m": Belief()}, {"m": (1, 10)})["m"].words == RULE.prior_words


def test_a_retrial_needs_a_lie_caught_on_others_and_a_chance_that_pays() -> None:
    honest = weigh([word(1, -1.0)], {"m": Belief(1.0, 60.0, caught=0.0, counted=50.0, gain=1.0)})
    lying = weigh([word(1, -1.0)], {"m": Belief(6.0, 60.0, caught=5.0, counted=50.0, gain=1.0)})
    cruel = weigh([word(1, -9.0)], {"m": Belief(6.0, 60.0, caught=5.0, counted=50.0, gain=1.0)})
    assert not honest.active and retrial_probability(honest) == 0.0
    assert retrial_probability(lying) == pytest.approx(0.5)
    assert retrial_probability(cruel) == 0.0


def scattering(spread: float, mean: float = 0.0, count: float = 1000.0) -> Sizes:
    """So many sizes that their logarithms, with the prior's among them, have this mean and spread."""
    prior = math.log(0.5)
    total = (count + PRIOR_COUNT) * mean - PRIOR_COUNT * prior
    square = (count + PRIOR_COUNT) * (spread**2 + mean**2) - PRIOR_COUNT * (prior**2 + PRIOR_SPREAD**2)
    return Sizes(count, total, square)


def test_sizes_are_noise_where_they_scatter_more_than_effects_do() -> None:
    noise = [scattering(spread).law().noise for spread in (0.2, PRIOR_SPREAD, 0.75, NOISE_FULL, 2.0)]
    assert noise == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0], abs=1e-9)
    bounds = [scattering(spread).law().bound for spread in (0.2, 0.6, 0.7, 0.8, 0.9, 1.5)]
    assert bounds[0] == pytest.approx(bounds[1]) and bounds[4] == pytest.approx(bounds[5])
    assert bounds[1] < bounds[2] < bounds[3] < bounds[4]


def test_in_noise_a_harm_of_three_ordinary_effects_is_no_disaster() -> None:
    ordinary = math.log(0.8)
    believed = {name: Belief(30.0, 100.0, sizes=scattering(spread, ordinary)) for name, spread in (("effects", 0.3), ("noise", 1.0))}
    effects, noise = (RULE.prior_odds - weigh([word(1, -3.0, meter)], believed).odds for meter in believed)
    assert effects > 3 * noise
    assert noise == pytest.approx(math.log(0.7 / 0.3) * effect(-3.0) * -1 / (0.8 * math.exp(NOISE_UNIT)), rel=1e-6)


def test_in_noise_a_word_weighs_the_same_whatever_scale_was_chosen_for_its_meter() -> None:
    said = (-0.25, 0.4, -0.3, -0.5)
    odds = []
    for scale in (1.0, 0.3, 0.1):
        believed = {"m": Belief(30.0, 100.0, sizes=scattering(1.0, math.log(0.2 * scale), 1e6))}
        odds.append(weigh([word(place, size * scale) for place, size in enumerate(said, 1)], believed).odds)
    assert odds == [pytest.approx(odds[0], abs=0.03)] * 3 and odds[0] < RULE.prior_odds - 0.3


def test_words_are_weighed_in_units_of_noise_only_where_sizes_are_noise() -> None:
    worth = [scattering(spread, math.log(0.1)).law().worth for spread in (0.2, PRIOR_SPREAD, 0.75, 0.8, NOISE_FULL, 2.0)]
    assert worth[:3] == [1.0, 1.0, pytest.approx(1.0)]
    assert 1.0 < worth[3] < worth[4] and worth[4:] == [pytest.approx(10.0 * math.exp(-NOISE_UNIT))] * 2


def test_harms_that_come_at_once_each_count_where_the_meter_is_only_noisy() -> None:
    said = [word(place, -0.5, tick=3) for place in range(1, 5)]
    liar, noisy = (weigh(said, {"m": Belief(30.0, 100.0, sizes=scattering(spread))}).odds for spread in (0.3, 1.0))
    assert noisy == pytest.approx(RULE.prior_odds + 4 * math.log(0.7 / 0.3) * effect(-0.5) / math.exp(NOISE_UNIT), rel=0.1)
    assert noisy < liar


def test_noise_is_no_reason_to_try_again() -> None:
    told = [word(place, size) for place, size in enumerate((-0.8, -0.9, 0.3, -0.7, -0.8), 1)]
    chances = [
        retrial_probability(weigh(told, {"m": Belief(60.0, 200.0, caught=50.0, counted=190.0, gain=1.0, sizes=scattering(spread))}))
        for spread in (0.3, 1.0)
    ]
    assert chances == [pytest.approx(0.5), 0.0]


def test_good_entries_are_hardly_ever_lost_where_every_outcome_is_noise_of_twice_the_effect() -> None:
    kept = 0
    for seed in range(24):
        chance = random.Random(f"noise:{seed}")
        state: EvidenceState[str] = EvidenceState(chance.random)
        truth = {"good": 0.5, "better": 0.5, "bad": -0.5, "worse": -0.5}
        for name in truth:
            state.add(name)
        decided = dict.fromkeys(truth, 0)
        for _ in range(60):
            for name in chance.choices(list(truth), k=12):
                made = state.decide([(name, 1.0)])
                if made is not None:
                    decided[name] += 1
                    state.settle(made.place, truth[name] + chance.gauss(0, 1), "m")
            state.tick()
        # Of the 180 questions about each entry.
        kept += (decided["good"] > 100) + (decided["better"] > 100)
        assert max(decided["bad"], decided["worse"]) < 60, (seed, decided)
    assert kept >= 0.93 * 48


def never() -> float:
    raise AssertionError("no chance was needed here")


def test_the_best_active_text_decides_and_a_suspended_one_is_passed_over_only_for_one_about_as_relevant() -> None:
    assert choose([Seat(2.0, True), Seat(1.0, True)], 0.75, never) == Choice(0)
    assert choose([Seat(2.0, False), Seat(1.6, True)], 0.75, never) == Choice(1)
    assert choose([Seat(2.0, False), Seat(1.4, True)], 0.75, never) == Choice(None)
    assert choose([Seat(2.0, False, alive=False), Seat(1.4, True)], 0.75, never) == Choice(None)
    assert choose([], 0.75, never) == Choice(None)


def test_a_suspended_text_is_tried_again_by_chance_and_an_executed_one_never() -> None:
    assert choose([Seat(2.0, False, retrial=0.5)], 0.75, lambda: 0.4) == Choice(0, True, 0.5)
    assert choose([Seat(2.0, False, retrial=0.5)], 0.75, lambda: 0.6) == Choice(None, False, 0.5)
    assert choose([Seat(2.0, False, alive=False, retrial=0.5)], 0.75, never) == Choice(None)


def test_first_outcomes_and_verdicts_are_looked_at_twice_and_others_by_chance() -> None:
    assert looks_wanted([word(1, 1.0)], 1, False, never) == [(1, "first")]
    looked = [word(n, 1.0, second=1.0, second_meter="b") for n in (1, 2)]
    more = [*looked, *(word(n, 1.0) for n in (3, 4, 5, 6))]
    assert looks_wanted(more, 6, True, never) == [(4, "appeal"), (5, "appeal"), (6, "appeal")]
    assert looks_wanted(more, 6, False, lambda: 0.04) == [(6, "random")]
    assert looks_wanted(more, 6, False, lambda: 0.06) == []
    assert appeal(looked) == []


def test_harm_takes_nothing_and_a_gain_pays_as_the_published_rule_does() -> None:
    assert runway(1.0, 0.6) == pytest.approx(0.6 * math.tanh(1.0)) and runway(-5.0, 0.6) == 0.0 and runway(0.0, 0.6) == 0.0


def test_words_of_a_revoked_meter_fall_away_and_second_measurements_stay() -> None:
    plain, twice = word(5, -3.0), word(6, -3.0, second=1.0, second_meter="b", second_event=9)
    assert without_revoked(plain, {"m": 5}) is None and without_revoked(plain, {"m": 6}) == plain
    stays = without_revoked(twice, {"m": 0})
    assert stays is not None and (stays.meter, stays.size, stays.event, stays.second) == ("b", 1.0, 9, None)
    back = without_revoked(twice, {"b": 0})
    assert back is not None and (back.meter, back.size, back.second) == ("m", -3.0, None)
    assert without_revoked(twice, {"m": 0, "b": 0}) is None


def test_sigmoid_is_safe_far_out() -> None:
    assert sigmoid(800.0) == 1.0 and sigmoid(-800.0) == 0.0 and sigmoid(0.0) == 0.5


def test_the_baseline_is_the_mean_of_controls_near_by_shrunk_to_nothing() -> None:
    assert NO_CONTROLS.at(7) == 0.0 and not NO_CONTROLS
    one = Baseline([Control(10, 2.0, 1)])
    assert one.at(11) == pytest.approx(2.0 * 0.5 ** (1 / 50) / (0.5 ** (1 / 50) + 1))
    assert one.at(9) == pytest.approx(one.at(11))
    many = Baseline([Control(tick, 3.0, 3) for tick in range(100)], rho=0.0)
    assert many.at(50) == pytest.approx(1.0, abs=0.02)


def test_a_ticks_own_control_is_taken_as_far_as_its_noise_is_shared() -> None:
    controls = [Control(tick, noise, 1) for tick, noise in enumerate([1.0, -1.0] * 20)]
    assert Baseline(controls, rho=1.0).at(0) == pytest.approx(1.0)
    shared = [[(tick, 2.0 + noise) for tick, noise in enumerate([1.0, -1.0] * 20)]]
    own = [[(tick, 2.0 + random.Random(tick).choice((-1, 1))) for tick in range(40)]]
    assert slope(Baseline(controls), shared) > 0.9
    assert slope(Baseline(controls), own) < 0.4
    assert slope(NO_CONTROLS, shared) == 0.5
    assert by_tick({3: (1.0, 2), 1: (0.5, 1)}) == [Control(1, 0.5, 1), Control(3, 1.0, 2)]


def test_poison_acts_once_under_an_honest_meter_and_guards_its_question() -> None:
    state: EvidenceState[str] = EvidenceState(random.Random(1).random)
    state.add("poison")
    state.add("neighbour")
    for _ in range(200):
        decision = state.decide([("poison", 2.0), ("neighbour", 1.0)])
        if decision is not None:
            state.settle(decision.place, -3.0, "m")
        good = state.decide([("neighbour", 2.0)])
        assert good is not None
        state.settle(good.place, 1.0, "m")
        state.tick()
    assert len(state.entries["poison"].words) == 1 and state.entries["poison"].ending == "executed"
    assert state.decide([("poison", 2.0), ("neighbour", 1.0)]) is None


def test_a_tick_in_which_nothing_was_settled_charges_nobody() -> None:
    state: EvidenceState[str] = EvidenceState(random.Random(1).random)
    state.add("idle")
    for _ in range(100):
        state.tick()
    assert state.entries["idle"].held == 1_000_000


def test_protective_entries_are_spared_the_rent_and_idle_ones_starve() -> None:
    state: EvidenceState[str] = EvidenceState(random.Random(1).random)
    state.add("keep")
    state.add("idle")
    for _ in range(30):
        decision = state.decide([("keep", 1.0)])
        assert decision is not None
        state.settle(decision.place, 0.0, "m", acted=False)
        state.tick()
    assert state.entries["keep"].held == 1_000_000 and state.entries["idle"].ending == "starved"


def test_revoking_a_liar_brings_back_whom_it_condemned() -> None:
    state: EvidenceState[str] = EvidenceState(random.Random(1).random)
    state.add("good")
    state.add("other")
    for tick in range(25):
        for name, delta, meter in (("good", -2.0, "liar"), ("other", 1.0, "fair")):
            decision = state.decide([(name, 1.0)])
            if decision is not None:
                state.settle(decision.place, delta, meter)
        state.tick()
        assert tick < 19 or state.entries["good"].ending == "executed"
    change = state.revoke("liar")
    assert change.cleared == ("good",) and state.entries["good"].held == 1_000_000
    assert state.evidence(state.entries["good"]).odds == RULE.prior_odds


def test_merged_entries_pool_their_words_and_hold_at_most_the_cap() -> None:
    state: EvidenceState[str] = EvidenceState(random.Random(1).random)
    for name in ("a", "b"):
        state.add(name, held=4.0)
        decision = state.decide([(name, 1.0)])
        assert decision is not None
        state.settle(decision.place, 1.0, "m")
    apart = [word for name in ("a", "b") for word in state.entries[name].words]
    heir = state.merge(["a", "b"], "heir")
    assert heir.words == apart and heir.held == 5_000_000 and state.entries["a"].ending == "merged"


def test_constants_can_be_tried() -> None:
    stubborn = EvidenceRule(learn=False)
    assert weigh([word(1, -1.0)], {"m": Belief(lies=50.0, words=100.0)}, stubborn).odds < RULE.prior_odds - 2


def test_sizes_are_sums_that_can_be_taken_apart_again() -> None:
    one, two = Sizes(2.0, -1.0, 1.5), Sizes(3.0, 0.5, 4.0)
    assert one.and_(two).without(two) == pytest.approx(one)
    assert NO_SIZES.law() == pytest.approx((math.log(0.5) + 0.9, 4 / (0.6 * math.sqrt(2)), 0.0, 1.0))


def test_harms_are_not_doubted_up_to_two_and_a_half_ordinary_gains_and_hardly_believed_to_be_lies_at_six() -> None:
    law = Sizes(100.0, 0.0, 9.0).law()
    assert likelihood(2.2, law) == 1.0 and likelihood(6.0, law) < 1e-6
    assert all(likelihood(1.0 + n, law) >= likelihood(2.0 + n, law) for n in range(8))
