"""What each real runner wrote of one change, read to what that change did; and of runs that went wrong, that nothing is guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from earnest.errors import NothingMeasured
from earnest.meters import JUnitMeter, read_report, read_reports
from earnest.meters.junit import read_run
from earnest.meters.testruns import compare

DATA: Final = Path(__file__).resolve().parents[1] / "data" / "junit"
WRITTEN: Final[dict[str, tuple[set[str], set[str], set[str], int]]] = {
    # runner: mended, broken, tests that the runner itself ran until they passed, tests that both sides measured
    "ctest": ({"(empty)::Shop.IsMended"}, {"(empty)::Shop.Breaks"}, set(), 13),
    "gotestsum": (
        {"example.org/shop/shop::TestIsMended"},
        {"example.org/shop/shop::TestBreaks", "example.org/shop/panics::TestPanics"},
        {"example.org/shop/shop::TestFlickers"},
        10,
    ),
    "gtest": ({"Shop::IsMended"}, {"Shop::Breaks"}, set(), 11),
    "jest": ({"shop::shop is mended", "shop::shop same name"}, {"shop::shop breaks"}, set(), 11),
    "nextest": (
        {"shop::tests::is_mended", "shop::tests::fails", "shop::tests::other::same_name"},
        {"shop::tests::breaks", "shop::more::passes"},
        {"shop::tests::flickers"},
        12,
    ),
    "node": (
        {"shop::is mended", "shop::same name"},
        {"shop::breaks", "shop/inner::adds up", "with a database::needs it", "cancelled"},
        set(),
        10,
    ),
    "phpunit": ({"ShopTest::testIsMended"}, {"ShopTest::testBreaks"}, set(), 7),
    "pytest_rerunfailures": (
        {"test_shop::test_is_mended"},
        {"test_shop::test_breaks"},
        {"test_shop::test_passes_the_second_time"},
        8,
    ),
    "rspec": ({"spec.shop_spec::shop is mended", "spec.shop_spec::shop same name"}, {"spec.shop_spec::shop breaks"}, set(), 9),
    "vitest": ({"shop.test.mjs::shop > is mended", "shop.test.mjs::shop > same name"}, {"shop.test.mjs::shop > breaks"}, set(), 12),
}


@pytest.mark.parametrize("runner", WRITTEN)
def test_what_a_runner_wrote_of_one_change_is_what_the_change_did(runner: str) -> None:
    improved, regressed, disputed, shared = WRITTEN[runner]
    made = JUnitMeter().measure(DATA / runner / "base.xml", DATA / runner / "head.xml")
    assert (set(made.comparison.improved), set(made.comparison.regressed)) == (improved, regressed)
    assert set(made.comparison.disputed) == disputed
    assert made.comparison.shared == shared
    assert made.delta == len(improved) - len(regressed)


@pytest.mark.parametrize("runner", WRITTEN)
def test_the_same_run_of_a_runner_on_both_sides_changed_nothing(runner: str) -> None:
    for side in ("base.xml", "head.xml"):
        made = JUnitMeter().measure(DATA / runner / side, DATA / runner / side)
        assert (made.delta, made.comparison.added, made.comparison.removed) == (0, (), ())


@pytest.mark.parametrize("runner", ["surefire_junit4", "surefire_junit5", "gradle", "mocha"])
def test_a_class_or_suite_whose_preparation_failed_is_no_evidence(runner: str) -> None:
    sides = [DATA / runner / name if (DATA / runner / name).is_dir() else DATA / runner / f"{name}.xml" for name in ("base", "head")]
    with pytest.raises(NothingMeasured, match=r"DatabaseTest|needs it|after each"):
        JUnitMeter().measure(*sides)
    made = compare(*(read_run(side) for side in sides))
    assert len(made.regressed) == 1 and "reaks" in made.regressed[0], "what it did not prepare is not held against the change"
    assert JUnitMeter().measure(sides[0], sides[0]).delta == 0


def test_what_surefire_ran_again_until_it_passed_is_disputed() -> None:
    run = read_run(DATA / "surefire_junit4" / "base")
    assert run.disputed == {"shop.ShopTest::passesTheSecondTime"}
    assert {"shop.WordsTest::isShort[0: one]", "shop.WordsTest::isShort[2: 中]"} <= run.passed
    assert "shop.ShopTest::timesOut" in run.errors


def test_what_nextest_ended_or_ran_again_in_vain_is_broken_and_no_flake() -> None:
    made = JUnitMeter().measure(DATA / "nextest" / "head.xml", DATA / "nextest" / "aborts.xml").comparison
    assert (made.improved, made.regressed) == ((), ("shop::tests::aborts", "shop::tests::hangs"))
    assert made.disputed == ("shop::tests::flickers",)
    with pytest.raises(NothingMeasured, match="measured no test"):
        JUnitMeter().measure(DATA / "nextest" / "base.xml", DATA / "nextest" / "empty.xml")


def test_gradle_and_surefire_name_the_tests_of_one_suite_alike() -> None:
    gradle, surefire = (read_run(DATA / name / "base") for name in ("gradle", "surefire_junit4"))
    assert {test for test in surefire.known if "CrashTest" not in test} == gradle.known
    assert gradle.failed | {"shop.ShopTest::passesTheSecondTime"} == surefire.failed | surefire.disputed


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("jest/unloadable.xml", "t/jestcrash/b.test.js"),
        ("vitest/unloadable.xml", "b.test.mjs"),
        ("vitest/empty.xml", "e.test.mjs"),
        ("node/unloadable.xml", "broken.test.mjs"),
        ("gotestsum/init_panics.xml", "TestMain"),
        ("phpunit/no_data.xml", "testHasNoData"),
    ],
)
def test_a_file_or_package_that_could_not_be_run_is_broken_and_never_a_test(name: str, broken: str) -> None:
    report = read_report(DATA / name)
    assert any(broken in each for each in report.broken)
    assert not any(broken in test for test in report.results)
    with pytest.raises(NothingMeasured, match=r"could not collect or build"):
        JUnitMeter().measure(DATA / name, DATA / name)


@pytest.mark.parametrize("name", ["jest/empty.xml", "mocha/empty.xml", "gotestsum/empty.xml", "gtest/empty.xml", "rspec/unloadable.xml"])
def test_a_suite_without_a_test_measured_nothing(name: str) -> None:
    assert read_report(DATA / name).total == 0
    with pytest.raises(NothingMeasured, match="measured no test"):
        JUnitMeter().measure(DATA / name, DATA / name)


def test_a_run_that_died_on_the_way_is_not_taken_for_a_change() -> None:
    with pytest.raises(NothingMeasured, match="cut short"):
        JUnitMeter().measure(DATA / "surefire_junit4" / "base", DATA / "surefire_junit4" / "crash")
    # gotestsum leaves out a package that was not built: nothing of it is counted, whichever side it is missing from.
    made = JUnitMeter().measure(DATA / "gotestsum" / "base.xml", DATA / "gotestsum" / "unbuilt.xml")
    assert (made.comparison.improved, made.comparison.regressed) == (
        ("example.org/shop/shop::TestIsMended",),
        ("example.org/shop/panics::TestPanics", "example.org/shop/shop::TestBreaks"),
    )
    assert read_report(DATA / "pytest_rerunfailures" / "worker_died.xml").results["test_die::test_dies"].status == "errored"


def test_a_test_that_asserted_nothing_was_not_measured() -> None:
    assert read_report(DATA / "phpunit" / "base.xml").results["ShopTest::testIsRisky"].status == "skipped"
    assert [each.status for name, each in read_report(DATA / "phpunit" / "no_data.xml").results.items() if "Warning" in name] == ["skipped"]


def test_a_suite_that_was_run_twice_on_purpose_is_not_flaky(tmp_path: Path) -> None:
    cases = '<testcase classname="t" name="a"/><testcase classname="t" name="b"/>'
    for text, disputed in ((cases * 2, set()), (cases + '<testcase classname="t" name="b"/>', {"t::b"})):
        (tmp_path / "r.xml").write_text(f'<testsuites><testsuite name="pytest">{text}</testsuite></testsuites>')
        [report] = read_reports(tmp_path / "r.xml")
        assert {test for test, result in report.results.items() if result.flaky} == disputed


def test_two_tests_of_one_name_are_told_from_one_that_was_run_again(tmp_path: Path) -> None:
    both = '<testcase classname="p" name="TestA"><failure/></testcase><testcase classname="p" name="TestA"/>'
    go = '<properties><property name="go.version" value="go1.25"/></properties>'
    for properties, disputed, failed in (("", set(), {"p::TestA"}), (go, {"p::TestA"}, set())):
        (tmp_path / "r.xml").write_text(f'<testsuites><testsuite name="p">{properties}{both}</testsuite></testsuites>')
        run = read_run(tmp_path / "r.xml")
        assert (set(run.disputed), set(run.failed)) == (disputed, failed)
