"""Who may talk to the service at all: the name it was called by, the page that asks, the token, and how much of it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earnest.http.problems import Problem
from earnest.http.tokens import Grant, Tokens

OPEN: Final = ("/healthz", "/readyz")
"""Paths that answer to any name and without a token: probes call a service by its address, and learn nothing but that it is there."""

GUARDED: Final = ("/v1", "/mcp", "/metrics")
"""What lies under these is answered with a token alone; everything else is static."""

LINGER: Final = 64 * 1024 * 1024
"""Bytes of a body that is too large which are still taken in, and thrown away, so that its sender reads the refusal."""

SAFE: Final = frozenset(("GET", "HEAD"))

API_POLICY: Final = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""What every answer carries."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the service one caller gets. Sizes in bytes, times in seconds."""

    body: int = 4 * 1024 * 1024
    """Bytes of a request's body."""
    headers: int = 16 * 1024
    """Bytes of a request's line and headers."""
    receive: float = 10.0
    """Seconds for headers, and again for a body, to arrive."""
    verb: float = 30.0
    """Seconds for a verb, waiting included."""
    slow: float = 300.0
    """Seconds for a verb that reads a whole store or asks a model."""
    send: float = 30.0
    """Seconds for a part of an answer to be taken."""
    rate: float = 100.0
    """Requests a second for each token, on average; 0 for no bound."""
    burst: float = 200.0
    """Requests that a token may make at once before the rate binds."""
    connections: int = 256
    """Connections at once; more are turned away."""
    shutdown: float = 15.0
    """Seconds for what runs to come to its end when the service stops."""


