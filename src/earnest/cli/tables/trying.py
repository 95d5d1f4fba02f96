"""Commands to try it."""

from __future__ import annotations

from typing import Final

from earnest.cli.tables.options import Command, Option, switch

TRYING: Final = (
    Command(
        "demo", "Try it", "watch poisoned advice get found out by a real disk and die", "demo:demo",
        (
            Option(("--seed",), "which world (7)", "N", "whole"),
            Option(("--cycles",), "how many cycles to live through (30)", "N", "whole"),
            Option(("--files",), "files, and so questions, in each cycle (12)", "N", "whole"),
            switch("--fast", "no pauses between the rows"),
            Option(("--keep",), "keep the memory in this new file", "PATH", files=True),
        ),
        "earnest demo --fast",
        "Runs in a temporary folder: your own store is not touched. Needs neither network nor model.",
    ),
)  # fmt: skip
