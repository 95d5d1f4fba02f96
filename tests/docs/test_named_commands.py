"""A command that a page, a message or the dashboard tells somebody to type is one that there is, with options that it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from earnest.cli.tables import COMMANDS, EVERYWHERE

ROOT: Final = Path(__file__).resolve().parents[2]
OPTIONS: Final = {
    command.name: {name for option in (*command.options, *EVERYWHERE) for name in option.names} | {"--help", "-h"} for command in COMMANDS
}
NAMED: Final = re.compile(r"(?:^|`|\$ |\$\()earnest ([a-z][a-z-]*)((?: [^`\n|)]*)?)", re.MULTILINE)
"""In prose between backticks; in blocks of a shell at the start of a line."""
SHOWN: Final = re.compile(r"""["'`]earnest ([a-z][a-z-]*)((?: [^"`\n]*)?)""")
"""In scripts of the dashboard: what is shown to be copied."""
PAGES: Final = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "action.yml", *sorted((ROOT / "deploy").iterdir())]
SOURCES: Final = sorted((ROOT / "src").rglob("*.py"))
SCRIPTS: Final = sorted((ROOT / "src").rglob("*.js"))


def named(path: Path) -> Iterator[tuple[str, str]]:
    """The commands that a file names, each with what follows it."""
    for found in (SHOWN if path.suffix == ".js" else NAMED).finditer(path.read_text(encoding="utf-8")):
        yield found[1], found[2].partition(" -- ")[0]


@pytest.mark.parametrize("path", [*PAGES, *SOURCES, *SCRIPTS], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_that_is_named_is_there_and_has_the_options_that_stand_behind_it(path: Path) -> None:
    for command, rest in named(path):
        assert command in OPTIONS, f"there is no `earnest {command}`"
        strange = set(re.findall(r"(?<= )--?[a-z][a-z-]*", rest)) - OPTIONS[command]
        assert not strange, f"earnest {command} has no {strange}"


def test_commands_are_found_where_people_read_them() -> None:
    assert {"remember", "settle", "meters"} <= {command for path in PAGES for command, _ in named(path)}
    assert {"rules", "list", "meters"} <= {command for path in SOURCES for command, _ in named(path)}
    assert {"settle", "meters", "config"} <= {command for path in SCRIPTS for command, _ in named(path)}
