"""Other processes at work on the same stores: `python -m tests.cases.workers WHAT ARGUMENTS`, one JSON object a line on both sides."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from earnest import Memory
from earnest.errors import EarnestError

from .model import Left, Refused
from .python_surface import PythonSurface


def say(value: Any) -> None:
    """One line to whoever started this process."""
    sys.stdout.write(json.dumps(value, default=str) + "\n")
    sys.stdout.flush()


def serve(folder: str, mode: str = "") -> None:
    """Answers calls, so that a case can act through several processes in the order that it names."""
    surface = PythonSurface(Path(folder), read_only=mode == "read_only")
    say("ready")
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            say({"value": surface.call(asked["agent"], asked["verb"], **asked["arguments"])})
        except Refused as refused:
            say({"kinds": sorted(refused.kinds), "message": refused.message, "value": refused.value})
        except Left as left:
            say({"absence": left.absence, "message": left.reason})
    surface.close()


def burst(folder: str, agent: str, name: str, adds: str, searches: str, settles: str) -> None:
    """So many adds, searches and settled decisions, as fast as it goes; tells what was acknowledged and what failed."""
    errors: list[str] = []
    acknowledged: list[str] = []
    landed = 0
    n = [int(adds), int(searches), int(settles)]
    with Memory.open(folder, agent or None) as memory:
        say("ready")
        sys.stdin.readline()
        for i in range(max(n)):
            try:
                if i < n[0]:
                    acknowledged.append(memory.add(f"worker {name} writes note {i} about walrus {name}x{i}").id)
                if i < n[1]:
                    memory.search(f"walrus {name}x{i}")
                if i < n[2]:
                    ticket = memory.decide(f"note about walrus {name}x{i}")
                    landed += ticket.id is not None and memory.settle(ticket.id, delta=1, meter="burst").landed
            except EarnestError as error:
                errors.append(f"{type(error).__name__}: {error}")
        say({"errors": errors, "acknowledged": acknowledged, "landed": landed})


def hold(file: str) -> None:
    """Holds the write lock of a store until a line comes."""
    import apsw

    connection = apsw.Connection(file)
    connection.set_busy_timeout(10_000)
    connection.execute("BEGIN IMMEDIATE")
    say("held")
    sys.stdin.readline()
    connection.execute("ROLLBACK")
    say("released")


def save(folder: str, agent: str, name: str) -> None:
    """Writes until it is killed, naming every entry once it is acknowledged."""
    with Memory.open(folder, agent or None) as memory:
        for i in range(1_000_000):
            text = f"save {name} number {i}"
            entry = memory.add(text, sources=[f"source {name} {i}"])
            ticket = memory.decide(text)
            say({"id": entry.id, "ticket": ticket.id})
            if ticket.id is not None:
                memory.settle(ticket.id, delta=1, meter="kill")
                say({"settled": ticket.id})


_WORK: dict[str, Callable[..., None]] = {"serve": serve, "burst": burst, "hold": hold, "save": save}

if __name__ == "__main__":
    _WORK[sys.argv[1]](*sys.argv[2:])
