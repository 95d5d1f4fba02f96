"""A process that works on a store until it is killed, and says on its pipe what was acknowledged: `python -m tests.crash.writer`."""

from __future__ import annotations

import itertools
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

from earnest.memory import Memory


def say(**what: Any) -> None:
    """One line, in one write: it is there as a whole or not at all."""
    os.write(1, (json.dumps(what) + "\n").encode())


def verbs(path: str, name: str) -> None:
    """A mix of verbs on one store. Every request is said before it is made, and once more when it was acknowledged."""
    rng = random.Random(name)
    with Memory.open(path) as memory:
        tickets: list[str] = []
        ids: list[str] = []
        say(ready=True)
        for number in itertools.count():
            key = f"{name}-{number}"
            verb = rng.choice(("add", "add", "decide", "settle", "settle", "abandon", "tick", "update", "forget"))
            request: dict[str, Any] = {"verb": verb, "key": key}
            if verb == "add":
                request["text"] = f"The machine {key} stands in hall {number % 7}."
            elif verb in ("settle", "abandon"):
                if not tickets:
                    continue
                request["ticket"] = tickets.pop(rng.randrange(len(tickets)))
                if verb == "settle":
                    request["delta"] = rng.choice((1.0, 0.5, -0.25))
            elif verb in ("update", "forget"):
                if not ids:
                    continue
                request["id"] = ids[rng.randrange(len(ids))] if verb == "update" else ids.pop(rng.randrange(len(ids)))
            say(begin=request)
            say(done={**request, **carried_out(memory, request, tickets, ids)})


def carried_out(memory: Memory, request: dict[str, Any], tickets: list[str], ids: list[str]) -> dict[str, Any]:
    """Makes one request, and returns what is to be remembered about it."""
    verb, key = request["verb"], request["key"]
    if verb == "add":
        ids.append(memory.add(request["text"], retention="kept", sources=[key], key=key).id)
        return {"id": ids[-1]}
    if verb == "decide":
        ticket = memory.decide("In which hall does the machine stand?", key=key).id
        if ticket is not None:
            tickets.append(ticket)
        return {"ticket": ticket}
    if verb == "settle":
        return {"landed": memory.settle(request["ticket"], delta=request["delta"], meter="hall", key=key).landed}
    if verb == "abandon":
        return {"closed": memory.abandon(request["ticket"], reason=key)}
    if verb == "tick":
        return {"tick": memory.tick(slot=key, expire_after=1_000_000).tick}
    if verb == "update":
        return {"importance": memory.update(request["id"], importance=0.25, key=key).importance}
    try:
        return {"buried": memory.forget(request["id"], key).standing == "dead"}
    except ValueError:
        return {"buried": False}  # an open ticket names it


def opening(folder: str, name: str) -> None:
    """Makes one new store after the other."""
    say(ready=True)
    for number in itertools.count():
        file = str(Path(folder) / f"{name}-{number}.db")
        Memory.open(file).close()
        say(made=file)


def rebuilding(path: str, name: str) -> None:
    """Rebuilds the index of a store for ever."""
    with Memory.open(path) as memory:
        say(ready=True)
        while True:
            say(indexed=memory._store.rebuild_index(memory._analyser.terms, memory._author()))


if __name__ == "__main__":
    {"verbs": verbs, "opening": opening, "rebuilding": rebuilding}[sys.argv[1]](sys.argv[2], sys.argv[3])
