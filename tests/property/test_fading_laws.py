"""Forgetting and links hold their laws whatever is thrown at them."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from earnest import Memory
from earnest.core import fading, links, opinions
from earnest.core.gist import gist
from earnest.core.links import Link
from earnest.testing.clock import ManualClock, SeededRng

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ages = st.floats(allow_nan=False, allow_infinity=True)
half_lives = st.floats(0.001, 1e6)
strengths = st.floats(1.0, fading.STRONGEST)
parts = st.floats(0.0, 1.0)
moments = st.datetimes(timezones=st.just(UTC))


@given(ages, ages, half_lives, strengths)
def test_retention_is_bounded_and_never_grows_with_age(one: float, two: float, half_life: float, strength: float) -> None:
    younger, older = sorted((one, two))
    before, after = fading.retention(younger, half_life, strength), fading.retention(older, half_life, strength)
    assert 0.0 <= after <= before <= 1.0


@given(ages, half_lives, strengths, parts)
def test_a_recall_never_weakens_and_never_goes_beyond_the_bound(age: float, half_life: float, strength: float, importance: float) -> None:
    left = fading.retention(age, half_life, strength)
    for after in (fading.recalled(strength, left), fading.helped(strength, left)):
        assert strength <= after <= fading.STRONGEST
        assert fading.worth(importance, age, half_life, after) >= fading.worth(importance, age, half_life, strength)
    assert fading.helped(1.0, left) > 1.0


@given(moments, st.none() | moments, st.none() | moments, parts, strengths, half_lives, parts)
def test_a_day_to_fade_is_where_worth_crosses_the_threshold(
    recorded: datetime,
    recalled: datetime | None,
    event: datetime | None,
    importance: float,
    strength: float,
    half_life: float,
    least: float,
) -> None:
    began = fading.began(recorded, recalled, event)
    assert began is not None
    day = fading.fades_at(began, importance, strength, half_life, least)
    if day is None:
        assert fading.lasts(importance, half_life, least, strength) > 365.0 * (9998 - began.year) - 1
        return
    assert day >= began
    before = fading.worth(importance, fading.age_days(began, day) - 1e-3, half_life, strength)
    after = fading.worth(importance, fading.age_days(began, day) + 1e-3 + 1e-9 * half_life, half_life, strength)
    assert after <= least * (1 + 1e-6) or importance <= least
    if day > began + timedelta(milliseconds=100_000):
        assert before >= least * (1 - 1e-6)


@given(st.lists(st.sampled_from(opinions.VERDICTS), max_size=60), parts, st.lists(st.integers(0, 3), min_size=60, max_size=60))
def test_no_run_of_opinions_leaves_the_bounds(said: list[opinions.Verdict], given_: float, days: list[int]) -> None:
    importance, known, day, counted = given_, None, 20_000, 0
    for verdict, pause in zip(said, days, strict=False):
        day += pause
        known = opinions.heard(known, importance, day)
        if opinions.counts(known):
            known = opinions.said(known, verdict)
            importance = known.made
            counted += 1
        assert given_ * opinions.LEAST <= importance <= given_ and 0 <= known.today <= opinions.DAILY
    if known is not None:
        assert known.helpful + known.unhelpful + known.outdated == counted


@given(st.floats(links.LEAST, 1.0), st.lists(st.floats(0.0, 1e6), max_size=50), half_lives, st.booleans())
def test_no_walk_takes_a_weight_out_of_its_bounds(weight: float, pauses: list[float], half_life: float, stated: bool) -> None:
    link, now = Link(1, 2, "entity", weight, stated=stated, used=NOW), NOW
    for pause in pauses:
        now += timedelta(hours=min(pause, 1e5))
        before = links.weight(link, now, half_life)
        link = links.travelled(link, now, half_life)
        assert 0.0 < link.weight <= 1.0 and link.weight >= before and 0.0 <= before <= 1.0


@given(st.lists(st.tuples(st.floats(0.05, 1.0), st.booleans()), max_size=30), st.integers(0, 12), st.floats(0.05, 1.0), st.booleans())
def test_room_is_made_by_lighter_found_links_alone(held: list[tuple[float, bool]], most: int, weight: float, stated: bool) -> None:
    known = [Link(1, n + 2, "entity", heavy, stated=by_hand, used=NOW) for n, (heavy, by_hand) in enumerate(held)]
    leaving = links.displaced(known, Link(1, 99, "related", weight, stated=stated, used=NOW), most, NOW, 90.0)
    if leaving is None:
        assert len(known) + 1 > most
        return
    assert len(known) - len(leaving) + 1 <= max(most, 1) and not any(link.stated for link in leaving)
    assert stated or all(link.weight < weight for link in leaving)


@given(st.text(max_size=3_000), st.integers(8, 200))
def test_a_gist_is_short_and_made_of_the_text(text: str, limit: int) -> None:
    made = gist(text, limit)
    assert len(made) <= limit and made == gist(text, limit)
    assert made.removesuffix("…").rstrip(" ,;:") in " ".join(text.split())


steps = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.floats(-2_000, 2_000)),
        st.tuples(
            st.just("add"), st.integers(0, 5), st.floats(0, 1), st.sampled_from(["fading", "kept", "earned"]), st.sampled_from(["", "b"])
        ),
        st.tuples(st.just("ask"), st.integers(0, 5)),
        st.tuples(st.just("pin"), st.integers(0, 5)),
        st.tuples(st.just("feedback"), st.integers(0, 5), st.sampled_from(opinions.VERDICTS)),
        st.tuples(st.just("link"), st.integers(0, 5), st.integers(0, 5)),
        st.tuples(st.just("restore"), st.integers(0, 5)),
        st.tuples(st.just("half life"), st.floats(0.01, 1_000)),
        st.tuples(
            st.just("tidy"),
        ),
    ),
    max_size=25,
)


def carried_out(memory: Memory, clock: ManualClock, script: list[Any], *, often: bool) -> None:
    """A history; with `often`, a cleanup that finds nothing new follows each step."""
    from earnest.errors import NotAllowed

    ids: list[str] = []

    def picked(number: int) -> str | None:
        return ids[number % len(ids)] if ids else None

    for step, *args in script:
        try:
            if step == "wait":
                clock.advance(days=args[0])
            elif step == "add":
                text = f"Stone {args[0]} of Kalar Seven lies in room {args[0]}."
                ids.append(memory.add(text, importance=args[1], retention=args[2], scope=args[3]).id)
            elif step == "ask":
                memory.answer(f"Where does stone {args[0]} of Kalar Seven lie?", links=True)
            elif step == "half life":
                memory.configure(decay_half_life=args[0])
            elif step == "tidy":
                memory.decay_cleanup()
                memory.maintain()
            elif (one := picked(args[0])) is not None:
                if step == "pin":
                    memory.pin(one)
                elif step == "feedback":
                    memory.feedback(one, args[1])
                elif step == "restore":
                    memory.restore(one)
                elif (other := picked(args[1])) is not None:
                    memory.link(one, other)
        except NotAllowed:
            continue
        if often:
            memory.decay_cleanup(dry_run=True)
            memory.tick()


@settings(max_examples=40)
@given(steps)
def test_any_history_leaves_a_whole_store_with_bounded_links_inside_scopes(script: list[Any]) -> None:
    clock = ManualClock()
    with Memory.open(clock=clock, rng=SeededRng(1), settings={"links": 4, "rule": "classic", "rent": 0.0}) as memory:
        carried_out(memory, clock, script, often=False)
        memory.tick()
        checked = memory.check()
        assert checked.ok, checked.problems
        stats = memory.stats()
        assert sum(stats.accounts.values()) + stats.energy == 0
        for scope in ("", "b"):
            for entry in memory.list(scope=scope):
                near = [one for one in memory.related(entry.id, 100) if one.kind != "supersession"]
                assert len({(one.entry.id) for one in near}) == len(near) <= 4
                assert all(one.entry.scope == scope and one.entry.alive and 0 <= one.weight <= 1 for one in near)
                assert 1.0 <= entry.strength <= fading.STRONGEST and 0.0 <= entry.importance <= 1.0
                assert math.isfinite(entry.strength)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.5, 400)), min_size=1, max_size=8), st.integers(1, 30))
def test_how_often_the_cleanup_runs_changes_nothing(entries: list[tuple[float, float]], runs: int) -> None:
    ended: list[list[tuple[str, str | None]]] = []
    for times in (1, runs):
        clock = ManualClock()
        with Memory.open(clock=clock, rng=SeededRng(1)) as memory:
            for number, (importance, _) in enumerate(entries):
                memory.add(f"stone {number} lies here", retention="fading", importance=importance)
            whole = sum(days for _, days in entries)
            for _ in range(times):
                clock.advance(days=whole / times)
                memory.decay_cleanup()
            again = memory.decay_cleanup()
            assert again.entries == ()
            every = [*memory.list(), *memory.list(standing="dead")]
            ended.append(sorted((entry.text, entry.cause) for entry in every))
            assert {(entry.strength, entry.importance) for entry in every} == {(1.0, importance) for importance, _ in entries}
    assert ended[0] == ended[1]
