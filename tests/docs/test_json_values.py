"""What the page on the command line says that `--json` prints is what it prints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from earnest.cli.main import main
from earnest.cli.tables import COMMANDS
from earnest.memory import Memory

PAGE: Final = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
ELSEWHERE: Final = {"serve", "mcp", "ui", "claude-code", "compress"}
"""Commands that go on until they are ended, write what another page describes, or need a model."""


def _said() -> dict[str, str]:
    """The rows of the table, by command."""
    table = PAGE.partition("| command | value |")[2].partition("\n\n")[0]
    made: dict[str, str] = {}
    for line in table.splitlines():
        if row := re.fullmatch(r"\| ((?:`[\w-]+` ?)+) ?\| (.*) \|", line):
            made |= dict.fromkeys(re.findall(r"`([\w-]+)`", row[1]), row[2])
    return made


def _names(said: str) -> set[str]:
    """The names at the top of the first object that a row describes."""
    depth, names, start = 0, "", said.index("`{") + 1
    for sign in said[start:]:
        depth += sign in "{["
        if depth == 1 and sign not in "{}[]":
            names += sign
        depth -= sign in "}]"
        if depth == 0:
            break
    return {part.partition(":")[0].strip() for part in names.split(",")}


def _printed(capsys: pytest.CaptureFixture[str], store: Path, *words: str) -> Any:
    status = main([*words, "--store", str(store), "--json"])
    told = capsys.readouterr()
    assert status in (0, 1, 3), told.err
    return json.loads(told.out)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with something of everything."""
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder="none") as memory:
        made = [
            memory.add(f"Old logs of worker {number} may be deleted after {number + 3} days.", sources=["runbook"]) for number in range(3)
        ]
        memory.link(made[0].id, made[1].id)
        memory.rules.add("avoid", trigger="delete old logs on a Friday", action="Wait until Monday.")
        ticket = memory.decide("May old logs of worker 1 be deleted?")
        assert ticket.id is not None
        memory.settle(ticket.id, delta=3, meter="disk")
        memory.decide("May old logs of worker 2 be deleted?")
    return path


WORDS: Final[dict[str, tuple[str, ...]]] = {
    "encode": ("encode", "{folder}/notes.md"),
    "list": ("list",),
    "top": ("top",),
    "query": ("query", "old logs of worker 1"),
    "search": ("search", "old logs"),
    "prefetch": ("prefetch", "old logs"),
    "settle": ("settle", "{ticket}", "5", "--meter", "disk"),
    "sync-turn": ("sync-turn", "--user", "My name is Ada.", "--assistant", "Noted."),
    "abandon": ("abandon", "{ticket}"),
    "pending": ("pending",),
    "tick": ("tick",),
    "meters": ("meters",),
    "control": ("control", "3", "--meter", "disk"),
    "why": ("why", "{entry}"),
    "audit": ("audit",),
    "doctor": ("doctor",),
    "check": ("check",),
    "backup": ("backup", "{folder}/copy.db"),
    "version": ("version",),
    "completion": ("completion", "fish"),
    "lessons": ("lessons", "save", "{folder}/lessons.jsonl"),
    "feedback": ("feedback", "{entry}", "helpful"),
    "link": ("link", "{entry}", "{other}"),
    "consolidate": ("consolidate", "--dry-run"),
    "maintain": ("maintain",),
    "decay": ("decay", "--dry-run"),
    "rules": ("rules",),
    "uplift": ("uplift",),
    "export": ("export", "{folder}/all.jsonl"),
    "import": ("import", "{folder}/notes.md", "--dry-run"),
    "erase": ("erase", "--entry", "{entry}", "--dry-run"),
    "compact": ("compact",),
    "archive": ("archive", "{folder}/old.gz", "--keep", "100"),
    "render": ("render", "AGENTS.md", "{folder}/AGENTS.md"),
}


@pytest.mark.parametrize("command", WORDS)
def test_the_value_of_a_command_has_the_names_that_the_page_gives(
    command: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("Run the migrations before the smoke tests.\n", encoding="utf-8")
    with Memory.open(store) as memory:
        first, second, *_ = memory.list()
        for _ in range(100 if command == "archive" else 0):
            # Only what is older than the latest hundred events may go.
            memory.feedback(first.id, "helpful")
            memory.pin(second.id)
            memory.unpin(second.id)
        known = {"folder": str(tmp_path), "entry": first.id, "other": second.id, "ticket": memory.pending()[0].id}
    printed = _printed(capsys, store, *(word.format_map(known) for word in WORDS[command]))
    assert set(printed) == _names(_said()[command])


def test_decide_prints_what_query_prints_and_its_ticket(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = _printed(capsys, store, "decide", "May old logs of worker 0 be deleted?")
    assert set(printed) == _names(_said()["query"]) | _names(_said()["decide"])


def test_the_page_tells_the_value_of_every_command() -> None:
    assert {command.name for command in COMMANDS} - ELSEWHERE == set(_said())
