"""MCP over streamable HTTP: by itself on one port, or mounted in another service."""

from __future__ import annotations

import hmac
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from earnest.errors import InvalidInput
from earnest.mcp.listening import bracketed, listening, loopback

PATH: Final = "/mcp"
MAX_BODY: Final = 8_000_000
"""Bytes of one request."""
_CONCURRENT: Final = 100
_GRACE: Final = 5
_SHORTEST_TOKEN: Final = 16

Running = Callable[[], AbstractAsyncContextManager[None]]


def mounted(server: Server[Any], security: TransportSecuritySettings | None = None) -> tuple[ASGIApp, Running]:
    """The server as an ASGI application to mount, and what has to run around its whole life (`async with running(): …`).

    Who mounts it has checked Host, Origin and token, unless `security` says which are right. No session is kept: every request stands by
    itself, so that several processes may serve one address and a restart is not noticed.
    """
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=MAX_BODY,
        security_settings=security or TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )  # fmt: skip
    return manager.handle_request, manager.run


def app(server: Server[Any], *, host: str, port: int, token: str | None = None, names: tuple[str, ...] = ()) -> Starlette:
    """A whole application with the server at `/mcp`, which takes requests for this host alone, and with the token if there is one.

    Args:
        names: Further names of this host that requests may be for, such as one that a proxy has.
    """
    known = ("127.0.0.1", "localhost", "[::1]") if loopback(host) else (bracketed(host),)
    hosts = [f"{name}:{port}" for name in known] + [*names]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{kind}://{name}" for name in hosts for kind in ("http", "https")],
    )
    inner, running = mounted(server, security)
    guarded = inner if token is None else _Guard(inner, token)
    return Starlette(routes=[Route(PATH, endpoint=_Endpoint(guarded))], lifespan=lambda _: running())


class _Endpoint:
    """An ASGI application as a route's endpoint, for every method."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._inner(scope, receive, send)


class _Guard:
    """Lets through who has the token, for reading too."""

    def __init__(self, inner: ASGIApp, token: str) -> None:
        self._inner, self._wanted = inner, b"Bearer " + token.encode("utf-8")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = next((value for name, value in scope.get("headers", ()) if name == b"authorization"), b"")
        if hmac.compare_digest(given, self._wanted):
            await self._inner(scope, receive, send)
            return
        refused = PlainTextResponse(
            "a bearer token is needed: the value of EARNEST_TOKEN where the server was started\n", 401, {"WWW-Authenticate": "Bearer"}
        )
        await refused(scope, receive, send)


def serve(server: Server[Any], *, host: str, port: int, token: str | None, names: tuple[str, ...] = ()) -> None:
    """Serve until the process is told to end. Says on standard error where.

    Raises:
        InvalidInput: The address is reachable from other machines and there is no token, or one that can be guessed; or it is taken.
    """
    if not loopback(host) and token is None:
        raise InvalidInput("--host", host, "can be reached from other machines: set EARNEST_TOKEN to a secret first, or keep to 127.0.0.1")
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise InvalidInput(
            "EARNEST_TOKEN", "…", f"is shorter than {_SHORTEST_TOKEN} characters, so that it can be guessed; make a longer one"
        )
    place = listening(host, port)
    made = app(server, host=host, port=port, token=token, names=names)
    config = uvicorn.Config(
        made, host=host, port=port, log_config=None, access_log=False, limit_concurrency=_CONCURRENT, timeout_graceful_shutdown=_GRACE,
        server_header=False, lifespan="on",
    )  # fmt: skip
    sys.stderr.write(f"earnest: MCP at http://{bracketed(host)}:{port}{PATH}{'' if token is None else ' (token needed)'}\n")
    sys.stderr.flush()
    with place:
        uvicorn.Server(config).run(sockets=[place])
