"""The report of a run, derived from its results file alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bench.serve.load import percentile

FLAT: Final = 0.10
"""Growth of the service's memory after its first tenth that still counts as flat."""


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
    return [*told, "", *_memory(made)]


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
        held = [one["resident"] for one in made["chunks"] if one["run"] == run]
        files = [one["files"] for one in made["chunks"] if one["run"] == run]
        if len(held) < 10 or not all(held):
            told.append(f"run {run}: {len(held)} chunks, too few to say whether memory stays flat")
            continue
        first, last = max(held[: len(held) // 10 + 1]), max(held[-(len(held) // 10 + 1) :])
        word = "flat" if last <= first * (1 + FLAT) else "GROWS"
        told.append(
            f"run {run}: memory {word}: {first / 1024:.0f} MB in the first tenth, {last / 1024:.0f} MB in the last, "
            f"{max(held) / 1024:.0f} MB at most; open files {files[0]} to {files[-1]}"
        )
    if "whole" in made:
        told.append(f"the store is {'whole' if made['whole'] else 'DAMAGED'}, {made['pending']} tickets open")
    return told
