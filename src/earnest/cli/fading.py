"""Commands of forgetting: cleaning up what has faded, and saying what an entry was worth to its reader."""

from __future__ import annotations

from argparse import Namespace

from earnest.cli.common import entry_table, given, plural
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Screen


def decay(args: Namespace, screen: Screen) -> int:
    """`earnest decay`."""
    dry = bool(args.dry_run)
    with open_memory(args, "reading" if dry else "writing") as memory:
        report = memory.decay_cleanup(dry_run=dry, **given(args, "key"))
    if screen.as_json:
        screen.json(report)
        return 0
    told = "would fade" if dry else "faded"
    screen.say(Painted(plural(len(report.entries), "entry", "entries"), "bold"), f" {told}.")
    if report.entries:
        entry_table(screen, [*report.entries])
        if not dry:
            screen.say("`", hint(args, "restore ID"), "` brings one back.")
    if report.kept:
        screen.say(f"{plural(report.kept, 'entry', 'entries')} more would, but open tickets name them.")
    return 0


def feedback(args: Namespace, screen: Screen) -> int:
    """`earnest feedback`."""
    with open_memory(args, "writing") as memory:
        made = memory.feedback(args.id, args.verdict, **given(args, "key"))
    if screen.as_json:
        screen.json(made)
        return 0 if made.counted else 1
    entry = made.entry
    changed = ", ".join(f"{name} {_shown(was)} → {_shown(now)}" for name, (was, now) in made.changed.items())
    screen.say(Painted(entry.id, "bold"), f": {made.verdict}", f", {changed}" if changed else "", ".")
    screen.cut("  ", entry.text)
    if made.reason:
        screen.say(f"Note: {made.reason}.")
    return 0 if made.counted else 1


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "none" if value is None else str(value)
