"""`earnest serve` as a process: many clients, several servers on one folder, hostile connections, tokens, and an end that loses nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from earnest.http.tokens import FOLDER
from earnest.memory import Memory
from tests.mcp_server import Server as Tools
from tests.rest import TOKEN, Server, serving, until

AGENT: Final = "/v1/agents/ops"


def cli(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "earnest", *words], capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **environ}
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("root"), "--rate", "0") as made:
        yield made


def test_two_servers_the_command_line_and_an_agent_over_mcp_work_on_one_file_at_once_and_lose_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    with serving(root, "--rate", "0") as one, serving(root, "--rate", "0") as two:
        one.ask("POST", f"{AGENT}/entries", {"text": "Log files under logs/ may be deleted after seven days."})

        def work(number: int) -> list[Any]:
            server = (one, two)[number % 2]
            made: list[Any] = []
            for turn in range(8):
                text = {"text": f"Worker {number} noted fact {turn}."}
                made.append(
                    json.loads(server.ask("POST", f"{AGENT}/entries", text, headers={"Idempotency-Key": f"{number}-{turn}"}).body)["id"]
                )
                ticket = json.loads(server.ask("POST", f"{AGENT}/decisions", {"query": "May old log files be deleted?"}).body)["id"]
                statuses = [s.ask("POST", f"{AGENT}/decisions/{ticket}/settlement", {"delta": 1}).status for s in (one, two)]
                assert sorted(statuses) == [200, 409]
            return made

        def learn() -> list[Any]:
            with Tools(root / "ops.db") as agent:
                made = []
                for turn in range(8):
                    made.append(agent.get("memory_add", text=f"The agent noted fact {turn}.")["id"])
                    ticket = agent.get("memory_query", query="May old log files be deleted?")["ticket_id"]
                    assert agent.get("memory_settle", ticket_id=ticket, delta=1, meter="agent")["landed"] is True
            return made

        with ThreadPoolExecutor(8) as pool:
            typed = pool.submit(lambda: [cli("remember", f"Typed {n}.", "--store", f"{root}/", "--agent", "ops") for n in range(4)])
            learned = pool.submit(learn)
            ids = [entry for made in pool.map(work, range(6)) for entry in made] + learned.result()
            assert all(done.returncode == 0 for done in typed.result())
        assert one.end()[0] == two.end()[0] == 0
    with Memory.open(root, "ops") as memory:
        stats = memory.stats()
        assert (stats.alive, stats.settled, stats.pending) == (1 + 48 + 4 + 8, 48 + 8, 0)
        assert {entry.id for entry in memory.list()} >= set(ids)
        assert memory.check().ok


def test_a_server_that_is_told_to_end_finishes_what_runs_and_refuses_the_rest(tmp_path: Path) -> None:
    with serving(tmp_path, "--rate", "0") as server:
        acknowledged: list[str] = []
        stopped = threading.Event()

        def write(number: int) -> None:
            turn = 0
            while not stopped.is_set():
                text = f"Worker {number} noted fact {turn}."
                try:
                    if server.ask("POST", f"{AGENT}/entries", {"text": text}).status == 201:
                        acknowledged.append(text)
                except OSError:
                    return
                turn += 1

        workers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for worker in workers:
            worker.start()
        assert until(20, lambda: len(acknowledged) > 20)
        status, said = server.end(signal.SIGTERM)
        stopped.set()
        for worker in workers:
            worker.join()
        assert (status, said) == (0, "")
        with pytest.raises(OSError):
            server.ask("GET", "/healthz")
    assert not [*tmp_path.glob("*-wal")], "the memories were closed"
    with Memory.open(tmp_path, "ops") as memory:
        texts = {entry.text for entry in memory.list()}
        assert texts >= set(acknowledged) and memory.check().ok


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_idle_server_ends_with_status_0(tmp_path: Path, number: int) -> None:
    with serving(tmp_path) as server:
        assert server.ask("GET", "/readyz").status == 200
        assert server.end(number) == (0, "")


def test_a_killed_server_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    with serving(tmp_path, "--rate", "0") as server:
        texts = [f"Fact {number}." for number in range(10)]
        for text in texts:
            assert server.ask("POST", f"{AGENT}/entries", {"text": text}).status == 201
        server.process.kill()
    with Memory.open(tmp_path, "ops") as memory:
        assert [entry.text for entry in memory.list()] == texts and memory.check().ok


# tokens and the command


def test_a_token_from_the_command_line_opens_one_agent_until_it_is_revoked(tmp_path: Path) -> None:
    root = str(tmp_path / "root")
    made = cli("serve", "token", "bot", "--agent", "ops", "--root", root)
    token = made.stdout.strip()
    assert made.returncode == 0 and token.startswith("earnest_") and token not in made.stderr
    assert "bot" in cli("serve", "token", "--list", "--root", root).stdout
    assert cli("serve", "token", "bot", "--agent", "ops", "--root", root).returncode == 2
    with serving(Path(root), token="") as server:
        server.token = token
        assert server.ask("POST", f"{AGENT}/entries", {"text": "Mine."}).status == 201
        assert server.ask("GET", "/v1/agents/other/entries").status == 403
        assert cli("serve", "token", "--revoke", "bot", "--root", root).returncode == 0
        assert server.ask("GET", f"{AGENT}/entries").status == 401
        status, said = server.end()
        assert status == 0 and token not in said
    for file in (tmp_path / "root").rglob("*"):
        assert not file.is_file() or token.encode() not in file.read_bytes()
    assert (tmp_path / "root" / FOLDER).is_dir()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_it_does_not_listen_to_other_machines_without_a_token(tmp_path: Path, host: str) -> None:
    done = cli("serve", "--root", str(tmp_path), "--host", host, "--port", "0")
    assert done.returncode == 2 and "token" in done.stderr and done.stdout == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--root"), (["--root", "FILE"], "is a file"), (["--root", "ROOT", "--port", "70000"], "--port"),
        (["--root", "ROOT", "--host", "nowhere.invalid"], "cannot be listened on"), (["--root", "ROOT", "--list"], "token"),
        (["--root", "ROOT", "--rate", "-1"], "--rate"), (["token", "--root", "ROOT"], "name"),
        (["token", "x", "--root", "ROOT"], "agent"), (["token", "x", "--root", "ROOT", "--port", "1"], "--port"),
        (["token", "--revoke", "x", "--root", "ROOT"], "no such token"), (["name", "--root", "ROOT"], "invalid choice"),
    ],
)  # fmt: skip
def test_wrong_words_are_told_the_right_ones(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "file").write_text("x")
    places = {"FILE": str(tmp_path / "file"), "ROOT": str(tmp_path / "root")}
    done = cli("serve", *[places.get(word, word) for word in words], EARNEST_TOKEN=TOKEN)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_weak_token_in_the_environment_starts_nothing_and_is_not_shown(tmp_path: Path) -> None:
    done = cli("serve", "--root", str(tmp_path), "--port", "0", EARNEST_TOKEN="swordfish")
    assert done.returncode == 2 and "EARNEST_TOKEN" in done.stderr and "swordfish" not in done.stderr


def test_without_a_token_and_without_anybody_to_see_one_it_says_how_to_make_one(tmp_path: Path) -> None:
    done = cli("serve", "--root", str(tmp_path), "--port", "0", EARNEST_TOKEN="")
    assert done.returncode == 2 and "earnest serve token" in done.stderr


def test_a_taken_port_is_named(tmp_path: Path, server: Server) -> None:
    done = cli("serve", "--root", str(tmp_path), "--port", str(server.port), EARNEST_TOKEN=TOKEN)
    assert done.returncode == 2 and str(server.port) in done.stderr


def test_another_name_is_answered_to_where_it_was_allowed(tmp_path: Path) -> None:
    with serving(tmp_path, "--allow-host", "memory.example", "--allow-origin", "https://notes.example") as server:
        assert server.ask("GET", "/v1/session", headers={"Host": "memory.example"}).status == 200
        assert server.ask("GET", "/v1/session", headers={"Host": "other.example"}).status == 403
        assert server.ask("GET", "/v1/session", headers={"Origin": "https://notes.example"}).status == 200
        assert server.ask("GET", "/v1/session", headers={"Origin": "https://other.example"}).status == 403


def test_the_tools_of_agents_and_the_dashboard_are_served_beside_it(server: Server) -> None:
    page = server.ask("GET", "/")
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    initialize = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
    }  # fmt: skip
    both = {"Accept": "application/json, text/event-stream"}
    assert server.ask("POST", "/mcp", initialize, headers={**both, "Authorization": "Bearer wrong"}).status == 401
    answer = server.ask("POST", "/mcp/ops", initialize, headers=both)
    assert answer.status == 200 and json.loads(answer.body)["result"]["serverInfo"]["name"] == "earnest"
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_add", "arguments": {"text": "Said by an agent."}}}
    assert server.ask("POST", "/mcp/mcp-agent", call, headers=both).status == 200
    [event] = json.loads(server.ask("GET", "/v1/agents/mcp-agent/events?kind=add").body)["items"]
    assert (event["actor"], event["channel"]) == ("EARNEST_TOKEN", "mcp")
    assert server.ask("POST", "/mcp/..%2Fops", call, headers=both).status == 422
