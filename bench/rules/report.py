"""What the lives say, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

from bench.rules.worlds import SHIFTS, WORLDS
from earnest.core.gate import ALPHA

REACH: Final = ALPHA
"""The most lives in which a rule that does not help may be let in, and the most of the rules let in that may be such."""


def world_row(name: str, lives: Sequence[Any]) -> dict[str, Any]:
    """One world: who was let in, and how long it took."""
    effects = WORLDS[name].effects
    good = [rule for rule, effect in enumerate(effects) if effect > 0]
    bad = [rule for rule, effect in enumerate(effects) if effect < 0]
    count = len(lives)
    wrong = [sum(verdicts[rule] == "p" for rule, effect in enumerate(effects) if effect <= 0) for verdicts, _ in lives]
    every = [verdicts.count("p") for verdicts, _ in lives]
    needed = [spent[rule] for verdicts, spent in lives for rule in good if verdicts[rule] == "p"]
    stopped = [spent[rule] for _, spent in lives for rule in bad]
    return {
        "lives": count,
        "helpful let in": sum(verdicts[rule] == "p" for verdicts, _ in lives for rule in good) / (count * len(good)) if good else None,
        "after": median(needed) if needed else None,
        "harmful stopped": sum(verdicts[rule] != "p" for verdicts, _ in lives for rule in bad) / (count * len(bad)) if bad else None,
        "stopped after": median(stopped) if stopped else None,
        "lives with a false one": sum(w > 0 for w in wrong) / count,
        "false among let in": sum(w / e for w, e in zip(wrong, every, strict=True) if e) / count,
    }


def lines(results: Mapping[str, Any]) -> list[str]:
    """The report."""
    made = [
        "Rules on trial, all of a world at once. An effect of 0.15 adds so much to the probability of success.",
        "",
        "| world | lives | helpful let in | after (median) | harmful stopped | after | lives with a false one | false of those let in |",
        "|---|---|---|---|---|---|---|---|",
    ]
    over = []
    for name, lives in results["worlds"].items():
        row = world_row(name, lives)
        cells = [_share(row["helpful let in"]), _count(row["after"]), _share(row["harmful stopped"]), _count(row["stopped after"])]
        cells += [_share(row["lives with a false one"]), _share(row["false among let in"])]
        made.append(f"| {name} | {row['lives']} | " + " | ".join(cells) + " |")
        if max(row["lives with a false one"], row["false among let in"]) > REACH:
            over.append(name)
    made += ["", f"At most {REACH:.0%} of lives with a false one: " + ("reached in every world" if not over else f"NOT reached in {over}")]
    made += ["", "| a proved rule, watched | sent back | after (median outcomes) |", "|---|---|---|"]
    for name, lives in results["shifts"].items():
        back = [at for (at,) in lives if at]
        calm = SHIFTS[name].calm
        made.append(f"| {name} | {_share(len(back) / len(lives))} | {_count(median(at - calm for at in back) if back else None)} |")
    return made


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"
