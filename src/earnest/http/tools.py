"""The tools that agents use over MCP, mounted in the service: behind the same tokens, on the same open memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, Final
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from earnest.core.acting import acting
from earnest.http.memories import Memories, checked_agent
from earnest.http.problems import Problem
from earnest.http.tokens import Grant
from earnest.memory import Memory
from earnest.opening import DEFAULT_AGENT

MCP: Final = "/mcp"
"""Where the tools are: of the token's own agent, else of `default`; of another at /mcp/NAME."""

CHANNEL: Final = "mcp"

Running = Callable[[], AbstractAsyncContextManager[None]]


def mounted_tools(memories: Memories) -> tuple[ASGIApp, Running]:
    """An application that serves MCP over streamable HTTP, and what has to run around its whole life.

    A token that may only read is given only the tools that read.
    """
    from contextlib import asynccontextmanager

    from earnest.mcp.server import build
    from earnest.mcp.web import mounted

    @contextmanager
    def lent(request: Any) -> Iterator[Memory]:
        grant: Grant = request.scope["state"]["grant"]
        agent: str = request.scope["state"]["agent"]
        with (
            memories.lent(agent, make=not grant.read_only) as memory,
            acting(grant.name, CHANNEL if grant.channel == "http" else grant.channel),
        ):
            yield memory

    full, full_running = mounted(build(lent))
    reading, reading_running = mounted(build(lent, read_only=True))

    @asynccontextmanager
    async def running() -> Any:
        async with full_running(), reading_running():
            yield

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        grant: Grant = scope["state"]["grant"]
        scope["state"]["agent"] = _agent(scope, grant)
        await (reading if grant.read_only else full)(scope, receive, send)

    return application, running


def _agent(scope: Scope, grant: Grant) -> str:
    """Whose tools are asked for."""
    raw = (scope.get("raw_path") or scope["path"].encode("utf-8")).decode("ascii", "replace")
    named = unquote(raw.removeprefix(MCP).strip("/"), errors="replace")
    agent = checked_agent(named) if named else grant.agent or DEFAULT_AGENT
    if not grant.allows(agent):
        raise Problem(403, "forbidden", "this token may not speak for that agent", field="agent")
    return agent
