"""The report of a run, from its raw figures."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, Final

REACH: Final = 300.0
"""Milliseconds that the server may answer later than an empty one."""


def percentile(values: Sequence[float], part: float) -> float:
    """The value below which so large a part of the others lies."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(part * len(ranked)))]


def lines(results: dict[str, Any]) -> list[str]:
    """Tables and the verdict."""
    made = [f"{results['machine']['cpu']}, {results['machine']['cores']} cores, load {results['load']}", results["command"], ""]
    head = f"{'milliseconds from the start of the process':<44}{'min':>9}{'median':>9}"
    made.append(head)
    for arm, starts in results["starts"].items():
        for name in ("initialized", "listed", "called"):
            values = [one[name] for one in starts if one[name] is not None]
            if values:
                made.append(f"{f'{arm}: {name}':<44}{min(values):>9.0f}{median(values):>9.0f}")
    made.append("")
    for arm in ("earnest, new store", "earnest, full store"):
        differences = [
            (
                how,
                of([one["initialized"] for one in results["starts"][arm]]) - of([one["initialized"] for one in results["starts"]["empty"]]),
            )
            for how, of in (("min", min), ("median", median))
        ]
        for how, value in differences:
            verdict = "reached" if value <= REACH else "NOT REACHED"
            made.append(f"{arm}: initialize {value:+.0f} ms later than an empty server by {how}; reach {REACH:.0f} ms: {verdict}")
    made.append("The fastest starts say what a quiet machine would; medians mean little where the load is above the number of cores.")
    made += ["", f"{'milliseconds a call, warm server':<44}{'min':>9}{'p50':>9}{'p95':>9}{'n':>7}"]
    for name, values in results["calls"].items():
        if values:
            made.append(f"{name:<44}{min(values):>9.2f}{median(values):>9.2f}{percentile(values, 0.95):>9.2f}{len(values):>7}")
    return made
