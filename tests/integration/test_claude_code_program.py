"""The real Claude Code, driven by a model that the test scripts: what its hooks get, what the agent sees, what memory learns."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.integrations.claude_code import hook

SDK: Final = "claude-agent-sdk==0.2.189"
LESSON: Final = "Use an inclusive upper bound in clamp."


class Model(http.server.BaseHTTPRequestHandler):
    """Speaks the Messages API as a stream: one step of the script for each request that brings tools."""

    script: list[dict[str, Any]]
    asked: list[dict[str, Any]]

    def log_message(self, *args: Any) -> None:
        """Says nothing."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(body)
        step = self.script.pop(0) if body.get("tools") and self.script else {"text": "ok"}
        tool = "tool" in step
        block: dict[str, Any] = (
            {"type": "tool_use", "id": f"toolu_{len(self.asked):04d}", "name": step["tool"], "input": {}}
            if tool
            else {"type": "text", "text": ""}
        )
        delta = (
            {"type": "input_json_delta", "partial_json": json.dumps(step["input"])}
            if tool
            else {"type": "text_delta", "text": step["text"]}
        )
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        ended = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in (
            {"type": "message_start", "message": message}, {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}}, {"type": "message_stop"},
        ):  # fmt: skip
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


@pytest.fixture
def model() -> Iterator[tuple[str, type[Model]]]:
    class Scripted(Model):
        """One for each test."""

    Scripted.script, Scripted.asked = [], []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", Scripted
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def claude(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, from the package that brings it."""
    folder = tmp_path_factory.mktemp("claude")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", SDK], check=True, capture_output=True, timeout=900)
    [program] = folder.glob("lib/*/site-packages/claude_agent_sdk/_bundled/claude")
    return program


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_the_plug_in_is_valid_recalls_and_settles_in_the_real_program(claude: Path, model: tuple[str, type[Model]], tmp_path: Path) -> None:
    address, scripted = model
    project, plugin = tmp_path / "project", tmp_path / "plugin"
    (project / ".earnest").mkdir(parents=True)
    (project / "calc.py").write_text("def clamp(x, top):\n    return x if x < top else top - 1\n")
    (project / "test_calc.py").write_text("from calc import clamp\n\n\ndef test_clamp():\n    assert clamp(5, 5) == 5\n")
    store = project / ".earnest" / "memory.db"
    with Memory.open(store, embedder="none") as memory:
        memory.add(LESSON, sources=["retro"])
    environment = {
        **os.environ, "HOME": str(tmp_path / "home"), "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none", "EARNEST_EMBEDDER": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    (tmp_path / "home").mkdir()
    subprocess.run([sys.executable, "-m", "earnest", "--store", str(store), "claude-code", str(plugin)], check=True, capture_output=True)
    valid = subprocess.run(
        [claude, "plugin", "validate", "--strict", plugin], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert valid.returncode == 0, valid.stdout + valid.stderr
    run = {"command": "python -m pytest -q -p no:cacheprovider", "description": "run the tests"}
    scripted.script += [
        {"tool": "Bash", "input": run},
        {"tool": "Write", "input": {"file_path": str(project / "calc.py"), "content": "def clamp(x, top):\n    return min(x, top)\n"}},
        {"tool": "Bash", "input": run},
        {"text": "Done."},
    ]
    subprocess.run(
        [claude, "-p", "How should clamp treat its upper bound?", "--plugin-dir", plugin, "--allowedTools", "Bash", "Write"],
        cwd=project, env=environment, check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    assert scripted.script == []
    assert any(LESSON in json.dumps(body) for body in scripted.asked), "the agent was never shown the lesson"
    with Memory.open(store, embedder="none") as memory:
        [settled] = memory.events(kind="settle")
        assert (settled.data["delta"], settled.data["meter"], settled.data["tier"]) == (1.0, hook.METER, "measured")
        assert memory.pending() == []
