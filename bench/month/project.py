"""The repository: a small package with a test suite of its own, in any state of its code, and real runs of pytest on it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

TOPICS: Final = (
    "clamp bounds", "retry delays", "cache eviction", "date parsing", "unicode width", "lock order", "float rounding", "path joining",
    "queue draining", "token refresh",
)  # fmt: skip
"""What the useful lessons are about: whoever follows one mends the test of its topic."""
PAGING: Final = "paging"
"""What the poisoned lesson is about: whoever follows it breaks a test."""
POOL: Final = "connection pool"
"""What the protective lesson is about: whoever does not follow it breaks a test."""
IDLE: Final = "release notes"
"""What the useless lesson is about: nobody asks for it."""
FLAKY: Final = 3
FLICKER: Final = 0.04
"""How often each flaky test fails."""
PLAIN: Final = 20


@dataclass(frozen=True)
class State:
    """A state of the code: the topics that are wrong in it."""

    wrong: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """What names it, as a git tree would."""
        return hashlib.sha256(json.dumps(sorted(self.wrong)).encode()).hexdigest()[:12]


class Project:
    """Writes the code of a state and runs its tests; the same run is not made twice."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def count(self) -> int:
        """How many runs there were."""
        return sum(1 for _ in (self.folder / "reports").glob("*.xml"))

    def run(self, state: State, run: str, fault: str = "") -> Path:
        """Run the tests of a state; the report. `run` seeds what the flaky tests do. `fault`: the machine breaks in this way."""
        code = self.folder / "code" / (state.name + (f"-{fault}" if fault == "collection" else ""))
        report = self.folder / "reports" / f"{run}-{state.name}-{fault or 'whole'}.xml"
        if report.exists():
            return report
        report.parent.mkdir(parents=True, exist_ok=True)
        if not code.exists():
            _write(code, state, fault == "collection")
        child = os.fork()
        if child == 0:
            _child(code, report, run)
        os.waitpid(child, 0)
        if fault == "cut":
            report.write_bytes(report.read_bytes()[:400])
        elif fault == "empty":
            report.write_text("")
        return report


def _child(code: Path, report: Path, run: str) -> None:
    """The tests by pytest itself, in a process that has it loaded already. Does not return."""
    status = 70
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.chdir(code)
        os.environ |= {"RUN": run, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        sys.path.insert(0, str(code))
        status = int(
            pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", str(code), "-c", os.devnull, f"--junitxml={report}", str(code)])
        )
    finally:
        os._exit(status)


def _write(code: Path, state: State, uncollectable: bool) -> None:
    code.mkdir(parents=True)
    for topic in (*TOPICS, PAGING, POOL):
        name = topic.replace(" ", "_")
        (code / f"{name}.py").write_text(f"def answer():\n    return {41 if topic in state.wrong else 42}\n")
        (code / f"test_{name}.py").write_text(f"from {name} import answer\n\n\ndef test_{name}_holds():\n    assert answer() == 42\n")
    plain = "\n\n".join(f"def test_plain_{i}():\n    assert {i} + 1 == {i + 1}\n" for i in range(PLAIN))
    (code / "test_plain.py").write_text(plain)
    flaky = "import os, random\n\n\n" + "\n\n".join(
        f'def test_flaky_{i}():\n    assert random.Random(os.environ["RUN"] + "{i}").random() >= {FLICKER}\n' for i in range(FLAKY)
    )
    (code / "test_flaky.py").write_text(flaky)
    if uncollectable:
        (code / "test_plain.py").write_text("import a_package_that_the_mirror_lost\n")


@dataclass(frozen=True)
class Change:
    """A pull request as it is scripted: what it is about, what is wrong on main before it, and how the machine breaks."""

    number: int
    topic: str
    before: State
    fault: str


def script(count: int, seed: int) -> list[Change]:
    """The month's pull requests."""
    chance = random.Random(seed)
    poison = {max(4, round(count * (2 * i + 1) / 16)) for i in range(8)}
    rare = {round(count * share) for share in (0.11, 0.38, 0.63, 0.93)}
    made = []
    for number in range(count):
        if number in poison:
            topic = PAGING
        elif number in rare:
            topic = POOL
        else:
            topic = chance.choice(TOPICS) if chance.random() < 0.75 else ""
        wrong = frozenset([topic]) if topic in TOPICS else frozenset()
        fault = chance.choice(["empty", "cut", "collection"]) if chance.random() < 0.05 else ""
        made.append(Change(number, topic, State(wrong), fault))
    return made


def after(change: Change, followed: str) -> State:
    """The code after a change: `followed` is whose advice was followed (a topic, or "" where memory was silent)."""
    if change.topic in TOPICS:
        return State() if followed == change.topic else change.before
    if change.topic == PAGING:
        return State(frozenset([PAGING])) if followed == PAGING else State()
    if change.topic == POOL:
        return State() if followed == POOL else State(frozenset([POOL]))
    return change.before
