"""What a service keeps to be quick is bounded, whatever it is asked and however often: counted in its caches, not in the process's size."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import apsw
import pytest
from starlette.testclient import TestClient

import earnest
from earnest.http.guard import Limits, Rates
from earnest.http.memories import Memories
from earnest.http.tokens import Grant
from earnest.http.workers import Workers
from earnest.memory import Memory
from earnest.stores.sqlite.connection import CACHE, connect
from earnest.stores.sqlite.store import SqliteStore
from earnest.verbs import base
from earnest.verbs.base import NOTED
from tests.rest import TOKEN, client

AGENT: Final = "/v1/agents/ops"
REQUESTS: Final = 1_000
OTHERS: Final = [(f"another-token-for-tests-{number:04}", Grant(f"other-{number}", "x", agent="ops")) for number in range(20)]


def held(kind: type) -> list[Any]:
    """Every living object of a kind, the test's own service among them."""
    return [one for one in gc.get_objects() if isinstance(one, kind)]


def caches() -> dict[str, Any]:
    """How full every cache of a function of ours is."""
    found = held(type(lru_cache(held)))
    return {f"{one.__module__}.{one.__qualname__}": one.cache_info() for one in found if one.__module__.startswith("earnest")}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    with client(tmp_path, given=((TOKEN, Grant("test", "tester", operator=True)), *OTHERS), limits=Limits(rate=1e9, burst=1e9)) as made:
        yield made


def test_a_thousand_requests_leave_caches_of_bounded_size(web: TestClient) -> None:
    notes = [{"text": f"The cache of service {n} lies in folder {n * 7} and may be deleted after {n % 90 + 2} days."} for n in range(400)]
    assert web.post(f"{AGENT}/entries/batch", json={"entries": notes}).status_code == 201
    at_half: dict[str, int] = {}
    for number in range(REQUESTS):
        if number == REQUESTS // 2:
            at_half = {name: info.currsize for name, info in caches().items()}
        token, _ = OTHERS[number % len(OTHERS)]
        made = web.post(
            f"{AGENT}/{('search', 'answer', 'decisions')[number % 3]}",
            json={"query": f"May the cache of service {number % 400} be deleted? Word{number} number{number * 31}"},
            headers={"Authorization": f"Bearer {token}"},
        )
        assert made.status_code in (200, 201), made.text
    connections = [one for store in held(SqliteStore) for one in (*store._idle, store._writer) if one is not None]
    assert connections and all(one.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0] <= 1.1 * 1024 * CACHE for one in connections)
    assert all(len(store._idle) <= 8 for store in held(SqliteStore))
    assert all(not one._turns and one.busy == 0 for one in held(Workers)), "requests that are over hold no place"
    assert all(len(one._buckets) <= len(OTHERS) + 1 for one in held(Rates)), "one bucket a token, not one a request"
    assert all(one.open <= 1 for one in held(Memories))
    assert all(len(one._recalled) <= NOTED and len(one._travelled) <= NOTED for one in held(Memory))
    beyond = {name: info for name, info in caches().items() if info.currsize > (at_half[name] if info.maxsize is None else info.maxsize)}
    assert at_half and not beyond, "what has no bound was filled before"


FINITE: Final = frozenset((
    "conversation/cues.py:_pattern", "conversation/cues.py:_pattern_of_parts", "core/decision_text.py:_lexicon",
    "core/failures.py:_table", "core/timewords.py:_side", "core/timewords.py:_side_after",
    "http/api.py:_several", "http/api.py:_adapter",
))  # fmt: skip
"""Functions whose arguments are languages, patterns or types of our own: of these there are so many and no more."""


def test_no_function_remembers_without_a_bound_what_callers_say() -> None:
    root = Path(earnest.__file__).parent
    found: set[str] = set()
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.args.args and any(_unbounded(one) for one in node.decorator_list):
                found.add(f"{path.relative_to(root).as_posix()}:{node.name}")
    assert found <= FINITE, "give it a bound, or say here that its arguments are our own"
    assert found >= FINITE, "not there any more"


def _unbounded(decorator: ast.expr) -> bool:
    said = ast.unparse(decorator)
    return said in ("cache", "functools.cache") or "maxsize=None" in said


def test_every_agent_that_is_spoken_for_does_not_stay_open(tmp_path: Path) -> None:
    memories = Memories(tmp_path, most=3)
    for number in range(8):
        with memories.lent(f"agent-{number}", make=True) as memory:
            memory.add(f"Agent {number} works at night.")
    assert memories.open == 3
    memories.close()


def test_a_connection_keeps_no_more_pages_than_it_may_however_much_it_reads(tmp_path: Path) -> None:
    connection = connect(str(tmp_path / "any.db"), read_only=False, timeout=1.0)
    connection.execute("CREATE TABLE blobs (content BLOB)")
    for _ in range(5 * CACHE // 1_000):
        connection.execute("INSERT INTO blobs VALUES (randomblob(1024 * 1024))")
    kept = [connection.execute("SELECT count(DISTINCT content) FROM blobs").fetchone()]
    assert kept == [(5 * CACHE // 1_000,)] and connection.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0] <= 1.1 * 1024 * CACHE
    connection.close()


def test_of_what_was_used_most_recently_so_much_is_noted_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "NOTED", 3)
    with Memory.open(tmp_path / "memory.db", embedder="none") as memory:
        birds = ("heron", "kestrel", "magpie", "nightjar", "osprey")
        entries = [memory.add(f"The {bird} nests in valley {number}.") for number, bird in enumerate(birds)]
        for bird in (*birds, birds[2]):
            assert memory.answer(f"Where does the {bird} nest?").text
        memory.add("Owls hunt at night.")
        assert [memory.get(entry.id).recalls for entry in entries] == [0, 0, 2, 1, 1]
