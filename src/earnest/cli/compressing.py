"""The command that makes long entries shorter."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from earnest.cli.common import given, plural
from earnest.cli.merging import bound, say_refused, taken_back
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Screen
from earnest.errors import InvalidInput


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
    if report.rolled_back:
        return taken_back(screen, report.broken)
    told = "would be tried" if dry else f"made shorter by {report.saved:,} characters"
    screen.say(Painted(plural(len(report.entries), "entry", "entries"), "bold"), f" {told} ({bound(report.budget)}), {report.due:,} due.")
    say_refused(screen, report.refused)
    return 0
