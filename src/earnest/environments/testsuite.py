"""A test suite: should this patch be applied? A real small module on disk; what is measured is how many of its tests pass."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from earnest.core import check
from earnest.core.decision import decision_polarity
from earnest.core.outcome import Outcome, Task
from earnest.environments.base import Scratch, world_rng
from earnest.errors import InvalidInput, NotAvailable


@dataclass(frozen=True, slots=True)
class Helper:
    """One function of the generated module: sound and defective source, the patch that mends it, and its tests.

    The first test is the one that the defect fails.
    """

    name: str
    patch: str
    sound: str
    defective: str
    tests: tuple[str, ...]


HELPERS: Final = (
    Helper(
        "clamp",
        "clamp upper-bound",
        "def clamp(value, low, high):\n    return max(low, min(value, high))\n",
        "def clamp(value, low, high):\n    return max(low, value)\n",
        ("clamp(12, 0, 10) == 10", "clamp(-3, 0, 10) == 0"),
    ),
    Helper(
        "average",
        "average empty-list",
        "def average(numbers):\n    return sum(numbers) / len(numbers) if numbers else 0.0\n",
        "def average(numbers):\n    return sum(numbers) / len(numbers)\n",
        ("average([]) == 0.0", "average([2, 4]) == 3.0"),
    ),
    Helper(
        "slug",
        "slug whitespace",
        "def slug(title):\n    return '-'.join(title.lower().split())\n",
        "def slug(title):\n    return title.lower().replace(' ', '-')\n",
        ("slug('Big  News') == 'big-news'", "slug('Hello') == 'hello'"),
    ),
    Helper(
        "chunks",
        "chunks remainder",
        "def chunks(items, size):\n    return [items[i:i + size] for i in range(0, len(items), size)]\n",
        "def chunks(items, size):\n    return [items[i:i + size] for i in range(0, len(items) - size + 1, size)]\n",
        ("chunks([1, 2, 3], 2) == [[1, 2], [3]]", "chunks([1, 2], 1) == [[1], [2]]"),
    ),
    Helper(
        "initials",
        "initials upper-case",
        "def initials(name):\n    return ''.join(part[0] for part in name.split()).upper()\n",
        "def initials(name):\n    return ''.join(part[0] for part in name.split())\n",
        ("initials('ada lovelace') == 'AL'",),
    ),
    Helper(
        "leap",
        "leap-year century",
        "def leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n",
        "def leap(year):\n    return year % 4 == 0\n",
        ("leap(1900) is False",),
    ),
)

_FAILURES: Final = (AssertionError, ArithmeticError, LookupError, NameError, TypeError, ValueError)  # what a broken helper raises
_RUNNER: Final = """
import pathlib, sys
space = {}
for name in ("app.py", "test_app.py"):
    exec(pathlib.Path(sys.argv[1], name).read_text(encoding="utf-8"), space)
passed = 0
for name in [n for n in space if n.startswith("test_")]:
    try:
        space[name]()
    except BaseException as error:
        print(name, repr(error), file=sys.stderr)
    else:
        passed += 1
