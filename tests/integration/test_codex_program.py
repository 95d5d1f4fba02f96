"""The real Codex with the server that the documented line adds, driven by a model that the test scripts: it asks, and it settles."""

from __future__ import annotations

import http.server
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory

PACKAGE: Final = "@openai/codex@0.171.0"
LESSON: Final = "Run the migrations before the smoke tests."
PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "mcp.md"


class Model(http.server.BaseHTTPRequestHandler):
    """Speaks the Responses API as a stream: asks memory, settles the ticket that it was given, and says that it is done."""

    asked: list[dict[str, Any]]

    def log_message(self, *args: Any) -> None:
        """Says nothing."""

    def _call(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "function_call", "id": f"fc_{len(self.asked)}", "call_id": f"call_{len(self.asked)}", "namespace": "mcp__earnest",
            "name": tool, "arguments": json.dumps(given),
        }  # fmt: skip

    def _step(self) -> dict[str, Any]:
        """The next thing that the model says, after what the last call gave it."""
        if len(self.asked) == 1:
            return self._call("memory_query", {"query": "Should migrations run before the smoke tests?"})
        if len(self.asked) == 2:
            found = re.search(r"\"ticket_id\":\s*\"(\w+)\"", self.asked[-1]["input"][-1]["output"])
            ticket = found[1] if found else "none"
            return self._call("memory_settle", {"ticket_id": ticket, "delta": 3, "meter": "ci", "detail": "three more tests pass"})
        return {
            "type": "message",
            "role": "assistant",
            "id": "msg_1",
            "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
        }

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in (
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": self._step()},
            {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
        ):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


@pytest.fixture
def model() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    class Scripted(Model):
        """One for each test."""

    Scripted.asked = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", Scripted.asked
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def codex(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, from its package."""
    folder = tmp_path_factory.mktemp("codex")
    subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE], check=True, capture_output=True, timeout=900
    )
    return folder / "node_modules" / ".bin" / "codex"


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_codex_lists_the_documented_server_calls_its_tools_and_the_ticket_is_settled(
    codex: Path, model: tuple[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    address, asked = model
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".earnest").mkdir(parents=True)
    home.mkdir()
    with Memory.open(project / ".earnest" / "memory.db", embedder="none") as memory:
        memory.add(LESSON, sources=["retro-12"])
    environment = {
        **os.environ, "HOME": str(home), "CODEX_HOME": str(home), "OPENAI_API_KEY": "none", "EARNEST_EMBEDDER": "none",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip

    def run(*arguments: str) -> str:
        told = subprocess.run(
            [codex, *arguments],
            cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert told.returncode == 0, told.stdout + told.stderr
        return told.stdout

    line = "mcp add earnest -- earnest mcp --store .earnest/memory.db"
    block = '[mcp_servers.earnest]\ncommand = "earnest"\nargs = ["mcp", "--store", ".earnest/memory.db"]\n'
    page = PAGE.read_text(encoding="utf-8")
    assert f"codex {line}\n" in page
    assert block in page
    run(*line.split())
    assert (home / "config.toml").read_text(encoding="utf-8") == block, "what the line writes is not what the page shows"
    [listed] = json.loads(run("mcp", "list", "--json"))
    assert (listed["name"], listed["enabled"], listed["transport"]["args"]) == ("earnest", True, ["mcp", "--store", ".earnest/memory.db"])
    run(
        "exec", "--skip-git-repo-check", "-m", "scripted", "-c", "model_provider=scripted", "-c", "mcp_servers.earnest.required=true",
        "-c", f'model_providers.scripted={{name="scripted",base_url="{address}",wire_api="responses",env_key="OPENAI_API_KEY"}}',
        "Should migrations run first?",
    )  # fmt: skip
    offered = {tool["name"] for tools in asked[0]["tools"] if tools.get("name") == "mcp__earnest" for tool in tools["tools"]}
    assert {"memory_query", "memory_settle", "memory_abandon"} <= offered
    assert LESSON in asked[1]["input"][-1]["output"], "the model was never shown the lesson"
    with Memory.open(project / ".earnest" / "memory.db", embedder="none") as memory:
        [settled] = memory.events(kind="settle")
        assert (settled.data["delta"], settled.data["meter"], settled.data["tier"]) == (3.0, "ci", "claimed")
        assert memory.pending() == []
