"""The command that opens the dashboard in a browser of this machine."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Final

from earnest.cli.place import open_memory, store_of
from earnest.cli.render import Painted, Screen
from earnest.cli.serving import log_to_stderr, need_server
from earnest.core import check

HOST: Final = "127.0.0.1"


def ui(args: Namespace, screen: Screen) -> int:
    """`earnest ui`."""
    need_server()
    from dataclasses import replace

    from earnest.http.app import build
    from earnest.http.guard import Hosts, Limits
    from earnest.http.memories import checked_agent
    from earnest.http.pages import Codes, Pages
    from earnest.http.serving import names_of, run
    from earnest.http.tokens import Grant, passing_token
    from earnest.mcp.listening import listening
    from earnest.system import SystemRng, few_arenas

    where, _ = store_of(args)
    with open_memory(args, "reading") as memory:
        agent = checked_agent(memory.agent)
    port = 0 if args.port is None else check.integer("--port", args.port, low=0, high=65_535)
    grant = Grant("ui", "operator", agent=args.agent and agent, operator=True, read_only=bool(args.read_only), channel="dashboard")
    token = passing_token(SystemRng(), grant)
    codes = Codes(SystemRng(), token[0])
    place = listening(HOST, port)
    address = f"http://{HOST}:{place.getsockname()[1]}"
    # One person clicks; a page reads several things at once.
    limits = replace(Limits(), rate=500.0, burst=1_000.0)
    try:
        app = build(Path(where), hosts=Hosts(names_of(HOST, place.getsockname()[1])), given=[token], limits=limits, pages=Pages(codes))
    except BaseException:
        place.close()
        raise
    log_to_stderr()

    def link() -> str:
        # What stands behind the # is not sent to any server, so that no log holds it.
        return f"{address}/#code={codes.new()}"

    def begun() -> None:
        opened = link()
        if screen.as_json:
            screen.json({"store": where, "address": address, "link": opened, "pid": os.getpid()})
        else:
            screen.say("The dashboard of ", where, " is at ", Painted(opened, "bold"))
            screen.say("The link works once, within five minutes. Enter prints another one; Ctrl-C ends the dashboard.")
        screen.stream.flush()
        if not args.no_open and _has_browser(screen):
            threading.Thread(target=_open, args=(opened,), daemon=True).start()
        if sys.stdin is not None and sys.stdin.isatty():
            threading.Thread(target=_more_links, args=(screen, link), daemon=True).start()

    few_arenas()
    run(app, place, limits, begun=begun)
    return 0


def _has_browser(screen: Screen) -> bool:
    """Whether somebody sits before this machine who would see a window."""
    if screen.as_json or not screen.stream.isatty():
        return False
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _open(link: str) -> None:
    import webbrowser

    # Without a browser the link that was printed is there to be copied.
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(link)


def _more_links(screen: Screen, link: Callable[[], str]) -> None:
    """Another link for every line that is typed."""
    for _ in sys.stdin:
        screen.say(Painted(link(), "bold"))
        screen.stream.flush()
