"""The figures of the README are those of the committed results, to the digits that it shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.docs.pages import ROOT, blocks, rows, section

README: Final = ROOT / "README.md"
RESULTS: Final = ROOT / "bench" / "results"
BENCHMARK: Final = ROOT / "docs" / "benchmark.md"

MEASURED: Final = "What was measured"
# What the README calls a world, and what the benchmark does.
WORLDS: Final = {
    "tells the truth": "honest",
    "reports a fifth of the gains as harm": "false-bad 20%",
    "turns round a third of the signs (35 %)": "flip 35%",
    "turns round every second sign": "flip 50%",
    "is a test suite, a fifth of it flaky, with a control run a cycle": "suite 20%, controls",
    "the same, without controls": "suite 20%",
    "is noisy about everything, in a few topics": "few noisy topics",
    "the same, where most of what memory holds does harm": "few noisy topics, most harmful",
}
# Half of the last digit shown, and half of the last one that the page rounded to.
NEAR: Final = 0.0055


def _number(cell: str) -> float:
    return float(re.sub(r"[*+↑↓]", "", cell).replace("−", "-"))


def _told(part: str) -> str:
    """What the README says of one thing that was measured, on one line."""
    return " ".join(re.split(r"\*\*\w+\.\*\*|\n\nEach figure", section(README, MEASURED).split(f"**{part}.**")[1])[0].split())


def _shown() -> dict[str, list[str]]:
    return {cells[0]: cells[1:] for cells in rows(section(README, MEASURED))}


def _arms(world: str) -> list[float]:
    [found] = [cells[1:] for cells in rows(section(BENCHMARK, "Every arm that learns from outcomes")) if cells[0] == world]
    return [_number(cell) for cell in found]


def test_the_program_of_the_readme_may_be_run_again(tmp_path: Path) -> None:
    [program] = [block.text for block in blocks(README) if block.language == "python"]
    (tmp_path / "readme.py").write_text(program, encoding="utf-8")
    environment = os.environ | {"EARNEST_EMBEDDER": "none"}
    first, again = (
        subprocess.run(
            [sys.executable, "readme.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
        )
        for _ in range(2)
    )
    assert first.returncode == 0 and "suspended" in first.stdout and first.stdout.endswith("False\n"), first
    assert again.returncode == 1 and again.stderr.startswith("Memory is silent") and again.stdout == "", again


def test_every_world_of_the_readme_is_one_of_the_benchmark() -> None:
    assert list(_shown()) == list(WORLDS)


@pytest.mark.parametrize("told", WORLDS)
def test_what_selection_earns_is_what_was_measured(told: str) -> None:
    evidence, classic, *others = _arms(WORLDS[told])
    assert len(others) == 9, "the best of ten others, the classic rule among them"
    shown = [_number(cell) for cell in _shown()[told]]
    assert shown == pytest.approx([evidence, classic, max(classic, *others)], abs=NEAR)
    bold = [cell.startswith("**") for cell in _shown()[told]]
    assert bold == [value == max(shown) for value in shown], "who is best is bold, whoever that is"


def test_a_second_instrument_does_what_the_readme_says() -> None:
    assert "the four rows before them rise to 0.98" in _told("Selection")
    table = section(BENCHMARK, "What a second instrument buys")
    looked = {cells[0]: cells[2].split(" / ")[0] for cells in rows(table) if len(cells) > 3}
    for world in list(WORLDS.values())[1:5]:
        assert _number(looked[world]) == pytest.approx(0.98, abs=NEAR)


def _recall(arm: str) -> tuple[float, float]:
    """R@10, and the share of questions of which a session is among ten, over all questions."""
    found: list[list[Any]] = json.loads((RESULTS / "recall.json").read_text(encoding="utf-8"))["rows"][arm]
    return sum(row[3] for row in found) / len(found), sum(bool(row[6]) for row in found) / len(found)


def test_what_recall_finds_is_what_was_measured() -> None:
    told = [float(number) for number in re.findall(r"([\d.]+) (?:%|and)", _told("Recall"))]
    words, by_meaning = _recall("Earnest, no embedder (default)"), _recall("Earnest, local (default)")
    full_text = _recall("SQLite FTS5, Porter")
    measured = [words[0], by_meaning[0], full_text[0], words[1], by_meaning[1]]
    assert told == [round(100 * value) for value in measured]


def test_how_fast_it_is_is_what_was_measured() -> None:
    size = json.loads((RESULTS / "speed.json").read_text(encoding="utf-8"))["sizes"]["100000"]
    hybrid = size["hybrid"]
    search = hybrid["operations"]["search, hybrid"]
    first = "start + open + first answer"
    told = _told("Speed")
    for words in (
        f"takes {search['p50']:.0f} ms (median; {search['p95']:.0f} at the 95th percentile)",
        f"a durable settlement {size['operations']['settle']['p50']:.1f} ms",
        f"after {size['first_answer'][first]['p50'] / 1000:.2f} s by words, {hybrid['first_answer'][first]['p50'] / 1000:.2f} s by meaning",
        f"holds {hybrid['resident']['in_use']:.0f} MB, and each entry {hybrid['disk']['earnest'] / 1000:.1f} kB",
    ):
        assert words in told
