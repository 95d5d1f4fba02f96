"""Slow, huge and broken requests over real sockets: each ends by itself, and the next client is served."""

from __future__ import annotations

import http.client
import json
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from earnest.http.app import build
from earnest.http.guard import Hosts, Limits
from earnest.http.serving import names_of, server
from earnest.mcp.listening import listening
from tests.rest import OPERATOR, TOKEN, until

LIMITS: Final = Limits(rate=0.0, receive=0.5, body=1_000_000, connections=60)
PATH: Final = "/v1/agents/ops/entries"
HANG: Final = 60.0
"""Seconds after which a connection that is still open is taken for one that is never closed."""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a service in a thread of this process, which waits half a second for what should arrive."""
    place = listening("127.0.0.1", 0)
    number: int = place.getsockname()[1]
    app = build(tmp_path_factory.mktemp("root"), hosts=Hosts(names_of("127.0.0.1", number)), given=[(TOKEN, OPERATOR)], limits=LIMITS)
    running = server(app, LIMITS)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [place]})
    thread.start()
    assert until(20, lambda: running.started)
    yield number
    running.should_exit = True
    thread.join()
    place.close()


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    made = socket.create_connection(("127.0.0.1", port), timeout=HANG)
    try:
        yield made
    finally:
        made.close()


def rest(made: socket.socket) -> bytes:
    """All that comes until the other side closes; a connection that it never closes is an error."""
    said = b""
    while True:
        try:
            part = made.recv(65_536)
        except ConnectionResetError:
            return said
        if not part:
            return said
        said += part


def head(port: int, *lines: str, method: str = "POST", path: str = PATH) -> bytes:
    """The head of a request that is right as far as it goes."""
    host = [f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {TOKEN}", "Content-Type: application/json"]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *host, *lines, "", ""]).encode()


def served(port: int) -> bool:
    with connected(port) as made:
        made.sendall(head(port, "Connection: close", method="GET"))
        return rest(made).startswith(b"HTTP/1.1 200")


def test_a_client_that_says_nothing_holds_no_connection(port: int) -> None:
    with connected(port) as silent:
        assert rest(silent) == b""


@pytest.mark.parametrize("first", [b"", b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"], ids=["at once", "after a good request"])
def test_a_client_that_sends_its_headers_byte_by_byte_holds_no_connection(port: int, first: bytes) -> None:
    with connected(port) as slow:
        if first:
            slow.sendall(first)
            assert slow.recv(65_536).startswith(b"HTTP/1.1 200")
        for byte in b"GET /v1/session HTTP/1.1\r\nHost: " + b"x" * 5_000:
            try:
                slow.send(bytes([byte]))
            except OSError:
                break
            time.sleep(0.05)
        else:
            pytest.fail("it was listened to for ever")
    assert served(port)


def test_a_body_that_never_arrives_is_not_waited_for(port: int) -> None:
    with connected(port) as slow:
        slow.sendall(head(port, "Content-Length: 50") + b"{")
        assert rest(slow).startswith(b"HTTP/1.1 408")


def test_a_body_that_drips_is_not_waited_for(port: int) -> None:
    with connected(port) as slow:
        slow.sendall(head(port, "Content-Length: 5000"))
        for _ in range(5_000):
            try:
                slow.send(b" ")
            except OSError:
                break
            time.sleep(0.02)
        else:
            pytest.fail("it was listened to for ever")


def test_who_sends_too_much_at_once_reads_why_it_was_refused(port: int) -> None:
    web = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    for size in (5_000_000, 20_000_000):
        web.request("POST", "/v1/agents/ops/documents", json.dumps({"documents": [{"source": "x", "text": "y" * size}]}), headers)
        with web.getresponse() as answer:
            assert answer.status == 413 and "a body holds at most 1,000,000 bytes" in json.load(answer)["detail"]
    web.close()


def test_a_body_of_a_gigabyte_is_refused_before_it_is_read(port: int) -> None:
    with connected(port) as huge:
        huge.sendall(head(port, "Content-Length: 1000000000"))
        assert rest(huge).startswith(b"HTTP/1.1 413")


def test_a_body_without_an_end_is_cut_off_and_is_not_kept(port: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with connected(port) as endless:
        endless.sendall(head(port, "Transfer-Encoding: chunked"))
        sent = 0
        try:
            while sent < 500_000_000:
                endless.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
                sent += 65_536
        except OSError:
            pass
    assert sent < 100_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    assert served(port)


@pytest.mark.parametrize("lines", [100, 1_000, 10_000, 100_000])
def test_headers_beyond_the_bound_are_refused(port: int, lines: int) -> None:
    with connected(port) as many:
        try:
            many.sendall(head(port, *[f"X-{number}: {'y' * 200}" for number in range(lines)], method="GET"))
        except OSError:
            assert lines > 1_000
        assert rest(many)[:12] in (b"HTTP/1.1 431", b"HTTP/1.1 400", b"")
    assert served(port)


def test_an_address_beyond_the_bound_is_refused(port: int) -> None:
    with connected(port) as long:
        long.sendall(head(port, method="GET", path=PATH + "?scope=" + "x" * 20_000))
        assert rest(long)[:12] in (b"HTTP/1.1 431", b"HTTP/1.1 400")


BROKEN: Final = {
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "one word": b"GET\r\n\r\n",
    "zeros": b"\x00" * 100,
    "two lengths": b"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    "a blank in a name": b"GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n",
    "folded": b"GET /healthz HTTP/1.1\r\n folded: a\r\n\r\n",
    "a proxy's": b"GET http://evil.example/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "up and away": b"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "bad chunk": b"POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "not ASCII": "GET /caf\u00e9 HTTP/1.1\r\nHost: a\r\n\r\n".encode(),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_http_is_refused_and_the_next_client_is_served(port: int, name: str) -> None:
    with connected(port) as odd:
        odd.sendall(BROKEN[name])
        said = rest(odd)
        assert said == b"" or said.startswith(b"HTTP/1.1 4"), said[:200]
        assert b"root:" not in said and b"Traceback" not in said
    assert served(port)


def test_more_connections_than_there_may_be_are_turned_away_and_then_taken_again(port: int) -> None:
    idle = [socket.create_connection(("127.0.0.1", port), timeout=HANG) for _ in range(LIMITS.connections + 5)]
    for made in idle:
        made.close()
    assert until(20, lambda: served(port))


def test_requests_on_one_connection_are_answered_in_their_order(port: int) -> None:
    with connected(port) as many:
        for name in ("/healthz", "/readyz", "/nothing"):
            last = ["Connection: close"] if name == "/nothing" else []
            many.sendall(head(port, *last, method="GET", path=name))
        said = rest(many)
        places = [said.index(word) for word in (b'"ok"', b'"ready"', b"problem:not-found")]
        assert places == sorted(places)
