"""JUnit XML as it is found: of real runners, of hostile hands, and broken in every way; and the laws of comparing two runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest.errors import InvalidInput, NothingMeasured
from earnest.meters import JUnitMeter, Run, read_report, read_reports
from earnest.meters import junit as junit_module
from earnest.meters.testruns import Result, Status, compare, together

DATA: Final = Path(__file__).resolve().parents[1] / "data" / "junit"
CASES: Final = Path(__file__).resolve().parents[1] / "cases" / "data" / "files" / "junit"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "report.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def one(name: str, classname: str = "c", suite: str = "s") -> str:
    return f'<testsuite name="{suite}"><testcase classname="{classname}" name="{name}"/></testsuite>'


@pytest.mark.parametrize(
    ("name", "counts", "known"),
    [
        (
            "node20.xml",
            (5, 2, 1, 0, 2),
            {"top passes": "passed", "top fails": "failed", "group::skipped": "skipped", "group::todo": "skipped"},
        ),
        ("ctest.xml", (5, 1, 1, 0, 3), {"(empty)::good": "passed", "(empty)::bad": "failed", "(empty)::missing": "skipped"}),
        (
            "unittest_class.xml",
            (6, 1, 2, 1, 2),
            {"test_u.A::test_ok": "passed", "test_u.A::test_sub": "failed", "test_u.A::test_known": "skipped"},
        ),
        ("unittest_unloadable.xml", (1, 0, 0, 1, 0), {}),
    ],
)
def test_what_real_runners_wrote_is_read(name: str, counts: tuple[int, ...], known: dict[str, str]) -> None:
    report = read_report(DATA / name)
    assert (report.total, report.passed, report.failed, report.errored, report.skipped) == counts
    assert {test: report.results[test].status for test in known} == known
    assert bool(report.broken) == (name == "unittest_unloadable.xml")


def test_what_pytest_writes_here_is_read(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n\nclass TestA:\n    def test_a(self):\n        assert 1\n\n\n"
        "@pytest.mark.parametrize('x', ['a b', '中文', object()])\ndef test_p(x):\n    assert x != 'a b'\n"
    )
    (tmp_path / "test_not.py").write_text("import nothing_like_it\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--junitxml=r.xml"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    report = read_report(tmp_path / "r.xml")
    assert report.broken == ("test_not",)
    assert {name.partition("[")[0] for name in report.results} == {"test_it.TestA::test_a", "test_it::test_p"}
    assert report.failed == 1 and report.started is not None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (one("test_x[&lt;object at 0x7f409d3aa640&gt;]"), one("test_x[&lt;object at 0x7f11111aaaaa&gt;]")),
        (one("a", "", "m.TestX-20261130112245"), one("a", "", "m.TestX-20261201090000")),
        (one("a", "m.A", "m.A-20261130112245"), one("a", "m.A", "another suite")),
    ],
)
def test_a_test_has_the_same_name_in_every_run(tmp_path: Path, first: str, second: str) -> None:
    assert [*read_report(written(tmp_path, first)).results] == [*read_report(written(tmp_path, second)).results]


def test_tests_whose_classes_say_nothing_are_told_apart_by_their_suites(tmp_path: Path) -> None:
    text = f"<testsuites>{one('a', 'test', 'one')}{one('a', 'test', 'two')}</testsuites>"
    assert [*read_report(written(tmp_path, text)).results] == ["one::a", "two::a"]
    long = [one("x" * 5000 + end) for end in "ab"]
    names = [*read_report(written(tmp_path, f"<testsuites>{''.join(long)}</testsuites>")).results]
    assert len(names) == 2 and all(len(name) <= junit_module.MAX_ID for name in names)


def test_a_part_that_failed_is_the_test_that_failed(tmp_path: Path) -> None:
    base = read_report(written(tmp_path, one("test_sub", "t.A"))).results
    text = '<testsuite><testcase classname="t.A" name="test_sub (i=1)"><failure/></testcase></testsuite>'
    head = read_report(written(tmp_path, text)).results
    assert compare(together([base]), together([head])).regressed == ("t.A::test_sub",)


HOSTILE: Final[Mapping[str, str | bytes]] = {
    "entity": '<!DOCTYPE t [<!ENTITY x "y">]><testsuite><testcase name="&x;"/></testsuite>',
    "file": '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/hostname">]><testsuite><testcase name="a"><failure>&x;</failure></testcase>'
    "</testsuite>",
    "outer dtd": '<!DOCTYPE testsuite SYSTEM "http://127.0.0.1:9/x.dtd"><testsuite><testcase name="a"/></testsuite>',
    "parameter": '<!DOCTYPE t [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x">%p;]><testsuite/>',
    "deep": "<testsuite>" * 5000,
    "undeclared": '<testsuite><testcase name="&nbsp;"/></testsuite>',
    "encoding": b'<?xml version="1.0" encoding="no-such"?><testsuite/>',
    "bytes": b'<testsuite><testcase name="\xff\xfe"/></testsuite>',
    "two roots": "<testsuite/><testsuite/>",
    "other": "<project/>",
    "json": "{}",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    "nothing": b"",
    "wide": "<testsuite/>".encode("utf-16-le"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_or_broken_report_is_refused_by_name(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, HOSTILE[name])
    with pytest.raises(NothingMeasured, match=r"report\.xml"):
        read_report(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NothingMeasured, match="cannot be read"):
        read_report(tmp_path / "not-there.xml")
    for nothing in ([], None, 7, [7]):
        with pytest.raises(InvalidInput, match="reports"):
            read_reports(nothing)


def test_a_report_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, f"<testsuites>{''.join(one(f't{i}') for i in range(50))}</testsuites>")
    monkeypatch.setattr(junit_module, "MAX_CASES", 49)
    with pytest.raises(NothingMeasured, match="more than 49 test cases"):
        read_report(path)
    monkeypatch.setattr(junit_module, "MAX_BYTES", 100)
    with pytest.raises(NothingMeasured, match="bytes large"):
        read_report(path)


def test_a_large_report_is_read_whole(tmp_path: Path) -> None:
    cases = "".join(f'<testcase name="t{i}" classname="c"/>' for i in range(60_000))
    bad = "".join(f'<testcase name="f{i}" classname="c"><failure message="m">{"x" * 5000}</failure></testcase>' for i in range(7))
    report = read_report(written(tmp_path, f"<testsuites><testsuite>{cases}{bad}</testsuite></testsuites>"))
    assert (report.total, report.failed) == (60_007, 7)


SEEDS: Final = [path.read_bytes() for path in (*sorted(CASES.glob("*.xml")), *sorted(DATA.glob("*.xml")))]


@given(st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 5000), st.binary(max_size=6), st.integers(0, 40)), max_size=6))
def test_whatever_a_report_holds_it_is_read_or_refused_in_one_way(
    tmp_path_factory: pytest.TempPathFactory, seed: bytes, edits: list[tuple[int, bytes, int]]
) -> None:
    text = seed
    for place, put, cut in edits:
        at = place % (len(text) + 1)
        text = text[:at] + put + text[at + cut :]
    path = tmp_path_factory.getbasetemp() / "fuzzed.xml"
    path.write_bytes(text)
    try:
        report = read_report(path)
    except NothingMeasured:
        return
    assert report.total == report.passed + report.failed + report.errored + report.skipped
    assert len(report.results) <= report.total


STATUSES: Final[tuple[Status, ...]] = ("passed", "failed", "errored", "skipped")
STATUS: Final[st.SearchStrategy[Status]] = st.sampled_from(STATUSES)
RUN: Final = st.dictionaries(st.sampled_from("abcdefgh"), STATUS.map(lambda status: Result(status)), max_size=8)
RUNS: Final = st.lists(RUN, min_size=1, max_size=3)


def sides(base: list[dict[str, Result]], head: list[dict[str, Result]]) -> tuple[Run, Run]:
    return together(base), together(head)


@given(RUNS, RUNS)
def test_a_change_and_its_reversal_cancel(base: list[dict[str, Result]], head: list[dict[str, Result]]) -> None:
    before, after = sides(base, head)
    assert compare(before, after).delta == -compare(after, before).delta
    assert compare(before, before).delta == 0


@given(RUNS, RUNS, st.dictionaries(st.sampled_from("xyz"), STATUS.map(lambda status: Result(status))))
def test_new_tests_and_deleted_failing_ones_move_nothing(
    base: list[dict[str, Result]], head: list[dict[str, Result]], new: dict[str, Result]
) -> None:
    before, after = sides(base, head)
    made = compare(before, after)
    assert compare(before, together([{**run, **new} for run in head])).delta == made.delta
    without = [{test: result for test, result in run.items() if test not in before.failed} for run in head]
    assert compare(before, together(without)).delta <= made.delta + len(set(made.regressed) & before.failed)
    assert not set(compare(before, together(without)).improved)


@given(RUNS)
def test_runs_put_together_in_any_order_are_one_run(runs: list[dict[str, Result]]) -> None:
    assert together(runs) == together([{**run} for run in reversed(runs)]) or any(result.said for run in runs for result in run.values())
    made = together(runs)
    assert not made.passed & made.failed and not made.disputed & (made.passed | made.failed) and not made.skipped & made.measured


def test_the_meter_says_why_it_measured_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, one("a"))
    other = tmp_path / "other.xml"
    other.write_text(one("b"))
    with pytest.raises(NothingMeasured, match="share no test"):
        JUnitMeter().measure(path, other)
