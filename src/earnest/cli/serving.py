"""Commands that serve: the REST service and its tokens."""

from __future__ import annotations

import logging
import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earnest.cli.common import plural
from earnest.cli.render import Painted, Part, Screen
from earnest.errors import InvalidInput, NotAvailable
from earnest.installed import bringing

if TYPE_CHECKING:
    from earnest.http.tokens import Grant, TokenInfo, Tokens

_SERVING: Final = ("host", "port", "allow_host", "allow_origin", "rate")
_TOKENS: Final = ("operator", "read_only", "channel", "revoke", "list")
TOKEN_VARIABLE: Final = "EARNEST_TOKEN"


def serve(args: Namespace, screen: Screen) -> int:
    """`earnest serve`."""
    if args.action is None:
        _refuse(args, _TOKENS, "belongs to `earnest serve token`")
        if args.name is not None or args.agent is not None:
            raise InvalidInput("serve", args.name or args.agent, "takes no name; `earnest serve token NAME` makes a token")
        return _serve(args, screen)
    _refuse(args, _SERVING, "belongs to `earnest serve`, not to its tokens")
    return _token(args, screen)


def _refuse(args: Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        value = getattr(args, name)
        if value is not None and value is not False:
            raise InvalidInput(f"--{name.replace('_', '-')}", value, why)


def root_of(args: Namespace) -> Path:
    """The folder that is served.

    Raises:
        InvalidInput: None was named.
    """
    named = args.root if args.root is not None else args.store if args.store is not None else os.environ.get("EARNEST_STORE") or None
    if named is None:
        raise InvalidInput("--root", None, "name the folder that holds, or will hold, one file for each agent")
    return Path(named)


def _has(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def need_server() -> None:
    """Raises NotAvailable where the extra is not installed."""
    missing = [name for name in ("starlette", "uvicorn", "pydantic") if not _has(name)]
    if missing:
        raise NotAvailable(f"the service needs {', '.join(missing)}: {bringing('server')}")


def log_to_stderr() -> None:
    """Let warnings of the service and of its server be seen."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


def _serve(args: Namespace, screen: Screen) -> int:
    need_server()
    from dataclasses import replace

    from earnest.http.app import build
    from earnest.http.guard import Hosts, Limits
    from earnest.http.pages import Pages
    from earnest.http.serving import PORT, names_of, run
    from earnest.http.tokens import Tokens, environment_token
    from earnest.mcp.listening import bracketed, listening, loopback
    from earnest.system import SystemClock, few_arenas

    root, host = root_of(args), args.host or "127.0.0.1"
    if root.exists() and not root.is_dir():
        raise InvalidInput("--root", str(root), "is a file; name the folder that holds one file for each agent")
    limits = Limits() if args.rate is None else replace(Limits(), rate=_rate(args.rate), burst=2 * _rate(args.rate))
    given = environment_token(os.environ.get(TOKEN_VARIABLE))
    given += _own_token(Tokens(root, given=given), host, loopback(host), screen)
    place = listening(host, PORT if args.port is None else _port(args.port))
    port = place.getsockname()[1]
    hosts = Hosts([*names_of(host, port), *(args.allow_host or [])], origins=args.allow_origin or [])
    try:
        app = build(root, hosts=hosts, given=given, limits=limits, pages=Pages(), tools=_has("mcp"), clock=SystemClock())
    except BaseException:
        place.close()
        raise
    log_to_stderr()
    address = f"http://{bracketed(host)}:{port}"

    def begun() -> None:
        if screen.as_json:
            screen.json({"root": str(root), "address": address, "pid": os.getpid()})
        else:
            screen.say("Serving ", str(root), " at ", Painted(address, "bold"), "; Ctrl-C ends it.")
        screen.stream.flush()

    few_arenas()
    run(app, place, limits, begun=begun)
    return 0


def _own_token(tokens: Tokens, host: str, private: bool, screen: Screen) -> list[tuple[str, Grant]]:
    """A token for this process alone, shown once, where there is no other and only this machine can reach the service."""
    from earnest.http.tokens import Grant, passing_token
    from earnest.system import SystemRng

    if tokens.any():
        return []
    ways = f"set {TOKEN_VARIABLE}, or make one with `earnest serve token NAME --operator`"
    if not private:
        raise InvalidInput("--host", host, f"would let other machines in, and there is no token to keep them out: {ways}")
    if not sys.stderr.isatty():
        raise InvalidInput("token", None, f"there is none, and nobody is watching to be shown a new one: {ways}")
    made = passing_token(SystemRng(), Grant("process", "process", operator=True))
    sys.stderr.write(f"There is no token yet. This one holds until the service ends: {made[0]}\n")
    return [made]


def _rate(value: float) -> float:
    from earnest.core import check

    return check.number("--rate", value, low=0.0, high=1_000_000.0)


def _port(value: int) -> int:
    from earnest.core import check

    return check.integer("--port", value, low=0, high=65_535)


def _token(args: Namespace, screen: Screen) -> int:
    need_server()
    from earnest.http.tokens import Tokens
    from earnest.system import SystemClock, SystemRng

    tokens = Tokens(root_of(args))
    if args.list or args.revoke is not None:
        _refuse(args, ("operator", "read_only", "channel"), "says what a new token allows; leave it out")
        if args.name is not None or (args.list and args.revoke is not None):
            raise InvalidInput("serve token", args.name or args.revoke, "does one thing at a time: make, --list or --revoke")
        _say_tokens(screen, tokens.list() if args.list else [tokens.revoke(args.revoke)], ended=args.revoke is not None)
        return 0
    if args.name is None:
        raise InvalidInput("name", None, "name the token, such as the program that will hold it: `earnest serve token ci --agent ops`")
    made = tokens.make(
        args.name, agent=args.agent, operator=bool(args.operator), read_only=bool(args.read_only), channel=args.channel or "http",
        clock=SystemClock(), rng=SystemRng(),
    )  # fmt: skip
    if screen.as_json:
        screen.json({"name": args.name, "token": made})
    else:
        screen.say(made)
        # The token alone goes to standard output, so that it can be piped into a file.
        sys.stderr.write("This is the only time that it is shown. Send it as `Authorization: Bearer TOKEN`.\n")
    return 0


def _say_tokens(screen: Screen, found: list[TokenInfo], *, ended: bool) -> None:
    if screen.as_json:
        screen.json({"tokens": found})
        return
    if ended:
        screen.say(f"Revoked {found[0].name}: it allows nothing any more, in running services too.")
        return
    rows: list[list[Part]] = [[info.name, info.id, _allows(info), info.channel, info.created[:10]] for info in found]
    if rows:
        screen.table(["name", "id", "allows", "channel", "made"], rows)
    screen.say(plural(len(rows), "token"), ".")


def _allows(info: Any) -> str:
    who = "everything" if info.operator else f"agent {info.agent}"
    return f"{who}, reading" if info.read_only else who
