"""What a page shows is what happens: every block of code runs, in the order of its page, in a folder of its own."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.encoding import demo_corpus
from tests.docs.pages import PAGES, ROOT, Block, blocks, name_of

LANGUAGES: Final = {"python", "console", "sh", "sql", "text"}
# Its first block names no real ticket; that every line of it parses is held below and by test_cli_docs.py.
SHOWN_ONLY: Final = {"docs/cli.md"}
RUNNING: Final = [page for page in PAGES if name_of(page) not in SHOWN_ONLY and {b.language for b in blocks(page)} & {"python", "console"}]
END: Final = "--- end of a command ---"


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    found = {(name_of(page), block.line, block.language) for page in PAGES for block in blocks(page)}
    assert {item for item in found if item[2] not in LANGUAGES} == set()


def test_pages_do_show_code() -> None:
    assert {"README.md", "docs/quickstart.md", "docs/store-format.md"} <= {name_of(page) for page in RUNNING}


@pytest.mark.parametrize("page", RUNNING, ids=name_of)
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        if block.language == "python":
            code = "\n" * (block.line - 1) + block.text
            exec(compile(code, name_of(page), "exec"), space)
        elif block.language == "console":
            _in_a_shell(block, tmp_path)


def _in_a_shell(block: Block, folder: Path) -> None:
    """Run the commands of a block; what it shows below a command is in what that command printed.

    Variables that a block sets are there in the next one of its page.
    """
    commands = list(_commands(block))
    assert commands, f"{name_of(block.page)}:{block.line}: no line begins with `$ `"
    script = ["set -euao pipefail", "exec 2>&1", "if [ -e .variables ]; then source .variables; fi"]
    for command, _ in commands:
        script += [command, f"echo '{END}'"]
    script.append("export -p > .variables")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "140"}
    ran = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    printed = ran.stdout.split(END + "\n")
    where = f"{name_of(block.page)}:{block.line}"
    assert ran.returncode == 0, f"{where}: {commands[len(printed) - 1][0]} exits with {ran.returncode}: {printed[-1]}{ran.stderr}"
    for (command, shown), output in zip(commands, printed, strict=False):
        for line in shown:
            assert _loosely(line) in _loosely(output), f"{where}: {command} does not print {line!r} but {output!r}"


def _commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Each command of a block with the lines that are shown below it."""
    command, shown = "", list[str]()
    for line in block.text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        elif line.startswith("> ") and not shown:
            command += "\n" + line[2:]
        elif line.strip():
            shown.append(line)
    if command:
        yield command, shown


def _loosely(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("page", [page for page in PAGES if any(b.language == "sh" for b in blocks(page))], ids=name_of)
def test_set_up_commands_name_what_is_there(page: Path) -> None:
    """They make environments, which the tests of the scripts and packages do; here, that nothing they name is missing."""
    for block in (b for b in blocks(page) if b.language == "sh"):
        for line in block.text.splitlines():
            program, *words = shlex.split(line)
            if program.startswith("scripts/"):
                assert os.access(ROOT / program, os.X_OK), f"{name_of(page)}: {program} cannot be run"
            else:
                assert program in ("python3", ".venv/bin/pip", "source"), f"{name_of(page)}:{block.line}: who is {program}?"
            named = [word for word in words if "/" in word and not word.startswith(".venv/")]
            assert all((ROOT / word).exists() for word in named), f"{name_of(page)}: {named}"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """A store with a past, opened for reading by the standard library alone."""
    path = tmp_path_factory.mktemp("sql") / "memory.db"
    with Memory.open(path, settings={"rule": "classic"}) as memory:
        memory.encode(demo_corpus())
        for delta in (4096, -300_000, -300_000):
            ticket = memory.decide("Are the database files under data/ safe to delete?")
            if ticket.id is not None:
                memory.settle(ticket.id, delta=delta, meter="disk", scale=100_000)
            memory.tick()
        assert memory.stats().dead
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    yield connection
    connection.close()


def _statements(page: Path) -> Iterator[tuple[str, str]]:
    for block in (b for b in blocks(page) if b.language == "sql"):
        statement = ""
        for line in block.text.splitlines():
            statement += line + "\n"
            if sqlite3.complete_statement(statement):
                yield f"{name_of(page)}:{block.line}", statement
                statement = ""
        assert not statement.strip(), f"{name_of(page)}:{block.line}: a statement does not end"


STATEMENTS: Final = [statement for page in PAGES for statement in _statements(page)]


@pytest.mark.parametrize("statement", [text for _, text in STATEMENTS], ids=[f"{where}-{n}" for n, (where, _) in enumerate(STATEMENTS)])
def test_every_sql_statement_runs_and_tells_something(statement: str, store: sqlite3.Connection) -> None:
    found = store.execute(statement).fetchall()
    looks_for_damage = bool(re.match(r"-- an? (entry|account)\b", statement.strip()))
    assert (found == []) is looks_for_damage, found


def test_there_is_sql_to_run() -> None:
    assert len(STATEMENTS) >= 6
