"""Nothing of one agent is seen by another, and nothing of one scope by a reader of another; and nothing goes out."""

from __future__ import annotations

import dataclasses
import json
import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from earnest.core.filters import ALL
from earnest.errors import EarnestError
from earnest.memory import Memory

CANARY: Final = "xylophone"
WORDS: Final = ("server", "logs", "deleted", "old", "may", "backup", "night", "hall", "machine", "seven", "days", "restart", "queue")


def told(value: Any) -> str:
    """Everything that a returned value says."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return told({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    if isinstance(value, dict):
        return " ".join(f"{told(k)} {told(v)}" for k, v in value.items())
    if isinstance(value, list | tuple | set):
        return " ".join(told(v) for v in value)
    return str(value)


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Memory]:
    """One agent with two scopes that talk about the same things in nearly the same words."""
    with Memory.open(tmp_path / "m.db", "ops") as memory:
        rng = random.Random(3)
        for n in range(40):
            text = " ".join(rng.choices(WORDS, k=8))
            memory.add(f"{text} number {n}.", scope="mine", sources=[f"source {n % 4}"], tags=["t"])
            memory.add(f"{text} number {n} {CANARY}.", scope="theirs", sources=[f"source {n % 4}"], tags=["t"], cue=f"{CANARY} {text}")
        memory.add(f"Default scope {CANARY}.", scope="", kind="procedural")
        yield memory


def queries(count: int) -> Iterator[str]:
    rng = random.Random(4)
    yield from (
        CANARY,
        f"{CANARY} OR server",
        'facets : "§s2"',
        "*",
        f"server NEAR {CANARY}",
        f'"{CANARY}"',
        "theirs",
        "scope:theirs",
        "§s2",
    )
    for _ in range(count):
        yield " ".join(rng.choices((*WORDS, CANARY), k=rng.randint(1, 12)))


def test_no_reader_of_a_scope_sees_another(shared: Memory, full: bool) -> None:
    for query in queries(10_000 if full else 20):
        for scope in ("mine", ["mine"], ["mine", "nobody's"], "nobody's"):
            said = told([
                shared.search(query, k=50, scope=scope),
                shared.answer(query, k=5, scope=scope),
                shared.search(query, scope=scope, source="source 1", tags=["t"], half_life=3.0),
            ])  # fmt: skip
            assert CANARY not in said.replace(query, ""), (query, scope)
    ticket = shared.decide("old logs may be deleted", k=5, scope="mine")
    assert ticket.id is not None and CANARY not in told(ticket)
    assert CANARY not in told(shared.settle(ticket.id, delta=1.0))
    wheres: list[dict[str, Any]] = [{}, {"source": "source 1"}, {"tags": ["t"]}]
    for where in wheres:
        assert CANARY not in told([shared.list(scope=scope, **where) for scope in ("mine", ["mine", "MINE"], "their", "THEIRS")])
    assert CANARY in told(shared.search(CANARY, scope=ALL)) and CANARY in told(shared.list(scope="theirs"))


def test_a_scope_ranks_as_if_it_were_alone(shared: Memory, tmp_path: Path) -> None:
    """What another scope holds is not to be read off scores either."""
    with Memory.open(tmp_path / "alone.db", "ops") as alone:
        for entry in shared.list(scope="mine"):
            alone.add(entry.text, scope="mine", sources=entry.sources, tags=entry.tags)
        for query in queries(30):
            here, there = ([(hit.entry.text, round(hit.score, 9)) for hit in m.search(query, k=10, scope="mine")] for m in (shared, alone))
            assert here == there, query


def test_nothing_crosses_scopes_by_itself(shared: Memory) -> None:
    entries = shared.list(scope=ALL)
    twin = shared.add(entries[0].text, scope="third")
    assert twin.id not in {entry.id for entry in entries}, "an exact twin in another scope is another entry"
    report = shared.consolidate()
    for heir in report.heirs:
        members = [shared.get(parent) for parent in shared.get(heir).lineage]
        assert {member.scope for member in members} == {shared.get(heir).scope}
    first, second = shared.list(scope="mine", limit=1)[0], shared.list(scope="theirs", limit=1)[0]
    with pytest.raises(EarnestError, match="scope"):
        shared.merge([first.id, second.id])
    assert shared.check().ok


@pytest.fixture
def neighbours(tmp_path: Path) -> Iterator[tuple[Memory, Memory]]:
    """Two agents in one folder; the second one's every word is the canary."""
    with Memory.open(tmp_path, "a") as mine, Memory.open(tmp_path, "b") as theirs:
        mine.add("Old logs may be deleted after seven days.")
        mine.add("Backups run at night.")
        for n in range(5):
            theirs.add(
                f"Old logs {CANARY} {n} may be deleted.", cue=CANARY, scope=f"{CANARY}{n}" if n else "", sources=[CANARY], tags=[CANARY]
            )
        theirs.meters.add(CANARY)
        ticket = theirs.decide(f"{CANARY} old logs")
        assert ticket.id
        theirs.settle(ticket.id, delta=1.0, meter=CANARY, detail=CANARY)
        theirs.decide(f"{CANARY} old logs")
        theirs.forget(theirs.list(scope=ALL)[1].id, CANARY)
        yield mine, theirs


