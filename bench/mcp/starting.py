"""Starting servers, and calling a warm one: processes over pipes, one frame a line, times from the outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

EMPTY: Final = """
import asyncio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import ListToolsResult

async def none(ctx, params):
    return ListToolsResult(tools=[])

async def main():
    server = Server("empty", on_list_tools=none)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

asyncio.run(main())
"""
"""The least that answers on the same SDK: its low-level server on its own transport, without a tool."""

ARMS: Final = ("empty", "earnest, new store", "earnest, full store")
_INITIALIZE: Final = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}


class Started(NamedTuple):
    """Milliseconds from the start of the process: until it answers `initialize`, lists its tools, and answers a first call (None where
    there is none)."""

    initialized: float
    listed: float
    called: float | None


class Line:
    """A server over pipes."""

    def __init__(self, arm: str, store: Path) -> None:
        command = ["-c", EMPTY] if arm == "empty" else ["-m", "earnest", "mcp", "--store", str(store)]
        self.begun = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "EARNEST_EMBEDDER": "none"},
        )  # fmt: skip
        self._id = 0

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """A request's result."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._id += 1
        frame = {"jsonrpc": "2.0", "id": self._id, "method": method} | ({} if params is None else {"params": params})
        self._process.stdin.write(json.dumps(frame).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        made: dict[str, Any] = answer["result"]
        assert answer["id"] == self._id and not made.get("isError"), answer
        return made

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool gives back."""
        made: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})["structuredContent"]
        return made

    def since(self) -> float:
        """Milliseconds since the start."""
        return round((time.perf_counter() - self.begun) * 1e3, 3)

    def end(self) -> None:
        """Close the input and wait."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.read()
        self._process.stdout.close()
        self._process.wait(60)


def started(arm: str, store: Path) -> Started:
    """Start a server once."""
    line = Line(arm, store)
    line.ask("initialize", _INITIALIZE)
    initialized = line.since()
    line.ask("tools/list")
    listed = line.since()
    called = None
    if arm != "empty":
        line.call("memory_stats")
        called = line.since()
    line.end()
    return Started(initialized, listed, called)


def calls(store: Path, texts: list[str], count: int) -> dict[str, list[float]]:
    """Milliseconds of each call of a few tools on a warm server, and of a ping."""
    line = Line("earnest, full store", store)
    line.ask("initialize", _INITIALIZE)
    line.call("memory_search", query=texts[0])
    made: dict[str, list[float]] = {name: [] for name in ("ping", "memory_search", "memory_query", "memory_settle", "memory_add")}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        begun = time.perf_counter()
        found = call()
        made[name].append(round((time.perf_counter() - begun) * 1e3, 3))
        return found

    for i in range(count):
        question = " ".join(texts[i % len(texts)].split()[:6])
        timed("ping", lambda: line.ask("ping"))
        timed("memory_search", lambda q=question: line.call("memory_search", query=q))  # type: ignore[misc]
        ticket = timed("memory_query", lambda q=question: line.call("memory_query", query=q)).get("ticket_id")  # type: ignore[misc]
        if ticket is not None:
            timed("memory_settle", lambda t=ticket: line.call("memory_settle", ticket_id=t, delta=1, meter="bench"))  # type: ignore[misc]
        timed("memory_add", lambda n=i: line.call("memory_add", text=f"Note {n} of the bench."))  # type: ignore[misc]
    line.end()
    return made
