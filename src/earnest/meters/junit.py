"""JUnit XML as every common runner writes it, read as what it is: a file from a build that may hold anything.

There is no standard; what the runners of pytest, unittest, Jest, Vitest, Node, Surefire, Gradle, go-junit-report, GoogleTest, CTest and
cargo-nextest write is read: test cases at any depth, in any namespace, counted one by one, whatever the totals say. Declarations of
document types and entities are refused, so that no report can read a file or grow while it is read.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from xml.parsers import expat

from earnest.core import check
from earnest.core.outcome import Outcome
from earnest.errors import InvalidInput, NothingMeasured
from earnest.meters.quirks import NAMELESS, PHPUNIT, Case, Suite, unrun
from earnest.meters.testruns import WORST, Comparison, Result, Run, Status, compare, together, unmeasured

MAX_BYTES: Final = 256 * 1024 * 1024
"""A report of more bytes is refused: a million test cases take a fifth of that."""
MAX_FILES: Final = 20_000
MAX_DEPTH: Final = 100
MAX_CASES: Final = 2_000_000
MAX_ID: Final = 300
MAX_SAID: Final = 300
_CHUNK: Final = 1 << 20

_ROOTS: Final = ("testsuites", "testsuite")
_FAILED: Final = frozenset(("failure", "error"))
_RERUN: Final = frozenset(("flakyFailure", "flakyError"))
_NOT_RUN: Final = frozenset(("notrun", "disabled", "skipped", "suppressed", "ignored"))
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{6,}")
_PART: Final = re.compile(r"^(test\w*) (?:\(.*=.*\)|\[.*\])$", re.DOTALL)
"""A part of a test of unittest (`subTest`) has a name of its own only where it failed; both ways it is the test that failed or passed."""
_STAMP: Final = re.compile(r"-\d{14}$")
# What XML 1.0 does not allow and terminals put into messages; no byte of a longer UTF-8 sequence is among them.
_CONTROLS: Final = bytes.maketrans(bytes(b for b in range(32) if b not in (9, 10, 13)), b"?" * 29)


@dataclass(frozen=True, slots=True)
class Report:
    """One report as it was read.

    results: tests by their id, of several results of one test the worst. total, passed, failed, errored, skipped: test cases as elements
    of the file. broken: what could not be collected or built. started: when the run began, if the report says so with a time zone.
    """

    path: str
    results: Mapping[str, Result]
    total: int
    passed: int
    failed: int
    errored: int
    skipped: int
    broken: tuple[str, ...] = ()
    started: datetime | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """What two sides came to, with what was left out of the comparison as `quarantined`."""

    comparison: Comparison
    base: Run
    head: Run
    quarantined: tuple[str, ...] = ()

    @property
    def delta(self) -> int:
        """Tests mended less tests broken."""
        return self.comparison.delta

    def outcome(self) -> Outcome:
        """The measurement as the outcome of a decision."""
        made = self.comparison
        said = f"{len(made.improved)} mended, {len(made.regressed)} broken of {made.shared} tests measured on both sides"
        return Outcome(float(self.delta), said)


class JUnitMeter:
    """Measures a change of code by the JUnit XML of a run before it and a run after it.

    name: what its word is recorded under. quarantined: tests whose transitions are left out. rerun: for second looks: given the id of a
    ticket, runs the tests again and returns the reports before and after, or None where that is not possible any more; then the meter is
    a `SecondMeter` for `Memory.look_again`, and its name has to differ from the name of the meter that settled.
    """

    def __init__(
        self,
        name: str = "ci",
        *,
        quarantined: Iterable[str] = (),
        rerun: Callable[[str], tuple[Any, Any] | None] | None = None,
        allow_removed: bool = False,
    ) -> None:
        self.name = check.label("name", name, limit=100)
        self.quarantined: AbstractSet[str] = frozenset(quarantined)
        self._rerun = rerun
        self._allow_removed = check.flag("allow_removed", allow_removed)

    def measure(self, base: Any, head: Any) -> Measurement:
        """Compare runs of two states of the code.

        Args:
            base, head: A report, a folder of reports that are one run in parts, or a list of those: runs of the same code.

        Raises:
            NothingMeasured: A report that cannot be read or holds no test, a run that was cut short, or two runs that share no test.

        O(bytes of the reports); nothing is written.
        """
        before, after = read_run(base), read_run(head)
        why = unmeasured(before, after, allow_removed=self._allow_removed)
        if why is not None:
            raise NothingMeasured(f"{why}; nothing was settled")
        made = compare(before, after)
        left_out = tuple(sorted(self.quarantined & {*made.improved, *made.regressed}))
        return Measurement(made.without(self.quarantined), before, after, left_out)

    def remeasure(self, ticket: str) -> Outcome | None:
        """A second look at what a ticket changed, by running the tests again; None where they cannot be run again.

        Raises:
            InvalidInput, NothingMeasured: No `rerun` was given to this meter; or it measured nothing.
        """
        if self._rerun is None:
            raise InvalidInput("rerun", None, "this meter was not told how to run the tests again: give it rerun=")
        runs = self._rerun(ticket)
        return None if runs is None else self.measure(*runs).outcome()


def read_run(given: Any) -> Run:
    """Reports of one state of the code as a run; see `JUnitMeter.measure`. Raises NothingMeasured, InvalidInput."""
    reports = read_reports(given)
    return together([report.results for report in reports], [name for report in reports for name in report.broken])


def read_reports(given: Any) -> list[Report]:
    """Read a report, a folder of reports (one run in parts, put together as one), or a list of those.

    Raises:
        NothingMeasured: One of them cannot be read, or there is none. InvalidInput: No paths at all.
    """
    places: Sequence[Any] = [given] if isinstance(given, str | Path) else check.items("reports", given)
    if not places:
        raise InvalidInput("reports", given, "names no report")
    made = []
    for place in places:
        if not isinstance(place, str | Path):
            raise InvalidInput("reports", place, "must be the path of a report or of a folder of reports")
        path = Path(place)
        made.append(_one_run(path) if path.is_dir() else read_report(path))
    return made


def _one_run(folder: Path) -> Report:
    files = sorted(path for path in folder.rglob("*.xml") if path.is_file())
    if not files:
        raise NothingMeasured(f"{folder}: there is no report (*.xml) in this folder")
    if len(files) > MAX_FILES:
        raise NothingMeasured(f"{folder}: holds {len(files):,} XML files, at most {MAX_FILES:,} are read")
    parts = [read_report(path) for path in files]
    results: dict[str, Result] = {}
    for part in parts:
        for test, result in part.results.items():
            _keep(results, test, result)
    starts = [part.started for part in parts if part.started is not None]
    return Report(
        str(folder),
        results,
        total=sum(part.total for part in parts),
        passed=sum(part.passed for part in parts),
        failed=sum(part.failed for part in parts),
        errored=sum(part.errored for part in parts),
        skipped=sum(part.skipped for part in parts),
        broken=tuple(name for part in parts for name in part.broken),
        started=min(starts, default=None),
    )


def read_report(path: str | Path) -> Report:
    """Read one report.

    Raises:
        NothingMeasured: It is not there, is too large, is no JUnit XML, is cut off, or declares a document type or entities. The message
            names the file and the place.

    Cost: one pass; O(test cases) of memory. Nothing outside of the file is read.
    """
    where = Path(path)
    reading = _Reading(str(path))
    try:
        with where.open("rb") as file:
            size = where.stat().st_size
            if size > MAX_BYTES:
                raise NothingMeasured(f"{path}: is {size:,} bytes large, at most {MAX_BYTES:,} are read")
            wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
            file.seek(0)
            while chunk := file.read(_CHUNK):
                reading.feed(chunk if wide else chunk.translate(_CONTROLS))
    except OSError as error:
        raise NothingMeasured(f"{path}: cannot be read: {error.strerror or error}") from None
    return reading.end()


def _keep(results: dict[str, Result], test: str, result: Result) -> None:
    before = results.get(test)
    if before is None:
        results[test] = result
    elif WORST[result.status] > WORST[before.status]:
        results[test] = Result(result.status, result.flaky or before.flaky, result.said)
    elif result.flaky and not before.flaky:
        results[test] = Result(before.status, True, before.said)


@dataclass(slots=True)
class _Reading:
    """One pass over one file."""

    path: str
    depth: int = 0
    root: str = ""
    suites: list[Suite] = field(default_factory=list)
    case: Case | None = None
    results: dict[str, Result] = field(default_factory=dict)
    counts: Counter[Status] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    starts: list[datetime] = field(default_factory=list)
    parser: Any = None

    def __post_init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._doctype
        self.parser.ExternalEntityRefHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.buffer_text = True

    def feed(self, chunk: bytes) -> None:
        try:
            self.parser.Parse(chunk, False)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise self._unreadable(error) from None

    def end(self) -> Report:
        try:
            self.parser.Parse(b"", True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise self._unreadable(error) from None
        finally:
            self.parser = None
        counts = self.counts
        return Report(
            self.path, self.results, sum(counts.values()), counts["passed"], counts["failed"], counts["errored"], counts["skipped"],
            tuple(self.broken), min(self.starts, default=None),
        )  # fmt: skip

    def _unreadable(self, error: Exception) -> NothingMeasured:
        return NothingMeasured(f"{self.path}: is no whole XML report: {error}; a run that left no readable report measured nothing")

    def _doctype(self, *_: Any) -> int:
        raise NothingMeasured(f"{self.path}: declares a document type or entities, which no test runner does; it is not read")

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition(":")[2]
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NothingMeasured(f"{self.path}: is nested deeper than {MAX_DEPTH} levels")
        if self.depth == 1:
            self.root = name
            if name not in _ROOTS:
                raise NothingMeasured(f"{self.path}: is no test report: it begins with <{name[:40]}>, not <testsuites> or <testsuite>")
        if self.case is not None:
            self._inside(name, attributes)
        elif name == "testcase":
            self._begin(attributes)
        elif name in _ROOTS:
            said = attributes.get("name", "") if name == "testsuite" else ""
            self.suites.append(Suite(self.depth, said, "pytest" if said == "pytest" else ""))
            self._note_start(attributes.get("timestamp", ""))
        elif name == "property" and self.suites and attributes.get("name") == "go.version":
            self.suites[-1].runner = "go"

    def _begin(self, attributes: Mapping[str, str]) -> None:
        case = Case(attributes.get("name", ""), attributes.get("classname", attributes.get("class", "")), self.depth)
        if {attributes.get("status", "").lower(), attributes.get("result", "").lower()} & _NOT_RUN:
            case.status = "skipped"
        self.case = case

    def _inside(self, name: str, attributes: Mapping[str, str]) -> None:
        case = self.case
        if case is None or self.depth != case.depth + 1:
            return
        if name in _FAILED:
            status: Status = "failed" if name == "failure" else "errored"
            if WORST[status] > WORST[case.status]:
                case.status = status
                case.said = attributes.get("message", attributes.get("type", ""))[:MAX_SAID]
            if case.said == f"{PHPUNIT}RiskyTestError":  # It passed, and asserted nothing.
                case.status = "skipped"
        elif name in ("skipped", "warning") and case.status == "passed":
            case.status = "skipped"
        elif name in _RERUN:
            case.flaky = True

    def _end(self, tag: str) -> None:
        case = self.case
        if case is not None and self.depth == case.depth:
            self._finish(case)
            self.case = None
        elif self.suites and self.suites[-1].depth == self.depth:
            for test in self.suites.pop().retried():
                _keep(self.results, test, Result("passed", True))
        self.depth -= 1

    def _finish(self, case: Case) -> None:
        self.counts[case.status] += 1
        if self.counts.total() > MAX_CASES:
            raise NothingMeasured(f"{self.path}: holds more than {MAX_CASES:,} test cases")
        test = self._id(case)
        suite = self.suites[-1] if self.suites else Suite(0, "")
        if unrun(case, suite):
            self.broken.append(test)
            return
        flaky = case.flaky or (bool(suite.runner) and suite.again(test, case.status))
        _keep(self.results, test, Result(case.status, flaky, case.said))

    def _id(self, case: Case) -> str:
        """What a test is called in every run: its class and name; its suites where the class says nothing."""
        name, owner = _PART.sub(r"\1", case.name.strip()), case.owner.strip()
        if owner in NAMELESS or owner == name:
            owner = "/".join(kept for suite in self.suites if (kept := _STAMP.sub("", suite.name.strip())) not in NAMELESS)
        made = _ADDRESS.sub("0x…", f"{owner}::{name}" if owner else name)
        if len(made) > MAX_ID:
            made = made[: MAX_ID - 17] + "~" + hashlib.sha256(made.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        return made

    def _note_start(self, said: str) -> None:
        try:
            made = datetime.fromisoformat(said)
        except ValueError:
            return
        # A time without a zone is the clock of whoever ran the tests, wherever that was.
        if made.tzinfo is not None:
            self.starts.append(made.astimezone(UTC))
