"""What single runners do in their own way: how they tell that a file was not run at all, and that a test was run again."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from earnest.meters.testruns import WORST, Status

NAMELESS: Final = frozenset(("", "test", "suite", "pytest"))
"""Class names that tell no test from another: Node's runner calls every class `test`."""
_UNCOLLECTED: Final = re.compile(
    r"^collection failure|^Test suite failed to run|^Build error|^\[build failed\]|^\[setup failed\]|^import error", re.IGNORECASE
)
_SCRIPT: Final = re.compile(r"\.[cm]?[jt]sx?$")
"""Vitest and Node's runner name what stands for a whole file that could not be run by the file."""
_HOOK: Final = re.compile(r'"(?:before all|before each|after each)" hook\b')
"""Mocha runs no further test of a suite whose hook failed, and tells of the hook in the place of a test."""
_CLASS: Final = frozenset(("classMethod", "initializationError"))
"""What Gradle and JUnit call what prepares a class, in the place of a test."""
PHPUNIT: Final = "PHPUnit\\Framework\\"


@dataclass(slots=True)
class Case:
    """A test case that is being read."""

    name: str
    owner: str
    depth: int
    status: Status = "passed"
    flaky: bool = False
    said: str = ""


@dataclass(slots=True)
class Suite:
    """A suite that is open. `runner` is set where one writes a test again each time that it runs it, and never two tests of one name."""

    depth: int
    name: str
    runner: str = ""
    seen: dict[str, Status] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)

    def again(self, test: str, status: Status) -> bool:
        """Whether this result, with those before it, shows a test that failed and then passed on the same code.

        `go test` under gotestsum or with `-count` writes both results.
        """
        before = self.seen.get(test)
        self.seen[test] = status
        if before is None:
            return False
        measured = {before, status} - {"skipped"}
        if measured == {"passed"}:
            self.repeated.add(test)
        return self.runner == "go" and "passed" in measured and len(measured) > 1

    def retried(self) -> set[str]:
        """Tests that pytest-rerunfailures ran again until they passed: it writes a run that failed as one that passed.

        Where every test is there twice, somebody ran all of them twice (`--dist=each`), and that says nothing.
        """
        if self.runner != "pytest" or (len(self.seen) > 1 and len(self.repeated) == len(self.seen)):
            return set()
        return self.repeated


def unrun(case: Case, suite: Suite) -> bool:
    """Whether a case says that tests were not run: it could not be collected or built, or what prepares it failed."""
    if WORST[case.status] <= WORST["passed"]:
        return False
    return _stands_for_many(case, suite) or (case.status == "errored" and _uncollected(case))


def _uncollected(case: Case) -> bool:
    """Whether an error says that something could not be collected or built."""
    said_so = _UNCOLLECTED.search(case.said) or _UNCOLLECTED.search(case.name)
    return bool(said_so) or case.owner.startswith("unittest.loader._FailedTest")


def _stands_for_many(case: Case, suite: Suite) -> bool:
    """Whether a case that failed is no test, but stands for the tests of a file, a class or a package that were not run."""
    name, owner = case.name.strip(), case.owner.strip()
    if _UNCOLLECTED.search(owner) or _HOOK.match(owner):
        return True
    if _SCRIPT.search(name) and (owner == name or owner in NAMELESS):
        return True
    if owner and (not name or name in _CLASS or (name == owner == suite.name and "." in name)):  # Gradle and Surefire: it failed.
        return True
    if name == "TestMain" and suite.runner == "go":
        return True
    return not owner and name == "Error" and case.said.startswith(PHPUNIT)
