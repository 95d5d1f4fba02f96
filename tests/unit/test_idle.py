"""What changes of code show together though none of them did it: a measurement of doing nothing that costs no run."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest.errors import InvalidInput
from earnest.meters import Measurement, Run, control_from
from earnest.meters.testruns import compare

TESTS = tuple("abcdefgh")


def change(broken: Iterable[str] = "", mended: Iterable[str] = "", tests: Iterable[str] = TESTS, quarantined: str = "") -> Measurement:
    """A change on a base on which the mended tests fail and all others pass; only `tests` are in the head run."""
    broken, mended, tests = frozenset(broken), frozenset(mended), frozenset(tests)
    base = Run(frozenset(TESTS) - mended, mended)
    head = Run(tests - broken, broken & tests)
    made = compare(base, head).without(frozenset(quarantined))
    return Measurement(made, base, head, tuple(quarantined))


def shown(*changes: tuple[str, Measurement]) -> float | None:
    made = control_from(changes)
    return None if made is None else made.delta


def test_what_unconnected_changes_turn_round_together_none_of_them_did() -> None:
    made = control_from([("one", change("ab")), ("two", change("abh")), ("three", change("ab", "c"))])
    assert made is not None and (made.delta, made.acted) == (-2.0, False)
    assert made.detail == "3 unconnected changes show 0 mended and 2 broken together: a, b"


def test_a_base_on_a_bad_day_pays_nobody() -> None:
    assert shown(("one", change(mended="ab")), ("two", change(mended="a")), ("three", change("c", "a"))) == 1.0


def test_changes_that_show_nothing_together_are_a_control_of_nothing() -> None:
    assert shown(("one", change("a")), ("two", change("b")), ("three", change("c", "d"))) == 0.0
    assert shown(("one", change("a")), ("two", change("a")), ("three", change())) == 0.0


def test_two_changes_may_have_one_cause_and_say_nothing() -> None:
    assert shown(("one", change("a")), ("two", change("a"))) is None
    assert shown() is None


def test_a_lesson_that_breaks_the_same_test_in_every_change_broke_it() -> None:
    followed = [("lesson", change("a")) for _ in range(9)]
    assert shown(*followed) is None
    assert shown(*followed, ("one", change()), ("two", change("b"))) == 0.0
    assert shown(*followed, ("one", change("a")), ("two", change())) == 0.0


def test_one_cause_speaks_for_a_test_only_where_all_of_its_changes_do() -> None:
    others = [("one", change("a")), ("two", change("a"))]
    assert shown(*others, ("three", change("a")), ("three", change("a"))) == -1.0
    assert shown(*others, ("three", change("a")), ("three", change())) == 0.0
    assert shown(*others, ("three", change("a")), ("three", change(tests="bcd"))) == -1.0, "what it did not measure it does not deny"


def test_most_of_those_that_measured_a_test_have_to_show_it() -> None:
    three = [(name, change("a")) for name in ("one", "two", "three")]
    silent = [(name, change(tests="bcd")) for name in ("four", "five", "six", "seven")]
    denying = [(name, change()) for name in ("four", "five", "six")]
    assert shown(*three, *silent) == -1.0
    assert shown(*three, *denying[:2]) == -1.0
    assert shown(*three, *denying) == 0.0


def test_what_was_left_out_of_the_measurements_is_left_out_of_the_control() -> None:
    assert shown(*((name, change("ab", quarantined="a")) for name in ("one", "two", "three"))) == -1.0


@pytest.mark.parametrize("given_", [[("one",)], ["one"], [("one", 3)], "one", [("", change())], [(1, change())]])
def test_anything_else_than_a_cause_and_a_measurement_is_refused(given_: object) -> None:
    with pytest.raises(InvalidInput, match="changes"):
        control_from(given_)  # type: ignore[arg-type]


SETS = st.frozensets(st.sampled_from(TESTS))


@given(SETS, SETS, st.lists(st.sampled_from(TESTS), unique=True, min_size=3), st.randoms())
def test_own_doings_of_changes_leave_the_control(fails: frozenset[str], mends: frozenset[str], own: list[str], chance: Random) -> None:
    """Whatever fails by itself is found, whatever each change breaks beside it, and in whatever order they come."""
    mends -= fails
    changes = [(f"change {n}", change(fails | ({test} - mends), mends)) for n, test in enumerate(own)]
    expected = float(len(mends) - len(fails))
    assert shown(*changes) == expected
    chance.shuffle(changes)
    assert shown(*changes) == expected
