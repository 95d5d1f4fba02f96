"""The application: everything put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Final

from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router as Lifespans
from starlette.types import ASGIApp

from earnest.http.api import Api
from earnest.http.guard import HEADERS, Guard, Hosts, Limits
from earnest.http.memories import Memories
from earnest.http.problems import LOG, fault
from earnest.http.service import Service
from earnest.http.ticking import Ticker
from earnest.http.tokens import Grant, Tokens
from earnest.http.tools import MCP, mounted_tools
from earnest.protocols import Clock

_A_MOMENT: Final = 3.0
"""Seconds for verbs whose requests are over already to come to their end when the application does."""

Running = Callable[[], AbstractAsyncContextManager[None]]


def build(
    where: Path,
    *,
    hosts: Hosts,
    given: Iterable[tuple[str, Grant]] = (),
    limits: Limits | None = None,
    pages: ASGIApp | None = None,
    mounts: Mapping[str, ASGIApp] | None = None,
    tools: bool = False,
    clock: Clock | None = None,
) -> ASGIApp:
    """The ASGI application over a root folder, or over one store's file.

    Args:
        where: A folder with one file for each agent, made if it is not there; or a store's file, which has to be there.
        hosts: The names that it answers to.
        given: Tokens that this process was given, with what they allow, beside those that the root folder keeps.
        limits: Bounds on sizes, times and rates.
        pages: What answers paths that are no operation: the dashboard.
        mounts: Applications by the path that they lie under, behind the same guard.
        tools: Whether agents reach their tools over MCP at /mcp; needs the extra `mcp`.
        clock: With one, the economy of each agent is ticked by its setting `tick_every` as long as the application runs.

    Raises:
        StoreError: The place cannot be used.

    Opens nothing but the place; an agent's memory is opened when it is first asked for, and closed when the application ends.
    """
    bounds = limits or Limits()
    memories = Memories(where)
    tokens = Tokens(where if memories.owner is None else None, given=given)
    service = Service(memories, tokens, bounds)
    ticker = None if clock is None else Ticker(memories, clock)
    places = dict(mounts or {})
    running: Running = nullcontext
    if tools:
        places[MCP], running = mounted_tools(memories)

    @asynccontextmanager
    async def lifespan(_: ASGIApp) -> AsyncIterator[None]:
        async with running():
            if ticker is not None:
                ticker.start()
            service.ready = True
            try:
                yield
            finally:
                service.ready = False
                service.workers.refuse()
                service.slow.refuse()
                if ticker is not None:
                    ticker.stop()
                # The server has waited for requests already; what is left runs by itself, such as a verb that took too long.
                ended = [await workers.close(_A_MOMENT) for workers in (service.workers, service.slow)]
                if not all(ended):
                    LOG.warning("a verb did not come to its end in time; what it wrote is whole, and what it had not written is not there")
                memories.close()

    guarded = Guard(Api(service, pages=pages, mounts=places), hosts=hosts, tokens=tokens, limits=bounds)
    router = Lifespans(lifespan=lifespan)
    router.default = guarded
    return ServerErrorMiddleware(router, handler=_faulty)


def _faulty(_: Request, __: Exception) -> Response:
    """What a fault of ours looks like from outside; the trace goes to the log."""
    made = fault()
    made.headers.update(HEADERS)
    return made
