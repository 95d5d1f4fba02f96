"""Running the application: a socket, bounds on slow and huge requests, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from earnest.http.guard import Limits
from earnest.http.workers import THREAD

PORT: Final = 8765
"""The port, unless another is named."""

KEEP_ALIVE: Final = 15
"""Seconds that a connection may wait for its next request."""


def names_of(host: str, port: int) -> list[str]:
    """The Host headers that mean this service: this machine's own names, and the address it listens on if that is one."""
    names = ["127.0.0.1", "localhost", "[::1]"]
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        if not address.is_unspecified:
            names.append(f"[{address.compressed}]" if address.version == 6 else address.compressed)
    made = [f"{name}:{port}" for name in dict.fromkeys(names)]
    # A browser leaves the usual port out. (With it, any other port would be taken too.)
    return [*made, *names] if port == 80 else made


class _Patient(H11Protocol):
    """HTTP/1.1 with a bound on how long headers may take to arrive: a client that sends a byte now and then holds no connection."""

    seconds = 10.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._late: asyncio.TimerHandle | None = None
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        else:
            self._wait()

    def on_response_complete(self) -> None:
        self._stop()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self.seconds, self._give_up)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if not self.transport.is_closing():
            self.transport.close()


class _Server(uvicorn.Server):
    """Ends on a signal with what runs done, and then returns as after any other work."""

    def __init__(self, config: uvicorn.Config, begun: Callable[[], None]) -> None:
        super().__init__(config)
        self._begun = begun

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals that ask a service to end. (uvicorn's own form raises them again afterwards.)"""
        before: dict[signal.Signals, Any] = {}

        def ask(number: int, frame: FrameType | None) -> None:
            self.handle_exit(number, frame)

        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(ValueError):  # not the main thread: whoever started this thread ends it
                before[number] = signal.signal(number, ask)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and say so once requests are taken."""
        await super().startup(sockets)
        if self.started:
            self._begun()


def server(app: ASGIApp, limits: Limits, *, begun: Callable[[], None] = lambda: None) -> uvicorn.Server:
    """A server for one application, with these bounds; `run(sockets=[…])` serves until a signal, or until `should_exit` is set."""
    patient = type("Patient", (_Patient,), {"seconds": limits.receive})
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=patient,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=limits.headers,
        limit_concurrency=limits.connections,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=int(limits.shutdown) or 1,
    )
    return _Server(config, begun)


def run(app: ASGIApp, place: socket.socket, limits: Limits, *, begun: Callable[[], None] = lambda: None) -> None:
    """Serve until a signal. What runs then is finished, within the bound; new requests are refused.

    For a process that does nothing else: a verb that goes on beyond the bound is left behind with the process. What it has committed is
    on the disk, and nothing else is.
    """
    try:
        server(app, limits, begun=begun).run(sockets=[place])
    finally:
        place.close()
    if any(thread.name.startswith(THREAD) and thread.is_alive() for thread in _after(0.5)):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _after(seconds: float) -> list[threading.Thread]:
    """The threads that are left when those that are about to end had a moment for it."""
    until = time.monotonic() + seconds
    while True:
        left = [thread for thread in threading.enumerate() if thread.name.startswith(THREAD)]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)
