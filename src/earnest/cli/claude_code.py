"""`earnest claude-code`: the plug-in for Claude Code as a folder, and the trust that its measurements need."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from earnest.cli.place import open_memory, store_of
from earnest.cli.render import Painted, Screen
from earnest.integrations.claude_code.hook import CHANNEL, METER
from earnest.integrations.claude_code.plugin import write


def install(args: Namespace, screen: Screen) -> int:
    """`earnest claude-code`."""
    where, named = store_of(args)
    folder = Path(args.folder)
    with open_memory(args, "creating") as memory:
        memory.meters.add(METER, unit="test commands", scale=1.0, tier="measured")
        memory.meters.bind(METER, channel=CHANNEL)
    made = write(folder, python=sys.executable, store=str(Path(where).resolve()) if named else None)
    if args.json:
        screen.json({"folder": str(folder), "files": [str(path) for path in made], "store": where, "meter": METER, "channel": CHANNEL})
        return 0
    screen.say(Painted("Written", "green"), f": {folder}, for the store {where}.")
    screen.say(f"The meter {METER} is trusted over the channel {CHANNEL}: exit statuses of tests that the agent runs count as measured.")
    screen.say("Start Claude Code with `", f"claude --plugin-dir {folder}", "`.")
    return 0
