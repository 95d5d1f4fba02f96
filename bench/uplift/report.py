"""From the lives to the printed lines: everything that is printed is worked out here, from what the file holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from bench.uplift.trials import MILESTONES

REACH_COVERAGE: Final = 0.94
REACH_FOUND: Final = 0.80
WITHIN: Final = 2_000
TARGET: Final = "+5 points at 0.9, half withheld"


def coverage_rows(cells: dict[str, list[list[int]]]) -> list[dict[str, Any]]:
    """For each world: the share of lives in which the interval held, by when one stopped looking."""
    made = []
    for world, lives in cells.items():
        spoke = [life for life in lives if life[1]]
        made.append({
            "world": world,
            "lives": len(lives),
            "always": _share(lives, lambda life: not life[0]),
            "first verdict": _share(lives, lambda life: not (life[1] and life[3])),
            **{str(n): _share(lives, lambda life, i=i: not life[4 + i]) for i, n in enumerate(MILESTONES)},
            "helps": sum(life[2] > 0 for life in spoke) / len(lives),
            "harms": sum(life[2] < 0 for life in spoke) / len(lives),
            "textbook": _share(lives, lambda life: not life[-1]),
        })  # fmt: skip
    return made


def _share(lives: Sequence[list[int]], holds: Any) -> float:
    return sum(bool(holds(life)) for life in lives) / len(lives)


def power_rows(cells: dict[str, list[int]]) -> list[dict[str, Any]]:
    """For each world: how many decisions half, four in five and nine in ten of the lives needed; not a number if they did not get there."""
    made = []
    for world, found in cells.items():
        needed = [float(at) if at else math.inf for at in found]
        row: dict[str, Any] = {"world": world, "lives": len(found)}
        row["within"] = sum(at <= WITHIN for at in needed) / len(needed)
        row |= {f"{share:.0%}": _needed(needed, share) for share in (0.5, 0.8, 0.9)}
        made.append(row)
    return made


def _needed(needed: list[float], share: float) -> float:
    """The smallest number within which that share was found. No interpolation: what lies beyond the bound is not known."""
    return sorted(needed)[math.ceil(share * len(needed)) - 1]


def lines(results: dict[str, Any]) -> list[str]:
    """The tables, and each target with what was reached."""
    made = ["Share of lives in which the interval held the truth (nominal 0.95), by when one stopped looking", ""]
    head = ["world", "lives", "ever", "at the verdict", *(f"at {n:,}" for n in MILESTONES), "said helps", "said harms", "textbook, ever"]
    covered = coverage_rows(results["coverage"])
    made += _table(
        head,
        [
            [
                r["world"], f"{r['lives']}", f"{r['always']:.3f}", f"{r['first verdict']:.3f}", *(f"{r[str(n)]:.3f}" for n in MILESTONES),
                f"{r['helps']:.3f}", f"{r['harms']:.3f}", f"{r['textbook']:.3f}",
            ]
            for r in covered
        ],
    )  # fmt: skip
    made += ["", f"Decisions until memory is said to help (looking every {results['config']['every']})", ""]
    power = power_rows(results["power"])
    made += _table(
        ["world", "lives", f"within {WITHIN:,}", "half", "four in five", "nine in ten"],
        [[r["world"], f"{r['lives']}", f"{r['within']:.3f}", _n(r["50%"]), _n(r["80%"]), _n(r["90%"])] for r in power],
    )
    least = min(covered, key=lambda r: float(r["always"]))
    target = next((r for r in power if r["world"] == TARGET), None)
    made += ["", _verdict("95 % intervals cover at every look", least["always"], REACH_COVERAGE, f"least: {least['world']}")]
    if target is not None:
        made.append(_verdict(f"{TARGET}: found within {WITHIN:,}", target["within"], REACH_FOUND, f"{target['lives']} lives"))
    return made


def _verdict(what: str, value: float, reach: float, more: str) -> str:
    return f"{'reached    ' if value >= reach else 'NOT REACHED'} {what}: {value:.3f}, reach {reach:.2f} ({more})"


def _n(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else "beyond"


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return [
        "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in [head, *rows]
    ]
