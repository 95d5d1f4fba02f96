"""The report of a run, derived from its results file alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

from bench.serve.load import percentile

WARM: Final = 10_000
"""Questions after which a service has loaded and filled what it keeps; what it holds before that says nothing."""

FLAT: Final = 100.0
"""Kilobytes in a thousand questions by which the service's memory may rise in the second half of a run and count as flat: 1 MB in ten
thousand, which is within what the reading itself varies by."""


def lines(made: dict[str, Any]) -> list[str]:
    """What was measured, as a table and in words."""
    machine, chunks = made["machine"], made["chunks"]
    told = [
        f"The service under {made['clients']} clients, {made['entries']:,} memories; {machine['cpu']}, {machine['cores']} cores, "
        f"load {machine['load']}, Python {machine['python']}",
        "",
        "| what | requests | a second (median chunk) | best | p50 | p95 | p99 | failed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in ("search", "decide"):
        mine = [one for one in chunks if one["kind"] == kind]
        if not mine:
            continue
        told.append(_row(kind if kind == "search" else "decide, then settle: decide", mine, "taken"))
        if kind == "decide":
            told.append(_row("decide, then settle: settle", mine, "settled"))
    return [*told, "", *(_memory(made) if "long" not in made else _long(made["long"]))]


KEPT: Final = ("questions", "resident", "files", "run", "failed", "load")


def memory_of(made: dict[str, Any]) -> dict[str, Any]:
    """What a run says of the service's memory, without its times: for a run on a machine that had other work."""
    return {
        **{name: made[name] for name in ("clients", "entries", "machine", "runs", "whole", "pending")},
        "chunks": [{name: one[name] for name in KEPT} for one in made["chunks"]],
    }


def _long(made: dict[str, Any]) -> list[str]:
    """A run that was made for its memory alone."""
    chunks = made["chunks"]
    loads = [one["load"][0] for one in chunks]
    return [
        f"Memory, in a run of {sum(one['questions'] for one in chunks):,} questions of its own (load {min(loads):.0f} to {max(loads):.0f}: "
        f"the machine had other work, so that its times say nothing); {sum(one['failed'] for one in chunks)} failed:",
        *_memory(made),
    ]


def _row(name: str, chunks: Sequence[dict[str, Any]], which: str) -> str:
    rates = sorted(one["requests"] / one["seconds"] for one in chunks)
    histograms = [one[which] for one in chunks]
    times = " | ".join(f"{1_000 * percentile(histograms, share):.1f} ms" for share in (0.5, 0.95, 0.99))
    count = sum(sum(one.values()) for one in histograms)
    failed = sum(one["failed"] for one in chunks)
    return f"| {name} | {count:,} | {rates[len(rates) // 2]:,.0f} | {rates[-1]:,.0f} | {times} | {failed} |"


def _memory(made: dict[str, Any]) -> list[str]:
    """How the memory of the service went, by process: one that was started anew begins again."""
    told = []
    for run in range(1, made["runs"] + 1):
        mine = [one for one in made["chunks"] if one["run"] == run]
        curve = list(zip(accumulate(one["questions"] for one in mine), (one["resident"] for one in mine), strict=True))
        files = [one["files"] for one in mine]
        if not mine or curve[-1][0] < 2 * WARM or not all(held for _, held in curve):
            told.append(f"run {run}: {curve[-1][0] if mine else 0:,} questions, too few to say whether memory stays flat")
            continue
        half = [place for place in curve if place[0] >= max(WARM, curve[-1][0] / 2)]
        rise = slope(half)
        told.append(
            f"run {run}: memory {'flat' if rise <= FLAT else 'GROWS'}: {rise:+.0f} kB in a thousand questions over its second half, "
            f"{max(held for _, held in curve) / 1024:.0f} MB at most; open files {files[0]} to {files[-1]}"
        )
        told.append(f"  MB after so many questions: {', '.join(f'{held / 1024:.0f} ({asked:,})' for asked, held in _marks(curve))}")
    if "whole" in made:
        told.append(f"the store is {'whole' if made['whole'] else 'DAMAGED'}, {made['pending']} tickets open")
    return told


def _marks(curve: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first place of a curve, and ten more as far apart as can be."""
    return [curve[0], *(curve[round(step * (len(curve) - 1) / 10)] for step in range(1, 11))]


def slope(curve: Sequence[tuple[int, int]]) -> float:
    """How many kilobytes a thousand questions add, by least squares: one outlier at either end moves it little."""
    asked, held = (sum(place[axis] for place in curve) / len(curve) for axis in (0, 1))
    spread = sum((place[0] - asked) ** 2 for place in curve)
    return 1_000 * sum((place[0] - asked) * (place[1] - held) for place in curve) / spread if spread else 0.0