print(passed)
"""


@dataclass(frozen=True, slots=True)
class Patch:
    """A change on offer: new sources by function name. `note` is a comment line that it adds at the top."""

    name: str
    sources: dict[str, str]
    note: str = ""

    @property
    def prompt(self) -> str:
        """The question about this patch."""
        return f"Should we apply the {self.name} patch?"


class TestSuiteEnv(Scratch):
    """A module of 6 helpers with planted defects and 10 tests; each task asks whether a patch should be applied.

    On offer each cycle, in an order that the cycle decides: a fix for each defect (+1 test), one "helper cleanup" that breaks 2
    tests, and one docstring patch that changes no test. `verify` applies an approved patch to a fresh copy on disk, runs the
    tests before and after, and measures the difference. A declined one: delta 0, acted False.

    Args:
        defects: How many helpers are broken, 0 to 4; the seed chooses which. At least two stay sound for the cleanup to break.
        seed: Which world.

    The files lie in a temporary folder that is removed by `close`, at the end of a `with` block, or when the object goes.
    The tests run in this process: the only code that runs is this module's own.
    """

    __test__ = False  # not for pytest to collect
    prefix = "earnest-testsuite-"

    def __init__(self, defects: int = 3, seed: int = 7) -> None:
        super().__init__()
        self.defects = check.integer("defects", defects, low=0, high=len(HELPERS) - 2)
        self.seed = check.integer("seed", seed, low=-(2**63), high=2**63)
        self.resource_scale = 2.0
        rng = world_rng("testsuite", self.seed, 0)
        broken = sorted(rng.sample(range(len(HELPERS)), self.defects))
        sound = [i for i in range(len(HELPERS)) if i not in broken]
        self._sources = {h.name: h.defective if i in broken else h.sound for i, h in enumerate(HELPERS)}
        spoiled = sorted(rng.sample(sound, 2))
        offers = [Patch(HELPERS[i].patch, {HELPERS[i].name: HELPERS[i].sound}) for i in broken]
        offers.append(Patch("helper cleanup", {HELPERS[i].name: HELPERS[i].defective for i in spoiled}))
        offers.append(Patch("docstring wording", {}, note="# Small helpers, each with its tests.\n"))
        self._offers = {patch.name: patch for patch in offers}

    def tasks(self, cycle: int) -> list[Task]:
        """One question for each patch on offer."""
        patches = list(self._offers.values())
        world_rng("testsuite-order", self.seed, check.integer("cycle", cycle, low=0, high=2**62)).shuffle(patches)
        return [Task(prompt=patch.prompt, context={"patch": patch.name}) for patch in patches]

    def verify(self, task: Task, answer: str) -> Outcome:
        """Apply the task's patch to a fresh copy if the answer says so, and count the tests before and after."""
        patch = self._patch(task)
        if decision_polarity(answer) is not True:
            return self._declined(patch)
        before, after = self._passing(None), self._passing(patch)
        return Outcome(float(after - before), f"{patch.name} patch applied: {before} tests passed before, {after} after", acted=True)

    def remeasure(self, task: Task, outcome: Outcome) -> Outcome:
        """Count again, in a separate Python process. Raises `NotAvailable` when that process fails. Cost: two processes."""
        patch = self._patch(task)
        if not outcome.acted:
            return self._declined(patch)
        before, after = self._passing_apart(None), self._passing_apart(patch)
        return Outcome(float(after - before), f"counted apart: {before} tests passed before, {after} after", acted=True)

    def control(self, cycle: int) -> Outcome:
        """Doing nothing: the unpatched module, its tests run twice."""
        check.integer("cycle", cycle, low=0, high=2**62)
        return Outcome(float(self._passing(None) - self._passing(None)), "no patch was applied", acted=False)

    def _declined(self, patch: Patch) -> Outcome:
        return Outcome(0.0, f"{patch.name} patch not applied", acted=False)

    def _patch(self, task: Task) -> Patch:
        name = task.context.get("patch")
        if name not in self._offers:
            raise InvalidInput("task", name, f"no such patch in this world; there are {', '.join(self._offers)}")
        return self._offers[name]

    def _copy(self, patch: Patch | None) -> Path:
        """A fresh copy of the module and its tests on disk, patched or not."""
        folder = Path(tempfile.mkdtemp(prefix="copy-", dir=self._folder()))
        sources = self._sources | (patch.sources if patch else {})
        app = (patch.note if patch else "") + "\n\n".join(sources.values())
        tests = "\n\n".join(
            f"def test_{helper.name}_{n}():\n    assert {expression}\n"
            for helper in HELPERS
            for n, expression in enumerate(helper.tests, 1)
        )
        (folder / "app.py").write_text(app, encoding="utf-8")
        (folder / "test_app.py").write_text(tests, encoding="utf-8")
        return folder

    def _passing(self, patch: Patch | None) -> int:
        folder = self._copy(patch)
        space: dict[str, Any] = {}
        for name in ("app.py", "test_app.py"):
            exec((folder / name).read_text(encoding="utf-8"), space)
        shutil.rmtree(folder, ignore_errors=True)
        return sum(_passes(test) for name, test in space.items() if name.startswith("test_"))

    def _passing_apart(self, patch: Patch | None) -> int:
        folder = self._copy(patch)
        ran = subprocess.run([sys.executable, "-I", "-c", _RUNNER, str(folder)], capture_output=True, text=True, timeout=120, check=False)
        shutil.rmtree(folder, ignore_errors=True)
        if ran.returncode != 0 or not ran.stdout.strip().isdigit():
            raise NotAvailable(f"the tests could not be counted in a separate process: {ran.stderr.strip()[-200:] or 'no output'}")
        return int(ran.stdout)


class RentedTestSuiteEnv(TestSuiteEnv):
    """A test suite in which waiting costs: a declined fix costs `hold_cost` times the tests that it would have mended."""

    def __init__(self, defects: int = 3, seed: int = 7, *, hold_cost: float = 1.0) -> None:
        super().__init__(defects, seed)
        self.hold_cost = check.number("hold_cost", hold_cost, low=0.0, high=1e6)

    def control(self, cycle: int) -> Outcome:
        """Doing nothing, per task: the mean of what declining each patch costs."""
        if not self.hold_cost:
            return super().control(cycle)
        losses = [self._declined(self._patch(task)).delta for task in self.tasks(cycle)]
        return Outcome(sum(losses) / len(losses), "no patch was applied", acted=False)

    def _declined(self, patch: Patch) -> Outcome:
        missed = max(0, self._passing(patch) - self._passing(None)) if self.hold_cost else 0
        if not missed:
            return super()._declined(patch)
        cost = self.hold_cost * missed
        return Outcome(-cost, f"{patch.name} patch not applied: {missed} tests still fail, at {cost:g}", acted=False)


def _passes(test: Any) -> bool:
    try:
        test()
    except _FAILURES:
        return False
    return True
