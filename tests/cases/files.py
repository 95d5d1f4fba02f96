"""What a file holds, by the form of its rows; and playing it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .cli_surface import CliSurface
from .ledger_rows import RULES, play_row
from .model import Result, case_of, rows_of
from .number_tables import played
from .python_surface import PythonSurface
from .run import play
from .surface import Surface
from .tables import AgentIds, HostileQueries
from .talk_tables import feedback_loop, paraphrases

SURFACES = ("python", "cli")

_MAKERS: dict[str, Callable[[Path], Surface]] = {"python": PythonSurface, "cli": CliSurface}


def surface_on(name: str, folder: Path) -> Surface:
    """A surface by name, on a folder of stores that is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    return _MAKERS[name](folder)


def play_case(row: dict[str, Any], surface: str, place: Path, *, thin: bool = False) -> Result:
    """Play one case in a folder of its own."""
    folder = place / "stores"
    other = next(name for name in SURFACES if name != surface)
    made = surface_on(surface, folder)
    try:
        return play(case_of(row), made, lambda: surface_on(other, folder), folder, thin=thin)
    finally:
        made.close()


def play_ledger(row: dict[str, Any], surface: str, place: Path, rule: str = RULES[0]) -> Result:
    """Play one row of the ledger in a folder of its own."""
    return play_row(row, surface_on(surface, place / "stores"), rule)


def play_agents(rows: Sequence[dict[str, Any]], surface: str, place: Path) -> list[Result]:
    """Play a table of agents' names in one folder."""
    made = surface_on(surface, place / "stores")
    try:
        return AgentIds(made).play(rows)
    finally:
        made.close()


def form_of(rows: Sequence[dict[str, Any]]) -> str:
    """What the rows of a file are."""
    if any("action" in row for row in rows):
        return "cases"
    if rows and "corpus" in rows[0]:
        return "queries"
    if rows and "entries" in rows[0]:
        return "paraphrases"
    if rows and "turn" in rows[0]:
        return "talk"
    if rows and all("half_life_days" in row for row in rows):
        return "decay"
    if rows and all("snippets" in row for row in rows):
        return "citations"
    if rows and all("raw" in row and "expected" in row for row in rows):
        return "replies"
    if rows and all("id" in row and "expect" in row for row in rows):
        return "agents"
    if rows and all("name" in row for row in rows):
        return "ledger"
    raise SystemExit("this is no file of cases, and no table that the runner knows: see tests/cases/README.md")


def results_of(file: Path, surfaces: Sequence[str], only: Sequence[str] | None) -> Iterator[Result]:
    """Play a file, one result for every case and surface that was asked for."""
    rows = [*rows_of(file)]
    form = form_of(rows)
    for surface in surfaces:
        if form in _TABLES:
            with tempfile.TemporaryDirectory() as place:
                made = _TABLES[form](rows, surface, Path(place))
                yield from (result for result in made if only is None or result.id in only)
            continue
        for row in rows:
            name = str(row["id"]) if form == "cases" else f"ledger:{row['name']}"
            if only is not None and name not in only:
                continue
            with tempfile.TemporaryDirectory() as place:
                yield (play_case if form == "cases" else play_ledger)(row, surface, Path(place))


def play_talk(rows: Sequence[dict[str, Any]], surface: str, place: Path) -> list[Result]:
    """Play a table of questions in other words, or of turns, in one folder."""
    made = surface_on(surface, place / "stores")
    try:
        return paraphrases(made, rows) if form_of(rows) == "paraphrases" else feedback_loop(made, rows)
    finally:
        made.close()


def play_numbers(rows: Sequence[dict[str, Any]], surface: str, place: Path) -> list[Result]:
    """Play a table about what is worked out: on the library alone, since no command works it out by itself."""
    if surface != "python":
        return []
    made = surface_on(surface, place / "stores")
    try:
        return played(form_of(rows), made, rows)
    finally:
        made.close()


def queries_of(rows: Sequence[dict[str, Any]]) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The corpus of a table of queries, and the queries."""
    return rows[0]["corpus"], list(rows[1:])


def _queries(rows: Sequence[dict[str, Any]], surface: str, place: Path) -> Iterator[Result]:
    made = surface_on(surface, place / "stores")
    try:
        corpus, queries = queries_of(rows)
        asked = HostileQueries(made, corpus)
        for number, row in enumerate(queries, 1):
            yield asked.play(number, row)
    finally:
        made.close()


_TABLES: dict[str, Callable[[Sequence[dict[str, Any]], str, Path], Iterable[Result]]] = {
    "agents": play_agents,
    "queries": _queries,
    "paraphrases": play_talk,
    "talk": play_talk,
    "decay": play_numbers,
    "citations": play_numbers,
    "replies": play_numbers,
}