class Hosts:
    """The names that the service answers to, and the pages that may ask it."""

    def __init__(self, names: Iterable[str], *, origins: Iterable[str] = ()) -> None:
        """`names` are hosts as they stand in a Host header: with a port, or without one for any port. `origins` are pages of other
        names that may ask, such as https://notes.example."""
        given = [name.strip().lower() for name in names]
        self._exact = frozenset(given)
        self._origins = frozenset(origin.strip().lower().rstrip("/") for origin in origins)

    def knows(self, host: str) -> bool:
        """Whether a Host header names this service."""
        name = host.lower()
        return name in self._exact or _without_port(name) in self._exact

    def check(self, headers: Headers, *, page: bool = False) -> None:
        """Refuse a request that came to another name, or from a page of one.

        With `page` it is for a static file: a person may follow a link to it from anywhere, as they may type its address.

        A page that had its own name point here (DNS rebinding) sends its own Host; a page elsewhere sends its own Origin.

        Raises:
            Problem: 400 or 403.
        """
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not hosts[0]:
            raise Problem(400, "bad-request", "exactly one Host header is needed", field="Host")
        if not self.knows(hosts[0]):
            raise Problem(403, "wrong-host", "this service does not answer to that name; its operator can allow it", field="Host")
        origins = headers.getlist("origin")
        if len(origins) > 1:
            raise Problem(400, "bad-request", "more than one Origin header", field="Origin")
        if origins and not self._own(origins[0].lower(), hosts[0].lower()):
            raise Problem(403, "forbidden", "pages of that origin may not ask this service", field="Origin")
        site = headers.get("sec-fetch-site")
        if page and (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document"):
            return
        if site is not None and site not in ("same-origin", "none") and not (origins and origins[0].lower() in self._origins):
            raise Problem(403, "forbidden", "another site's page may not ask this service", field="Sec-Fetch-Site")

    def _own(self, origin: str, host: str) -> bool:
        return origin in (f"http://{host}", f"https://{host}") or origin in self._origins


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isascii() and port.isdecimal() else host


class Rates:
    """A bucket of requests for each token, filled at a rate."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, max(burst, 1.0)
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, who: str, now: float) -> None:
        """Take one request out of a token's bucket.

        Raises:
            Problem: 429, with the seconds after which there is one again.
        """
        if not self._rate:
            return
        left, seen = self._buckets.get(who, (self._burst, now))
        left = min(self._burst, left + (now - seen) * self._rate)
        if left < 1.0:
            self._buckets[who] = (left, now)
            wait = max(1, round((1.0 - left) / self._rate + 0.5))
            raise Problem(
                429, "too-many", f"at most {self._rate:g} requests a second for a token; wait", headers={"retry-after": str(wait)}
            )
        self._buckets[who] = (left - 1.0, now)


class Guard:
    """Stands before everything. What passes has the right name, no foreign page behind it, a token with its grant, and bounds."""

    def __init__(self, app: ASGIApp, *, hosts: Hosts, tokens: Tokens, limits: Limits) -> None:
        self._app, self._hosts, self._tokens, self._limits = app, hosts, tokens, limits
        self._rates = Rates(limits.rate, limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _dressed(scope, message)
            async with asyncio.timeout(self._limits.send):
                await send(message)

        try:
            self._pass(scope)
            await self._app(scope, self._bounded(scope, receive), sent)
        except Problem as problem:
            if started:
                raise
            answer = problem.response()
            if problem.status in (400, 401, 403, 408, 413, 415, 429, 431) and (problem.status == 431 or _has_body(scope)):
                # The rest of the body is not worth reading.
                answer.headers["connection"] = "close"
            if problem.kind == "too-large":
                await self._let_finish(scope, receive)
            await answer(scope, receive, sent)

    async def _let_finish(self, scope: Scope, receive: Receive) -> None:
        """Throw away the rest of a body that says its length, if it is not much and its sender has a token: on a connection that is closed
        over unread bytes, who is still sending gets a reset, and never reads why."""
        length = Headers(scope=scope).get("content-length", "")
        if "grant" not in scope["state"] or len(length) > 15 or int(length or LINGER + 1) > LINGER:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.receive):
                while (await receive()).get("more_body"):
                    pass

    def _pass(self, scope: Scope) -> None:
        path = scope["path"]
        state: dict[str, Any] = scope.setdefault("state", {})
        size = len(scope.get("raw_path") or b"") + len(scope["query_string"]) + sum(len(k) + len(v) + 4 for k, v in scope["headers"])
        if size > self._limits.headers:
            # The server bounds only what has not arrived whole.
            raise Problem(431, "headers-too-large", f"the address and the headers hold at most {self._limits.headers:,} bytes")
        if path in OPEN:
            return
        headers = Headers(scope=scope)
        guarded = any(path == place or path.startswith(place + "/") for place in GUARDED)
        self._hosts.check(headers, page=not guarded and scope["method"] in SAFE)
        if guarded:
            grant = self._granted(headers)
            state["grant"] = grant
            self._rates.take(grant.id, time.monotonic())
        method = scope["method"]
        if method not in SAFE and (method != "DELETE" or _has_body(scope)) and method in ("POST", "PUT", "PATCH", "DELETE"):
            _insist_on_json(headers)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdecimal()):
            raise Problem(400, "bad-request", "Content-Length is no number", field="Content-Length")
        if len(length) > 15 or int(length) > self._limits.body:
            raise self._too_large()

    def _granted(self, headers: Headers) -> Grant:
        given = headers.getlist("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        grant = self._tokens.grant(token.strip()) if scheme.lower() == "bearer" and token else None
        if grant is None:
            said = "send `Authorization: Bearer TOKEN`; tokens in addresses and cookies do not count"
            raise Problem(401, "no-token", said, headers={"www-authenticate": 'Bearer realm="earnest"'})
        return grant

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        """A body that ends in a refusal when it grows too large."""
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            if message["type"] == "http.request":
                size += len(message.get("body", b""))
                if size > self._limits.body:
                    raise self._too_large()
            return message

        return counted

    def _too_large(self) -> Problem:
        return Problem(413, "too-large", f"a body holds at most {self._limits.body:,} bytes; split the request")


def _has_body(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    return "transfer-encoding" in headers or headers.get("content-length", "0").strip("0") != ""


def _insist_on_json(headers: Headers) -> None:
    """Refuse what a form or a page elsewhere could send without asking first."""
    given = headers.getlist("content-type")
    media, _, rest = given[0].partition(";") if len(given) == 1 else ("", "", "")
    charset = rest.strip().lower().replace('"', "")
    if media.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
        raise Problem(
            415, "not-json", "send `Content-Type: application/json`", field="Content-Type", headers={"accept": "application/json"}
        )
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(415, "not-json", "send the body as it is, without Content-Encoding", field="Content-Encoding")


def _dressed(scope: Scope, message: Message) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in HEADERS.items():
        headers[name] = value
    guarded = any(scope["path"].startswith(place) for place in (*GUARDED, *OPEN, "/openapi.json"))
    headers.setdefault("content-security-policy", API_POLICY if guarded else PAGE_POLICY)
    if guarded:
        headers.setdefault("cache-control", "no-store")
