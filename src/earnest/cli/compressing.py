"""The command that makes long entries shorter."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from earnest.cli.common import given, plural
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Screen
from earnest.errors import InvalidInput

_SHOWN = 20


def compress(args: Namespace, screen: Screen) -> int:
    """`earnest compress`."""
    model = {} if args.model is None else {"llm": args.model}
    if args.long:
        if args.id is not None:
            raise InvalidInput("id", args.id, "names one entry, and --long takes those that are long; give one of the two")
        return _long(args, screen, model)
    if args.id is None:
        raise InvalidInput("id", None, "is missing: name the entry, or say --long")
    if args.over is not None or args.older is not None or args.dry_run:
        raise InvalidInput("id", args.id, "is one entry; --over, --older and --dry-run go with --long")
    with open_memory(args, "writing") as memory:
        before = memory.get(args.id)
        made = memory.compress(args.id, **model, **given(args, "key"))
    if screen.as_json:
        screen.json(made)
    else:
        screen.say(f"{made.id}  ", Painted(f"{len(before.text):,} characters became {len(made.text):,}", "green"))
        screen.block(made.text, "  ")
        screen.say("The original is kept: ", hint(args, f"why {before.id}"))
    return 0


def _long(args: Namespace, screen: Screen, model: dict[str, Any]) -> int:
    dry = bool(args.dry_run)
    with open_memory(args, "reading" if dry else "writing") as memory:
        report = memory.compress_long(dry_run=dry, **model, **given(args, "over", "older", "key"))
    if screen.as_json:
        screen.json(report)
        return 1 if report.rolled_back else 0
    bound = "no bound in so small a store" if report.budget is None else f"{report.budget:,} may be changed today"
    if report.rolled_back:
        screen.say(Painted("Taken back", "red"), f": {plural(len(report.broken), 'question')} no longer answered as before.")
        return 1
    told = "would be tried" if dry else f"made shorter by {report.saved:,} characters"
    screen.say(Painted(plural(len(report.entries), "entry", "entries"), "bold"), f" {told} ({bound}), {report.due:,} due.")
    for entry, why in report.refused[:_SHOWN]:
        screen.cut(f"  {entry} stays as it is: ", Painted(why, "dim"))
    if len(report.refused) > _SHOWN:
        screen.say(f"and {len(report.refused) - _SHOWN:,} more (`--json` names them)")
    return 0
