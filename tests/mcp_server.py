"""A server in a process of its own, spoken to by hand, one frame a line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue
from types import TracebackType
from typing import Any, Final, Self

INITIALIZE: Final = {
    "jsonrpc": "2.0", "id": "hello", "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}  # fmt: skip
INITIALIZED: Final = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def command(store: Path, *options: str) -> list[str]:
    """What starts a server."""
    return [sys.executable, "-m", "earnest", "mcp", "--store", str(store), *options]


class Server:
    """A server over pipes. Every line that it prints is kept as it came."""

    def __init__(self, store: Path, *options: str, greet: bool = True, **environ: str) -> None:
        self.process = subprocess.Popen(
            command(store, *options), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environ},
            cwd=store.parent,
        )  # fmt: skip
        self.lines: list[bytes] = []
        self.log = b""
        self.heard = threading.Event()
        """Set when the server's log is whole."""
        self._arrived: Queue[bytes | None] = Queue()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._listen)]
        for thread in self._threads:
            thread.start()
        if greet:
            self.send(INITIALIZE)
            self.answer("hello")
            self.send(INITIALIZED)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._arrived.put(line)
        self._arrived.put(None)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self.log = self.process.stderr.read()
        self.heard.set()

    def send(self, frame: Any) -> None:
        """Send a frame: bytes as they are, anything else as JSON."""
        assert self.process.stdin is not None
        data = frame if isinstance(frame, bytes) else json.dumps(frame).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def next(self, timeout: float = 30) -> dict[str, Any]:
        """The next message that the server prints."""
        try:
            line = self._arrived.get(timeout=timeout)
        except Empty:
            raise AssertionError(f"no answer within {timeout} s") from None
        assert line is not None, f"the server ended: {self.process.poll()}"
        self.lines.append(line)
        assert line.endswith(b"\n")
        made = json.loads(line)
        assert isinstance(made, dict) and made["jsonrpc"] == "2.0"
        return made

    def answer(self, name: Any, timeout: float = 30) -> dict[str, Any]:
        """The answer to the request of that id; others are passed over."""
        while True:
            made = self.next(timeout)
            if made.get("id") == name and type(made.get("id")) is type(name):
                return made

    def call(self, tool: str, name: Any = "call", **arguments: Any) -> dict[str, Any]:
        """A tool's result."""
        self.send({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        made = self.answer(name)["result"]
        assert isinstance(made, dict)
        return made

    def get(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool gives back; it must have gone well, and say the same as text and as structure."""
        made = self.call(tool, **arguments)
        assert not made.get("isError"), made["content"][0]["text"]
        structured = made["structuredContent"]
        assert json.loads(made["content"][0]["text"]) == structured
        assert isinstance(structured, dict)
        return structured

    def rest(self, timeout: float = 10) -> list[dict[str, Any]]:
        """Closes the input and gives what the server still prints before it ends."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        made = []
        while (line := self._arrived.get(timeout=timeout)) is not None:
            self.lines.append(line)
            made.append(json.loads(line))
        self.process.wait(timeout)
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        for thread in self._threads:
            thread.join(10)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue
