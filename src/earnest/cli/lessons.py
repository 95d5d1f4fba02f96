"""`earnest lessons`: the text form of a store, for git."""

from __future__ import annotations

from argparse import Namespace

from earnest.cli.place import open_memory
from earnest.cli.render import Screen
from earnest.errors import InvalidInput


def lessons(args: Namespace, screen: Screen) -> int:
    """`earnest lessons`."""
    if (args.action in ("merge", "verify")) != (args.file2 is not None):
        ways = "`earnest lessons save FILE`, `load FILE`, `merge FILE FILE2` or `verify FILE FILE2`"
        raise InvalidInput("lessons", args.action, f"is written {ways}")
    if args.action == "verify":
        return _verify(args, screen)
    if args.into is not None and args.action != "merge":
        raise InvalidInput("lessons", "--into", "belongs to `earnest lessons merge FILE FILE2`")
    if args.base is not None and args.action != "merge":
        raise InvalidInput("lessons", "--base", "belongs to `earnest lessons merge FILE FILE2`")
    if args.action == "merge":
        from earnest.memory import merge_lessons

        made = merge_lessons(args.file, args.file2, args.into or args.file, args.base)
        done = "Merged into"
    elif args.action == "save":
        with open_memory(args, "reading") as memory:
            made = memory.save_lessons(args.file)
        done = "Wrote" if made.changed else "Unchanged:"
    else:
        with open_memory(args, "creating", channel="settle-ci", actor="ci") as memory:
            made = memory.load_lessons(args.file)
        done = "Loaded"
    if screen.as_json:
        screen.json(made)
    else:
        screen.say(
            f"{done} {made.path}: {made.entries:,} entries, {made.settled:,} settled and {made.open:,} open tickets, {made.size:,} bytes"
        )
    return 0


def _verify(args: Namespace, screen: Screen) -> int:
    from earnest.memory import foreign_outcomes

    found = foreign_outcomes(args.file, args.file2)
    if screen.as_json:
        screen.json({"ok": not found, "foreign": found})
    elif not found:
        screen.say("The change brings no outcomes of its own.")
    for each in found if not screen.as_json else ():
        screen.say(f"  {each}")
    return 1 if found else 0
