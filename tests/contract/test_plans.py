"""What a verb asks of the engine: no statement on a hot path reads a table that grows from one end to the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from earnest import Entry, Memory
from earnest.testing import ManualClock, SeededRng
from tests.statements import listening

GROW: Final = re.compile(
    r"SCAN (?:\w+ AS )?(entries|events|event_entries|tickets|shares|settlements|words|draws|vectors|postings|entry_sources|entry_tags"
    r"|lineage|turns|keys|remeasurements|controls|[etsx])\b(?! VIRTUAL)"
)
"""A plan's line that says that all of a table, or all of an index on it, is read. One-letter names are aliases of such tables."""

SMALL: Final = ("entries_pinned", "entries_suspended", "tickets_open")
"""Partial indexes that hold what is rare: they may be read whole."""

Verb = Callable[[Memory, dict[str, str]], object]
Asked = tuple[Memory, dict[str, str], list[str]]

VERBS: Final[dict[str, Verb]] = {
    "add": lambda m, at: m.add("A new memory about the ferry to the island", tags=["x"], sources=["s1"]),
    "search": lambda m, at: m.search("the harbour crane"),
    "search in a scope": lambda m, at: m.search("the harbour crane", scope="other"),
    "answer": lambda m, at: m.answer("May the harbour crane be used?"),
    "decide": lambda m, at: m.decide("May the harbour crane be used in entry number 7?"),
    "settle": lambda m, at: m.settle(at["ticket"], delta=1.0, meter="bench", acted=True),
    "settle a harm": lambda m, at: m.settle(at["other"], delta=-1.0, meter="bench", acted=True),
    "abandon": lambda m, at: m.abandon(at["third"]),
    "tick": lambda m, at: m.tick(),
    "pin": lambda m, at: m.pin(at["entry"]),
    "unpin": lambda m, at: m.unpin(at["entry"]),
    "forget": lambda m, at: m.forget(at["entry"]),
    "restore": lambda m, at: m.restore(at["entry"]),
    "get": lambda m, at: m.get(at["entry"]),
    "update": lambda m, at: m.update(at["entry"], text="The harbour crane is closed on Sundays"),
    "pending": lambda m, at: m.pending(),
    "prefetch": lambda m, at: m.prefetch("Tell me about the harbour crane"),
    "sync_turn": lambda m, at: m.sync_turn("Let's use the northern quay from Monday on", "Good choice"),
    "control": lambda m, at: m.control(delta=0.0, meter="bench"),
}


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    """A memory with some hundreds of entries and a history, its ids, and every statement that it has carried out."""
    with listening() as said:
        clock = ManualClock(datetime(2026, 1, 5, tzinfo=UTC))
        with Memory.open(tmp_path / "m.db", embedder="none", clock=clock, rng=SeededRng(3)) as memory:
            made = memory.add_many([{"text": f"Entry number {i} is about the harbour crane and the quay {i}"} for i in range(400)])
            memory.add("In another scope there is a harbour crane too", scope="other")
            for i in range(3):
                ticket = memory.decide(f"harbour crane quay entry number {i}?")
                memory.settle(str(ticket.id), delta=1.0, meter="bench", acted=True)
                memory.tick()
            names = [str(memory.decide(f"harbour crane quay entry number {i}?").id) for i in (5, 6, 7)]
            at = {"entry": made[300].id, "ticket": names[0], "other": names[1], "third": names[2]}
            said.clear()
            yield memory, at, said


@pytest.mark.parametrize("verb", VERBS)
def test_no_hot_verb_reads_a_growing_table_from_end_to_end(
    verb: str, asked: tuple[Memory, dict[str, str], list[str]], tmp_path: Path
) -> None:
    memory, at, said = asked
    if verb == "restore":
        memory.forget(at["entry"])
    if verb == "unpin":
        memory.pin(at["entry"])
    said.clear()
    VERBS[verb](memory, at)
    statements = {statement for statement in said if statement.lstrip()[:6].upper() in ("SELECT", "UPDATE", "DELETE", "INSERT", "WITH")}
    assert statements, "the verb asked nothing: the test does not listen"
    reader = apsw.Connection(str(tmp_path / "m.db"))
    whole = []
    for statement in statements:
        plan = [step[3] for step in reader.execute("EXPLAIN QUERY PLAN " + statement, _blanks(statement))]
        whole += [f"{step}  <-  {' '.join(statement.split())}" for step in plan if _grows(step) and not _bounded(statement)]
    assert whole == []


@pytest.mark.parametrize("verb", VERBS)
def test_no_hot_verb_has_a_statement_planned_again(verb: str, tmp_path: Path) -> None:
    planned: list[tuple[str, int]] = []

    def listen(connection: apsw.Connection) -> None:
        def note(event: Any) -> None:
            planned.append((event["sql"], event["stmt_status"]["SQLITE_STMTSTATUS_REPREPARE"]))

        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)

    apsw.connection_hooks.append(listen)
    try:
        with Memory.open(tmp_path / "m.db", embedder="none", rng=SeededRng(3)) as memory:
            for turn in range(2):
                made = memory.add_many([{"text": f"Entry {i}.{turn} is about the harbour crane and the quay {i}"} for i in range(20)])
                names = [str(memory.decide(f"harbour crane quay entry {i}.{turn}?").id) for i in (5, 6, 7)]
                at = {"entry": made[12].id, "ticket": names[0], "other": names[1], "third": names[2]}
                if verb == "restore":
                    memory.forget(at["entry"])
                if verb == "unpin":
                    memory.pin(at["entry"])
                planned.clear()
                done = VERBS[verb](memory, at)
                if isinstance(done, Entry) and verb in ("add", "update") and turn == 0:
                    # The second time is to write again, not to find that it was written.
                    memory.forget(done.id)
    finally:
        apsw.connection_hooks.remove(listen)
    assert planned, "the verb asked nothing: the test does not listen"
    assert [" ".join(sql.split()) for sql, times in planned if times] == [], "with other values the plan is the same"


def _blanks(statement: str) -> Any:
    """As many empty values as a statement has places for."""
    plain = re.sub(r"'(?:[^']|'')*'", "", statement)
    named = re.findall(r"[:@$]([A-Za-z_]\w*)", plain)
    numbered = [int(number) for number in re.findall(r"\?(\d+)", plain)]
    return dict.fromkeys(named) if named else (None,) * (max(numbered) if numbered else plain.count("?"))


def _grows(step: str) -> bool:
    return GROW.search(step) is not None and not any(f"INDEX {name}" in step for name in SMALL)


def _bounded(statement: str) -> bool:
    """Whether a statement ends after some rows, in the order of the index that it reads."""
    return "LIMIT" in statement and "ORDER BY" in statement
