"""`earnest-pytest`: pytest that records its outcomes, and may settle tickets by what changed since an earlier run.

It is loaded only where it is asked for: by the command `earnest-pytest`, or by `-p earnest.integrations.pytest_plugin`. Other people's
runs of pytest do not know of it.

    earnest-pytest --earnest-record before.xml
    … change the code …
    earnest-pytest --earnest-record after.xml --earnest-base before.xml --earnest-settle TICKET
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import quoteattr

from earnest.errors import EarnestError, NothingMeasured

NAME: Final = "earnest.integrations.pytest_plugin"
_BAD: Final = {code: "?" for code in range(32) if code not in (9, 10, 13)}
_WORST: Final = {"skipped": 0, "passed": 1, "error": 2, "failure": 3}


def main(argv: Sequence[str] | None = None) -> int:
    """Run pytest with this plugin. Returns its exit status; 2 if pytest is not installed."""
    try:
        import pytest
    except ImportError:
        sys.stderr.write("earnest-pytest: pytest is not installed here; pip install pytest\n")
        return 2
    # pytest imports its plugins itself, and warns of one that was there before: where warnings are errors, that would end the run.
    sys.modules.pop(NAME, None)
    return int(pytest.main(["-p", NAME, *(sys.argv[1:] if argv is None else argv)]))


def pytest_addoption(parser: Any) -> None:
    """The plugin's options."""
    group = parser.getgroup("earnest", "lessons settled by the tests")
    group.addoption("--earnest-record", metavar="FILE", help="write what every test came to, as JUnit XML")
    group.addoption(
        "--earnest-base", metavar="FILE", action="append", help="what an earlier run recorded, before the change; repeat for several"
    )
    group.addoption(
        "--earnest-settle", metavar="IDS", help="tickets to settle by what changed since --earnest-base, with commas between them"
    )
    group.addoption("--earnest-store", metavar="PATH", help="the store of these tickets (EARNEST_STORE, else .earnest/memory.db)")


def pytest_configure(config: Any) -> None:
    """Begin to record, in the process that hears of every test: not in the workers of xdist."""
    record, base, settle = (config.getoption(name) for name in ("earnest_record", "earnest_base", "earnest_settle"))
    if hasattr(config, "workerinput") or not (record or base or settle):
        return
    if bool(base) != bool(settle) or (settle and not record):
        from pytest import UsageError

        raise UsageError("to settle, say all three: --earnest-record FILE --earnest-base FILE --earnest-settle TICKET")
    if config.getoption("collectonly", False):
        return
    target = Path(record)
    _free(target, base or ())
    config.pluginmanager.register(Recorder(config, target), "earnest-recorder")


def _free(target: Path, base: Sequence[str]) -> None:
    """Takes away what an earlier run recorded there, so that a run that dies leaves none behind that could be taken for its own."""
    from pytest import UsageError

    if target.resolve() in [Path(each).resolve() for each in base]:
        raise UsageError(
            f"{target}: is what --earnest-base names, too: a run that is compared with itself changed nothing; name another file"
        )
    try:
        _put(target, "")
        target.unlink()
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror or error}; name another file for --earnest-record") from None


class Recorder:
    """Hears what every test came to, writes it, and settles by it where that was asked for."""

    def __init__(self, config: Any, target: Path) -> None:
        self.config, self.target = config, target
        self.said: dict[tuple[str, str], tuple[str, str]] = {}
        self.reran: set[tuple[str, str]] = set()
        """Tests that another plugin ran again after they failed."""
        self.broken: list[str] = []
        self.lines: list[str] = []

    def pytest_collectreport(self, report: Any) -> None:
        """A file that could not be collected: its tests were not measured."""
        if report.failed:
            self.broken.append(str(report.nodeid))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """One phase of one test; the worst of them stands."""
        file, _, name = str(report.nodeid).partition("::")
        if report.skipped:
            came_to = "skipped"
        elif report.failed:
            came_to = "failure" if report.when == "call" else "error"
        elif report.outcome == "rerun":
            self.reran.add((file, name))
            return
        elif report.when == "call":
            came_to = "passed"
        else:
            return
        crash = getattr(getattr(report.longrepr, "reprcrash", None), "message", "")
        before = self.said.get((file, name))
        if before is None or _WORST[came_to] > _WORST[before[0]]:
            self.said[file, name] = (came_to, str(crash)[:300])

    def pytest_sessionfinish(self, session: Any, exitstatus: int) -> None:
        """Write the record; settle by it."""
        tickets = self.config.getoption("earnest_settle")
        try:
            _put(self.target, self.xml())
        except OSError as error:
            self.lines.append(f"{self.target}: cannot be written: {error.strerror or error}; nothing was recorded or settled")
            return
        if tickets and int(exitstatus) in (0, 1):
            self._settle(tickets)
        elif tickets:
            self.lines.append("the run was interrupted or collected nothing: no ticket was settled")

    def xml(self) -> str:
        """The record as JUnit XML."""
        cases = []
        for (file, name), (came_to, message) in self.said.items():
            again = "<flakyFailure/>" if came_to == "passed" and (file, name) in self.reran else ""
            inner = {"passed": again, "skipped": "<skipped/>"}.get(came_to, f"<{came_to} message={_attribute(message)}/>")
            cases.append(f"<testcase classname={_attribute(file)} name={_attribute(name)}>{inner}</testcase>")
        for nodeid in self.broken:
            cases.append(f'<testcase classname="" name={_attribute(nodeid)}><error message="collection failure"/></testcase>')
        body = "\n".join(cases)
        return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites><testsuite name="pytest">\n{body}\n</testsuite></testsuites>\n'

    def _settle(self, tickets: str) -> None:
        from earnest.ci import Request, settle_ci
        from earnest.ci.tickets import listed
        from earnest.memory import Memory
        from earnest.places import usual_store

        store = self.config.getoption("earnest_store") or os.environ.get("EARNEST_STORE") or str(usual_store(Path.cwd()))
        try:
            if not Path(store).is_file():
                raise NothingMeasured(f"{store}: there is no store, so no ticket of it can be settled")
            with Memory.open(store, channel="settle-ci", actor="pytest") as memory:
                request = Request(self.config.getoption("earnest_base"), [self.target], listed(tickets))
                made = settle_ci(memory, Path(store + ".ci.json"), request)
        except EarnestError as error:
            self.lines.append(f"nothing was settled: {error}")
            return
        self.lines.append(f"{made.delta:+g} tests, {made.landed} of {len(made.tickets)} tickets settled: {made.reason}")
        self.lines += [f"{entry} was suspended" for entry in made.suspended]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was settled."""
        if self.lines:
            terminalreporter.section("earnest")
            for line in self.lines:
                terminalreporter.write_line(line)


def _attribute(text: str) -> str:
    """A text as an attribute of XML, whatever is in it."""
    return quoteattr(text.translate(_BAD).encode("utf-8", "replace").decode("utf-8"))


def _put(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(target.name + ".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(target)
