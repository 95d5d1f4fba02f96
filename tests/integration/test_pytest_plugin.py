"""pytest's plugin: it records and settles where it is asked for, and is not there where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from earnest import Memory
from earnest.meters import read_report

QUESTION = "How should clamp treat its upper bound?"
TESTS = """
import pytest
from app import clamp

def test_high():
    assert clamp(9, 0, 5) == 5

@pytest.mark.parametrize("x", ["a b", "<&>", "\\x1b[31m", "\\ud800"])
def test_text(x):
    assert x

@pytest.fixture
def broken():
    yield
    raise OSError("teardown")

def test_teardown(broken):
    assert True

@pytest.mark.skip
def test_later():
    assert False

@pytest.mark.xfail
def test_known():
    assert False
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "test_app.py").write_text(TESTS)
    mend(tmp_path, "high - 1")
    return tmp_path


def mend(project: Path, high: str) -> None:
    (project / "app.py").write_text(f"def clamp(x, low, high):\n    return max(low, min(x, {high}))\n")


def run(project: Path, *words: str, plugin: bool = True) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", *(["-p", "earnest.integrations.pytest_plugin"] if plugin else []), "-p", "no:cacheprovider"]
    environment = {**os.environ, "EARNEST_EMBEDDER": "none", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([*command, *words], cwd=project, capture_output=True, text=True, timeout=120, check=False, env=environment)


def test_a_run_is_recorded_and_a_later_one_settles_by_it(project: Path) -> None:
    store = project / "lessons.db"
    with Memory.open(store, embedder="none") as memory:
        memory.add("Use an inclusive upper bound in clamp.", cue=QUESTION)
        ticket = memory.decide(QUESTION).id or ""
    assert run(project, "--earnest-record", "runs/before.xml").returncode == 1
    report = read_report(project / "runs/before.xml")
    assert (report.total, report.passed, report.failed, report.errored, report.skipped) == (8, 4, 1, 1, 2)
    mend(project, "high")
    words = [
        "--earnest-record",
        "after.xml",
        "--earnest-base",
        "runs/before.xml",
        "--earnest-settle",
        ticket,
        "--earnest-store",
        str(store),
    ]
    done = run(project, *words, "-n", "2", "-p", "xdist")
    assert "+1 tests, 1 of 1 tickets settled" in done.stdout, done.stdout + done.stderr
    with Memory.open(store) as memory:
        [settled] = memory.events(kind="settle")
        assert (settled.data["delta"], settled.channel, settled.data["tier"]) == (1, "settle-ci", "measured")


def test_a_file_that_cannot_be_collected_settles_nothing(project: Path) -> None:
    store = project / "lessons.db"
    with Memory.open(store, embedder="none") as memory:
        memory.add("Use an inclusive upper bound in clamp.", cue=QUESTION)
        ticket = memory.decide(QUESTION).id or ""
    run(project, "--earnest-record", "before.xml")
    (project / "test_bad.py").write_text("import nothing_like_it\n")
    words = ["--earnest-record", "after.xml", "--earnest-base", "before.xml", "--earnest-settle", ticket, "--earnest-store", str(store)]
    done = run(project, *words, "--continue-on-collection-errors")
    assert "nothing was settled: the head run could not collect" in done.stdout
    done = run(project, *words)
    assert "no ticket was settled" in done.stdout
    with Memory.open(store) as memory:
        assert [each.id for each in memory.pending()] == [ticket]


def test_a_run_that_dies_leaves_no_report_of_an_earlier_one(project: Path) -> None:
    (project / "test_app.py").write_text("import os\n\n\ndef test_one():\n    if os.path.exists('dies'):\n        os._exit(9)\n")
    assert run(project, "--earnest-record", "x.xml").returncode == 0
    assert run(project, "--earnest-record", "x.xml", "--collect-only").returncode == 0
    assert read_report(project / "x.xml").total == 1, "a run that runs nothing takes nothing away"
    (project / "dies").touch()
    assert run(project, "--earnest-record", "x.xml").returncode == 9
    assert not [*project.glob("x.xml*")]


@pytest.mark.parametrize("place", ["app.py/x.xml", "folder", "../" * 40 + "proc/x.xml"])
def test_a_place_that_cannot_be_written_is_wrong_usage_before_a_test_runs(project: Path, place: str) -> None:
    (project / "folder").mkdir()
    done = run(project, "--earnest-record", place)
    assert done.returncode == 4 and "cannot be written" in done.stderr and "Traceback" not in done.stderr


def test_a_run_compared_with_itself_is_wrong_usage(project: Path) -> None:
    run(project, "--earnest-record", "x.xml")
    done = run(project, "--earnest-record", "x.xml", "--earnest-base", "./x.xml", "--earnest-settle", "t")
    assert done.returncode == 4 and "compared with itself" in done.stderr
    assert read_report(project / "x.xml").total == 8, "what was recorded is still there"


def test_a_test_that_was_run_again_until_it_passed_is_recorded_as_flaky(project: Path) -> None:
    """As plugins that rerun tests report it: attempts that failed have the outcome `rerun`."""
    (project / "conftest.py").write_text(
        "import pytest\n\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_protocol(item, nextitem):\n"
        "    from _pytest.runner import runtestprotocol\n"
        "    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)\n"
        "    for attempt in range(3):\n"
        "        reports = runtestprotocol(item, nextitem=nextitem, log=False)\n"
        "        again = attempt < 2 and any(each.failed for each in reports)\n"
        "        for each in reports:\n"
        "            if again and each.failed:\n                each.outcome = 'rerun'\n"
        "            if not again or each.outcome == 'rerun':\n                item.ihook.pytest_runtest_logreport(report=each)\n"
        "        if not again:\n            return True\n"
    )
    (project / "test_app.py").write_text(
        "tries = []\n\n\ndef test_flaky():\n    tries.append(1)\n    assert len(tries) > 2\n\n\n"
        "def test_bad():\n    assert False\n\n\ndef test_good():\n    pass\n"
    )
    assert run(project, "--earnest-record", "x.xml").returncode == 1
    results = read_report(project / "x.xml").results
    assert {name.rsplit("test_", 1)[-1]: (each.status, each.flaky) for name, each in results.items()} == {
        "flaky": ("passed", True), "bad": ("failed", False), "good": ("passed", False),
    }  # fmt: skip


def test_half_an_order_to_settle_is_wrong_usage(project: Path) -> None:
    done = run(project, "--earnest-settle", "x")
    assert done.returncode == 4 and "say all three" in done.stderr


def test_other_runs_do_not_know_of_it(project: Path) -> None:
    done = run(project, "--earnest-record", "x.xml", plugin=False)
    assert done.returncode == 4 and "unrecognized arguments" in done.stderr
    (project / "test_seen.py").write_text(
        "import sys\n\n\ndef test_seen():\n    assert not [n for n in sys.modules if n.startswith('earnest')]\n"
    )
    assert run(project, "test_seen.py", plugin=False).returncode == 0
    assert run(project, "test_seen.py", plugin=True).returncode == 1


def test_the_command_is_pytest_with_the_plugin(project: Path) -> None:
    words = "import sys; from earnest.integrations.pytest_plugin import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", words, "-p", "no:cacheprovider", "-q", "-W", "error", "--earnest-record", "x.xml"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1 and "warning" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert read_report(project / "x.xml").total == 8
