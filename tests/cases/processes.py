"""Starting and steering the other processes of a case; see `workers`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .model import Left, Refused
from .surface import ROOT, Agent, environment


class Worker:
    """A process that speaks JSON, one object a line."""

    def __init__(self, what: str, *arguments: str, env: dict[str, str] | None = None, preexec_fn: Callable[[], None] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.cases.workers", what, *arguments],
            cwd=ROOT,
            env=environment() | (env or {}),
            preexec_fn=preexec_fn,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._telling = threading.Lock()

    def hear(self) -> Any:
        """The next line that it says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            assert self.process.stderr is not None
            raise RuntimeError(f"a worker ended with status {self.process.wait()}: {self.process.stderr.read()[-2000:]}")
        return json.loads(line)

    def tell(self, value: Any = None) -> None:
        """A line to it; one that is gone is not told anything."""
        assert self.process.stdin is not None
        with self._telling:
            if not self.process.stdin.closed and self.process.poll() is None:
                self.process.stdin.write(json.dumps(value) + "\n")
                self.process.stdin.flush()

    def kill(self) -> list[Any]:
        """Kill it without warning; gives the whole lines that it had still said."""
        self.process.kill()
        assert self.process.stdout is not None
        lines = self.process.stdout.read().split("\n")
        self.end()
        return [json.loads(line) for line in lines[:-1]]

    def end(self) -> None:
        """Let it end by itself, or make it."""
        pipes = (self.process.stdin, self.process.stdout, self.process.stderr)
        if self.process.stdin is not None and not self.process.stdin.closed and self.process.poll() is None:
            self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in pipes:
            if pipe is not None and not pipe.closed:
                pipe.close()


class Peer:
    """The library in another process, as a surface."""

    name = "peer"

    def __init__(self, folder: Path, *, started: dict[str, Any] | None = None, read_only: bool = False) -> None:
        self.folder = folder
        self.timeout: float | None = None
        self._worker = Worker("serve", str(folder), *(["read_only"] if read_only else []), **(started or {}))
        self._worker.hear()

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._worker.process.pid

    def call(self, agent: Agent, verb: str, **arguments: Any) -> Any:
        """See `Surface.call`."""
        self._worker.tell({"agent": agent, "verb": verb, "arguments": arguments})
        told = self._worker.hear()
        if "kinds" in told:
            raise Refused(frozenset(told["kinds"]), told["message"], told["value"])
        if "absence" in told:
            raise Left(told["absence"], told["message"])
        return told["value"]

    def reopen(self) -> None:
        """It keeps its stores open: that is what it is for."""

    def close(self) -> None:
        """End the process."""
        self._worker.end()
