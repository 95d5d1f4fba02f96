"""Cases about forgetting, links and contradictions: a clock that a case moves, and what such cases expect.

A case that moves the clock is played on the library alone: commands go by the machine's.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from earnest.testing import ManualClock

from .model import Left, Op, Reply, Unknown
from .python_surface import PythonSurface
from .run import Run

_JUMP = re.compile(r"([+-]?\d+) (day|year)s?\Z")
_LONG = 300
"""Of ten thousand searches of one kind, so many show the same."""


def clock_of(run: Run) -> ManualClock:
    """The clock that this case moves; it begins at the present."""
    if not isinstance(run.surface, PythonSurface):
        raise Left("not here", "commands go by the machine's clock, which no case moves")
    if run.surface.clock is None:
        run.surface.clock = ManualClock(datetime.now(UTC))
        run.surface.reopen()
    return run.surface.clock


def when(run: Run, said: str) -> datetime:
    """A time that a case names: by its date, or so long from now."""
    found = _JUMP.match(said)
    if found is None:
        made = datetime.fromisoformat(said)
        return made if made.tzinfo else made.replace(tzinfo=UTC)
    return clock_of(run).now() + timedelta(days=int(found[1]) * (365 if found[2] == "year" else 1))


def written_at(run: Run, said: str, write: Callable[[], None]) -> None:
    """Do something at another time, and come back."""
    clock = clock_of(run)
    now = clock.now()
    clock.set(when(run, said))
    try:
        write()
    finally:
        clock.set(now)


def _clock(run: Run, op: Op, reply: Reply) -> None:
    clock_of(run).set(when(run, op["now"] if "now" in op else op["jump"]))


def _decay(run: Run, op: Op, reply: Reply) -> None:
    if any(step.name == "clock" and step.left for step in run.replies):
        clock_of(run)  # where no clock was moved, nothing has faded, which would say nothing
    made = run.surface.call(run.agent(op), "decay_cleanup", dry_run=bool(op.get("dry_run")))
    reply.value = made
    run.facts["faded"] = [entry["id"] for entry in made["entries"]]


def _strength(run: Run, op: Op, reply: Reply) -> None:
    """What an entry is worth now, 0 to 1."""
    clock_of(run)
    reply.value = run.surface.call(run.agent(op), "worth", id=run.ids[op["of"]])
    run.facts.setdefault("strengths", []).append((op["of"], reply.value))


def _each_day(run: Run, op: Op, reply: Reply) -> None:
    if op.get("do") != "decay pass":
        raise Unknown(f"I do not know how to do {op.get('do')!r} every day")
    for _ in range(int(op["n"])):
        clock_of(run).advance(days=1)
        for _ in range(2):
            run.surface.call(run.agent(op), "decay_cleanup", dry_run=False)


def _search_times(run: Run, op: Op, reply: Reply) -> None:
    clock_of(run)
    run.notes.append(f"{_LONG} searches in place of {op['n']}")
    for _ in range(min(int(op["n"]), _LONG)):
        run.surface.call(run.agent(op), "search", query=op["query"], k=5)
        run.surface.call(run.agent(op), "answer", query=op["query"])


def _settings(run: Run, op: Op, reply: Reply) -> None:
    run.surface.call(run.agent(op), "configure", **{name: value for name, value in op.items() if name not in ("op", "agent")})


def _only_here(run: Run) -> None:
    if not isinstance(run.surface, PythonSurface):
        raise Left("not here", "thousands of processes for one step")


def _hub(run: Run, op: Op, reply: Reply) -> None:
    """An entry that so many others shall be linked with, by hand; how many of them are refused is what the case asks."""
    _only_here(run)
    surface, agent = run.surface, run.agent(op)
    made = surface.call(agent, "add_many", entries=[{"text": f"spoke number {n}"} for n in range(int(op["links"]))])
    hub = surface.call(agent, "add", text="the hub of the wheel")["id"]
    run.ids["hub"], run.added["hub"] = hub, op
    run.facts["refused"] = surface.call(agent, "link_all", id=hub, others=[entry["id"] for entry in made])


def _relate(run: Run, op: Op, reply: Reply) -> None:
    one, other = (run.ids.get(str(name), name) for name in (op.get("from", op.get("id")), op.get("to")))
    arguments: dict[str, Any] = {"a": run.own.get(str(one), one), "b": one if other is None else other}
    if isinstance(arguments["a"], str) and arguments["a"].startswith("<id of "):
        arguments["a"] = run.ids[arguments["a"].removeprefix("<id of ").removesuffix(">")]
        arguments["b"] = arguments["a"] if other is None else other
    reply.value = run.surface.call(run.agent(op), "link", **arguments)


def _graph(run: Run, op: Op, reply: Reply) -> None:
    agent = run.agent(op)
    if "entity" in op:
        reply.value = [entry for entry in run.surface.call(agent, "list") if op["entity"] in entry["text"]]
        return
    if "of" not in op:
        entries = run.surface.call(agent, "list")
        reply.value = [run.surface.call(agent, "related", id=entry["id"]) for entry in entries]
        return
    if op["of"] == "hub":
        _only_here(run)
    begun = time.monotonic()
    reply.value = run.surface.call(agent, "related", id=run.ids[op["of"]], k=1_000, hops=int(op.get("hops", 1)))
    run.facts["slowest"] = max(run.facts.get("slowest", 0.0), time.monotonic() - begun)
    run.facts.setdefault("graphs", []).append([one["entry"]["id"] for one in reply.value])


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {
    "clock": _clock,
    "decay_cleanup": _decay,
    "strength": _strength,
    "for_each_day": _each_day,
    "search_times": _search_times,
    "settings": _settings,
    "hub": _hub,
    "relate": _relate,
    "graph": _graph,
}


def _values(run: Run, key: str) -> list[float]:
    return [value for of, value in run.facts.get("strengths", []) if of == key]


def _at_most(key: str) -> Callable[[Run, Any], list[str]]:
    return lambda run, value: [f"{found} is more than {value}" for found in _values(run, key) if found > value]


def _at_least(key: str) -> Callable[[Run, Any], list[str]]:
    return lambda run, value: [f"{found} is less than {value}" for found in _values(run, key) if found < value]


def _second_less(run: Run, value: Any) -> list[str]:
    first, second = _values(run, "a")
    return [] if second < value <= first else [f"first {first}, then {second}"]


def _about(run: Run, value: Any) -> list[str]:
    near = float(run.case.expected["tolerance"])
    return [f"{found} is not about {value}" for found in _values(run, "a") if abs(found - value) > near]


def _tolerance(run: Run, value: Any) -> list[str]:
    return [] if "about" in run.case.expected else ["says nothing without `about`"]


def _unforced(run: Run, value: Any) -> list[str]:
    """An entry of the future neither goes before all others by its date, nor after them: both are found, and neither is lost."""
    return [f"{reply.op} finds {run.hit_keys(reply)}" for reply in run.searches() if set(run.hit_keys(reply)) != {"f", "n"}]


def _importance(run: Run, value: Any) -> list[str]:
    found = run.entry("g")["importance"]
    return [] if found == value else [f"it is {found}"]


def _deleted(run: Run, value: Any) -> list[str]:
    dead = run.surface.call(None, "list", standing="dead")
    return [] if len(dead) == value else [f"{len(dead)} are dead"]


def _dry_run_lists(run: Run, value: Any) -> list[str]:
    clock_of(run)
    found = len(run.facts["faded"])
    return [] if found == value else [f"it lists {found}"]


def _pinned_listed(run: Run, value: Any) -> list[str]:
    clock_of(run)
    return [] if (run.ids["p"] in run.facts["faded"]) is value else ["it is listed"]


def _recalls(run: Run, value: Any) -> list[str]:
    found = run.entry("a")["recalls"]
    return [] if found == value else [f"it counts {found}"]


def _once_each(run: Run, value: Any) -> list[str]:
    return [f"{found} holds one twice" for found in run.facts["graphs"] if len(set(found)) != len(found)]


def _seconds(run: Run, value: Any) -> list[str]:
    # How long it takes depends on the machine; ten times what a case allows is a walk without bounds.
    return [] if run.facts["slowest"] < 10 * value else [f"the slowest took {run.facts['slowest']:.1f} s"]


def _bounded(run: Run, value: Any) -> list[str]:
    _only_here(run)
    most = max(len(found) for found in run.facts["graphs"])
    return [] if most <= 1_000 and run.facts["refused"] > 0 else [f"{most} in one graph, {run.facts['refused']} links refused"]


def _self_loop(run: Run, value: Any) -> list[str]:
    loops = [r for r in run.replies if r.name == "relate" and r.op["from"] == r.op["to"]]
    return [f"{r.op} is not refused" for r in loops if not r.kinds]


def _hits_or_history(run: Run, value: Any) -> list[str]:
    hits = {key for reply in run.searches() for key in run.hit_keys(reply)}
    return [f"{key} is neither found nor told of" for key in value if key not in hits and run.ids[key] not in json.dumps(_told(run))]


def _told(run: Run) -> Any:
    return run.surface.call(None, "events", limit=1000)


def _not_recalled(run: Run, value: Any) -> list[str]:
    """No step that asks about now, up to the last one, shows these, though they are there; what else it asks for it finds."""
    made = []
    for key in value:
        made += [] if run.entry(key)["standing"] == "active" else [f"{key} is {run.entry(key)['standing']}"]
        asked = [r for r in run.actions()[:-1] if r.name in ("search", "answer", "prefetch")]
        shown = [(r, json.dumps([hit["text"] for hit in r.hits]) if r.hits is not None else json.dumps(r.value)) for r in asked]
        made += [f"{r.op} shows {key}" for r, text in shown if str(run.added[key]["content"]) in text]
        made += [f"{r.op} shows nothing" for r, text in shown if "harbour gate" not in text and r.name != "answer"]
    return made


def _any_text(run: Run, value: Any) -> list[str]:
    return [] if any(value in hit["text"] for hit in run.searches()[-1].hits or []) else [f"no hit says {value!r}"]


def _history_of(run: Run, value: Any) -> list[str]:
    made = []
    for key, before in value.items():
        lineage = run.entry(key)["lineage"]
        firsts = [r.value["id"] for r in run.replies if r.name == "add" and r.op.get("key") in before]
        made += [f"{key} comes of {lineage}, not of {first}" for first in firsts if first not in lineage]
    return made


def _dated(run: Run, value: Any) -> list[str]:
    return [f"{hit['id']} has no date" for reply in run.searches() for hit in reply.hits or [] if not hit["created"]]


def _invalidated(run: Run, value: Any) -> list[str]:
    """Which entries ceased to be valid, or died, by what was added after them."""
    ended = [key for key in run.ids if run.entry(key)["valid_to"] or run.entry(key)["standing"] == "dead"]
    return [] if ended == value else [f"{ended} were retired"]


def _first_text(run: Run, value: Any) -> list[str]:
    hits = run.searches()[-1].hits or []
    return [] if hits and hits[0]["text"] == value else [f"first comes {hits[:1]}"]


def _newest_first(run: Run, value: Any) -> list[str]:
    """Where memory answers with both, the one about the later event comes first, whichever was written down later."""
    said = run.surface.call(None, "answer", query=run.searches()[-1].op["query"])["annotated"]
    block = said.partition("Entries on the same matter")[2]
    places = [block.find(str(run.added[key]["content"])) for key in value]
    return [] if places == sorted(places) and places[0] >= 0 else [f"they come as {said!r}"]


EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "strength_f_max": _at_most("f"),
    "strength_max": lambda run, value: [f"{found} is more than {value}" for _, found in run.facts["strengths"] if found > value],
    "strength_a_min": _at_least("a"),
    "second_lt": _second_less,
    "about": _about,
    "tolerance": _tolerance,
    "order_not_forced_by_future": _unforced,
    "importance_g": _importance,
    "deleted_by_open_or_search": _deleted,
    "dry_run_lists": _dry_run_lists,
    "pinned_listed": _pinned_listed,
    "access_count": _recalls,
    "each_node_once": _once_each,
    "seconds_max": _seconds,
    "fan_out_bounded": _bounded,
    "self_loop": _self_loop,
    "hits_or_history": _hits_or_history,
    "history_of": _history_of,
    "not_recalled_now": _not_recalled,
    "hits_any_text": _any_text,
    "each_has_date": _dated,
    "invalidated": _invalidated,
    "first_text": _first_text,
    "newest_first": _newest_first,
}
