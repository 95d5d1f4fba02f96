"""The real Gemini CLI and opencode with the server as the page adds it, driven by models that the test scripts: ask, and settle."""

from __future__ import annotations

import http.server
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory

GEMINI: Final = "@google/gemini-cli@0.61.0"
OPENCODE: Final = "opencode-ai@1.18.33"
LESSON: Final = "Run the migrations before the smoke tests."
QUESTION: Final = "Should migrations run before the smoke tests?"
PAGE: Final = (Path(__file__).resolve().parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")

Step = tuple[str, dict[str, Any]] | None
"""A tool that the scripted model calls, with what it gives it; None where it only talks."""


def step(tools: list[str], told: list[Any]) -> Step:
    """What the model does next, from the tools that it is offered and what the calls so far gave it: ask memory, settle, be done."""
    named = {name: tool for tool in tools for name in ("memory_query", "memory_settle") if tool.endswith(name)}
    if len(named) < 2 or len(told) > 1:
        return None
    if not told:
        return named["memory_query"], {"query": QUESTION}
    found = re.search(r"ticket_id\W+(\w+)", json.dumps(told[0]))
    return named["memory_settle"], {
        "ticket_id": found[1] if found else "none", "delta": 3, "meter": "ci", "detail": "three more tests pass",
    }  # fmt: skip


class Asked(http.server.BaseHTTPRequestHandler):
    """A model's service; `said` keeps what each call of a tool gave back."""

    said: list[Any]

    def log_message(self, *args: Any) -> None:
        """Says nothing."""

    def body(self) -> dict[str, Any]:
        """What was sent."""
        made: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
        return made

    def stream(self, *events: str) -> None:
        """Answer with these events."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write("".join(f"data: {event}\n\n" for event in events).encode())


class GeminiModel(Asked):
    """The Gemini API, as far as the program needs it."""

    def do_POST(self) -> None:
        sent = self.body()
        tools = [one["name"] for group in sent.get("tools", []) for one in group.get("functionDeclarations", [])]
        parts = [part for turn in sent["contents"] for part in turn.get("parts", [])]
        told = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        self.said[:] = told if len(told) > len(self.said) else self.said
        does = step(tools, told)
        part = {"text": "Done."} if does is None else {"functionCall": {"name": does[0], "args": does[1]}}
        self.stream(json.dumps({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}]}))


class ChatModel(Asked):
    """The chat completions of OpenAI, as far as the program needs them."""

    def do_POST(self) -> None:
        sent = self.body()
        told = [message["content"] for message in sent["messages"] if message["role"] == "tool"]
        self.said[:] = told if len(told) > len(self.said) else self.said
        does = step([one["function"]["name"] for one in sent.get("tools", [])], told)
        says: dict[str, Any] = {"role": "assistant", "content": "Done."}
        if does is not None:
            call = {"index": 0, "id": f"call_{len(told)}", "type": "function"}
            says = {"role": "assistant", "tool_calls": [call | {"function": {"name": does[0], "arguments": json.dumps(does[1])}}]}
        head = {"id": "chat", "object": "chat.completion.chunk", "created": 1, "model": sent["model"]}
        end = {"index": 0, "delta": {}, "finish_reason": "stop" if does is None else "tool_calls"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self.stream(
            json.dumps(head | {"choices": [{"index": 0, "delta": says, "finish_reason": None}]}),
            json.dumps(head | {"choices": [end], "usage": usage}), "[DONE]",
        )  # fmt: skip


@contextmanager
def scripted(model: type[Asked]) -> Iterator[tuple[str, list[Any]]]:
    """A model's service of one's own: its address, and what calls of tools gave it."""
    made = type("Scripted", (model,), {"said": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), made)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", made.said  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Installs a program from its package, and says where it is."""

    def installed(package: str, name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        asked = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), package]
        subprocess.run(asked, check=True, capture_output=True, timeout=900)
        return folder / "node_modules" / ".bin" / name

    return installed


def project_with_a_lesson(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A project that remembers something, and the environment of a program whose home is empty."""
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".earnest").mkdir(parents=True)
    home.mkdir()
    with Memory.open(project / ".earnest" / "memory.db", embedder="none") as memory:
        memory.add(LESSON, sources=["retro-12"])
    return project, {
        **os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "EARNEST_EMBEDDER": "none", "PWD": str(project),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip


def run(project: Path, environment: dict[str, str], *words: str | Path) -> None:
    """Run a program in a project to its end."""
    told = subprocess.run(
        words, cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr


def asked_and_settled(project: Path, said: list[Any]) -> None:
    """Assert that the model was shown the lesson, and that its outcome landed as what an agent claims."""
    assert said and LESSON in json.dumps(said[0]), "the model was never shown the lesson"
    with Memory.open(project / ".earnest" / "memory.db", embedder="none") as memory:
        [settled] = memory.events(kind="settle")
        assert (settled.data["delta"], settled.data["meter"], settled.data["tier"]) == (3.0, "ci", "claimed")
        assert memory.pending() == []


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_gemini_cli_calls_the_tools_of_the_documented_server_and_the_ticket_is_settled(
    program: Callable[[str, str], Path], tmp_path: Path
) -> None:
    gemini = program(GEMINI, "gemini")
    project, environment = project_with_a_lesson(tmp_path)
    line = "mcp add earnest earnest mcp --store .earnest/memory.db"
    assert f"gemini {line}\n" in PAGE
    own = tmp_path / "home" / ".gemini" / "settings.json"
    own.parent.mkdir()
    own.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}))
    with scripted(GeminiModel) as (address, said):
        environment |= {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": address, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        run(project, environment, gemini, *line.split())
        run(
            project, environment, gemini, "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust", "-p", "Run migrations first?"
        )
    asked_and_settled(project, said)


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_opencode_calls_the_tools_of_the_documented_server_and_the_ticket_is_settled(
    program: Callable[[str, str], Path], tmp_path: Path
) -> None:
    opencode = program(OPENCODE, "opencode")
    project, environment = project_with_a_lesson(tmp_path)
    block = next(part for part in re.findall(r"```text\n(\{.*?\n\})\n```", PAGE, re.DOTALL) if '"local"' in part)
    with scripted(ChatModel) as (address, said):
        provider = {
            "npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": {"baseURL": f"{address}/v1", "apiKey": "none"},
            "models": {"scripted": {"name": "scripted", "tool_call": True}},
        }  # fmt: skip
        config = json.loads(block) | {
            "provider": {"scripted": provider}, "model": "scripted/scripted", "small_model": "scripted/scripted",
            "autoupdate": False, "share": "disabled",
        }  # fmt: skip
        (project / "opencode.json").write_text(json.dumps(config))
        run(project, environment, opencode, "run", "Run migrations first?")
    asked_and_settled(project, said)
