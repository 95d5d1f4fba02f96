"""The MCP server over the standard streams, by hand: every frame is answered, nothing else is printed, it ends with its client."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from earnest import Memory
from tests.mcp_server import INITIALIZE, Server, command

PAST = 20.0
"""Seconds after which a process that was to end is taken for one that never will; the machine may be busy."""


def test_every_frame_is_answered_with_the_code_that_the_protocol_has_for_it(tmp_path: Path) -> None:
    with Server(tmp_path / "memory.db", greet=False) as server:
        server.send(INITIALIZE)
        assert server.answer("hello")["result"]["protocolVersion"] == "2025-06-18"
        server.send({"jsonrpc": "2.0", "id": "a-1", "method": "tools/list"})
        assert len(server.answer("a-1")["result"]["tools"]) >= 18
        server.send({"jsonrpc": "2.0", "id": 0, "method": "ping"})
        assert server.answer(0)["result"] == {}
        for frame, code, name in (
            (b"not json", -32700, None), (b"\xff\xfe", -32700, None), (b"{" * 100_000, -32700, None),
            (b"[]", -32600, None), (b"null", -32600, None),
            (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None), (b'{"id":4,"method":"ping"}', -32600, 4), (b'"x"', -32600, None),
            (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None), (b'{"jsonrpc":"1.0","id":"z","method":"ping"}', -32600, "z"),
            (b'{"jsonrpc":"2.0","id":3,"method":"no/such"}', -32601, 3),
        ):  # fmt: skip
            server.send(b"")
            server.send(frame)
            made = server.next()
            assert (made["error"]["code"], made["id"]) == (code, name), frame[:60]
        server.send({**INITIALIZE, "id": 8, "params": {**INITIALIZE["params"], "protocolVersion": "1999-01-01"}})  # type: ignore[dict-item]
        again = server.answer(8)
        assert again.get("result", {}).get("protocolVersion") != "1999-01-01"
        unknown = server.call("memory_sarch", query="x")
        assert unknown["isError"] and "memory_search" in unknown["content"][0]["text"]
        made = server.call("memory_search")
        assert made["isError"] and "query" in made["content"][0]["text"]
        added = server.get("memory_add", text="line one\nline two \u2028 \u2029 \x85 🚀")
        assert added["text"].startswith("line one\nline two") and "🚀" in added["text"]
        assert server.rest() == []
        assert server.process.returncode == 0
    assert all(len(line.decode("utf-8").splitlines()) == 1 for line in server.lines), "a reader that splits at other line ends would err"
    with Memory.open(tmp_path / "memory.db") as memory:
        assert memory.check().ok and memory.stats().alive == 1


def test_a_client_that_pipes_its_requests_in_and_closes_gets_its_answers(tmp_path: Path) -> None:
    frames = [INITIALIZE, *({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "memory_stats"}} for i in range(5))]
    data = "\n".join(json.dumps(frame) for frame in frames).encode()  # and no line end at the end
    done = subprocess.run(command(tmp_path / "memory.db"), input=data, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert sorted(str(json.loads(line)["id"]) for line in done.stdout.splitlines()) == sorted(["hello", *map(str, range(5))])


NOISY = """
import os, sys
print("a banner on import")
os.write(1, b"from below Python\\n")
sys.stdout.write("half a line")
import earnest.memory
opened = earnest.memory.Memory.open
def noisy(*args, **kwargs):
    print("progress: 50 %", flush=True)
    os.system("echo from a child process")
    return opened(*args, **kwargs)
