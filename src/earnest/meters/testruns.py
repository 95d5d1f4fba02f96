"""What runs of a test suite say of a change: transitions on the tests that both sides measured. Pure functions over plain values.

A test that is in one side only moves nothing: new tests earn nothing, and a failing test that was deleted was not mended. A skipped test
was not measured. Repeated runs of the same code show which tests cannot make up their mind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Status: TypeAlias = Literal["passed", "failed", "errored", "skipped"]

WORST: Final[Mapping[Status, int]] = {"skipped": 0, "passed": 1, "errored": 2, "failed": 3}
"""Of several results of one test in one run the worst stands: a failure is never hidden by a pass of the same name."""

PARTIAL: Final = 0.5
"""A head run that lacks more than this part of what passed at base was cut short, and measured nothing."""
STORM: Final = 5
"""So many tests at least that turn from passing to an *error* (no assertion failed), and half of what passed: the machine broke."""


@dataclass(frozen=True, slots=True)
class Result:
    """One test in one run. `flaky` says that the runner itself saw it fail and then pass; `said` is the message of a failure."""

    status: Status
    flaky: bool = False
    said: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One side of a comparison: runs of the same code, put together.

    passed, failed: tests that every run which measured them agrees on. disputed: tests that both passed and failed on this code. skipped:
    in the reports and never measured. errors: of the failed ones those that erred, with their message. times: how often each test that
    was measured more than once was. broken: what could not even be collected or built.
    """

    passed: frozenset[str]
    failed: frozenset[str]
    disputed: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    errors: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, int] = field(default_factory=dict)
    broken: tuple[str, ...] = ()

    @property
    def measured(self) -> frozenset[str]:
        """The tests that were measured."""
        return self.passed | self.failed | self.disputed

    @property
    def known(self) -> frozenset[str]:
        """Every test that the reports name."""
        return self.measured | self.skipped


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two sides differ, each list sorted. `delta` counts the tests that were mended less those that broke.

    Apart from it, and moving nothing: `added` and `removed` tests (removed: passed at base and are gone), `silenced` ones (passed at base
    and are skipped now) and `disputed` ones (both passed and failed on the same code). `shared` is how many tests both sides measured.
    """

    improved: tuple[str, ...]
    regressed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    silenced: tuple[str, ...]
    disputed: tuple[str, ...]
    shared: int

    @property
    def delta(self) -> int:
        """Tests mended less tests broken."""
        return len(self.improved) - len(self.regressed)

    def without(self, left_out: AbstractSet[str]) -> Comparison:
        """The same without the transitions of some tests."""
        return Comparison(
            tuple(test for test in self.improved if test not in left_out),
            tuple(test for test in self.regressed if test not in left_out),
            self.added,
            self.removed,
            self.silenced,
            self.disputed,
            self.shared,
        )


def together(runs: Sequence[Mapping[str, Result]], broken: Sequence[str] = ()) -> Run:
    """Puts runs of the same code together. Runs of different parts of a suite may be given in the same way: they share no test."""
    seen: dict[str, list[Result]] = {}
    for run in runs:
        for test, result in run.items():
            seen.setdefault(test, []).append(result)
    passed, failed, disputed, skipped = set(), set(), set(), set()
    errors: dict[str, str] = {}
    times: dict[str, int] = {}
    for test, results in seen.items():
        measured = [result for result in results if result.status != "skipped"]
        if not measured:
            skipped.add(test)
            continue
        if len(measured) > 1:
            times[test] = len(measured)
        good = [result.status == "passed" for result in measured]
        if any(result.flaky for result in measured) or (any(good) and not all(good)):
            disputed.add(test)
        elif good[0]:
            passed.add(test)
        else:
            failed.add(test)
            if all(result.status == "errored" for result in measured):
                errors[test] = measured[0].said
    return Run(
        frozenset(passed), frozenset(failed), frozenset(disputed), frozenset(skipped), errors, times, tuple(sorted(set(broken)))
    )  # fmt: skip


def compare(base: Run, head: Run) -> Comparison:
    """How the head differs from the base. O(tests)."""
    return Comparison(
        improved=tuple(sorted(base.failed & head.passed)),
        regressed=tuple(sorted(base.passed & head.failed)),
        added=tuple(sorted(head.measured - base.known)),
        removed=tuple(sorted(base.passed - head.known)),
        silenced=tuple(sorted(base.passed & head.skipped)),
        disputed=tuple(sorted(base.disputed | head.disputed)),
        shared=len(base.measured & head.measured),
    )


def unmeasured(base: Run, head: Run, *, allow_removed: bool = False) -> str | None:
    """Why two sides hold no evidence of a change of code; None if they do.

    What fails before any test runs, a run that was cut short, and a machine that broke are no outcome of the change: it would be guessed.
    """
    for side, run in (("base", base), ("head", head)):
        if run.broken:
            more = f" and {len(run.broken) - 1} more" if len(run.broken) > 1 else ""
            return f"the {side} run could not collect or build {run.broken[0]}{more}, so that its tests were not measured"
        if not run.measured:
            return f"the {side} run measured no test"
    if not base.measured & head.measured:
        return "base and head share no test that both measured"
    gone = len(base.passed - head.known)
    if gone > PARTIAL * len(base.passed) and not allow_removed:
        return (
            f"the head run lacks {gone} of the {len(base.passed)} tests that passed at base: it was cut short, or they were deleted; "
            "say --allow-removed if they were"
        )
    storms: dict[str, int] = {}
    for test in base.passed & head.errors.keys():
        storms[head.errors[test]] = storms.get(head.errors[test], 0) + 1
    worst = max(storms, key=lambda said: storms[said], default="")
    if storms and storms[worst] >= STORM and storms[worst] * 2 >= len(base.passed & head.known):
        return f"{storms[worst]} tests that passed at base ended in the same error at head, before any assertion failed: {worst[:120]!r}"
    return None
