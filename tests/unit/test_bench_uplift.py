"""The uplift bench's own arithmetic: its worlds have the effect that they say, and its report says what the lives say."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from bench.uplift import __main__ as bench
from bench.uplift.report import TARGET, coverage_rows, lines, power_rows
from bench.uplift.trials import MILESTONES, coverage, found
from bench.uplift.worlds import COVERAGE, LIFE, POWER, successes
from tests.docs.pages import ROOT, read

RESULTS = ROOT / "bench" / "results" / "uplift.json"


@pytest.mark.parametrize("name", [*COVERAGE, *POWER])
def test_a_world_has_the_effect_that_it_says(name: str) -> None:
    world = (COVERAGE | POWER)[name]
    gone = told = squares = 0.0
    count = 0
    for seed in range(3):
        rng = random.Random(f"{name} {seed}")
        for _, decision in zip(range(LIFE), world(rng), strict=False):
            change = decision.shown - decision.withheld
            gone, told, squares, count = gone + change, told + decision.effect, squares + change * change, count + 1
            assert 0 < decision.exposure < 1 and -1 <= decision.shown <= 1 and -1 <= decision.withheld <= 1
    # Four standard errors.
    assert abs(gone - told) / count < 4 * math.sqrt(squares / count / count) + 1e-9


def test_a_life_is_the_same_for_the_same_seed_and_tells_what_happened() -> None:
    life = coverage(successes(0.2, 0.6, 0.5), "seed")
    assert life == coverage(successes(0.2, 0.6, 0.5), "seed") != coverage(successes(0.2, 0.6, 0.5), "another")
    missed, said, sign, missed_then, *rest = life
    assert len(rest) == len(MILESTONES) + 1 and 0 < said < 200 and sign == 1 and missed_then == 0 == missed


def test_a_search_looks_every_so_often_and_gives_up() -> None:
    assert found(successes(0.2, 0.6, 0.5), "seed", 2_000, 10) % 10 == 0 < found(successes(0.2, 0.6, 0.5), "seed", 2_000, 10)
    assert found(successes(0.5, 0.0, 0.5), "seed", 50, 10) == 0


def test_the_report_counts_lives() -> None:
    lives = [[0, 50, 1, 0, 0, 0, 0, 0], [7, 60, -1, 1, 1, 0, 0, 7], [0, 0, 0, 0, 0, 0, 0, 99], [300, 0, 0, 0, 0, 1, 0, 40]]
    [row] = coverage_rows({"w": lives})
    assert (row["always"], row["first verdict"], row["100"], row["500"], row["2000"]) == (0.5, 0.75, 0.75, 0.75, 1.0)
    assert (row["helps"], row["harms"], row["textbook"]) == (0.25, 0.25, 0.25)


def test_what_was_not_found_is_beyond_and_not_left_out() -> None:
    [row] = power_rows({"w": [100, 200, 0, 300, 2_010]})
    assert (row["50%"], row["80%"], row["90%"], row["within"]) == (300, 2_010, math.inf, 0.6)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "uplift.json"
    monkeypatch.setattr("bench.uplift.__main__.COVERAGE", {"one": successes(0.5, 0.3, 0.5)})
    monkeypatch.setattr("bench.uplift.__main__.POWER", {TARGET: successes(0.2, 0.6, 0.5)})
    arguments = ["--out", str(out), "--most", "400", "--searches", "3"]
    assert bench.main([*arguments, "--lives", "1"]) == 0
    first = json.loads(out.read_text(encoding="utf-8"))
    assert bench.main([*arguments, "--lives", "2"]) == 0
    second = json.loads(out.read_text(encoding="utf-8"))
    assert second["coverage"]["one"][:1] == first["coverage"]["one"] and len(second["coverage"]["one"]) == 2
    assert second["power"] == first["power"]
    capsys.readouterr()
    assert bench.main(["--report", str(out)]) == 0
    assert f"reached     {TARGET}: found within 2,000: 1.000" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="another configuration"):
        bench.main(["--out", str(out), "--most", "500"])
    out.write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"no results of bench\.uplift"):
        bench.load(out)


def results() -> dict[str, Any]:
    return bench.load(RESULTS)


def test_the_kept_results_reach_the_targets() -> None:
    kept = results()
    assert set(kept["coverage"]) == set(COVERAGE) and set(kept["power"]) == set(POWER)
    assert not [line for line in lines(kept) if line.startswith("NOT REACHED")]


@pytest.mark.parametrize("name", ["+5 points at .9, half withheld", "entries differ, 25 % withheld"])
def test_a_kept_life_can_be_lived_again(name: str) -> None:
    assert coverage(COVERAGE[name], f"uplift:{name}:7") == results()["coverage"][name][7]


def test_the_page_prints_what_the_results_say() -> None:
    page = read(ROOT / "docs" / "uplift.md")
    for row in power_rows(results()["power"]):
        base, share = row["world"].removeprefix("+5 points at ").split(", ")
        printed = f"| {float(base):.0%} → {float(base) + 0.05:.0%}, {share} | {row['50%']:,.0f} | {row['80%']:,.0f} | {row['90%']:,.0f} |"
        assert printed in page