earnest.memory.Memory.open = noisy
"""


def test_nothing_but_the_protocol_is_printed_whatever_a_library_does(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    # Imported while the server is being put together, as an embedder's package would be.
    starter = tmp_path / "starter.py"
    starter.write_text(
        "import sys\nfrom earnest.mcp import wire\nmade = wire.Wire.__init__\n"
        "def taken(self):\n    made(self)\n    import noisy\n"
        "wire.Wire.__init__ = taken\nfrom earnest.cli.main import main\nsys.exit(main())\n",
        encoding="utf-8",
    )
    frames = [INITIALIZE, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_stats"}}]
    done = subprocess.run(
        [sys.executable, str(starter), "mcp", "--store", str(tmp_path / "memory.db")], input="\n".join(map(json.dumps, frames)).encode(),
        capture_output=True, timeout=60, check=False, env={**os.environ, "EARNEST_LOG": "debug"},
    )  # fmt: skip
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["id"] for one in said] == ["hello", 1] and not said[1]["result"]["isError"]
    for noise in (b"a banner on import", b"from below Python", b"progress: 50 %", b"from a child process", b"DEBUG"):
        assert noise in done.stderr
    assert done.returncode == 0


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def _until_gone(pid: int) -> None:
    begun = time.monotonic()
    while not _gone(pid):
        assert time.monotonic() - begun < PAST, "it outlived its client"
        time.sleep(0.05)


if sys.platform != "win32":

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_a_signal_ends_it_and_the_store_is_whole(tmp_path: Path, number: signal.Signals) -> None:
        with Server(tmp_path / "memory.db") as server:
            server.get("memory_add", text="The gate code changed.")
            server.process.send_signal(number)
            assert server.process.wait(PAST) == 0
        assert not (tmp_path / "memory.db-wal").exists(), "the store was not closed"
        with Memory.open(tmp_path / "memory.db") as memory:
            assert memory.check().ok and memory.stats().alive == 1

    def test_it_ends_when_the_process_that_started_it_dies_though_its_input_stays_open(tmp_path: Path) -> None:
        reading, writing = os.pipe()
        parent = subprocess.Popen(
            [sys.executable, "-c",
             "import subprocess, sys, time\n"
             "child = subprocess.Popen(sys.argv[1:], stdin=0)\n"
             "print(child.pid, file=sys.stderr, flush=True)\n"
             "time.sleep(600)", *command(tmp_path / "memory.db")],
            stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        os.close(reading)
        assert parent.stderr is not None and parent.stdout is not None
        child = int(parent.stderr.readline())
        os.write(writing, json.dumps(INITIALIZE).encode() + b"\n")
        assert b"protocolVersion" in parent.stdout.readline()
        parent.kill()
        parent.wait(PAST)
        _until_gone(child)
        os.close(writing)
        parent.stdout.close()
        parent.stderr.close()

    def test_a_client_that_dies_without_a_word_ends_it(tmp_path: Path) -> None:
        with Server(tmp_path / "memory.db") as server:
            assert server.process.stdin is not None and server.process.stdout is not None
            server.process.stdin.close()
            assert server.process.wait(PAST) == 0


def test_a_client_that_floods_fills_no_memory_and_loses_no_answer(tmp_path: Path) -> None:
    count, size = 1_000, 4_000
    with Server(tmp_path / "memory.db") as server:
        server.get("memory_add", text="A walrus is large.")
        junk = "x" * size
        for i in range(count):
            server.send(
                {
                    "jsonrpc": "2.0",
                    "id": i,
                    "method": "tools/call",
                    "params": {"name": "memory_search", "arguments": {"query": junk[: i % size + 1]}},
                }
            )
        answered = {server.next()["id"] for _ in range(count)}
        assert answered == set(range(count))
        if sys.platform == "linux":
            status = Path(f"/proc/{server.process.pid}/status").read_text()
            peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
            assert peak < 400_000, f"{peak} kB"
        assert server.get("memory_stats")["alive"] == 1


def test_a_cancelled_request_is_not_answered_and_frees_its_place(tmp_path: Path) -> None:
    with Server(tmp_path / "memory.db") as server:
        for i in range(200):
            server.send(
                {"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "memory_add", "arguments": {"text": f"Fact {i}."}}}
            )
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}})
        # More of them than may wait at once: had one kept its place, this would not be answered.
        assert server.get("memory_stats")["total"] <= 200
        assert server.call("memory_add", text="And one more.")["isError"] is False


def test_arguments_that_are_no_object_are_read_or_refused_by_name(tmp_path: Path) -> None:
    with Server(tmp_path / "memory.db") as server:
        for number, (given, well) in enumerate(
            (
                ([], False),
                ('{"query":', False),
                (7, False),
                ("x", False),
                ('{"query": "x"}', True),
                ('{"query": null}', False),
                (None, False),
            )
        ):
            server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "memory_search", "arguments": given}})
            made = server.answer(number)["result"]
            assert made["isError"] is not well, (given, made)
            assert well or made["content"][0]["text"].startswith(("arguments = ", "query = "))


def test_a_message_that_is_too_long_is_refused_and_the_next_one_is_read(tmp_path: Path) -> None:
    with Server(tmp_path / "memory.db") as server:
        server.send(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * 17_000_000 + b'"}}')
        made = server.next()
        assert made["error"]["code"] == -32600 and "16,000,000" in made["error"]["message"] and made["id"] is None
        server.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        assert server.next()["id"] == 2


def test_two_servers_and_a_program_share_one_file(tmp_path: Path) -> None:
    with Server(tmp_path / "memory.db") as one, Server(tmp_path / "memory.db") as other, Memory.open(tmp_path / "memory.db") as memory:
        for i in range(20):
            for name, server in (("one", one), ("other", other)):
                server.send(
                    {"jsonrpc": "2.0", "id": f"{name}-{i}", "method": "tools/call",
                     "params": {"name": "memory_add", "arguments": {"text": f"Fact {i} of {name}."}}}
                )  # fmt: skip
        for name, server in (("one", one), ("other", other)):
            answers = [server.next() for _ in range(20)]
            assert {made["id"] for made in answers} == {f"{name}-{i}" for i in range(20)}
            assert not any(made["result"]["isError"] for made in answers)
        assert one.get("memory_stats")["alive"] == other.get("memory_stats")["alive"] == memory.stats().alive == 40
        ticket = one.get("memory_query", query="What is fact 7 of other?")["ticket_id"]
        assert other.get("memory_settle", ticket_id=ticket, delta=1, meter="ci")["landed"] is True
        again = one.get("memory_settle", ticket_id=ticket, delta=1, meter="ci")
        assert again["landed"] is False and again["reason"]
        assert memory.check().ok


def test_a_store_that_cannot_be_opened_is_each_calls_error_and_the_server_stays(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"this is no store" * 1_000)
    with Server(path) as server:
        made = server.call("memory_stats")
        assert made["isError"] and "memory.db" in made["content"][0]["text"]
        path.unlink()
        assert server.get("memory_stats")["alive"] == 0


def test_a_file_that_is_replaced_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Server(path) as server:
        server.get("memory_add", text="The old fact.")
        for name in tmp_path.iterdir():
            name.unlink()
        first = server.call("memory_stats")
        assert first["isError"] or first["structuredContent"]["alive"] == 0
        assert server.get("memory_stats")["alive"] == 0


@pytest.mark.parametrize(("options", "environ", "status", "said"), [
    (["--port", "80"], {}, 2, "--http"),
    (["--http", "--port", "0"], {}, 2, "--port"),
    (["--http", "--host", "0.0.0.0"], {}, 2, "EARNEST_TOKEN"),
    (["--http"], {"EARNEST_TOKEN": "short"}, 2, "EARNEST_TOKEN"),
    (["--profile", "root"], {}, 2, "profile"),
    ([], {"EARNEST_LOG": "loud"}, 2, "EARNEST_LOG"),
])  # fmt: skip
def test_wrong_usage_is_one_line(tmp_path: Path, options: list[str], environ: dict[str, str], status: int, said: str) -> None:
    done = subprocess.run(
        command(tmp_path / "memory.db", *options), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, **environ},
    )  # fmt: skip
    assert done.returncode == status and said in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(
            command(tmp_path / "memory.db", "--http", "--port", str(taken.getsockname()[1])), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 2 and "port = " in done.stderr and "another" in done.stderr and len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("missing", ["mcp", "mcp_types"])
def test_without_the_extra_it_says_which_one_is_needed(tmp_path: Path, missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from earnest.cli.main import main; sys.exit(main(['mcp', '--store', 'memory.db']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    assert done.returncode == 2 and "needs the extra `mcp`: `pip install " in done.stderr
    assert done.stdout == "" and [*tmp_path.iterdir()] == []


def test_nothing_of_the_sdk_is_imported_before_the_output_is_the_protocols(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom earnest.mcp import wire\n"
        "heavy = ('mcp', 'mcp_types', 'anyio', 'apsw')\n"
        "def taken(self):\n    sys.stderr.write(repr(sorted(name for name in sys.modules if name.split('.')[0] in heavy)))\n"
        "    sys.exit(0)\nwire.Wire.__init__ = taken\nfrom earnest.cli.main import main\nmain(['mcp', '--store', 'memory.db'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    assert done.stderr == "[]"
