"""From the tables of commands to a parser."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from earnest.cli.tables import COMMANDS, EVERYWHERE, Command, Option
from earnest.cli.values import GUARD, TYPES

EXITS: Final = (
    "exit status: 0 done; 1 the answer is no (an error was found, nothing landed, no such entry or store); 2 wrong usage or "
    "bad input; 3 abstained; 70 a fault of this program"
)


class UsageError(Exception):
    """The words of a command line do not fit. `command` is the one that was meant, if that is known."""

    def __init__(self, message: str, command: str = "") -> None:
        self.command = command
        super().__init__(message)


class _Parser(argparse.ArgumentParser):
    """Raises where argparse would print its usage and exit."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(_plainer(message).replace(GUARD, ""), self.prog.removeprefix("earnest").strip())

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse takes no notice of help that could not be written.
        if message:
            (file or sys.stderr).write(message)


def _plainer(message: str) -> str:
    if message.startswith(_UNKNOWN):
        # What has no dash was meant as a value, of an option perhaps whose name was left out.
        words = message.removeprefix(_UNKNOWN)
        return f"unknown: {words}" if words.startswith("-") else f"more than this takes: {words}"
    if message.startswith(_MISSING):
        return f"missing: {message.removeprefix(_MISSING)}"
    return message.removeprefix("argument ")


_NARROWEST: Final = 40
_MISSING: Final = "the following arguments are required: "
_UNKNOWN: Final = "unrecognized arguments: "


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)


class _Root(_Parser):
    def format_help(self) -> str:
        # Told only when it is asked for: every other start is spared the wrapping.
        self.epilog = _overview()
        return super().format_help()


def dest_of(option: Option) -> str:
    """The attribute that an option's value goes to."""
    return option.dest or option.names[-1].lstrip("-").replace("-", "_")


def build() -> argparse.ArgumentParser:
    """The parser of every command. Options that are good everywhere may come before the command or after it."""
    parser = _Root(
        prog="earnest",
        usage="earnest [options] COMMAND …",
        description="Long-term memory for LLM agents in which every memory has to earn its keep.",
        formatter_class=_Help,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="help", help="this help; `earnest COMMAND --help` tells more")
    parser.add_argument("--version", action="store_true", help="which Earnest this is")
    _add(parser, EVERYWHERE, default=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser, help=argparse.SUPPRESS)
    for command in COMMANDS:
        made = commands.add_parser(
            command.name,
            prog=f"earnest {command.name}",
            description=_sentence(command.summary) + (f" {command.more}" if command.more else ""),
            epilog=f"example: {command.example}",
            allow_abbrev=False,
            add_help=False,
        )
        _add(made, command.options, default=None)
        shared = made.add_argument_group("everywhere")
        shared.add_argument("-h", "--help", action="help", help="this help")
        _add(shared, EVERYWHERE, default=argparse.SUPPRESS)
    return parser


def _add(parser: argparse._ActionsContainer, options: Sequence[Option], *, default: Any) -> None:
    groups: dict[str, argparse._ActionsContainer] = {}
    for option in options:
        place = parser
        if option.group:
            if option.group not in groups:
                groups[option.group] = parser.add_mutually_exclusive_group()
            place = groups[option.group]
        place.add_argument(*option.names, **_keywords(option, default))


def _keywords(option: Option, default: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"help": option.help.replace("%", "%%"), "default": default}
    if option.names[0].startswith("-"):
        made["dest"] = dest_of(option)
    if option.type in ("true", "false"):
        made |= {"action": "store_const", "const": option.type == "true"}
        return made
    made["type"] = TYPES[option.type]
    if option.metavar:
        made["metavar"] = option.metavar
    if option.choices:
        made["choices"] = option.choices
    if option.nargs:
        made["nargs"] = option.nargs
    if option.repeat:
        made["action"] = "append"
    return made


def _sentence(summary: str) -> str:
    return summary[:1].upper() + summary[1:] + "."


def _overview() -> str:
    import textwrap

    room = max(_NARROWEST, shutil.get_terminal_size().columns - 2)
    widest = max(len(command.name) for command in COMMANDS)
    lines: list[str] = []
    theme = ""
    for command in COMMANDS:
        if command.theme != theme:
            theme = command.theme
            lines += ["", f"{theme}:"]
        told = f"  {command.name:<{widest}}  {command.summary}"
        lines += textwrap.wrap(told, room, subsequent_indent=" " * (widest + 4), break_on_hyphens=False)
    for told in (
        "The store is --store, else EARNEST_STORE, else .earnest/memory.db in this folder or one above it, else memory.db in your "
        "user's data folder.",
        EXITS,
        "example: earnest demo --fast",
    ):
        lines += ["", *textwrap.wrap(told, room, break_on_hyphens=False)]
    return "\n".join(lines).lstrip("\n")


def command_named(name: str) -> Command:
    """The command of that name."""
    return next(command for command in COMMANDS if command.name == name)
