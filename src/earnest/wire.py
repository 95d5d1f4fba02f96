"""Asking a service over HTTP with the standard library: bounded in time, tries and size, and careful with keys.

The one way out of this process, for embedders and language models alike. Nothing is followed elsewhere, nothing of a key is shown.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from earnest.core import check
from earnest.errors import EarnestError, InvalidInput, NotAvailable

TRIES: Final = 5
"""How often a request is made at most."""
PATIENCE: Final = 90.0
"""Seconds that all tries and waits of one request may take."""
LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a reply that are read at most."""

_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
_PASSING: Final = frozenset((408, 425, 429, 500, 502, 503, 504, 529))
# Refusals with the status of one that passes, which waiting does not mend.
_SPENT: Final = ("insufficient_quota", "billing_hard_limit", "credit balance is too low")
_SHOWN: Final = 200
_LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "::1"))
_LOOK: Final = 0.05


class Cancelled(Exception):
    """Whoever asked does not want the reply any more."""


class Endpoint:
    """One URL that takes JSON and gives JSON. Safe to share between threads."""

    later = "try again later"
    """What is said when tries and patience have run out."""

    def __init__(
        self,
        name: str,
        url: str,
        *,
        key: str | None = None,
        timeout: float = 30.0,
        pause: Callable[[float], None] = time.sleep,
        headers: Mapping[str, str] | None = None,
        key_header: str = "Authorization",
        chance: Callable[[], float] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`name` is how messages call the service; `key` is sent as a bearer token, or plainly in another `key_header`, and never shown.

        `chance` spreads the waits of many processes (each is taken between a half and one and a half times); None: they are as computed.

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
        self.timeout = check.number("timeout", timeout, low=0.01, high=3_600.0)
        self._pause, self._chance, self._monotonic = pause, chance, monotonic
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "earnest", **(headers or {})}
        if key is not None:
            self._headers[key_header] = f"Bearer {key}" if key_header == "Authorization" else key

    def failure(self, reason: str, *, passing: bool = True) -> EarnestError:
        """The typed error of this kind of service; `passing` is False if the request itself was refused."""
        raise NotAvailable(reason)

    def ask(
        self, payload: Mapping[str, Any], *, tries: int = TRIES, patience: float = PATIENCE, cancel: threading.Event | None = None
    ) -> Any:
        """What the service replies, as parsed JSON.

        Tries again after a refusal that passes (429, 5xx), a time-out or a cut connection: as long after as the reply's `Retry-After`
        asks for, else twice as long each time.

        Raises:
            What `failure` makes. Cancelled: `cancel` was set; a request under way is left to itself.
        """
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8")
        ends, pause = self._monotonic() + patience, _FIRST_PAUSE
        for left in range(tries - 1, -1, -1):
            if cancel is not None and cancel.is_set():
                raise Cancelled
            try:
                limit = max(0.01, min(self.timeout, ends - self._monotonic()))
                return self._once(body, limit) if cancel is None else self._watched(body, limit, cancel)
            except _Later as later:
                spread = 1.0 if self._chance is None else 0.5 + self._chance()
                # A service that names no time to come leaves it to whoever asks.
                wait = later.after or pause * spread
                if not left or wait > _LONGEST_PAUSE or self._monotonic() + wait >= ends:
                    raise self.failure(f"{self.name}: {later}; tried {tries - left} times, {self.later}") from later
                self._wait(wait, cancel)
                pause *= 2
        raise self.failure(f"{self.name}: not asked: no try was allowed")

    def _wait(self, seconds: float, cancel: threading.Event | None) -> None:
        if cancel is None or self._pause is not time.sleep:
            self._pause(seconds)
        else:
            cancel.wait(seconds)

    def _watched(self, body: bytes, timeout: float, cancel: threading.Event) -> Any:
        """As `_once`, in a thread of its own, so that whoever asked can go on as soon as they do not want the reply any more."""
        made: list[Any] = []
        wrong: list[BaseException] = []
        done = threading.Event()

        def run() -> None:
            try:
                made.append(self._once(body, timeout))
            except (EarnestError, _Later) as error:
                wrong.append(error)
            finally:
                done.set()

        threading.Thread(target=run, daemon=True, name=f"earnest asks {self.name}").start()
        while not done.wait(_LOOK):
            if cancel.is_set():
                raise Cancelled
        if wrong:
            raise wrong[0]
        if not made:
            raise self.failure(f"{self.name}: the request ended without a reply")
        return made[0]

    def _once(self, body: bytes, timeout: float) -> Any:
        # Imported here: a process that asks no service does not pay for TLS.
        import http.client
        import urllib.error
        import urllib.request

        class NoRedirects(urllib.request.HTTPRedirectHandler):
            """A reply that points elsewhere is an error: a key is given to one place only."""

            def redirect_request(self, *args: Any, **named: Any) -> None:
                return None

        # A proxy that the environment names is for other machines: what stays on this one goes straight.
        handlers: list[Any] = [NoRedirects, urllib.request.ProxyHandler({})] if own_machine(self.url) else [NoRedirects]
        request = urllib.request.Request(self.url, data=body, headers=self._headers, method="POST")
        try:
            with urllib.request.build_opener(*handlers).open(request, timeout=timeout) as reply:
                raw, form = reply.read(LARGEST + 1), reply.headers.get_content_type()
        except urllib.error.HTTPError as error:
            said = self._without_key(error.read(10_000).decode("utf-8", "replace"))
            told = f"HTTP {error.code}: {' '.join(said.split())[:_SHOWN] or error.reason}"
            if error.code in _PASSING and not any(word in said for word in _SPENT):
                raise _Later(told, _seconds(error.headers.get("Retry-After"), error.headers.get("Date"))) from error
            way_out = "; is the key in the environment right?" if error.code in (401, 403) else ""
            passing = error.code not in (400, 413, 422)
            raise self.failure(f"{self.name}: {told}{way_out}", passing=passing) from error
        except (OSError, http.client.HTTPException) as error:
            # Time-outs, refused and cut connections, names that nobody knows, replies that end early.
            raise _Later(f"{type(error).__name__}: {self._without_key(str(getattr(error, 'reason', error)))}", None) from error
        if len(raw) > LARGEST:
            raise self.failure(f"{self.name}: the reply is larger than {LARGEST // 2**20} MB and was not read")
        try:
            return json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise _Later(f"the reply is no JSON ({len(raw)} bytes of {form[:50]})", None) from error

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


