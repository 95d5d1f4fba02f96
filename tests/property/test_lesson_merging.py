"""Texts of lessons of any kind: joined in whatever order and as often as you like, the same comes out; and each text is read as written."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from earnest.core.lesson_following import without
from earnest.core.lesson_merging import foreign, merged
from earnest.core.lessons import Lessons, body, line, parsed, written

NAMES: Final = ("a1", "b2", "c3")
TICKETS: Final = ("t1", "t2", "t3")


def maybe(chance: random.Random, **fields: Any) -> dict[str, Any]:
    """Some of these, each as likely there as not."""
    return {name: value for name, value in fields.items() if chance.random() < 0.5}


def some(chance: random.Random, of: Sequence[Any]) -> list[Any]:
    return chance.sample(of, chance.randrange(len(of)))


def drawn(seed: int) -> Lessons:
    """A small text of every kind of fact, so that two of them are about the same things as often as not."""
    chance = random.Random(seed)
    pick: Callable[[Any], Any] = chance.choice

    def small() -> int:
        return chance.randrange(4)

    def more() -> dict[str, Any]:
        draws = [[pick(NAMES), pick(["shown", "all"]), 0.7, 0.0, 0.3, "", None]]
        return maybe(chance, note=pick(["n", 7]), draws=draws, withheld=[pick(NAMES)])

    entries = {
        name: {"text": pick("xy"), "born": pick([0, 0, 1])} | maybe(
            chance, version=pick([2, 3]), sources=some(chance, ["s1", "s2"]), end=pick(["executed", "starved", "forgotten", "superseded"]),
            term=[small(), small()], **{"from": some(chance, NAMES)},
        )
        for name in some(chance, NAMES)
    }  # fmt: skip
    entries = {name: {key: value for key, value in said.items() if value != []} for name, said in entries.items()}
    done = some(chance, TICKETS)
    was_settled = set(some(chance, done)) if done else set()
    settled = {
        name: (name, pick(NAMES), 1, 1, small(), small(), "ci", chance.randrange(-1, 2), more()) for name in done if name in was_settled
    }
    ended = {
        name: (name, pick(("", *NAMES)), 1, 1, small(), small(), pick(["abandoned", "expired"]), more())
        for name in done
        if name not in was_settled
    }
    opened = {
        name: (name, small(), small(), pick(NAMES), some(chance, NAMES), pick("qr"), more())
        for name in some(chance, TICKETS)
        if name not in done
    }
    ways = [("a1", "b2", "related"), ("a1", "c3", "related"), ("a1", "c3", "temporal")]
    rules = [
        ["rule", pick(NAMES), small(), small(), pick(["trial", "active", "rejected"]), "accepted", maybe(chance, note="n")]
        for _ in range(small())
    ]
    erased = frozenset(name for name in NAMES if name not in entries and chance.random() < 0.2)
    tick = small()
    made = Lessons(
        "ops", tick=tick, ticked=tick * 10, settings=maybe(chance, rent=pick([0.1, 0.2]), holdout=pick([0.1, 0.2])), entries=entries,
        open=opened, settled=settled, ended=ended, links={way: (*way, pick([0.25, 0.5, 1]), pick(["", "r"])) for way in some(chance, ways)},
        rules=frozenset(map(line, rules)), looks=frozenset(line(["look", name, small(), small(), "second", 1, {}]) for name in was_settled),
        controls=frozenset(line(["control", small(), small(), "ci", chance.randrange(-1, 2), {}]) for _ in range(small())),
        erased=erased,
    )  # fmt: skip
    # No store tells of what an erased entry decided.
    return without(made, None, (made, made))


def unerased(made: Lessons) -> Lessons:
    return replace(made, erased=frozenset())


texts = st.integers(0, 2**63).map(drawn)


def facts(made: Lessons) -> tuple[Any, ...]:
    return made.tick, made.ticked, body(made)


@given(texts)
def test_a_text_is_read_as_it_was_written(made: Lessons) -> None:
    again = parsed(written(made))
    assert body(again) == body(made) and again.head == made.head and written(again) == written(made)


@given(texts, texts)
def test_whichever_is_named_first_the_same_comes_out(one: Lessons, other: Lessons) -> None:
    assert written(merged(one, other)) == written(merged(other, one))
    assert written(parsed(written(merged(one, other)))) == written(merged(one, other))


@given(texts, texts, texts)
def test_in_whatever_order_three_are_joined_the_same_facts_come_out(one: Lessons, other: Lessons, third: Lessons) -> None:
    one, other, third = map(unerased, (one, other, third))
    assert facts(merged(merged(one, other), third)) == facts(merged(one, merged(other, third)))


@given(texts, texts)
def test_joining_again_adds_nothing(one: Lessons, other: Lessons) -> None:
    assert facts(merged(one, one)) == facts(one)
    both = merged(one, other)
    assert facts(merged(both, one)) == facts(merged(both, other)) == facts(both)


@given(texts, texts)
def test_no_fact_is_lost_and_a_ticket_ends_once(one: Lessons, other: Lessons) -> None:
    one, other = unerased(one), unerased(other)
    both = merged(one, other)
    assert set(both.settled) | set(both.ended) == {*one.settled, *one.ended, *other.settled, *other.ended}
    assert not set(both.settled) & set(both.ended) and not set(both.open) & {*both.settled, *both.ended}
    assert set(both.entries) == {*one.entries, *other.entries} and set(both.links) == {*one.links, *other.links}
    assert both.rules == one.rules | other.rules
    for name, fact in both.links.items():
        assert fact[3] == max(side.links[name][3] for side in (one, other) if name in side.links)


@given(texts, texts, texts)
def test_with_what_both_came_from_whichever_is_named_first_the_same_comes_out(base: Lessons, one: Lessons, other: Lessons) -> None:
    made = merged(one, other, base)
    assert written(made) == written(merged(other, one, base)) == written(parsed(written(made)))
    assert facts(merged(one, one, base)) == facts(one)


@given(texts, texts)
def test_over_a_side_that_changed_nothing_every_change_stands_and_nothing_measured_goes(base: Lessons, one: Lessons) -> None:
    base, one = unerased(base), unerased(one)
    made = merged(base, one, base)
    assert (made.settings, made.meters) == (one.settings, one.meters)
    assert all(made.links[way] == fact for way, fact in one.links.items())
    assert {way for way in made.links if way not in one.links} == set(), "what was cut is cut"
    assert {*one.settled, *base.settled, *one.ended, *base.ended} == {*made.settled, *made.ended}
    away = {*base.entries} - {*made.entries}
    assert made.rules == {each for each in base.rules | one.rules if json.loads(each)[1] not in away}
    assert made.controls == base.controls | one.controls
    assert set(one.entries) <= set(made.entries), "what a decision names stays, else what was taken away is gone"
    assert all(made.entries[name].get("end") == said.get("end") for name, said in one.entries.items())


@given(texts, texts, texts)
def test_what_was_erased_is_nowhere_but_in_its_mark(base: Lessons, one: Lessons, other: Lessons) -> None:
    for made in (merged(one, other), merged(one, other, base)):
        assert made.erased == one.erased | other.erased
        marks = {line(["erased", name]) for name in made.erased}
        assert not any(f'"{name}"' in each for name in made.erased for each in body(made) if each not in marks)


@given(texts, texts)
def test_a_change_that_brings_outcomes_or_puts_rules_into_force_is_told(base: Lessons, more: Lessons) -> None:
    head = merged(base, more)
    told = "\n".join(foreign(base, head))
    assert all(f"ticket {name} " in told for name in head.settled if base.settled.get(name) != head.settled[name])
    assert all(each in told for each in head.rules - base.rules if '"active"' in each or '"trial"' in each)
    assert foreign(base, base) == []
