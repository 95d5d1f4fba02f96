"""The entry point: parse, dispatch, and turn every error into one line and an exit status."""

from __future__ import annotations

import errno
import io
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Final

from earnest.cli.common import ABSTAINED, Abstained
from earnest.cli.parser import UsageError, build, command_named
from earnest.cli.render import Screen, one_line, to_json
from earnest.cli.values import guarded
from earnest.errors import EarnestError, InvalidInput, KeyReused, NotAvailable, WrongAgent

NO: Final = 1
USAGE: Final = 2
FAULT: Final = 70
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

# What somebody types who knows the verbs of Python, or of other programs.
_MEANT: Final = {
    "add": "remember", "answer": "query", "ask": "query", "configure": "config", "delete": "forget", "events": "audit", "graph": "related",
    "history": "why", "init": "remember", "log": "audit", "obituary": "why", "remove": "forget", "set": "config", "settings": "config",
    "status": "stats", "update": "edit",
}  # fmt: skip

_BAD_INPUT: Final = (InvalidInput, KeyReused, NotAvailable, WrongAgent)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit status; prints errors on one line of standard error."""
    words = [*(sys.argv[1:] if argv is None else argv)]
    as_json = "--json" in words[: words.index("--")] if "--" in words else "--json" in words
    _have_streams()
    _take_any_text()
    try:
        status = _run(words)
        sys.stdout.flush()
        return status
    except UsageError as error:
        help = f"earnest {error.command} --help" if error.command else "earnest --help"
        return _fail(as_json, "UsageError", f"{error} (see `{help}`)", USAGE)
    except Abstained as error:
        return _fail(as_json, "Abstained", str(error), ABSTAINED)
    except EarnestError as error:
        return _fail(as_json, type(error).__name__, str(error), USAGE if isinstance(error, _BAD_INPUT) else NO)
    except KeyboardInterrupt:
        return _fail(as_json, "KeyboardInterrupt", "interrupted", INTERRUPTED)
    except BrokenPipeError:
        _drop_output()  # whoever read has seen enough
        return BROKEN_PIPE
    except OSError as error:
        if _of_output(error):
            _drop_output()
        return _fail(as_json, "OSError", _of_the_system(error), NO)
    except Exception as error:  # the process edge: a fault is told on one line, its trace on request
        if os.environ.get("EARNEST_DEBUG"):
            raise
        said = f"this is a fault in Earnest: {type(error).__name__}: {error}; set EARNEST_DEBUG=1 to see where"
        return _fail(as_json, type(error).__name__, said, FAULT)


def _run(words: list[str]) -> int:
    parser = build()
    try:
        args = parser.parse_args(guarded(words))
    except SystemExit as done:  # --help has printed what was asked for
        return int(done.code or 0)
    except UsageError as error:
        raise _nearest(error, words) from None
    if args.version:
        args.command = "version"
    if args.command is None:
        sys.stderr.write(parser.format_help())
        return USAGE
    return _handler(command_named(args.command).handler)(args, Screen(sys.stdout, as_json=bool(args.json)))


def _handler(name: str) -> Callable[[Namespace, Screen], int]:
    """The function that a command's table names; its module is imported now, so that help and completion stay quick."""
    from importlib import import_module

    module, function = name.split(":")
    found: Callable[[Namespace, Screen], int] = getattr(import_module(f"earnest.cli.{module}"), function)
    return found


def _nearest(error: UsageError, words: list[str]) -> UsageError:
    """The same error, in fewer words where a command was misspelt."""
    from earnest.cli.tables import COMMANDS

    names = [command.name for command in COMMANDS]
    message = str(error)
    if not message.startswith("COMMAND: invalid choice: "):
        return UsageError(message, error.command or next((word for word in words if word in names), ""))
    from difflib import get_close_matches

    typed = next((word for word in words if f"invalid choice: {word!r}" in message), "")
    near = [_MEANT[typed]] if typed in _MEANT else get_close_matches(typed, names, 1)
    return UsageError(f"there is no command {typed!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def _drop_output() -> None:
    """Sends what is left of the output nowhere: else it would be flushed at exit, which would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _of_output(error: OSError) -> bool:
    """Whether it is what the command prints that cannot be written: then no file is named."""
    return error.filename is None and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EIO)


def _of_the_system(error: OSError) -> str:
    """What the system refused, in a line."""
    if _of_output(error):
        return f"what this prints could not be written ({error.strerror}); make room, or send it elsewhere"
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}; check the path and the rights"


def _fail(as_json: bool, kind: str, message: str, status: int) -> int:
    said = one_line(message)
    line = to_json({"error": kind, "message": said}) if as_json else f"earnest: {said}"
    # Standard error may be closed or full; there is nobody left to tell.
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except OSError:
        return status
    return status


def _have_streams() -> None:
    """Put the null device where a standard stream was closed, so that it reads as empty and takes what is written; a file that is
    opened later would get its number, and everything that is printed."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is taken, which is this one: those below it are in use by now.
            os.open(os.devnull, os.O_RDWR)
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _take_any_text() -> None:
    """Let a terminal or pipe that is not UTF-8 show what it can, in place of failing on the rest."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
