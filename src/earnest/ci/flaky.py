"""Which tests cannot make up their mind, and for how long they are not believed. Pure functions over plain values.

One thing alone proves that a test is flaky: it passed and failed on the *same* code. A test that passes at base and fails at head, again
and again in pull request after pull request, is a test that each of them broke, and is never taken for a flaky one. And a test in
quarantine that breaks twice in a row, or in every one of several runs, is believed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from earnest.meters.testruns import Comparison, Run

QUARANTINE: Final = 50
"""Runs after which a test that was seen to disagree with itself is believed again, if it did not do so once more."""
CODES: Final = 20
"""States of the code whose results are remembered, the latest: to see a test disagree with itself between two pipelines."""
MOST_FAILED: Final = 500
"""A run with more failures is not remembered: something else than its tests was wrong."""
SURE: Final = 2
"""Runs of each side, all agreeing, that show a transition in spite of a quarantine."""


@dataclass(frozen=True, slots=True)
class Habit:
    """What is known of a test that is not simply passing: the runs in which it disagreed with itself, and how often it broke in a row."""

    disputes: tuple[int, ...] = ()
    streak: int = 0
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Code:
    """What one state of the code did: the number of its run, which tests there were (as a digest), and those that did not pass."""

    run: int
    tests: str
    failed: frozenset[str]
    unsettled: frozenset[str]


@dataclass(frozen=True, slots=True)
class Known:
    """Everything that is remembered of earlier runs. `run` is the number of the last one."""

    run: int = 0
    habits: Mapping[str, Habit] = field(default_factory=dict)
    codes: Mapping[str, Code] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """A comparison without the transitions of tests in quarantine, which are named; and what is remembered from now on."""

    comparison: Comparison
    quarantined: tuple[str, ...]
    known: Known


def judge(known: Known, comparison: Comparison, base: Run, head: Run, codes: tuple[str, str], lasting: int = QUARANTINE) -> Judged:
    """Leaves out what flaky tests did, and learns from this run which tests are flaky.

    Args:
        codes: What names the code of base and head (a git tree, a commit); "" where nothing does.
        lasting: Runs that a quarantine lasts.
    """
    run = known.run + 1
    habits = dict(known.habits)
    disputed = set(comparison.disputed)
    kept = dict(known.codes)
    for code, side in zip(codes, (base, head), strict=True):
        if code:
            disputed |= disagreeing(kept.get(code), side)
            kept = remembered(kept, code, side, run)
    for test in disputed:
        habit = habits.get(test, Habit())
        habits[test] = Habit((*habit.disputes[-9:], run), habit.streak, run)
    left_out = []
    for test in (*comparison.improved, *comparison.regressed):
        habit = habits.get(test, Habit())
        in_quarantine = bool(habit.disputes) and run - habit.disputes[-1] < lasting
        sure = min(base.times.get(test, 1), head.times.get(test, 1)) >= SURE
        again = test in comparison.regressed and habit.streak >= 1
        if in_quarantine and not sure and not again:
            left_out.append(test)
    for test in comparison.regressed:
        habit = habits.get(test, Habit())
        habits[test] = Habit(habit.disputes, habit.streak + 1, run)
    passing = head.passed
    for test in [test for test, habit in habits.items() if habit.streak and test in passing]:
        habits[test] = Habit(habits[test].disputes, 0, run)
    alive = {
        test: habit
        for test, habit in habits.items()
        if (habit.disputes and run - habit.disputes[-1] < lasting) or (habit.streak and run - habit.seen < lasting)
    }
    return Judged(comparison.without(frozenset(left_out)), tuple(sorted(left_out)), Known(run, alive, kept))


def disagreeing(before: Code | None, now: Run) -> set[str]:
    """Tests that passed once and failed once on the same code, by what is remembered of it."""
    if before is None:
        return set()
    made = set(before.failed & now.passed)
    if before.tests == digest(now.known):
        made |= now.failed - before.failed - before.unsettled
    return made


def remembered(codes: Mapping[str, Code], code: str, now: Run, run: int) -> dict[str, Code]:
    """The codes with one more, or with what is known of it renewed; the oldest are forgotten."""
    kept = dict(codes)
    if len(now.failed) <= MOST_FAILED:
        kept.pop(code, None)
        kept[code] = Code(run, digest(now.known), now.failed, now.disputed | now.skipped)
    newest = sorted(kept, key=lambda name: kept[name].run)[-CODES:]
    return {name: kept[name] for name in newest}


def digest(tests: Iterable[str]) -> str:
    """A set of tests in few letters."""
    made = hashlib.sha256()
    for test in sorted(tests):
        made.update(test.encode("utf-8", "backslashreplace") + b"\0")
    return made.hexdigest()[:16]


def to_json(known: Known) -> dict[str, Any]:
    """What is remembered, as it is written."""
    return {
        "run": known.run,
        "tests": {test: {"disputes": [*h.disputes], "streak": h.streak, "seen": h.seen} for test, h in sorted(known.habits.items())},
        "codes": {
            name: {"run": c.run, "tests": c.tests}
            | ({"failed": sorted(c.failed)} if c.failed else {})
            | ({"unsettled": sorted(c.unsettled)} if c.unsettled else {})
            for name, c in sorted(known.codes.items())
        },
    }


def from_json(said: Mapping[str, Any]) -> Known:
    """What was written, read again. Raises KeyError, TypeError or ValueError where it was something else."""
    return Known(
        int(said["run"]),
        {str(t): Habit(tuple(int(n) for n in h["disputes"]), int(h["streak"]), int(h["seen"])) for t, h in said["tests"].items()},
        {
            str(n): Code(
                int(c["run"]), str(c["tests"]), frozenset(map(str, c.get("failed", ()))), frozenset(map(str, c.get("unsettled", ())))
            )
            for n, c in said["codes"].items()
        },
    )
