"""The command that measures recall on the user's own entries."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earnest.cli.common import Abstained, given, plural
from earnest.cli.place import hint, open_memory
from earnest.cli.progress import Progress
from earnest.cli.render import Painted, Part, Screen
from earnest.errors import InvalidInput, NotAllowed

if TYPE_CHECKING:
    from earnest.benching import Arm, RecallBench

_BAR: Final = 30


def bench(args: Namespace, screen: Screen) -> int:
    """`earnest bench`."""
    from earnest.benching import bench_recall

    target = None if args.svg is None else Path(args.svg)
    if target is not None and (target.is_dir() or not target.parent.is_dir()):
        raise InvalidInput("svg", args.svg, "is no place for a file; name one in a folder that is there")
    options: dict[str, Any] = given(args, "questions", "entries", "false_answers", "seed")
    if args.embedder:
        options["embedders"] = args.embedder
    with (
        open_memory(args, "writing" if args.apply else "reading") as memory,
        Progress("measuring", quiet=screen.as_json) as progress,
    ):
        try:
            made = bench_recall(memory, apply=bool(args.apply), progress=progress, **options)
        except NotAllowed as problem:
            raise Abstained(f"nothing was measured: {problem}") from problem
    if target is not None:
        from earnest.benching.drawing import picture

        target.write_text(picture(made), encoding="utf-8")
    if screen.as_json:
        screen.json(made)
    else:
        _say(args, screen, made)
    return 0


def _say(args: Namespace, screen: Screen, made: RecallBench) -> None:
    asked = sum(made.questions.values())
    kinds = ", ".join(f"{count} {kind}" for kind, count in made.questions.items())
    screen.say(f"{plural(made.entries, 'entry', 'entries')} of {made.total:,}; {asked} questions with known answers ({kinds})")
    screen.say(f"and {made.off_topic} about something else. Seed {made.seed}.")
    screen.say()
    head = ["", "@1", "@5", "@10", "MRR", "false", "kept", "floor for it", "p50 ms", "p95 ms", "bytes"]
    rows: list[list[Part]] = [_row(arm, made) for arm in made.arms]
    screen.table(head, rows, right=frozenset(range(1, len(head))))
    screen.say()
    widest = max(len(arm.name) for arm in made.arms)
    for arm in made.arms:
        full = round(_BAR * arm.recall[5])
        bar = Painted("█" * full, "green")
        screen.say(f"{arm.name.ljust(widest)}  ", bar, "·" * (_BAR - full), f" {arm.recall[5]:.0%} among the first five")
    screen.say()
    for reason in (*made.reasons, *made.notes):
        screen.say(f"- {reason}")
    settings = " ".join(f"{name}={value}" for name, value in made.recommended.items())
    if made.applied:
        screen.say("Set: ", Painted(settings, "green"))
        if "embedder" in made.recommended:
            screen.say("`", hint(args, "reembed"), "` makes the vectors of the entries that are there.")
    elif settings:
        screen.say("Recommended: ", Painted(settings, "bold"), "; --apply sets it.")
    else:
        screen.say("Nothing to change.")
    if args.svg is not None:
        screen.say(f"The picture is in {args.svg}.")


def _row(arm: Arm, made: RecallBench) -> list[Part]:
    name = arm.name if arm.languages == made.present["languages"] else f"{arm.name}, more languages"
    floors: list[Part] = ["-", "-", "-"]
    if arm.floor is not None and arm.false is not None and arm.kept is not None:
        floors = [f"{arm.false:.0%}", f"{arm.kept:.0%}", f"{arm.floor:.2f}"]
    found = [f"{arm.recall[depth]:.1%}" for depth in (1, 5, 10)]
    return [name, *found, f"{arm.mrr:.3f}", *floors, f"{arm.p50:.1f}", f"{arm.p95:.1f}", f"{arm.size:,}"]