def own_machine(url: str) -> bool:
    """Whether an address is one on this machine, which may need no key."""
    import urllib.parse

    return isinstance(url, str) and urllib.parse.urlsplit(url).hostname in _LOOPBACK


def key_from(names: Sequence[str], service: str) -> str:
    """The key that the environment has under the first of these names that is set.

    Raises:
        NotAvailable: None is set, or it holds what no key holds. The key itself is not shown.
    """
    for name in names:
        value = os.environ.get(name, "").strip()
        if value:
            if not value.isascii() or not value.isprintable():
                raise NotAvailable(f"{service}: the key in {name} holds characters that no key has; set it again")
            return value
    raise NotAvailable(f"{service} needs a key in the environment: set {' or '.join(names)}")


def key_for(url: str, names: Sequence[str], service: str) -> str | None:
    """The key for a service at an address: as `key_from`; None where the address is on this machine and the environment has none.

    Raises:
        NotAvailable: As `key_from`.
    """
    needless = own_machine(url) and not any(os.environ.get(name, "").strip() for name in names)
    return None if needless else key_from(names, service)


def ollama_at(given: str | None) -> str:
    """Where Ollama is reached: at the address that is given, else at OLLAMA_HOST, else on this machine. Without a slash at its end."""
    base = given or os.environ.get("OLLAMA_HOST") or "http://127.0.0.1:11434"
    return (base if "://" in base else f"http://{base}").rstrip("/")
