"""JSON-RPC over HTTP to a node that may be wrong, slow, or not there: every answer is checked, and no address is ever shown whole."""

from __future__ import annotations

import base64
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from earnest.core import check
from earnest.errors import InvalidInput, NothingMeasured

MAX_ANSWER: Final = 8 * 1024 * 1024
MAX_DEPTH: Final = 100
"""Brackets within brackets. The bound of Python itself cannot be relied on: a program may have raised it beyond what its stack holds."""
_STRINGS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_FLAT: Final = re.compile(rb"[^\[\]{}]+")
_QUANTITY: Final = re.compile(r"0x[0-9a-fA-F]{1,64}")
_AGENT: Final = "earnest (JSON-RPC client)"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A node that sends its callers elsewhere is not the node that was named."""

    def redirect_request(self, *_: Any) -> None:
        """Refuse: the status becomes an error."""
        return


class Endpoint:
    """One JSON-RPC endpoint.

    url: http or https. It may hold a key: messages and records show its host alone. timeout: seconds for one call.
    """

    def __init__(self, url: str, *, timeout: float = 30.0) -> None:
        """Remember where to ask; nothing is asked yet. Raises InvalidInput for an address that is none."""
        if not isinstance(url, str) or len(url) > 2_000:
            raise InvalidInput("rpc", "…", "must be the address of a JSON-RPC endpoint, such as http://localhost:8545")
        try:
            parts = urlsplit(url.strip())
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port, parts = None, None, urlsplit("")
        if parts.scheme not in ("http", "https") or not host:
            raise InvalidInput("rpc", "…", "must be the address of a JSON-RPC endpoint, such as http://localhost:8545")
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": _AGENT}
        if parts.username is not None:
            word = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self._headers["Authorization"] = "Basic " + base64.b64encode(word).decode("ascii")
        self._url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        self.name = host if port is None else f"{host}:{port}"
        """The host, for people: what comes after it may be a key."""
        self._timeout = check.number("timeout", timeout, low=0.001, high=3600.0)
        self._opener = urllib.request.build_opener(_NoRedirect())

    def call(self, method: str, *parameters: Any) -> Any:
        """Ask one thing; the result as JSON has it.

        Raises:
            NothingMeasured: No answer in time, no JSON, an answer to something else, or an error that the node tells.
        """
        request = urllib.request.Request(
            self._url,
            data=json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": list(parameters)}).encode("ascii"),
            headers=self._headers,
        )
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                body = answer.read(MAX_ANSWER + 1)
        except urllib.error.HTTPError as error:
            error.close()
            raise self._failed(method, f"HTTP status {error.code}") from None
        except urllib.error.URLError as error:
            raise self._failed(method, _reason(error.reason)) from None
        except (OSError, ValueError) as error:
            raise self._failed(method, type(error).__name__) from None
        if len(body) > MAX_ANSWER:
            raise self._failed(method, f"more than {MAX_ANSWER:,} bytes")
        try:
            if _depth(body) > MAX_DEPTH:
                raise ValueError("too deep")
            said = json.loads(body)
        except (ValueError, RecursionError):
            raise self._failed(method, "something that is no JSON") from None
        if not isinstance(said, Mapping) or said.get("id") != 1:
            raise self._failed(method, "an answer to something else")
        if said.get("error") is not None:
            told = said["error"].get("message", "") if isinstance(said["error"], Mapping) else said["error"]
            raise self._failed(method, f"an error: {str(told)[:200]}")
        if "result" not in said:
            raise self._failed(method, "neither a result nor an error")
        return said["result"]

    def same_as(self, other: Endpoint) -> bool:
        """Whether both are one address."""
        return self._url == other._url

    def quantity(self, method: str, *parameters: Any) -> int:
        """Ask for a number of at most 256 bits. Raises NothingMeasured."""
        return self.number(self.call(method, *parameters), method)

    def number(self, said: Any, what: str) -> int:
        """A number as JSON-RPC writes it. Raises NothingMeasured for anything else."""
        if not isinstance(said, str) or not _QUANTITY.fullmatch(said):
            raise self._failed(what, f"{str(said)[:60]!r}, which is no number")
        return int(said, 16)

    def _failed(self, method: str, what: str) -> NothingMeasured:
        return NothingMeasured(f"{self.name} gave {what} when asked {method}; nothing was measured by it")


def _depth(body: bytes) -> int:
    """How deep the brackets of a JSON text nest."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return 0
    deepest = depth = 0
    for bracket in _FLAT.sub(b"", _STRINGS.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _reason(said: Any) -> str:
    """Why a connection failed, in words that hold no address."""
    if isinstance(said, TimeoutError):
        return "no answer in time"
    return f"no answer ({type(said).__name__})" if isinstance(said, OSError) else "no answer"


def agreed(values: Sequence[tuple[str, Any]], what: str) -> Any:
    """What all endpoints say.

    Raises:
        NothingMeasured: They disagree; says who said what.
    """
    first = values[0][1]
    if any(value != first for _, value in values):
        told = ", ".join(f"{name} says {str(value)[:80]}" for name, value in values)
        raise NothingMeasured(f"the endpoints disagree on {what}: {told}; nothing was settled")
    return first
