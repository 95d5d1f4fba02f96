"""Which store a command works on, and opening it so that reading makes no file."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from earnest.errors import InvalidInput, StoreBusy, StoreCorrupt, StoreError, StoreTooNew, WrongAgent
from earnest.places import usual_store

if TYPE_CHECKING:
    from earnest.memory import Memory

Access = Literal["reading", "writing", "creating"]


def store_of(args: Namespace) -> tuple[str, bool]:
    """The store that was asked for, and whether it was named (else it is the usual one)."""
    named = args.store if args.store is not None else os.environ.get("EARNEST_STORE") or None
    if named is None:
        return str(usual_store(Path.cwd())), False
    if named == ":memory:":
        raise InvalidInput("store", named, "keeps nothing once the command has ended; name a file or a folder")
    return str(named), True


def beginning(args: Namespace) -> str:
    """Where a store will lie that this command is the first to write to, though nobody named it; else nothing."""
    where, named = store_of(args)
    return "" if named or Path(where).exists() else where


def open_memory(args: Namespace, access: Access, *, channel: str = "cli", actor: str = "operator") -> Memory:
    """The memory that a command works on. Only `creating` makes a store that is not there.

    Raises:
        StoreError, InvalidInput, NotAvailable: As `Memory.open`; also when there is no store yet.
    """
    from earnest.memory import Memory

    where, named = store_of(args)
    if access == "creating":
        if not named:
            Path(where).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    else:
        _insist(where, args.agent)
    options: dict[str, Any] = {"actor": actor, "channel": channel}
    if args.timeout is not None:
        options["timeout"] = args.timeout
    try:
        return Memory.open(where, args.agent, **options)
    except (StoreBusy, StoreCorrupt, StoreTooNew, WrongAgent):
        raise
    except StoreError:
        # A store on a medium that cannot be written may still be read.
        if access != "reading" or (os.access(where, os.W_OK) and os.access(Path(where).resolve().parent, os.W_OK)):
            raise
        return Memory.open(where, args.agent, read_only=True, **options)


def _insist(where: str, agent: str | None) -> None:
    """Raises StoreError, with the way out, if there is no store yet."""
    from earnest.opening import DEFAULT_AGENT, agent_name, agents_in, located

    name = agent_name(agent)
    if where.endswith(("/", os.sep)) and not Path(where).is_dir():
        raise StoreError(_missing(where))
    file = Path(located(where, name)[0])
    if Path(where).is_dir() and not file.exists():
        there = agents_in(Path(where))
        if there:
            raise StoreError(
                f"{where}: agent {name or DEFAULT_AGENT!r} has no memory in this folder; there are {_listed(there)}: name one with --agent"
            )
        raise StoreError(_missing(where))
    if not file.exists():
        raise StoreError(_missing(where))
    if file.is_file() and file.stat().st_size == 0:
        raise StoreError(f"{where}: the file is empty, so nothing is remembered in it; `earnest remember TEXT` begins a store there")


def _missing(where: str) -> str:
    return f"{where}: there is no store yet; `earnest remember TEXT` or `earnest encode FILE` begins one, --store PATH names another"


def _listed(names: list[str], limit: int = 10) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def others_in_folder(args: Namespace) -> list[str]:
    """The other agents that have a file where the store is a folder."""
    from earnest.opening import DEFAULT_AGENT, agent_name, agents_in

    where, _ = store_of(args)
    if not Path(where).is_dir():
        return []
    return [agent for agent in agents_in(Path(where)) if agent != (agent_name(args.agent) or DEFAULT_AGENT)]


def hint(args: Namespace, command: str) -> str:
    """A command to type next, on the same store."""
    words = f"earnest {command}"
    if args.store is not None:
        words += f" --store {shlex.quote(args.store)}"
    if args.agent is not None:
        words += f" --agent {shlex.quote(args.agent)}"
    return words
