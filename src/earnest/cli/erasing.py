"""Commands that take away for good, and make the file small."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Final

from earnest.cli.common import given, plural
from earnest.cli.entries import typed
from earnest.cli.place import open_memory, store_of
from earnest.cli.render import Painted, Screen, plain
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from earnest.core.erasing import Receipt

_SUBJECTS: Final = ("scope", "source", "entry", "text")
_TOLD: Final = {
    "entries": ("entry", "entries"), "derived": ("of them derived from the others", "of them derived from the others"),
    "tickets": ("question emptied", "questions emptied"), "abandoned": ("open ticket abandoned", "open tickets abandoned"),
    "vectors": ("vector", "vectors"), "notes": ("remark", "remarks"), "tags": ("tag", "tags"), "labels": ("label", "labels"),
    "sources": ("source name", "source names"), "documents": ("document", "documents"), "links": ("link", "links"), "keys": ("key", "keys"),
    "mentions": ("mention beside the entries", "mentions beside the entries"),
}  # fmt: skip


def erase(args: Namespace, screen: Screen) -> int:
    """`earnest erase`."""
    what = given(args, *_SUBJECTS)
    if not what:
        raise InvalidInput("erase", None, "names nothing to erase; give --scope, --source, --entry or --text")
    if "text" in what:
        what["text"] = typed(what["text"])
    with open_memory(args, "writing") as memory:
        if args.dry_run or not args.yes:
            counted = memory.erase(**what, dry_run=True)
            if args.dry_run:
                return _shown(screen, counted)
            _confirm(counted)
        return _shown(screen, memory.erase(**what, **given(args, "key")))


def _confirm(counted: Receipt) -> None:
    """Ask a person; whoever is none has to say --yes.

    Raises:
        InvalidInput: Nobody is there to answer, or the answer was not yes.
    """
    if not sys.stdin.isatty():
        raise InvalidInput("erase", counted.subject, "cannot be undone; say --yes, or --dry-run to see what would go")
    sys.stderr.write(f"This erases {_counts(counted)} for good. Type yes to go on: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() != "yes":
        raise InvalidInput("erase", counted.subject, "was not confirmed; nothing was erased")


def _counts(receipt: Receipt) -> str:
    said = [plural(count, *_TOLD[name]) for name, count in receipt.counts.items() if count and name in _TOLD]
    return ", ".join(said) or "nothing"


def _shown(screen: Screen, receipt: Receipt) -> int:
    if screen.as_json:
        screen.json({"complete": receipt.complete, **plain(receipt)})
    else:
        screen.say("Would erase " if receipt.dry_run else "Erased ", _counts(receipt), ".")
        if receipt.released:
            screen.say("Live again: " if not receipt.dry_run else "Would live again: ", ", ".join(receipt.released))
        for sentence in receipt.left:
            screen.say(Painted("left    ", "red"), sentence)
        if receipt.complete:
            screen.say(Painted("Gone", "green"), f": nothing of it was found in the indexes or in the file. Event {receipt.event} says so.")
    return 0 if receipt.dry_run or receipt.complete else 1


def archive(args: Namespace, screen: Screen) -> int:
    """`earnest archive`."""
    if args.verify:
        with open_memory(args, "reading") as memory:
            problems = memory.check_archive(args.path)
        if screen.as_json:
            screen.json({"ok": not problems, "problems": problems})
        for problem in () if screen.as_json else problems:
            screen.say(Painted("differs ", "red"), problem)
        if not problems and not screen.as_json:
            screen.say(Painted("Fits", "green"), f": every event in {args.path} is the one that was in the log.")
        return 1 if problems else 0
    with open_memory(args, "writing") as memory:
        report = memory.archive(args.path, **given(args, "keep"))
    if screen.as_json:
        screen.json(report)
    else:
        screen.say(f"Archived {plural(report.events, 'event')} ({report.first:,} to {report.last:,}) in {report.path}.")
        screen.say("`earnest compact` makes the store small. Keep the file: it is the only place where these events are told.")
    return 0


def compact(args: Namespace, screen: Screen) -> int:
    """`earnest compact`."""
    with open_memory(args, "writing") as memory:
        report = memory.compact()
    if screen.as_json:
        screen.json(report)
    else:
        screen.say(f"{store_of(args)[0]}: {report.before:,} bytes before, {report.after:,} now.")
        for sentence in report.left:
            screen.say(Painted("left    ", "red"), sentence)
    return 1 if report.left else 0
