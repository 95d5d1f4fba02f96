"""Commands whose standard streams are closed, full, cut off or empty: no fault, and no store or file takes a stream's place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from earnest import Memory

if os.name == "posix":

    def shell(folder: Path, redirected: str, *words: str) -> subprocess.CompletedProcess[str]:
        """A command with its streams redirected by a shell, in a folder with a store."""
        command = ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-m", "earnest", *words, "--store", "m.db"]
        # What Python keeps back is written at exit, where a fault is told otherwise; some environments let it keep back nothing.
        env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | {"EARNEST_EMBEDDER": "none"}
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)

    @pytest.fixture
    def folder(tmp_path: Path) -> Path:
        with Memory.open(tmp_path / "m.db", embedder="none") as memory:
            memory.add("The lamps are lit at six.")
        return tmp_path

    @pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
    def test_closed_streams_are_no_fault_and_nothing_is_written_in_their_place(closed: str, folder: Path) -> None:
        for words in (
            ["list"],
            ["list", "--json"],
            ["show", "nope"],
            ["remember", f"said with {closed}"],
            ["export", f"{len(closed)}.jsonl"],
        ):
            ran = shell(folder, closed, *words)
            assert ran.returncode == (1 if words == ["show", "nope"] else 0), (words, ran.stderr)
            assert "fault" not in ran.stderr
        export = (folder / f"{len(closed)}.jsonl").read_text()
        assert export.startswith('{"earnest":') and export.rstrip().endswith("}}")
        with Memory.open(folder / "m.db", read_only=True) as memory:
            assert memory.check().ok and f"said with {closed}" in {entry.text for entry in memory.list()}

    @pytest.mark.parametrize(
        ("words", "status"),
        [(["encode", "-"], 1), (["prefetch", "-"], 0), (["sync-turn", "--user", "-"], 0), (["mcp"], 0)],
        ids=lambda value: str(value[0]) if isinstance(value, list) else str(value),
    )
    def test_a_closed_input_reads_as_an_empty_one(words: list[str], status: int, folder: Path) -> None:
        closed, empty = shell(folder, "<&-", *words), shell(folder, "</dev/null", *words)
        assert (closed.returncode, closed.stdout) == (empty.returncode, empty.stdout) and closed.returncode == status, closed.stderr

    if Path("/dev/full").exists():

        @pytest.mark.parametrize("words", [["list"], ["export", "-"], ["--help"], ["list", "--help"], ["--version"]], ids=" ".join)
        def test_an_output_that_is_full_is_one_line_and_an_exit_status(words: list[str], folder: Path) -> None:
            ran = shell(folder, ">/dev/full", *words)
            assert ran.returncode == 1 and len(ran.stderr.splitlines()) == 1 and "could not be written" in ran.stderr
