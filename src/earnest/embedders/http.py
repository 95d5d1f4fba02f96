"""Asking a service over HTTP with the standard library: bounded in time, tries and size, and careful with keys."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from earnest.core import check
from earnest.errors import EmbedderFailed, InvalidInput

TRIES: Final = 5
"""How often a request is made at most."""
PATIENCE: Final = 90.0
"""Seconds that all tries and waits of one request may take."""
LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a reply that are read at most."""

_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
_PASSING: Final = frozenset((408, 425, 429, 500, 502, 503, 504, 529))
_SHOWN: Final = 200
_LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "::1"))


class Endpoint:
    """One URL that takes JSON and gives JSON."""

    def __init__(
        self, name: str, url: str, *, key: str | None = None, timeout: float = 30.0, pause: Callable[[float], None] = time.sleep
    ) -> None:
        """`name` is how messages call the service; `key` is sent as a bearer token and never shown.

        Raises:
            InvalidInput: Not an HTTP address, or a key would go over the network unencrypted.
        """
        import urllib.parse

        parts = urllib.parse.urlsplit(url) if isinstance(url, str) else None
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput("url", url, "must be an address that begins with https:// or http://")
        if parts.username or parts.password:
            raise InvalidInput("url", parts.hostname, "must not hold a user name or password; give the key in the environment")
        if key is not None and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise InvalidInput("url", url, "would send the key unencrypted; use https://, or an address on this machine")
        self.name, self.url, self._key = name, url, key
        self.timeout = check.number("timeout", timeout, low=0.01, high=600.0)
        self._pause = pause

    def ask(self, payload: Mapping[str, Any], *, tries: int = TRIES, patience: float = PATIENCE) -> Any:
        """What the service replies, as parsed JSON.

        Tries again after a refusal that passes (429, 5xx), a time-out or a cut connection: as long after as the reply's `Retry-After`
        asks for, else twice as long each time.

        Raises:
            EmbedderFailed: `passing` is False if the request itself was refused.
        """
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8")
        ends, pause = time.monotonic() + patience, _FIRST_PAUSE
        for left in range(tries - 1, -1, -1):
            try:
                return self._once(body, max(0.01, min(self.timeout, ends - time.monotonic())))
            except _Later as later:
                wait = pause if later.after is None else later.after
                if not left or wait > _LONGEST_PAUSE or time.monotonic() + wait >= ends:
                    raise EmbedderFailed(f"{self.name}: {later}; tried {tries - left} times, it will be tried again later") from later
                self._pause(wait)
                pause *= 2
        raise EmbedderFailed(f"{self.name}: not asked: no try was allowed")

    def _once(self, body: bytes, timeout: float) -> Any:
        # Imported here: a process that asks no service does not pay for TLS.
        import http.client
        import urllib.error
        import urllib.request

        class NoRedirects(urllib.request.HTTPRedirectHandler):
            """A reply that points elsewhere is an error: a key is given to one place only."""

            def redirect_request(self, *args: Any, **named: Any) -> None:
                return None

        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "earnest"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")
        try:
            with urllib.request.build_opener(NoRedirects).open(request, timeout=timeout) as reply:
                raw = reply.read(LARGEST + 1)
        except urllib.error.HTTPError as error:
            said = self._without_key(error.read(10_000).decode("utf-8", "replace"))
            told = f"HTTP {error.code}: {' '.join(said.split())[:_SHOWN] or error.reason}"
            if error.code in _PASSING:
                raise _Later(told, _seconds(error.headers.get("Retry-After"), error.headers.get("Date"))) from error
            way_out = "; is the key in the environment right?" if error.code in (401, 403) else ""
            passing = error.code not in (400, 413, 422)
            raise EmbedderFailed(f"{self.name}: {told}{way_out}", passing=passing) from error
        except (OSError, http.client.HTTPException) as error:
            # Time-outs, refused and cut connections, names that nobody knows, replies that end early.
            raise _Later(f"{type(error).__name__}: {self._without_key(str(getattr(error, 'reason', error)))}", None) from error
        if len(raw) > LARGEST:
            raise EmbedderFailed(f"{self.name}: the reply is larger than {LARGEST // 2**20} MB and was not read")
        try:
            return json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise _Later(f"the reply is no JSON ({len(raw)} bytes)", None) from error

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


class _Later(Exception):
    """It did not work now; it may work later."""

    def __init__(self, told: str, after: float | None) -> None:
        self.after = after
        super().__init__(told)


def _seconds(after: str | None, date: str | None) -> float | None:
    """What `Retry-After` asks for, in seconds: a number, or a time beside the reply's own `Date`."""
    if after is None:
        return None
    try:
        return min(max(0.0, float(after)), 86_400.0)
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        asked, now = parsedate_to_datetime(after), parsedate_to_datetime(date or "")
        return min(max(0.0, (asked - now).total_seconds()), 86_400.0)
    except (ValueError, TypeError):
        return None
