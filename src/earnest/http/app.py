"""The application: everything put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router as Lifespans
from starlette.types import ASGIApp

from earnest.http.api import Api
from earnest.http.guard import HEADERS, Guard, Hosts, Limits
from earnest.http.memories import Memories
from earnest.http.problems import fault
from earnest.http.service import Service
from earnest.http.tokens import Grant, Tokens


def build(
    where: Path,
    *,
    hosts: Hosts,
    given: Iterable[tuple[str, Grant]] = (),
    limits: Limits | None = None,
    pages: ASGIApp | None = None,
    mounts: Mapping[str, ASGIApp] | None = None,
) -> ASGIApp:
    """The ASGI application over a root folder, or over one store's file.

    Args:
        where: A folder with one file for each agent, made if it is not there; or a store's file, which has to be there.
        hosts: The names that it answers to.
        given: Tokens that this process was given, with what they allow, beside those that the root folder keeps.
        limits: Bounds on sizes, times and rates.
        pages: What answers paths that are no operation: the dashboard.
        mounts: Applications by the path that they lie under, behind the same guard: {"/mcp": …}.

    Raises:
        StoreError: The place cannot be used.

    Opens nothing but the place; an agent's memory is opened when it is first asked for, and closed when the application ends.
    """
    bounds = limits or Limits()
    memories = Memories(where)
    tokens = Tokens(where if memories.owner is None else None, given=given)
    service = Service(memories, tokens, bounds)

    @asynccontextmanager
    async def lifespan(_: ASGIApp) -> AsyncIterator[None]:
        service.ready = True
        try:
            yield
        finally:
            service.ready = False
            service.workers.close()
            memories.close()

    guarded = Guard(Api(service, pages=pages, mounts=mounts), hosts=hosts, tokens=tokens, limits=bounds)
    router = Lifespans(lifespan=lifespan)
    router.default = guarded
    return ServerErrorMiddleware(router, handler=_faulty)


def _faulty(_: Request, __: Exception) -> Response:
    """What a fault of ours looks like from outside; the trace goes to the log."""
    made = fault()
    made.headers.update(HEADERS)
    return made
