"""The project's own cases and tables, one test for each case and surface.

On the command line every step is a process, so that long tables are thinned out there; `--full` plays them whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .files import SURFACES, play_agents, play_case, play_ledger, play_numbers, play_talk, queries_of, surface_on
from .ledger_rows import RULES
from .lists import NO_COUNTERPART, NOT_HERE, NOT_YET
from .model import Absence, Result, differences, rows_of
from .tables import HostileQueries

DATA = Path(__file__).with_name("data")
THIN = 6
"""Of the hostile queries, every so manyth is asked on the command line."""

ARITHMETIC = frozenset({"starve_float", "credit_huge", "cap", "negative", "escrow", "merge_pool"})
"""Rows about the engine's numbers, which the command line only shows."""

VARIANTS = frozenset({"E02", "E03", "E04", "E05"})
"""More ways to damage an index, in which the command line does what it does in E01 and E06."""

CASES = {str(row["id"]): row for name in ("cases.jsonl", "merging.jsonl", "fading.jsonl", "own.jsonl") for row in rows_of(DATA / name)}
LEDGER = {str(row["name"]): row for row in rows_of(DATA / "tables" / "ledger.jsonl")}
AGENTS = [*rows_of(DATA / "tables" / "agent_ids.jsonl")]
CORPUS, QUERIES = queries_of([*rows_of(DATA / "tables" / "fts_hostile_queries.jsonl")])

LISTS: dict[Absence, dict[str, str]] = {"not yet": NOT_YET, "no counterpart": NO_COUNTERPART, "not here": NOT_HERE}


def held_against_the_lists(result: Result) -> None:
    """The case went well; and it left out what the lists say that it leaves out, no more and no less."""
    assert not result.failures, "\n".join(result.failures)
    for absence, names in LISTS.items():
        listed = bool({result.id, f"{result.id}/{result.surface}"} & set(names))
        reasons = [left.reason for left in result.left if left.absence == absence]
        if reasons:
            assert listed, (
                f"{result.id} on {result.surface} leaves something out ({absence}), and tests/cases/lists.py does not say so: {reasons}"
            )
        else:
            assert not listed, f"{result.id} on {result.surface} leaves nothing out ({absence}) any more: take it off its list"


def _cases() -> Iterator[Any]:
    for case in CASES:
        for surface in SURFACES:
            yield pytest.param(case, surface, marks=pytest.mark.full if surface == "cli" and case in VARIANTS else ())


@pytest.mark.parametrize(("case", "surface"), [*_cases()])
def test_case(case: str, surface: str, tmp_path: Path, full: bool) -> None:
    thin = surface == "cli" and not full
    result = play_case(CASES[case], surface, tmp_path / surface, thin=thin)
    held_against_the_lists(result)
    if surface != "python" and any(result.signature):
        first = play_case(CASES[case], "python", tmp_path / "python", thin=thin)
        assert not differences(first, result), "the surfaces do not do alike"


def _ledger() -> Iterator[Any]:
    for surface in SURFACES:
        for row in LEDGER:
            for rule in RULES:
                long = surface == "cli" and (row in ARITHMETIC or rule != RULES[0])
                yield pytest.param(row, surface, rule, marks=pytest.mark.full if long else ())


@pytest.mark.parametrize(("row", "surface", "rule"), [*_ledger()])
def test_ledger(row: str, surface: str, rule: str, tmp_path: Path) -> None:
    held_against_the_lists(play_ledger(LEDGER[row], surface, tmp_path, rule))


@pytest.mark.parametrize("surface", SURFACES)
def test_agent_ids(surface: str, tmp_path: Path) -> None:
    results = play_agents(AGENTS, surface, tmp_path)
    assert len(results) == len(AGENTS)
    failures = [result.line() for result in results if result.failures]
    assert not failures, "\n".join(failures)
    for result in results:
        held_against_the_lists(result)


def _queries() -> Iterator[Any]:
    for surface in SURFACES:
        for number, row in enumerate(QUERIES, 1):
            quick = surface == "python" or number % THIN == 0 or row["must_hit"] == []
            yield pytest.param(surface, number, marks=() if quick else pytest.mark.full)


@pytest.fixture(scope="module")
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileQueries]:
    """The corpus of the hostile queries on one surface; asking changes nothing."""
    surface = surface_on(request.param, tmp_path_factory.mktemp("queries") / "stores")
    yield HostileQueries(surface, CORPUS)
    surface.close()


@pytest.mark.parametrize(("asked", "number"), [*_queries()], indirect=["asked"])
def test_hostile_query(asked: HostileQueries, number: int) -> None:
    held_against_the_lists(asked.play(number, QUERIES[number - 1]))


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("table", ["paraphrases", "feedback_loop"])
def test_talk(table: str, surface: str, tmp_path: Path) -> None:
    for result in play_talk([*rows_of(DATA / "tables" / f"{table}.jsonl")], surface, tmp_path):
        held_against_the_lists(result)


@pytest.mark.parametrize("table", ["tables/decay.jsonl", "files/llm/citations.jsonl", "files/llm/replies.jsonl"])
def test_what_is_worked_out(table: str, tmp_path: Path) -> None:
    rows = [*rows_of(DATA / table)]
    results = play_numbers(rows, "python", tmp_path)
    assert len(results) == len(rows)
    failures = [result.line() for result in results if result.failures]
    assert not failures, "\n".join(failures)


def test_languages_of_the_table(tmp_path: Path) -> None:
    corpus, queries = queries_of([*rows_of(DATA / "tables" / "multilingual.jsonl")])
    surface = surface_on("python", tmp_path / "stores")
    asked = HostileQueries(surface, corpus)
    for number, row in enumerate(queries, 1):
        held_against_the_lists(asked.play(number, row))
    surface.close()


def test_the_lists_name_what_there_is() -> None:
    known = {*CASES, *(f"agent_ids:{i}" for i in range(1, len(AGENTS) + 1)), *(f"fts_hostile:{i}" for i in range(1, len(QUERIES) + 1))}
    named = {name.split("/")[0] for names in LISTS.values() for name in names}
    assert named <= known
    assert all(reason for names in LISTS.values() for reason in names.values())


def test_the_runner_passes_nothing_over(tmp_path: Path) -> None:
    """Operations, expectations, kinds and values that it does not know are failures; so is an expectation that does not hold."""
    add = {"op": "add", "key": "a", "content": "walrus"}
    search = {"op": "search", "query": "walrus"}
    wrong: list[dict[str, Any]] = [
        {"action": [add, {"op": "teleport"}], "expected": {"error": None}},
        {"action": [add, search], "expected": {"hits_all": ["a"], "sings": True}},
        {"action": [add, search], "expected": {"error": "mysterious"}},
        {"action": [add, search], "expected": {"never": "a unicorn"}},
        {"action": [add, {**search, "colour": "red"}], "expected": {"hits_all": ["a"]}},
        {"action": [{**add, "colour": "red"}], "expected": {"error": None}},
        {"action": [add, search], "expected": {"hits_all": ["b"]}},
        {"action": [add, search], "expected": {"hits_none": ["a"]}},
        {"action": [add, search], "expected": {"count": 2}},
        {"action": [add, search], "expected": {"error": "validation"}},
        {"action": [{"op": "add", "content": " "}], "expected": {"count": 0}},
    ]
    for number, case in enumerate(wrong):
        assert play_case({"id": f"W{number}", **case}, "python", tmp_path / str(number)).failures, case
    right = {"id": "R", "setup": add, "action": search, "expected": {"error": None, "hits_all": ["a"], "first": "a", "count": 1}}
    assert not play_case(right, "python", tmp_path / "right").failures
