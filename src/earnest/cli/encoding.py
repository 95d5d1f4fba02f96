"""The command that turns documents, files and folders into entries."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earnest.cli.common import given, model_cost, plural
from earnest.cli.place import open_memory, store_of
from earnest.cli.progress import Progress
from earnest.cli.render import Painted, Screen
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earnest.core.reports import EncodedFile, EncodeReport
    from earnest.encoding import Document, ReflectionEncoder

STDIN: Final = "-"
_SHOWN: Final = 10
_SHOWN_FILES: Final = 40


def stdin_document(source: str, encoding: str | None = None) -> Document:
    """All of standard input as a document, refused like a file if it is no text."""
    from earnest.encoding.document import MAX_BYTES
    from earnest.encoding.reading import text_document

    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InvalidInput("stdin", f"{MAX_BYTES:,} bytes and more", "is too long; split it into parts")
    return text_document(data, source, encoding=encoding)


def encode(args: Namespace, screen: Screen) -> int:
    """`earnest encode`."""
    paths = [path for path in args.files if path != STDIN]
    if len(args.files) - len(paths) > 1:
        raise InvalidInput("files", args.files, "names standard input twice; it can be read once")
    # What is wrong with the words of the command shows before a store is made.
    for path in paths:
        if not Path(path).exists():
            raise InvalidInput("files", path, "no such file or folder; check the name")
    typed = stdin_document("stdin" if args.name is None else args.name, args.encoding) if len(paths) < len(args.files) else None
    if args.max_calls is not None and args.model is None:
        raise InvalidInput("max-calls", args.max_calls, "bounds what a model is asked; name one with --model")
    reports: list[EncodeReport] = []
    label = "encoding files" if args.model is None else "asking the model"
    # The spec is looked at before a store is made.
    reflection = None if args.model is None else _reflection(args)
    with open_memory(args, "creating") as memory, Progress(label, quiet=screen.as_json) as progress:
        # With a model it is questions that take long, and are counted.
        encoder: dict[str, Any] = {} if reflection is None else {"encoder": replace(reflection, progress=progress)}
        if typed is not None:
            reports.append(memory.encode([typed], **encoder, **given(args, "scope", "key")))
        if paths:
            reports.append(
                memory.encode_files(
                    paths,
                    prune=bool(args.prune),
                    again=bool(args.again),
                    hidden=bool(args.hidden),
                    progress=progress if reflection is None else None,
                    **encoder,
                    **given(args, "scope", "key", "encoding"),
                )
            )
    files = [file for report in reports for file in report.files]
    failed = [file for file in files if file.state == "failed"]
    if failed and len(failed) == len(files) == len(args.files):
        # Nothing but failures, each named on the command line: bad input, and nothing was written.
        raise InvalidInput("files", failed[0].path, failed[0].reason)
    made = {file.source: file.entries for file in files if file.state == "encoded"}
    if typed is not None:
        made[typed.source] = len(reports[0].entries)
    if screen.as_json:
        _as_json(args, screen, reports, made)
    else:
        _say(args, screen, reports, made)
    nothing = not any(report.entries for report in reports) and not any(file.state in ("unchanged", "pruned") for file in files)
    return 1 if failed or nothing or any(report.unfinished for report in reports) else 0


def _reflection(args: Namespace) -> ReflectionEncoder:
    """The encoder that asks a model, for its spec."""
    from earnest.encoding import ReflectionEncoder

    return ReflectionEncoder(args.model, max_calls=args.max_calls)


def _cost(reports: Sequence[EncodeReport]) -> dict[str, float]:
    """What was asked of a model, over all reports; empty if nothing was."""
    made: Counter[str] = Counter()
    for report in reports:
        made.update(report.cost)
    return dict(made)


def _as_json(args: Namespace, screen: Screen, reports: Sequence[EncodeReport], made: dict[str, int]) -> None:
    by_origin: Counter[str] = Counter()
    for report in reports:
        by_origin.update(report.by_origin)
    screen.json(
        {
            "entries": [entry.id for report in reports for entry in report.entries],
            "by_source": made,
            "by_origin": by_origin,
            "joined": sum(report.joined for report in reports),
            "replaced": [entry for report in reports for entry in report.replaced],
            "files": [file for report in reports for file in report.files],
            "skipped": [skipped for report in reports for skipped in report.skipped],
            "notes": [note for report in reports for note in report.notes],
            "unfinished": [source for report in reports for source in report.unfinished],
            "cost": _cost(reports),
            "store": store_of(args)[0],
        }
    )


def _say(args: Namespace, screen: Screen, reports: Sequence[EncodeReport], made: dict[str, int]) -> None:
    skipped = [one for report in reports for one in report.skipped]
    for source, count in [*made.items()][:_SHOWN_FILES]:
        if count:
            screen.say(f"{source}: ", Painted(plural(count, "entry", "entries"), "green"))
        else:
            reasons = sorted({one.reason for one in skipped if one.source == source})
            screen.say(Painted(f"{source}: made nothing", "yellow"), f" ({'; '.join(reasons)})" if reasons else "")
    if len(made) > _SHOWN_FILES:
        screen.say(f"and {len(made) - _SHOWN_FILES:,} more files (`--json` names them all)")
    _say_files(screen, [file for report in reports for file in report.files])
    entries = sum(len(report.entries) for report in reports)
    joined, replaced = sum(report.joined for report in reports), sum(len(report.replaced) for report in reports)
    by_origin: Counter[str] = Counter()
    for report in reports:
        by_origin.update(report.by_origin)
    origins = ", ".join(f"{count:,} {origin}" for origin, count in by_origin.items())
    more = f"; {joined:,} of them said what was there already" if joined else ""
    more += f"; {plural(replaced, 'older entry', 'older entries')} ended, which the documents do not say any more" if replaced else ""
    screen.say(plural(entries, "entry", "entries"), " in ", store_of(args)[0], f": {origins}" if origins else "", more)
    if skipped:
        screen.say(f"Left out {plural(len(skipped), 'part')}:")
        for one in skipped[:_SHOWN]:
            screen.cut(f"  {one.source}: {one.reason}", Painted(f": {one.text}" if one.text else "", "dim"))
        if len(skipped) > _SHOWN:
            screen.say(f"  and {len(skipped) - _SHOWN:,} more (`--json` names them all)")
    for report in reports:
        for note in report.notes:
            screen.say(f"Note: {note}")
    cost = _cost(reports)
    if cost:
        screen.say(f"Asked {args.model}: {model_cost(cost)}")


def _say_files(screen: Screen, files: Sequence[EncodedFile]) -> None:
    """What became of files other than being encoded."""
    failed = [file for file in files if file.state == "failed"]
    for file in failed[:_SHOWN_FILES]:
        screen.say(Painted(f"{file.source}: failed", "red"), f": it {file.reason}")
    if len(failed) > _SHOWN_FILES:
        screen.say(f"and {len(failed) - _SHOWN_FILES:,} more failed")
    unchanged = sum(file.state == "unchanged" for file in files)
    if unchanged:
        screen.say(f"{plural(unchanged, 'file')} unchanged since last time (--again encodes them all the same)")
    for state, said in (("pruned", "gone: ended"), ("missing", "gone from its folder; --prune ends its entries")):
        gone = [file for file in files if file.state == state]
        for file in gone[:_SHOWN]:
            count = f" {plural(file.entries, 'entry', 'entries')}" if state == "pruned" else ""
            screen.say(Painted(f"{file.source}: {said}{count}", "yellow"))
        if len(gone) > _SHOWN:
            screen.say(f"and {len(gone) - _SHOWN:,} more that are gone")
