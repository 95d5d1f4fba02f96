"""The dashboard's pages, and the one-time codes that a browser trades for its token."""

from __future__ import annotations

import base64
import hmac
import json
import threading
import time
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from earnest.dashboard.files import pages
from earnest.http.problems import Problem
from earnest.protocols import Rng

SESSION: Final = "/session"
"""Where a code is traded. It lies outside of what a token guards, for who asks has none yet."""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Nothing inline, nothing from elsewhere, and no text is ever taken for markup or script: the browser refuses where the code would not."""

LIFE: Final = 300.0
"""Seconds for which a code is good."""
PATIENCE: Final = 20
"""Wrong codes after which all that are open are dropped."""
_MOST: Final = 16
_LONGEST: Final = 1_000


class Codes:
    """One-time codes for one token. Safe for threads."""

    def __init__(self, rng: Rng, token: str) -> None:
        self._rng, self._token = rng, token
        self._open: dict[str, float] = {}
        self._wrong = 0
        self._lock = threading.Lock()

    def new(self) -> str:
        """A code of 128 bits, good once and for five minutes; of more than sixteen open ones the oldest is dropped."""
        code = base64.urlsafe_b64encode(self._rng.token(16)).decode("ascii").rstrip("=")
        with self._lock:
            self._open[code] = time.monotonic() + LIFE
            self._wrong = 0
            while len(self._open) > _MOST:
                del self._open[next(iter(self._open))]
        return code

    def trade(self, code: str) -> str | None:
        """The token for a code, which is spent; None for one that is not open."""
        given = code.encode("utf-8", "surrogatepass")
        with self._lock:
            found = [known for known in self._open if hmac.compare_digest(known.encode("ascii"), given)]
            if found and self._open.pop(found[0]) >= time.monotonic():
                return self._token
            self._wrong += 1
            if self._wrong >= PATIENCE:
                self._open.clear()
        return None


class Pages:
    """The ASGI application that serves the dashboard; behind the guard, which knows the names that this service answers to."""

    def __init__(self, codes: Codes | None = None) -> None:
        """Without `codes`, people paste a token."""
        self._codes = codes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request for a file, or to trade a code."""
        request = Request(scope, receive)
        if scope["path"] == SESSION:
            response = await self._traded(request)
        else:
            response = _file(request)
        await response(scope, receive, send)

    async def _traded(self, request: Request) -> Response:
        if request.method != "POST":
            raise Problem(405, "no-such-method", "this path knows POST", headers={"allow": "POST"})
        body = await request.body()
        try:
            given = json.loads(body) if len(body) <= _LONGEST else None
        except ValueError:
            given = None
        code = given.get("code") if isinstance(given, dict) else None
        if not isinstance(code, str):
            raise Problem(422, "invalid-input", 'code: send {"code": "…"}', field="code")
        token = None if self._codes is None else self._codes.trade(code)
        if token is None:
            said = "this link was used already, or is too old; press Enter in the terminal where `earnest ui` runs for another one"
            raise Problem(403, "forbidden", said, field="code")
        return Response(json.dumps({"token": token}), media_type="application/json", headers={"cache-control": "no-store"})


def _file(request: Request) -> Response:
    found = pages().get(request.scope["path"])
    if found is None:
        raise Problem(404, "not-found", "there is nothing at this path")
    if request.method not in ("GET", "HEAD"):
        raise Problem(405, "no-such-method", "this path knows GET, HEAD", headers={"allow": "GET, HEAD"})
    headers = {"content-security-policy": POLICY, "cache-control": "no-cache", "etag": found.tag, "content-type": found.media}
    if found.tag in (part.strip() for part in request.headers.get("if-none-match", "").split(",")):
        return Response(status_code=304, headers=headers)
    return Response(found.body, headers=headers)
