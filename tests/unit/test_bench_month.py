"""The month's own arithmetic: its script, what changes do to the code, and that the printed figures are those of the results file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.month import __main__ as bench
from bench.month.arms import LESSONS, Life, Step, topic_of
from bench.month.project import PAGING, POOL, TOPICS, Change, State, after, script
from bench.month.report import judged, lines, row

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results" / "month.json"


def test_the_month_is_the_same_for_a_seed_and_has_what_it_says() -> None:
    month = script(200, 7)
    assert month == script(200, 7) != script(200, 8)
    assert sum(change.topic == PAGING for change in month) == 8
    assert sum(change.topic == POOL for change in month) == 4
    assert {change.fault for change in month} == {"", "empty", "cut", "collection"}
    assert {change.topic for change in month} == {"", PAGING, POOL, *TOPICS}


def test_whose_advice_is_followed_decides_what_a_change_does() -> None:
    topic = TOPICS[0]
    useful = Change(1, topic, State(frozenset([topic])), "")
    assert after(useful, topic) == State() and after(useful, "") == useful.before
    assert after(Change(1, PAGING, State(), ""), PAGING).wrong == {PAGING} and not after(Change(1, PAGING, State(), ""), "").wrong
    assert after(Change(1, POOL, State(), ""), "").wrong == {POOL} and not after(Change(1, POOL, State(), ""), POOL).wrong


def test_a_lesson_is_known_by_its_text() -> None:
    assert {topic_of(f"{lesson} [retro]") for lesson in LESSONS.values()} == set(LESSONS)
    assert topic_of("something else") == ""


def test_the_figures_of_an_arm_are_those_of_its_steps() -> None:
    life = Life("earnest", alive=dict.fromkeys(LESSONS, "active") | {PAGING: "suspended"}, size=9)
    life.steps = [
        Step(0, PAGING, PAGING, -1, None, True), Step(1, PAGING, PAGING, -1, -1, False), Step(2, TOPICS[0], TOPICS[0], 1, 0, False),
        Step(3, POOL, POOL, 0, 0, False),
    ]  # fmt: skip
    made = row(life)
    assert (made["truth"], made["poison_followed"], made["poison_followed_until_measured"], made["abstained"]) == (-1, 2, 2, 1)
    assert (made["useful_followed"], made["wrong_deltas"], made["useful_active"]) == (1, 1, len(TOPICS))
    assert all(held for _, held in judged(made))
    assert not all(held for _, held in judged({**made, "poison_followed": 3}))


def test_a_short_month_runs_from_end_to_end(tmp_path: Path) -> None:
    out = tmp_path / "month.json"
    command = [sys.executable, "-m", "bench.month", "--changes", "6", "--without-darwin", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    assert [*lines(result)] == done.stdout.splitlines()
    assert len(result["arms"]) == 2 and result["runs"] >= 12


def test_the_committed_month_came_to_what_it_has_to() -> None:
    result: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert result["config"] == {"changes": 200, "days": bench.DAYS, "seed": 7}
    guide = result["arms"][0]
    assert guide["arm"] == "earnest, a tick every 168 h"
    assert [what for what, held in judged(guide) if not held] == []
