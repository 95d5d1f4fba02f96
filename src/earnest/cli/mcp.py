"""The command that serves memory to agents."""

from __future__ import annotations

import logging
import os
import sys
from argparse import Namespace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from earnest.cli.place import store_of
from earnest.cli.render import Screen
from earnest.errors import InvalidInput, NotAvailable
from earnest.installed import bringing

if TYPE_CHECKING:
    from earnest.memory import Memory

_PORT = 8765
_TIMEOUT = 10.0


def mcp(args: Namespace, screen: Screen) -> int:
    """`earnest mcp`."""
    for name in ("host", "port", "name"):
        if getattr(args, name) is not None and not args.http:
            raise InvalidInput(f"--{name}", getattr(args, name), "is about serving over HTTP: say --http too, or leave it out")
    port = _PORT if args.port is None else args.port
    if not 1 <= port <= 65_535:
        raise InvalidInput("--port", port, "must be from 1 to 65535")
    # Only looked for: nothing of it may be imported before standard output is the protocol's. The second came with its version 2.
    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        raise NotAvailable(f"the MCP server needs the extra `mcp`: {bringing('mcp')}")
    where = store_of(args)[0]
    if args.http:
        return _over_http(args, where, port)
    return _over_stdio(args, where)


def _over_stdio(args: Namespace, where: str) -> int:
    # Standard output is the protocol's before anything else is imported: a library that prints would break it.
    from earnest.mcp.wire import Wire

    wire = Wire()
    _log_to_stderr()
    from earnest.mcp.place import Place
    from earnest.mcp.server import build
    from earnest.mcp.stdio import serve

    place = Place(lambda: _opened(args, where))
    serve(build(place.lend, profile=args.profile or "full", read_only=bool(args.read_only)), wire)
    place.close()
    return 0


def _over_http(args: Namespace, where: str, port: int) -> int:
    from earnest.mcp.place import Place
    from earnest.mcp.server import build
    from earnest.mcp.web import serve
    from earnest.system import few_arenas

    _log_to_stderr()
    place = Place(lambda: _opened(args, where))
    server = build(place.lend, profile=args.profile or "full", read_only=bool(args.read_only))
    token = os.environ.get("EARNEST_TOKEN") or None
    few_arenas()
    serve(server, host=args.host or "127.0.0.1", port=port, token=token, names=tuple(args.name or ()))
    place.close()
    return 0


def _opened(args: Namespace, where: str) -> Memory:
    from pathlib import Path

    from earnest.memory import Memory

    if not args.read_only and args.store is None and not os.environ.get("EARNEST_STORE"):
        Path(where).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    timeout = _TIMEOUT if args.timeout is None else args.timeout
    return Memory.open(where, args.agent, actor="agent", channel="mcp", read_only=bool(args.read_only), timeout=timeout)


def _log_to_stderr() -> None:
    wanted = os.environ.get("EARNEST_LOG", "warning").upper()
    level = logging.getLevelNamesMapping().get(wanted)
    if level is None:
        raise InvalidInput("EARNEST_LOG", wanted.lower(), "must be one of debug, info, warning, error, critical")
    logging.basicConfig(stream=sys.stderr, level=level, format="earnest: %(levelname)s %(name)s: %(message)s")
