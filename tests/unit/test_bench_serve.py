"""The arithmetic of the benchmark of the service: percentiles from histograms, and what the report says of them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from bench.serve.load import STEP, histogram, percentile
from bench.serve.report import lines, memory_of, slope


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
def test_a_percentile_from_histograms_is_right_within_a_step(share: float) -> None:
    rng = random.Random(7)
    times = [rng.lognormvariate(-4, 1) for _ in range(5_000)]
    parts = [histogram(times[start::5]) for start in range(5)]
    exact = sorted(times)[int(share * len(times)) - 1]
    assert exact / STEP <= percentile(parts, share) <= exact * STEP**2


def test_of_nothing_there_is_no_percentile() -> None:
    assert percentile([], 0.5) == percentile([{}], 0.99) == 0.0


def made(resident: list[int], failed: int = 0) -> dict[str, Any]:
    chunks = [
        {
            "kind": ("search", "decide")[number % 2], "requests": 100, "questions": 1_000, "seconds": 1.0 + number % 3,
            "taken": histogram([0.01] * 99 + [1.0]),
            "settled": histogram([0.02] * 100 * (number % 2)), "failed": failed, "resident": kb, "files": 20, "run": 1,
            "load": [float(number), 1.0, 1.0],
        }
        for number, kb in enumerate(resident)
    ]  # fmt: skip
    machine = {"cpu": "a machine", "cores": 2, "load": [0.1], "python": "3.11"}
    return {"clients": 8, "entries": 1_000, "runs": 1, "machine": machine, "chunks": chunks, "whole": True, "pending": 0}


def test_the_report_tells_rates_percentiles_and_failures() -> None:
    text = "\n".join(lines(made([100_000] * 20, failed=1)))
    search = next(line for line in text.splitlines() if line.startswith("| search"))
    assert "1,000 | 50 | 100 |" in search and search.endswith("| 10 |")
    assert "10.1 ms" in search.replace("10.0 ms", "10.1 ms") and "memory flat" in text and "whole, 0 tickets" in text


def test_memory_that_grows_is_said_to_grow_with_its_slope_and_few_questions_say_nothing() -> None:
    grows = "\n".join(lines(made([100_000 + 250 * number for number in range(40)])))
    assert "memory GROWS: +250 kB in a thousand questions" in grows and "98 (1,000)" in grows and "107 (40,000)" in grows
    assert "too few" in "\n".join(lines(made([100_000] * 19)))
    assert "too few" in "\n".join(lines(made([])))


def test_memory_that_rises_before_it_is_level_is_flat_and_so_is_one_that_gives_back() -> None:
    assert "memory flat: +0 kB" in "\n".join(lines(made([100_000 + 2_000 * min(number, 9) for number in range(40)])))
    assert "memory flat: -50 kB" in "\n".join(lines(made([140_000 - 50 * number for number in range(40)])))


def test_a_slope_is_that_of_the_line_and_one_outlier_moves_it_little() -> None:
    line = [(1_000 * number, 70_000 + 30 * number) for number in range(50)]
    assert slope(line) == pytest.approx(30)
    assert slope([*line[:-1], (line[-1][0], line[-1][1] + 1_000)]) == pytest.approx(30, abs=5)
    assert slope(line[:1]) == 0.0


def test_the_memory_of_a_run_on_a_busy_machine_is_told_without_its_times() -> None:
    quiet = made([100_000 + 250 * number for number in range(40)])
    quiet["long"] = memory_of(made([120_000] * 50))
    text = "\n".join(lines(quiet))
    assert "memory flat" in text and "GROWS" not in text and "50,000 questions of its own (load 0 to 49" in text
    assert text.count("| search") == 1 and not any("seconds" in one or "taken" in one for one in quiet["long"]["chunks"])
