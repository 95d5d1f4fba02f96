"""The report's parts beside the matrix: revocation, the free rider, and what the bench of uplift found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.selection import trials
from bench.selection.statistics import mean
from bench.uplift import __main__ as uplift_bench
from bench.uplift.report import REACH_COVERAGE, REACH_FOUND, TARGET, WITHIN, coverage_rows, power_rows

UPLIFT: Final = Path(__file__).resolve().parents[1] / "results" / "uplift.json"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as the page has it."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def revocation(rows: trials.Rows) -> str:
    """What a revoked meter gives back."""
    made = []
    for world, by_seed in rows.get("revoked", {}).items():
        seeds = list(by_seed.values())
        condemned, returned, wrong = (sum(row[name] for row in seeds) for name in ("condemned", "returned", "wrong"))
        before, after, fresh, share, grudge = (
            mean([row[n] for row in seeds]) for n in ("benign_before", "benign", "fresh", "share", "grudge")
        )
        made.append((
            world, f"{condemned:.0f}", f"{returned:.0f}", f"{wrong:.0f}", f"{before:.2f} → {after:.2f}", f"{share:+.3f}", f"{fresh:+.3f}",
            f"{grudge:+.3f}",
        ))  # fmt: skip
    head = (
        "meter revoked after", "condemned by it", "may decide again", "standings left wrong", "benign before → after",
        "share in the 10 honest cycles after", "of a new store there", "of this one if nobody revokes",
    )  # fmt: skip
    return table(head, made)


def riders(rows: trials.Rows) -> str:
    """What an entry holds that was recalled beside sixty gains and decided none."""
    made = []
    for rule, by_seed in rows.get("ride", {}).items():
        seeds = list(by_seed.values())
        rider, decider, stake, alive = (mean([row[name] for row in seeds]) for name in ("rider", "decider", "stake", "alive"))
        verdict = "reached" if max(row["rider"] - row["stake"] for row in seeds) < 0 else "**not reached**"
        made.append((rule, f"{stake:.2f}", f"{rider:.2f}", f"{alive:.0%}", f"{decider:.2f}", verdict if rule == "evidence" else ""))
    return table(("rule", "stake", "rider after 60 wins", "still alive", "decider", "below its stake"), made)


def uplift(results: dict[str, Any]) -> str:
    """The figures of the targets on uplift, from the lives that `python -m bench.uplift` keeps."""
    covered, power = coverage_rows(results["coverage"]), power_rows(results["power"])
    least = min(covered, key=lambda row: float(row["always"]))
    worst = f"in the worst of {len(covered)} worlds ({least['world']})"
    aim = next(row for row in power if row["world"] == TARGET)
    said = [
        table(
            ("figure", "to reach", "found", ""),
            [
                (
                    f"95 % intervals cover at every look, {worst}", f"{REACH_COVERAGE:.2f}",
                    f"{least['always']:.3f}", _verdict(float(least["always"]), REACH_COVERAGE),
                ),
                (
                    f"{TARGET}: found within {WITHIN:,} decisions", f"{REACH_FOUND:.2f}", f"{aim['within']:.3f}",
                    _verdict(float(aim["within"]), REACH_FOUND),
                ),
            ],
        ),
        table(
            ("effect and share withheld", "found within 2,000", "half of the lives need", "four in five", "nine in ten"),
            [(row["world"], f"{row['within']:.2f}", *(_needed(row[share]) for share in ("50%", "80%", "90%"))) for row in power],
        ),
    ]  # fmt: skip
    return "\n\n".join(said)


def _verdict(value: float, reach: float) -> str:
    return "reached" if value >= reach else "**not reached**"


def _needed(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else "beyond"


def blocks() -> dict[str, str]:
    """Every generated part of the page that these files give."""
    rows = trials.read()
    return {"revocation": revocation(rows), "riders": riders(rows), "uplift": uplift(uplift_bench.load(UPLIFT))}
