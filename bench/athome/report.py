"""From the lives that a file holds to the printed table; every figure is worked out here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.athome.arms import ARMS, EVIDENCE
from bench.selection.statistics import bootstrap, mean, sign_flip


def lines(said: Mapping[str, Any]) -> list[str]:
    """The table of every world that was lived, with 95 % intervals over seeds and, beside evidence, the paired test."""
    made = [f"model {said['config']['model']}, {said['config']['cycles']} cycles a life"]
    for world, arms in said["lives"].items():
        made += ["", f"{world}: share of what is best (95 % interval), harm in scales, acted on poison, unclear replies, calls a life", ""]
        made += _table(
            ["arm", "lives", "share", "interval", "harm", "poison", "unclear", "calls", "p against evidence"],
            [_row(arm, arms) for arm in ARMS if arms.get(arm)],
        )
    return made


def _row(arm: str, arms: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[str]:
    lives = list(arms[arm].values())
    shares = [life["share"] for life in lives]
    low, high = bootstrap(shares)
    both = sorted(set(arms[arm]) & set(arms.get(EVIDENCE, {})))
    p = "" if arm == EVIDENCE or not both else f"{sign_flip([arms[EVIDENCE][s]['share'] - arms[arm][s]['share'] for s in both]):.4f}"
    numbers = [f"{mean([life[name] for life in lives]):.1f}" for name in ("harm", "poisoned", "unclear", "calls")]
    return [arm, f"{len(lives)}", f"{mean(shares):+.3f}", f"{low:+.3f} … {high:+.3f}", *numbers, p]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return ["  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True))) for r in (head, *rows)]
