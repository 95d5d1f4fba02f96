"""MCP over the standard streams: nothing but the protocol on the output, an answer to every frame, and an end when the client ends.

The SDK has a transport of its own. This one also answers frames that are no JSON-RPC with the code that the specification has for them,
stops reading while too much is being worked on, never waits for a stream that nobody reads, and ends with its client, however that ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from earnest.mcp.wire import MAX_FRAME, TooLong, Wire

IN_FLIGHT: Final = 64
"""Requests that may wait for their answer; while there are more, nothing is read."""
LINES_AHEAD: Final = 16
_LAST_ANSWERS: Final = 1.5
"""Seconds that answers may still take when the input has ended: who pipes requests in wants them."""
_LAST_CALLS: Final = 5.0
"""Seconds that calls may take to come to their end before the process ends without them. What they had committed is on the disk."""
_PARENT_EVERY: Final = 0.5

# Characters that end a line for some readers, though not in JSON.
_LINE_ENDS: Final = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\u0085": "\\u0085"})

Message = SessionMessage | Exception


class Refused(NamedTuple):
    """A frame that is no message, with the error that answers it."""

    code: int
    reason: str
    id: int | str | None = None


def read_frame(line: bytes | TooLong) -> types.JSONRPCMessage | Refused:
    """A line as a message, or why it is none."""
    if isinstance(line, TooLong):
        return Refused(types.INVALID_REQUEST, f"a message may take at most {MAX_FRAME:,} bytes")
    try:
        made = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        # A request whose id is none would be read as a notification, and never answered.
        if not isinstance(made, types.JSONRPCNotification) or "id" not in json.loads(line):
            return made
    except (ValidationError, RecursionError):
        pass
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return Refused(types.PARSE_ERROR, "the message is not JSON")
    if isinstance(value, list):
        return Refused(types.INVALID_REQUEST, "batches are not taken: send one message a line")
    if not isinstance(value, dict):
        return Refused(types.INVALID_REQUEST, "a message is a JSON object")
    known = value.get("id")
    name = known if isinstance(known, int | str) and not isinstance(known, bool) else None
    if value.get("jsonrpc") != "2.0":
        return Refused(types.INVALID_REQUEST, 'a message has "jsonrpc": "2.0"', name)
    return Refused(types.INVALID_REQUEST, "the message is neither a request nor a notification nor a response", name)


class Connection:
    """One client at the other end of a wire."""

    def __init__(self, wire: Wire, loop: asyncio.AbstractEventLoop) -> None:
        self._wire, self._loop = wire, loop
        self._room = threading.Semaphore(LINES_AHEAD)
        self._lines: asyncio.Queue[bytes | TooLong | None] = asyncio.Queue()
        self._outbox: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        self._waiting: Counter[int | str] = Counter()
        self._changed = asyncio.Event()
        self.gone = asyncio.Event()
        """Set when the client reads no more, or will not be there any more."""

    def start(self) -> None:
        """Begin to read and to write, in threads that keep no process alive."""
        for name, work in (("reader", self._read), ("writer", self._write), ("parent", self._watch)):
            threading.Thread(target=work, name=f"earnest-mcp-{name}", daemon=True).start()

    # threads

    def _call(self, function: Callable[..., Any], *args: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has closed meanwhile
            self._loop.call_soon_threadsafe(function, *args)

    def _read(self) -> None:
        def take(line: bytes | TooLong | None) -> None:
            self._room.acquire()
            self._call(self._lines.put_nowait, line)

        self._wire.lines(take)

    def _write(self) -> None:
        while True:
            data, done = self._outbox.get()
            try:
                self._wire.write(data)
            except OSError:
                self._call(self.gone.set)
                return
            self._call(_finish, done)

    def _watch(self) -> None:
        """Ends with the process that started this one, should its end of the pipe outlive it."""
        if sys.platform == "win32":
            return
        parent, pause = os.getppid(), threading.Event()
        while os.getppid() == parent:
            pause.wait(_PARENT_EVERY)
        self._call(self.gone.set)

    # tasks

    async def pump(self, into: anyio.abc.ObjectSendStream[Message]) -> None:
        """Hand messages to the server until the input ends; answer what is no message."""
        async with into:
            while (line := await self._lines.get()) is not None:
                self._room.release()
                if isinstance(line, bytes) and not line.strip():
                    continue
                frame = read_frame(line)
                if isinstance(frame, Refused):
                    error = types.ErrorData(code=frame.code, message=frame.reason)
                    await self.send(types.JSONRPCError(jsonrpc="2.0", id=frame.id, error=error))
                    continue
                if isinstance(frame, types.JSONRPCRequest):
                    await self._until(lambda: self._waiting.total() < IN_FLIGHT)
                    self._waiting[frame.id] += 1
                elif isinstance(frame, types.JSONRPCNotification) and frame.method == "notifications/cancelled":
                    # A cancelled request is never answered.
                    self._answered((frame.params or {}).get("requestId"))
                await into.send(SessionMessage(frame))
            with anyio.move_on_after(_LAST_ANSWERS):
                await self._until(lambda: not self._waiting.total())

    async def drain(self, outgoing: anyio.abc.ObjectReceiveStream[SessionMessage]) -> None:
        """Write what the server answers."""
        async with outgoing:
            async for one in outgoing:
                await self.send(one.message)
                if isinstance(one.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._answered(one.message.id)

    async def send(self, message: types.JSONRPCMessage) -> None:
        """Write one message on one line; returns when it was written."""
        done: asyncio.Future[None] = self._loop.create_future()
        text = message.model_dump_json(by_alias=True, exclude_unset=True).translate(_LINE_ENDS)
        self._outbox.put((text.encode("utf-8", "backslashreplace") + b"\n", done))
        await done

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._changed.clear()
            await self._changed.wait()

    def _answered(self, name: Any) -> None:
        if isinstance(name, int | str) and self._waiting[name] > 0:
            self._waiting[name] -= 1
            self._changed.set()
        self._waiting += Counter()  # drops what is at zero


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


def serve(server: Server[Any], wire: Wire) -> None:
    """Serve one client until its input ends, it or the parent dies, or the process is told to end. Calls that write come to their end."""
    asyncio.run(_serve(server, wire))


async def _serve(server: Server[Any], wire: Wire) -> None:
    loop = asyncio.get_running_loop()
    client = Connection(wire, loop)
    if sys.platform != "win32":  # there, a process that is told to end is ended
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, client.gone.set)
    incoming, received = anyio.create_memory_object_stream[Message](0)
    answers, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    client.start()
    async with anyio.create_task_group() as tasks:

        async def end_with_client() -> None:
            await client.gone.wait()
            end_soon()
            tasks.cancel_scope.cancel()

        tasks.start_soon(end_with_client)
        tasks.start_soon(client.pump, incoming)
        tasks.start_soon(client.drain, outgoing)
        await server.run(received, answers, server.create_initialization_options())
        tasks.cancel_scope.cancel()
    end_soon()


def end_soon() -> None:
    """See to it that this process ends, whatever a call is still waiting for: a transaction that is cut off leaves nothing half done."""
    timer = threading.Timer(_LAST_CALLS, os._exit, (0,))
    timer.daemon = True
    timer.start()
