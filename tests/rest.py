"""Helpers of the tests of the REST service: an application in this process, and a real server in another one."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message

from earnest.http.app import build
from earnest.http.guard import Hosts, Limits
from earnest.http.tokens import Grant

TOKEN: Final = "a-token-for-tests-0123456789"
OPERATOR: Final = Grant("test", "tester", operator=True)
HOST: Final = "127.0.0.1:8765"


def application(
    where: Path, *, given: Iterable[tuple[str, Grant]] = ((TOKEN, OPERATOR),), limits: Limits | None = None, hosts: Iterable[str] = (HOST,)
) -> ASGIApp:
    """The service in this process."""
    return build(where, hosts=Hosts(hosts), given=given, limits=limits or Limits(rate=0.0))


@contextmanager
def client(where: Path, *, token: str = TOKEN, **more: Any) -> Iterator[TestClient]:
    """A client of the service in this process, with the operator's token."""
    with TestClient(application(where, **more), base_url=f"http://{HOST}", headers={"Authorization": f"Bearer {token}"}) as made:
        yield made


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def ask(app: ASGIApp, method: str, path: str, headers: Iterable[tuple[str, str]] = (), body: bytes = b"") -> Answer:
    """One request, as raw as ASGI has it: with any headers, or none."""
    raw = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "root_path": "",
        "path": raw[0], "raw_path": raw[0].encode("ascii"), "query_string": raw[2].encode("ascii"), "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765), "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
    }  # fmt: skip
    sent: list[Message] = []
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return left.pop(0) if left else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    said = {name.decode("latin-1"): value.decode("latin-1") for name, value in sent[0]["headers"]}
    return Answer(int(sent[0]["status"]), said, b"".join(message.get("body", b"") for message in sent[1:]))


def asked(app: ASGIApp, *request: Any, **more: Any) -> Answer:
    """As `ask`, waited for."""
    return asyncio.run(ask(app, *request, **more))


class Server:
    """`earnest serve` in a process of its own."""

    def __init__(self, root: Path, *options: str, token: str = TOKEN) -> None:
        environ = {**os.environ, "EARNEST_TOKEN": token}
        if not token:
            del environ["EARNEST_TOKEN"]
        command = [sys.executable, "-m", "earnest", "serve", "--root", str(root), "--port", "0", "--json", *options]
        self.process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        first = ""
        for line in self.process.stdout:
            first += line
            if line.startswith("}"):
                break
        assert first, self.process.communicate()[1]
        said = json.loads(first)
        self.port = int(said["address"].rpartition(":")[2])
        self.token = token

    def ask(self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, timeout: float = 30.0) -> Answer:
        """One request over a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        data = None
        if body is not None:
            data = json.dumps(body).encode("utf-8")
            sent["Content-Type"] = "application/json"
        try:
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def end(self, number: int = signal.SIGTERM, timeout: float = 30.0) -> tuple[int, str]:
        """Ask it to end; returns its exit status and what it wrote to standard error."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, said = self.process.communicate(timeout=timeout)
        return self.process.returncode, said

    def memory_kb(self) -> int:
        """What it holds in memory now."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0


@contextmanager
def serving(root: Path, *options: str, token: str = TOKEN) -> Iterator[Server]:
    """A server for a while."""
    made = Server(root, *options, token=token)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.process.terminate()
            try:
                made.process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                made.process.kill()
                made.process.communicate()


def until(seconds: float, true: Any) -> bool:
    """Whether something comes true within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return bool(true())
