"""The command that writes what memory knows into files that agents read."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

from earnest.cli.common import filters, given, plural
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Screen
from earnest.errors import InvalidInput

_SIZE = re.compile(r"([0-9]{1,9})\s*(b|k|kb|m|mb)?\Z", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "k": 1024, "kb": 1024, "m": 1024**2, "mb": 1024**2}


def render(args: Namespace, screen: Screen) -> int:
    """`earnest render`."""
    shown = args.path == "-"
    if args.path is None and args.target == "claude-memory":
        raise InvalidInput("path", None, "is missing: name the memory folder of the project, as `/memory` in Claude Code shows it")
    if shown and args.check:
        raise InvalidInput("--check", "-", "compares with a file, and a dash names none")
    path = None if shown else Path(args.path or args.target)
    options = filters(args) | given(args, "max_lines", "split_dir")
    if args.budget is not None:
        options["budget"] = _bytes(args.budget)
    with open_memory(args, "reading") as memory:
        made = memory.render(args.target, path, dry_run=bool(args.check), **options)
    status = 1 if args.check and not made.current else 0
    if screen.as_json:
        screen.json(made)
        return status
    if shown:
        for line in made.text.splitlines():
            screen.say(line)
        return status
    styles = {"written": "green", "removed": "yellow", "unchanged": "dim"}
    for file in made.files:
        word = {"written": "outdated" if args.check else "written", "removed": "left over" if args.check else "removed"}.get(
            file.change, "as it was"
        )
        screen.say(Painted(f"{word:<10}", styles[file.change]), f"{file.path}", f" ({file.bytes:,} bytes, {plural(file.lines, 'line')})")
    room = f"; {plural(made.left_out, 'more entry', 'more entries')} found no room" if made.left_out else ""
    screen.say(f"{plural(len(made.entries), 'entry', 'entries')} in good standing{room}.")
    if status:
        screen.say("Not up to date: ", hint(args, f"render {args.target} {args.path or ''}".rstrip()), " brings it there.")
    return status


def _bytes(word: str) -> int:
    found = _SIZE.match(word.strip())
    if found is None:
        raise InvalidInput("--budget", word, "must be a size such as 12000, 12kb or 1mb")
    return int(found[1]) * _UNITS[(found[2] or "").lower()]
