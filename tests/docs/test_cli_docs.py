"""docs/cli.md names every command and option, because its reference is made from the tables that the parser is made from.

Run this file to write the reference anew: `python tests/docs/test_cli_docs.py`.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from earnest.cli.parser import build
from earnest.cli.tables import COMMANDS, EVERYWHERE, Command, Option
from earnest.cli.values import guarded

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
BEGIN: Final = "<!-- reference: made from src/earnest/cli/tables by tests/docs/test_cli_docs.py -->"
END: Final = "<!-- end of reference -->"


def reference() -> str:
    """The reference as Markdown."""
    parts = ["### Options that every command takes", _table(EVERYWHERE)]
    theme = ""
    for command in COMMANDS:
        if command.theme != theme:
            theme = command.theme
            parts.append(f"## {theme}")
        parts += [f"### `earnest {command.name}`", _about(command)]
        if command.options:
            parts.append(_table(command.options))
        parts.append(f"```console\n$ {command.example}\n```")
    return "\n\n".join(parts)


def _about(command: Command) -> str:
    return f"{command.summary[:1].upper()}{command.summary[1:]}." + (f" {command.more}" if command.more else "")


def _table(options: tuple[Option, ...]) -> str:
    return "\n".join(["| option | meaning |", "|---|---|", *(f"| {_named(o)} | {o.help} |" for o in options)])


def _named(option: Option) -> str:
    value = option.metavar or "\\|".join(option.choices)
    if not option.names[0].startswith("-"):
        return f"`{value}`" + (" …" if option.nargs == "+" else " (optional)" if option.nargs == "?" else "")
    switch = option.type in ("true", "false")
    return ", ".join(f"`{name}`" if switch else f"`{name} {value}`" for name in option.names)


def _page() -> tuple[str, str, str]:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    made, _, after = rest.partition(END)
    return before, made.strip(), after


def test_the_reference_is_what_the_tables_say() -> None:
    assert _page()[1] == reference(), "run `python tests/docs/test_cli_docs.py`"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_and_option_is_in_the_page(command: Command) -> None:
    section = _page()[1].split(f"### `earnest {command.name}`")[1].split("\n###")[0]
    for option in command.options:
        for name in option.names:
            assert f"`{name if name.startswith('-') else option.metavar or option.choices[0]}" in section
    assert "| `` |" not in section
    assert command.example in section


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_example_parses(command: Command) -> None:
    line = re.sub(r'^eval "\$\((.*)\)"$', r"\1", command.example)
    program, *words = shlex.split(line)
    assert program == "earnest"
    assert build().parse_args(guarded(words)).command == command.name


def test_every_command_of_this_version_is_there() -> None:
    expected = (
        "abandon archive audit backup bench check claude-code compact completion compress config consolidate control decay "
        "decide demo doctor edit encode erase export feedback forget import lessons link list maintain mcp merge meters "
        "pending pin prefetch query reembed related remeasure remember render restore rules search serve settle "
        "settle-ci settle-evm show stats sync-turn tick top ui undo unpin uplift version vouch why "
    )
    assert {command.name for command in COMMANDS} == set(expected.split())


def test_every_exit_status_is_explained() -> None:
    prose = _page()[0]
    for status in (0, 1, 2, 3, 70, 130, 141):
        assert f"| {status} |" in prose


if __name__ == "__main__":
    head, _, tail = _page()
    PAGE.write_text(f"{head}{BEGIN}\n\n{reference()}\n\n{END}{tail}", encoding="utf-8")
