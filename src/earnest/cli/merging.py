"""Commands that merge what says the same."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earnest.cli.common import given, plural
from earnest.cli.place import open_memory
from earnest.cli.render import Painted, Screen
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earnest.core.reports import MaintenanceReport
    from earnest.memory import Memory

_SHOWN = 20


def consolidate(args: Namespace, screen: Screen) -> int:
    """`earnest consolidate`."""
    dry = bool(args.dry_run)
    with open_memory(args, "reading" if dry else "writing") as memory:
        report = memory.consolidate(dry_run=dry)
        if screen.as_json:
            screen.json(report)
            return 0
        told = "would be merged" if dry else "merged"
        if report.groups:
            screen.say(Painted(plural(report.merged, "entry", "entries"), "bold"), f" {told} into {len(report.groups):,}.")
        else:
            screen.say("Nothing would be merged." if dry else "Nothing was merged.")
        _say_groups(screen, memory, report.groups)
        for reason in report.refused[:_SHOWN]:
            screen.say(Painted(f"Left apart: {reason}", "dim"))
        if len(report.refused) > _SHOWN:
            screen.say(f"and {len(report.refused) - _SHOWN:,} pairs more (`--json` names them)")
    return 0


def maintain(args: Namespace, screen: Screen) -> int:
    """`earnest maintain`."""
    dry = bool(args.dry_run)
    canaries = None if args.canaries is None else _canaries(args.canaries)
    with open_memory(args, "reading" if dry else "writing") as memory:
        model = {} if args.model is None else {"llm": args.model}
        report = memory.maintain(dry_run=dry, canaries=canaries, **model, **given(args, "key"))
        if screen.as_json:
            screen.json(report)
            return 1 if report.rolled_back else 0
        if report.rolled_back:
            return taken_back(screen, report.broken, report.stuck)
        planned = sum(len(group) for group in report.groups) + len(report.faded) + len(report.compressed)
        changed = planned if dry else report.changed
        told = "would be changed" if dry else "changed"
        screen.say(Painted(plural(changed, "entry", "entries"), "bold"), f" {told} ({bound(report.budget)}), {report.due:,} due, ",
                   plural(report.canaries, "canary question"), " to watch." if dry else " held.")  # fmt: skip
        _say_groups(screen, memory, report.groups)
        _say_rest(screen, report, dry)
    return 0


def _say_rest(screen: Screen, report: MaintenanceReport, dry: bool) -> None:
    """What was done beside merging, and what the next run goes on with."""
    if report.faded:
        screen.say(plural(len(report.faded), "entry", "entries"), " would fade." if dry else " faded.")
    if report.compressed:
        told = " would be made shorter." if dry else f" made shorter, by {report.saved:,} characters."
        screen.say(plural(len(report.compressed), "entry", "entries"), told)
    say_refused(screen, report.refused)
    if report.to_link:
        screen.say(plural(report.to_link, "entry", "entries"), " not yet compared with others for links; the next run goes on with them.")


def bound(budget: int | None) -> str:
    """How much scheduled work may change today, in words."""
    return "no bound in so small a store" if budget is None else f"{budget:,} may be changed today"


def taken_back(screen: Screen, broken: Sequence[str], stuck: Sequence[str] = ()) -> int:
    """Say that scheduled work took itself back, and over which questions; the exit status."""
    screen.say(Painted("Taken back", "red"), f": {plural(len(broken), 'question')} no longer answered as before.")
    for question in broken[:_SHOWN]:
        screen.say("  ", question)
    if stuck:
        screen.say(f"Something was built on these in between, and they stand: {', '.join(stuck)}.")
    return 1


def say_refused(screen: Screen, refused: Sequence[tuple[str, str]]) -> None:
    """Say which entries could not be made shorter, and why."""
    for entry, why in refused[:_SHOWN]:
        screen.cut(f"  {entry} stays as long as it is: ", Painted(why, "dim"))
    if len(refused) > _SHOWN:
        screen.say(f"and {len(refused) - _SHOWN:,} more (`--json` names them)")


def _say_groups(screen: Screen, memory: Memory, groups: tuple[tuple[str, ...], ...]) -> None:
    for group in groups[:_SHOWN]:
        screen.say(", ".join(group))
        for entry in group:
            screen.cut("  ", memory.get(entry).text)
    if len(groups) > _SHOWN:
        screen.say(f"and {len(groups) - _SHOWN:,} groups more (`--json` names them)")


def _canaries(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput("canaries", path, f"cannot be read as JSON ({error})") from error
