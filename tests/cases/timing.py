"""Cases about times: what an import keeps of them, and that each one says its zone."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from earnest import Memory

from . import agents, aging, web
from .model import Op, Refused, Reply, Unknown
from .run import Run
from .shells import commands

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\s\"\\,;)]*")
_ZONED = re.compile(r".*(Z|[+-]\d\d:?\d\d)\Z")
"""ISO 8601 with a zone."""

FIELDS = {"created": "created", "expires_at": "valid_to", "importance": "importance", "energy": "balance",
          "last settled": "last_settled_tick", "access count": "recalls", "updated": "version"}  # fmt: skip
"""What cases call the fields of an entry. When it was changed last is in the log; an entry tells how often."""


def _compare(run: Run, op: Op, reply: Reply) -> None:
    """Read two times back and compare them, which fails if one says its zone and the other does not."""
    first, second = (datetime.fromisoformat(run.entry(key)["created"]) for key in op["of"])
    if not first < second:
        raise Refused(frozenset({"crash"}), f"{first} is not before {second}")
    reply.value = [str(first), str(second)]


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {"compare_times": _compare}

_SINCE_TODAY = ["list", "--since", "today"]


def of_day(run: Run, op: Op, reply: Reply) -> None:
    """What is from a day: filters take dates, and a date is a day in UTC."""
    if op["day"] != "today":
        raise Unknown(f"I do not know the day {op['day']!r}")
    run.notes.append("filters take dates in place of day words, and a date is a day in UTC")
    reply.wanted = frozenset(run.added)
    reply.hits = reply.value = run.surface.call(run.agent(op), "search", query="note", k=100, since=_today(run))


def in_words(run: Run, args: list[str]) -> list[str]:
    """A command that lists by day, as the product has it."""
    return ["search", "note", "--since", _today(run)] if args == _SINCE_TODAY else args


def _today(run: Run) -> str:
    clock = getattr(run.surface, "clock", None)
    return (clock.now() if clock is not None else datetime.now(UTC)).date().isoformat()


def zone(run: Run, name: str) -> None:
    """From now on processes are in this zone, this one too."""
    before = os.environ.get("TZ")
    run.closing.callback(_zone, before)
    _zone(name)
    run.facts["started"] = {"env": {"TZ": name}}
    commands(run)


def _zone(name: str | None) -> None:
    if name is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = name
    if hasattr(time, "tzset"):
        time.tzset()


def import_whole(run: Run, op: Op, reply: Reply, path: str) -> None:
    """Take in what another program left behind, with the times that it wrote down."""
    reply.value = run.surface.call(run.agent(op), "import_", path=path)
    for entry in run.surface.call(run.agent(op), "list"):
        key = str(entry["metadata"].get("id", entry["text"]))
        key = f"int {key}" if isinstance(entry["metadata"].get("id"), int) else key
        run.ids[key], run.added[key] = entry["id"], op


# expectations


def _same_instant(run: Run, value: Any) -> list[str]:
    found = {name: run.entry(name.removesuffix(" as UTC"))["created"] for name in value}
    moments = {datetime.fromisoformat(said) for said in found.values() if said}
    return [] if len(moments) == 1 and all(found.values()) else [f"the times are {found}"]


def _unknown(run: Run, value: Any) -> list[str]:
    return [f"{key} was recorded {run.entry(key)['created']}" for key in value if run.entry(key)["created"] is not None]


def _told(run: Run) -> Iterator[tuple[str, str]]:
    """Everything that says a time, by who says it."""
    for agent in [None, *(["fresh"] if run.facts.get("imports") else [])]:
        yield f"list of {agent}", json.dumps(run.surface.call(agent, "list"))
        yield f"search of {agent}", json.dumps(run.surface.call(agent, "search", query="fact", k=10))
        yield f"events of {agent}", json.dumps(run.surface.call(agent, "events", limit=100))
    yield "REST", web.got(run, "/v1/agents/default/entries")
    yield "MCP", json.dumps(agents.searched(run, "fact"))
    yield "export", run.facts["exports"][-1]


def _zones(run: Run, value: Any) -> list[str]:
    made = []
    for who, said in _told(run):
        times = _TIME.findall(said)
        if not times:
            made.append(f"{who} says no time")
        made += [f"{who} says {time!r}" for time in times if not _ZONED.match(time)]
    return made


def _fields_equal(run: Run, value: Any) -> list[str]:
    """What an entry says of itself before the export and after the import, and what it was given."""
    strange = set(value) - set(FIELDS)
    if strange:
        raise Unknown(f"I do not know the fields {sorted(strange)}")
    with Memory.open(run.folder, "fresh", read_only=True) as memory:
        moved = [event.at.isoformat() for event in memory.events(entry=run.ids["a"], kind="edit")]
    before = run.entry("a")
    after = run.surface.call("fresh", "get", id=run.ids["a"])
    made = [f"{name} was {before[FIELDS[name]]}, is {after[FIELDS[name]]}" for name in value if before[FIELDS[name]] != after[FIELDS[name]]]
    given = run.added["a"]
    for name in ("created", "expires_at"):
        if datetime.fromisoformat(after[FIELDS[name]]) != aging.when(run, given[name]):
            made.append(f"{name} was {given[name]}, is {after[FIELDS[name]]}")
    if [datetime.fromisoformat(at) for at in moved] != [aging.when(run, given["updated"])]:
        made.append(f"it was changed {given['updated']}, the log says {moved}")
    return made


def _cli_equals_api(run: Run, value: Any) -> list[str]:
    """The command says of the same entries as the library."""
    [listed] = [r for r in run.actions() if r.name == "list"]
    [said] = [r.said for r in run.actions() if r.name == "cli"]
    ids = {hit["id"] for hit in listed.hits or []}
    told = {entry for entry in run.ids.values() if entry in said}
    return [] if (ids == told and bool(ids)) is value else [f"the library finds {ids}, the command says {said!r}"]


EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "cli_equals_api": _cli_equals_api,
    "same_instant": _same_instant,
    "unknown_time": _unknown,
    "zone_on_every_time": _zones,
    "fields_equal": _fields_equal,
}
