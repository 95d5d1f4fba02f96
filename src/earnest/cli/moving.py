"""Commands that take memory from place to place."""

from __future__ import annotations

import shutil
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from earnest.cli.common import given, plural
from earnest.cli.encoding import STDIN
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Screen
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from earnest.core.moving import ImportReport


def export(args: Namespace, screen: Screen) -> int:
    """`earnest export`."""
    markdown = args.path.lower().endswith((".md", ".markdown"))
    options = {"format": args.format or ("markdown" if markdown else "jsonl"), "vectors": args.vectors or False, "scope": args.scope}
    with open_memory(args, "reading") as memory:
        if args.path == STDIN:
            if screen.as_json:
                raise InvalidInput("path", args.path, "would mix the export with a report; leave --json out, or name a file")
            memory.export(sys.stdout.buffer, **options)
            sys.stdout.buffer.flush()
            return 0
        report = memory.export(args.path, **options, overwrite=args.overwrite or False)
    if screen.as_json:
        screen.json(report)
        return 0
    entries = report.counts.get("entries", sum(report.counts.values()))
    screen.say(f"Wrote {report.path}: {plural(entries, 'entry', 'entries')}, {report.bytes:,} bytes.")
    if report.sha256:
        screen.say(f"digest  {report.sha256}")
    return 0


def import_(args: Namespace, screen: Screen) -> int:
    """`earnest import`."""
    options = given(args, "probation", "scope", "key", "format") | {"dry_run": args.dry_run or False}
    with open_memory(args, "creating") as memory:
        if args.path != STDIN:
            report = memory.import_(args.path, **options)
        else:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "stdin.json"
                with file.open("wb") as spool:
                    shutil.copyfileobj(sys.stdin.buffer, spool)
                report = memory.import_(file, **options)
    if screen.as_json:
        screen.json(report)
    else:
        _say(args, screen, report)
    return 0 if report.restored or report.added or report.joined or report.already else 1


def _say(args: Namespace, screen: Screen, report: ImportReport) -> None:
    would = "Would be " if report.dry_run else ""
    if report.restored:
        entries = report.counts.get("entries", 0)
        done = f"restored: {plural(entries, 'entry', 'entries')}, {plural(report.counts.get('events', 0), 'event')}"
    else:
        done = f"imported ({report.format}): {report.added:,} new"
        done += f" (of them {report.dead:,} dead)" if report.dead else ""
        done += f", {report.joined:,} joined, {report.already:,} here already"
        done += f"; {plural(report.linked, 'link')}" if report.linked else ""
    screen.say(Painted(would + done if would else done[:1].upper() + done[1:], "bold"), ".")
    for note in report.notes:
        screen.say("note    ", note)
    for skipped in report.skipped:
        screen.say(Painted("left    ", "yellow"), f"{skipped.reason}{f': {skipped.text}' if skipped.text else ''}")
    if not report.dry_run and not report.restored and report.added > report.dead:
        screen.say("They are on probation: shown, not deciding, until outcomes here bear them out; `", hint(args, "list"), "` shows them.")
