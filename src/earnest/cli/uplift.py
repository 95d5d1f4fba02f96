"""The command that tells whether memory helps."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Final

from earnest.cli.common import ABSTAINED, given, plural
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Part, Screen
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from earnest.core.uplift import Uplift

_STYLES: Final = {1: "green bold", 0: "yellow bold", -1: "red bold"}


def uplift(args: Namespace, screen: Screen) -> int:
    """`earnest uplift`."""
    if args.entries and (args.entry or args.rule):
        raise InvalidInput("uplift", "--entries", "is about all of them; leave out --entry and --rule, or leave this out")
    options = given(args, "against", "alpha")
    with open_memory(args, "reading") as memory:
        # What is shown together holds together: meters share alpha as entries do.
        meters: tuple[str | None, ...] = (args.meter,) if args.meter else memory.uplift_meters() or (None,)
        shared = options | {"alpha": options.get("alpha", 0.05) / len(meters)}
        if args.entries:
            found = [one for meter in meters for one in memory.uplifts(meter, **shared)]
        else:
            found = [memory.uplift(meter, **given(args, "entry", "rule"), **shared) for meter in meters]
        rate = memory.settings.holdout
        texts = {one.entry: memory.get(one.entry).text for one in found if one.entry} if args.entries else {}
    measured = [one for one in found if one.measured]
    if screen.as_json:
        screen.json({"holdout": rate, "uplifts": found})
    elif args.entries:
        _say_table(screen, found, texts)
    else:
        for one in found:
            _say(screen, one, args)
    if not measured:
        return ABSTAINED
    return 1 if any(one.found < 0 for one in measured) else 0


def _say(screen: Screen, one: Uplift, args: Namespace) -> None:
    whom = f"entry {one.entry}" if one.entry else "this memory"
    by = f" by meter {one.meter}" if one.meter else ""
    screen.say(Painted(one.verdict, _STYLES[one.found]), f": {whom}{by}")
    if one.effect is None or one.low is None or one.high is None:
        if one.verdict == "unmeasured (holdout is 0)":
            screen.say("  Withhold memory from one decision in ten: ", hint(args, "config holdout 0.1"))
        return
    versus = "memory withheld" if one.against == "nothing" else "it alone withheld"
    rows: list[tuple[str, Part]] = [
        (
            "effect",
            f"{_signed(one.effect)} of a scale, between {_signed(one.low)} and {_signed(one.high)} ({100 - 100 * one.alpha:.4g}% sure)",
        ),
        ("seen", f"{plural(one.decisions, 'outcome')}, of them {one.holdouts:,} with {versus}"),
        ("averages", f"{_signed(one.shown_mean)} shown, {_signed(one.withheld_mean)} withheld, in scales, with nothing cut"),
    ]
    if one.cut:
        rows.append(("cut", f"{plural(one.cut, 'outcome')} beyond {one.bound:g} scale counted as that"))
    if one.lost_shown or one.lost_withheld:
        rows.append(("lost", f"{one.lost_shown:,} shown and {one.lost_withheld:,} withheld ended without an outcome"))
    unmeasured = {tier: count for tier, count in one.tiers.items() if tier != "measured"}
    if unmeasured:
        rows.append(("trust", ", ".join(f"{count:,} {tier}" for tier, count in unmeasured.items()) + ": not measured"))
    screen.pairs(rows, "  ")


def _signed(size: float | None) -> str:
    """An effect in scales of its meter, with the sign that other numbers here have."""
    return "-" if size is None else f"{size:+.3f}".replace("-", "−")


def _say_table(screen: Screen, found: list[Uplift], texts: dict[str, str]) -> None:
    if not found:
        screen.say("No outcome of a randomised decision yet.")
        return
    rows: list[list[Part]] = [
        [
            "-" if one.effect is None else _signed(one.effect),
            "-" if one.low is None or one.high is None else f"{_signed(one.low)} … {_signed(one.high)}",
            f"{one.decisions:,}", f"{one.holdouts:,}", Painted(one.verdict, _STYLES[one.found]), str(one.entry),
            texts.get(one.entry or "", ""),
        ]
        for one in found
    ]  # fmt: skip
    screen.table(["effect", "interval", "seen", "withheld", "verdict", "entry", "text"], rows, right=frozenset({0, 2, 3}))
