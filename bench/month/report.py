"""The month as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bench.month.arms import Life
from bench.month.project import IDLE, PAGING, POOL, TOPICS

BUDGET: Final = 30_000
"""Bytes that the text of a store of lessons may have after a month."""


def row(life: Life) -> dict[str, Any]:
    """An arm's figures."""
    return {
        "arm": life.name,
        "truth": life.truth,
        "poison_followed": life.harms,
        "poison_followed_until_measured": life.first_measured,
        "poison": life.alive[PAGING],
        "protective": life.alive[POOL],
        "unasked": life.alive[IDLE],
        "protective_followed": sum(step.followed == POOL for step in life.steps),
        "useful_active": sum(life.alive[topic] == "active" for topic in TOPICS),
        "useful_followed": sum(step.followed in TOPICS and step.followed == step.topic for step in life.steps),
        "useful_asked": sum(step.topic in TOPICS for step in life.steps),
        "abstained": sum(step.abstained for step in life.steps),
        "wrong_deltas": sum(step.settled is not None and step.settled != step.truth for step in life.steps),
        "bytes": life.size,
    }


def lines(result: Mapping[str, Any]) -> Iterator[str]:
    """The report, for people."""
    config = result["config"]
    yield f"{config['changes']} pull requests in {config['days']:g} days, {result['runs']} runs of pytest, seed {config['seed']}"
    yield ""
    names = {
        "truth": "tests really mended less broken",
        "poison_followed": "poison followed",
        "poison_followed_until_measured": "… until first measured",
        "poison": "poison at the end",
        "protective": "protective lesson at the end",
        "protective_followed": "protective lesson followed, of 4",
        "unasked": "lesson that nobody asks for, at the end",
        "useful_active": f"useful lessons active, of {len(TOPICS)}",
        "useful_followed": "useful advice followed",
        "useful_asked": "… of so many times asked",
        "abstained": "runs abstained",
        "wrong_deltas": "settled by a delta that was not true",
        "bytes": "bytes kept in git",
    }
    rows = result["arms"]
    wide = max(len(name) for name in names.values())
    yield " " * wide + "".join(f"  {each['arm']:>26}" for each in rows)
    for key, name in names.items():
        yield f"{name:<{wide}}" + "".join(f"  {each[key]!s:>26}" for each in rows)
    yield ""
    for each in rows:
        if each["arm"].startswith("earnest"):
            yield from (f"{each['arm']}: {'holds' if held else 'FALLS SHORT'}: {what}" for what, held in judged(each))


def judged(row: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """What a month has to come to."""
    yield "the poison is suspended after its first measured harm", row["poison_followed"] == row["poison_followed_until_measured"]
    yield "the poison does not decide at the end", row["poison"] != "active"
    yield "the protective lesson is alive", row["protective"] == "active"
    yield "every useful lesson is active", row["useful_active"] == len(TOPICS)
    yield f"what git keeps is below {BUDGET:,} bytes", row["bytes"] < BUDGET
