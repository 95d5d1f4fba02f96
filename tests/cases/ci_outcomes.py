"""Operations on test reports, and what cases expect of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from earnest import Memory
from earnest.ci import Request, settle_ci
from earnest.errors import NothingMeasured
from earnest.meters import Report, read_report

from .model import Op, Reply, Unknown
from .run import Run

DATA = Path(__file__).with_name("data")
QUESTION = "How should clamp treat its upper bound?"


def _read(run: Run, op: Op, reply: Reply) -> None:
    """Reading a report is the same whoever asks: there is no command that only reads one."""
    run.facts.setdefault("reports", []).append(read_report(DATA / op["path"]))
    reply.value = None


def _settle(run: Run, op: Op, reply: Reply) -> None:
    """One ticket, to be settled by two reports; what became of it is kept for the expectations."""
    agent = run.agent(op)
    if not run.facts.get("ci_tickets"):
        run.surface.call(agent, "add", text="Use an inclusive upper bound in clamp.", cue=QUESTION, kind="procedural")
    ticket = str(run.surface.call(agent, "decide", query=QUESTION)["id"])
    run.facts.setdefault("ci_tickets", []).append((agent, ticket))
    base, head = DATA / op["before"], DATA / op["after"]
    if run.surface.name == "cli":
        words = ["settle-ci", "--base-xml", str(base), "--head-xml", str(head), "--tickets", ticket, "--json"]
        reply.code, out, err = run.surface.raw(words)  # type: ignore[attr-defined]
        reply.said = out + err
        said = json.loads(out)
        if said["landed"] or not said["reason"]:
            raise Unknown(f"settled or without a reason: {said}")
        return
    with Memory.open(run.surface.folder, agent, channel="settle-ci") as memory:
        try:
            made = settle_ci(memory, run.surface.folder / "state.ci.json", Request([base], [head], [ticket]))
        except NothingMeasured as error:
            reply.said, reply.code = str(error), 3
        else:
            reply.said, reply.code = made.reason, 0


def _settled(run: Run, value: Any) -> list[str]:
    if value != "no ticket settled from an unreadable report":
        raise Unknown(f"I do not know {value!r}")
    made = []
    for agent, ticket in run.facts["ci_tickets"]:
        still_open = [each["id"] for each in run.surface.call(agent, "pending")]
        if ticket not in still_open:
            made.append(f"ticket {ticket} is not open any more")
    return made


def _or_for_esc(run: Run, value: Any) -> list[str]:
    if value != "2 tests, 1 failed":
        raise Unknown(f"I do not know {value!r}")
    report = read_report(DATA / "files/junit/esc_in_failure.xml")
    return [] if (report.total, report.failed) == (2, 1) else [f"{report.total} tests, {report.failed} failed"]


def _count(name: str) -> Callable[[Run, Any], list[str]]:
    def judge(run: Run, value: Any) -> list[str]:
        reports: list[Report] = run.facts["reports"]
        found: Any = [_measure(report)[name] for report in reports]
        wanted = value if isinstance(value, list) else [value]
        return [] if found == wanted else [f"wanted {wanted}, got {found}"]

    return judge


def _measure(report: Report) -> dict[str, int]:
    kinds = Counter(result.status for result in report.results.values())
    return {
        "total": report.total, "failed": report.failed, "passed": kinds["passed"], "distinct_tests": len(report.results),
        "not_passed": len(report.results) - kinds["passed"],
    }  # fmt: skip


def reports_as_in(run: Run, expected: dict[str, Any]) -> list[str]:
    """Every report of the table, read and compared."""
    made = []
    for name, wanted in expected.items():
        wrong = _report_is(DATA / "files/junit" / name, wanted)
        if wrong:
            made.append(f"{name}: {wrong}")
    return made


def _report_is(path: Path, wanted: dict[str, Any]) -> str | None:
    try:
        report = read_report(path)
    except NothingMeasured as error:
        if path.name not in str(error):
            return f"the error does not name the file: {error}"
        return None if {"error", "must_not", "or_error"} & wanted.keys() else f"refused: {error}"
    if {"error", "must_not"} & wanted.keys():
        return f"read as {report.total} tests"
    counted = {name: getattr(report, name) for name in ("total", "passed", "failed", "errored", "skipped")} | {
        name: value for name, value in _measure(report).items() if name in ("distinct_tests", "not_passed")
    }
    for name, value in wanted.items():
        if name in ("note", "or_error"):
            continue
        if name == "name_contains":
            if not any(value in test for test in report.results):
                return f"no test is called {value!r}: {[*report.results]}"
        elif name not in counted:
            raise Unknown(f"I do not know {name!r} of a report")
        elif counted[name] != value:
            return f"{name} is {counted[name]}, not {value}"
    return None


OPERATIONS = {"read_report": _read, "settle_from_report": _settle}

EXPECTATIONS = {
    "settled": _settled,
    "or_for_esc": _or_for_esc,
    **{name: _count(name) for name in ("distinct_tests", "passed", "not_passed", "failed", "total")},
}
