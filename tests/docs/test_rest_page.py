"""docs/rest.md names every route, because its table is made from the table that requests are routed by.

Run this file to write it anew: `python tests/docs/test_rest_page.py`.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from earnest.cli.parser import build
from earnest.cli.values import guarded
from earnest.http.guard import Limits
from earnest.http.service import OPERATIONS
from earnest.http.workers import THREADS, WAITING

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "rest.md"
HEAD: Final = "| route | what it does |\n|---|---|\n"
_TABLE: Final = re.compile(re.escape(HEAD) + r"((?:\|.*\n)*)(?=\n)")


def table() -> str:
    """The table of routes."""
    made = []
    for operation in OPERATIONS:
        path = operation.path.removeprefix("/v1/agents/{agent}") or operation.path
        mark = " (operators)" if operation.who == "operator" else ""
        made.append(f"| `{operation.method} {path}` | {operation.summary}{mark} |\n")
    return "".join(made)


def test_the_table_of_routes_is_what_requests_are_routed_by() -> None:
    found = _TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None and found[1] == table(), "run `python tests/docs/test_rest_page.py`"


def test_the_bounds_that_the_page_names_are_those_in_force() -> None:
    page, limits = PAGE.read_text(encoding="utf-8"), Limits()
    assert (limits.body, limits.headers, limits.receive, limits.verb) == (4 * 2**20, 16 * 2**10, 10.0, 30.0)
    assert (limits.connections, limits.rate, limits.shutdown, THREADS, WAITING) == (256, 100.0, 15.0, 8, 64)
    for said in (
        "4 MB",
        "16 kB",
        "ten seconds",
        "thirty",
        "256 connections",
        "100 requests a second",
        "within 15 seconds",
        "Eight verbs",
        "64 wait",
    ):
        assert said in page.replace("\n", " ").replace("  ", " "), said


@pytest.mark.parametrize("file", ["earnest.service", "Containerfile"])
def test_what_starts_a_deployed_service_is_a_command_that_there_is(file: str) -> None:
    text = (ROOT / "deploy" / file).read_text(encoding="utf-8")
    if file == "Containerfile":
        words = [
            word for line in re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", text, re.MULTILINE) for word in re.findall(r'"([^"]*)"', line)
        ]
    else:
        [line] = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
        words = shlex.split(line)
    assert words[0].endswith("/earnest")
    args = build().parse_args(guarded(words[1:]))
    assert args.command == "serve" and args.root == "/var/lib/earnest" and args.port == 8765


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(lambda _: HEAD + table(), text, count=1), encoding="utf-8")
