"""The command that makes missing vectors."""

from __future__ import annotations

from argparse import Namespace

from earnest.cli.common import given, plural
from earnest.cli.place import open_memory
from earnest.cli.progress import Progress
from earnest.cli.render import Painted, Screen


def reembed(args: Namespace, screen: Screen) -> int:
    """`earnest reembed`."""
    with open_memory(args, "writing") as memory, Progress("embedding", quiet=screen.as_json) as progress:
        made = memory.reembed(every=args.every or False, progress=progress, **given(args, "limit"))
    if screen.as_json:
        screen.json(made)
    else:
        told = [f"{plural(made.made, 'vector')} made by {made.model}"]
        if made.reused:
            told.append(f"{made.reused:,} taken from entries that say the same")
        if made.cut:
            told.append(f"{plural(made.cut, 'text')} embedded in part: too long for it")
        screen.say(", ".join(told) + ".")
        for entry, why in made.why.items():
            screen.say(Painted("failed  ", "red"), f"{entry}: {why}")
        if made.left:
            entries = plural(made.left, "entry", "entries")
            screen.say(f"{entries} without a vector: found by words alone. `earnest doctor` says more.")
        else:
            screen.say("Every living entry has a vector.")
    return 1 if made.failed else 0
