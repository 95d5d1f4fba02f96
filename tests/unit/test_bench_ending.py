"""A benchmark whose report nobody reads to its end ends quietly; any other broken pipe is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.ending import BROKEN_PIPE

ROOT = Path(__file__).resolve().parents[2]
TALKS = """
from bench.ending import ended
def main():
    for number in range(100_000):
        print("line", number)
    return 0
ended(main)
"""
BREAKS_ITS_OWN = """
import os
from bench.ending import ended
def main():
    read, write = os.pipe()
    os.close(read)
    os.write(write, b"to nobody")
    return 0
ended(main)
"""
posix = sys.platform != "win32"


def begun(script: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_every_benchmark_ends_in_the_one_way() -> None:
    found = sorted(ROOT.glob("bench/*/__main__.py"))
    assert len(found) >= 13
    for path in found:
        assert path.read_text(encoding="utf-8").rstrip().endswith('if __name__ == "__main__":\n    ended(main)'), path


if posix:

    @pytest.mark.parametrize("read", [0, 1])
    def test_who_stops_reading_is_not_told_of_a_fault(read: int) -> None:
        with begun(TALKS) as process:
            assert process.stdout is not None and process.stderr is not None
            assert [process.stdout.readline() for _ in range(read)] == ["line 0\n"][:read]
            process.stdout.close()
            assert process.stderr.read() == ""
        assert process.returncode == BROKEN_PIPE

    def test_a_pipe_of_its_own_that_breaks_is_a_fault() -> None:
        with begun(BREAKS_ITS_OWN) as process:
            _, told = process.communicate()
        assert process.returncode == 1
        assert "BrokenPipeError" in told


def test_a_report_that_is_read_to_its_end_ends_with_the_status_of_the_benchmark() -> None:
    with begun("from bench.ending import ended\nended(lambda: print('all of it') or 3)") as process:
        said, told = process.communicate()
    assert (process.returncode, said, told) == (3, "all of it\n", "")
