"""Where servers listen: one way to take an address, on which small answers go out at once."""

from __future__ import annotations

import ast
import asyncio
import socket
from pathlib import Path
from typing import Final

import pytest

import earnest
from earnest.errors import InvalidInput
from earnest.mcp.listening import bracketed, listening, loopback

TAKING: Final = ("bind", "create_server", "start_server")


def test_small_answers_do_not_wait_for_what_might_follow() -> None:
    """asyncio tells the system so only of sockets that name their protocol; else each answer waits for the client's acknowledgement."""

    async def taken() -> int:
        at_once: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            at_once.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listening("127.0.0.1", 0) as place:
            async with await asyncio.start_server(connected, sock=place):
                _, writer = await asyncio.open_connection(*place.getsockname())
                made = await at_once
                writer.close()
        return made

    assert asyncio.run(taken()) != 0


def test_every_server_takes_its_address_in_the_same_way() -> None:
    root, takers = Path(earnest.__file__).parent, []
    for path in root.rglob("*.py"):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        names = [ast.unparse(func) for func in calls if isinstance(func, ast.Attribute)]
        # A meter is bound to a channel, which is no address.
        if any(name.rpartition(".")[2] in TAKING and not name.endswith("meters.bind") for name in names):
            takers.append(path.relative_to(root).as_posix())
    assert takers == ["mcp/listening.py"]


def test_an_address_that_is_taken_is_one_plain_error() -> None:
    with listening("127.0.0.1", 0) as place, pytest.raises(InvalidInput, match=r"cannot be listened on at 127\.0\.0\.1"):
        listening("127.0.0.1", place.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "alone", "shown"),
    [
        ("127.0.0.1", True, "127.0.0.1"), ("localhost", True, "localhost"), ("::1", True, "[::1]"), ("[::1]", True, "[::1]"),
        ("0.0.0.0", False, "0.0.0.0"), ("::", False, "[::]"), ("example.com", False, "example.com"),
    ],
)  # fmt: skip
def test_which_hosts_this_machine_alone_can_reach_and_how_they_stand_in_an_address(host: str, alone: bool, shown: str) -> None:
    assert (loopback(host), bracketed(host)) == (alone, shown)