def test_nothing_crosses_agents(neighbours: tuple[Memory, Memory], tmp_path: Path) -> None:
    mine, theirs = neighbours
    foreign = theirs.list(scope=ALL)[0].id
    open_ticket = theirs.pending()[0].id
    reads: list[Callable[[], Any]] = [
        lambda: mine.search(CANARY, k=100, scope=ALL),
        lambda: mine.search("old logs may be deleted", k=100, scope=ALL),
        lambda: mine.answer("old logs", scope=ALL),
        lambda: mine.decide("old logs", scope=ALL),
        lambda: mine.list(scope=ALL),
        lambda: mine.list(scope=ALL, standing="dead"),
        mine.stats,
        mine.top,
        mine.pending,
        lambda: mine.events(limit=10_000),
        mine.audit,
        mine.doctor,
        mine.check,
        lambda: mine.meters.list(),
        lambda: mine.settings,
        lambda: mine.consolidate(dry_run=True),
        *(lambda entry=entry: mine.obituary(entry.id) for entry in mine.list(scope=ALL)),
        *(lambda entry=entry: mine.related(entry.id, 100, hops=5) for entry in mine.list(scope=ALL)),
        lambda: mine.graph().json(),
        lambda: mine.search("old logs may be deleted", k=100, scope=ALL, links=True),
        lambda: mine.decay_cleanup(dry_run=True),
    ]
    for read in reads:
        assert CANARY not in told(read())
    refusals: list[Callable[[], Any]] = [
        lambda: mine.get(foreign),
        lambda: mine.obituary(foreign),
        lambda: mine.forget(foreign),
        lambda: mine.update(foreign, importance=1.0),
        lambda: mine.pin(foreign),
        lambda: mine.feedback(foreign, "helpful"),
        lambda: mine.link(foreign, mine.list(scope=ALL)[0].id),
        lambda: mine.related(foreign),
        lambda: mine.graph(foreign),
        lambda: mine.events(entry=foreign),
        lambda: mine.list(after=foreign),
        lambda: Memory.open(tmp_path / "b.db", "a"),
    ]
    for refusal in refusals:
        with pytest.raises(EarnestError) as caught:
            refusal()
        assert CANARY not in str(caught.value)
    settled = mine.settle(open_ticket, delta=5.0)
    assert not settled.landed and CANARY not in told(settled)
    assert not mine.abandon(open_ticket)
    assert [ticket.id for ticket in theirs.pending()] == [open_ticket]
    copy = mine.backup(tmp_path / "copy.db")
    assert CANARY.encode() not in copy.read_bytes()
    mine.close()
    assert CANARY.encode() not in (tmp_path / "a.db").read_bytes()
    assert json.dumps(sorted(file.name for file in tmp_path.glob("*.db"))) == '["a.db", "b.db", "copy.db"]'


# the network


def _datagram(host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.sendto(b"x", (host, 53))


def test_the_guard_stops_and_reports_connections(outbound: list[str]) -> None:
    attempts: list[Callable[[], Any]] = [
        lambda: socket.create_connection(("192.0.2.1", 80), timeout=0.1),
        lambda: socket.getaddrinfo("example.org", 443),
        lambda: _datagram("192.0.2.1"),
    ]
    for number, attempt in enumerate(attempts, 1):
        with pytest.raises(OSError, match="must not reach the network"):
            attempt()
        assert len(outbound) == number
    outbound.clear()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        socket.create_connection(listening.getsockname(), timeout=5).close()
    assert outbound == []


def test_the_main_job_opens_no_socket(tmp_path: Path) -> None:
    """In a process of its own, where even a socket to this machine would be an error."""
    code = """
import sys
def watch(event, arguments):
    if event.startswith("socket."):
        raise SystemExit(f"{event} {arguments}")
sys.addaudithook(watch)
from earnest import Memory
from earnest.encoding import demo_corpus
with Memory.open(sys.argv[1]) as memory:
    memory.encode(demo_corpus())
    ticket = memory.decide("Is it safe to delete old log files?")
    memory.settle(ticket.id, delta=1.0)
    memory.tick(); memory.doctor(); memory.check(); memory.consolidate()
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "m.db")], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "fine\n", done.stdout + done.stderr
