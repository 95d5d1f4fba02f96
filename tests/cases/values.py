"""Expectations whose values are written for people: what each of those sentences asks for, as a check."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from earnest import Memory
from earnest.core.rules import STATUSES
from earnest.core.settings import Settings
from earnest.stores.sqlite.schema import FORMAT

from . import damage, embedding, ruling, texts, web
from .model import Left, Refused, Reply, Unknown
from .python_surface import PythonSurface
from .run import Run

_BULK = 200
"""Entries that one transaction of a bulk verb may write."""


def is_there(run: Run, reply: Reply) -> bool:
    """Whether what an `add` acknowledged is in the store, as it was given."""
    entry = run.surface.call(run.agent(reply.op), "get", id=reply.value["id"])
    return bool(entry["text"] == texts.content(reply.op["content"]))


def _only(value: Any, *known: Any) -> None:
    if value not in known:
        raise Unknown(f"I do not know how to check {json.dumps(value, ensure_ascii=False)}")


def _never(run: Run, value: Any) -> list[str]:
    _only(value, "success without the entry", "an empty result posing as success", "a success message with the entry still there")
    if value.startswith("an empty"):
        return [f"{r.op} finds nothing" for r in run.searches() if not r.kinds and not r.hits]
    if value.startswith("a success"):
        alive = [key for key in run.ids if run.entry(key)["standing"] != "dead"]
        return [f"{r.op} succeeded, and {alive} are there" for r in run.actions() if r.name == "cli" and r.code == 0 and alive]
    return [
        f"{r.op} succeeded, and its entry is not there" for r in run.actions() if r.name == "add" and not r.kinds and not is_there(run, r)
    ]


def _stumbles(run: Run, value: Any) -> list[str]:
    _only(value, 0)
    found: list[str] = run.facts["stumbles"]
    return found


def _never_contains(run: Run, value: Any) -> list[str]:
    """The value is looked for as a word: a store is full of random ids and digests, and those hold any four digits in the end."""
    word = re.compile(rf"(?<![0-9A-Za-z]){re.escape(value)}(?![0-9A-Za-z])")
    made = [f"{r.name} says {value!r}" for r in run.actions() if word.search(r.said)]
    agents = {json.dumps(run.agent(r.op)): r.op for r in run.actions()}
    run.surface.reopen()
    for op in agents.values():
        file = damage.store_file(run, op)
        if file.exists() and any(word.search(cell) for cell in damage.cells(file)):
            made.append(f"the store of agent {run.agent(op)!r} holds {value!r}")
    return made


def _edges_crossing_agents(run: Run, value: Any) -> list[str]:
    graphs = [r for r in run.actions() if r.name == "graph"]
    if not graphs:
        raise Left("not yet", "edges_crossing_agents: there are no links between entries")
    foreign = {entry_id for key, entry_id in run.ids.items() if run.agent(run.added[key]) != run.agent(graphs[0].op)}
    found = [entry_id for r in graphs for entry_id in foreign if entry_id in r.said]
    return [] if len(found) == value else [f"the graph holds {found}"]


def _conflicts_crossing_agents(run: Run, value: Any) -> list[str]:
    """What is said to conflict with an answer is the answering agent's own."""
    found = []
    for key, added in run.added.items():
        said = json.dumps(run.surface.call(run.agent(added), "answer", query=added["content"]), ensure_ascii=False)
        for other, foreign in run.added.items():
            if run.agent(foreign) != run.agent(added) and (run.ids[other] in said or str(foreign["content"]) in said):
                found.append(f"the answer to {key} shows {other}")
    return [] if len(found) == value else found


def _errors(run: Run, value: Any) -> list[str]:
    found = run.facts.get("errors")
    if found is None:
        raise Left("not here", "errors: nothing was done side by side")
    return [] if len(found) == value else [f"{len(found)} errors, such as {found[0]}"]


def _ledger_sum(run: Run, value: Any) -> list[str]:
    _only(value, "conserved")
    stats, check = run.surface.call(None, "stats"), run.surface.call(None, "check")
    made = [f"check: {problem}" for problem in check["problems"]]
    total = sum(stats["accounts"].values()) + stats["energy"]
    if total != 0:
        made.append(f"all accounts together hold {total} micro-units")
    if run.facts.get("landed") != run.facts.get("to land"):
        made.append(f"{run.facts['landed']} of {run.facts['to land']} settlements landed")
    living = {entry["id"] for entry in run.surface.call(None, "list")}
    made += [f"acknowledged entry {entry} is gone" for entry in run.facts.get("acknowledged", ()) if entry not in living]
    return made


def _credits_applied(run: Run, value: Any) -> list[str]:
    """Each settlement moved its credit, and the account holds exactly what they sum up to."""
    settlements, entry = run.facts["settlements"], run.entry("a")
    moved = [credit["amount"] for s in settlements for credit in s["credits"] if credit["entry"] == entry["id"]]
    made = [] if len(moved) == value else [f"{len(moved)} credits"]
    wanted = min(run.facts["balance before"] + sum(moved), round(Settings().cap * 1_000_000))
    return made if entry["balance"] == wanted else [*made, f"the entry holds {entry['balance']}, the credits make {wanted}"]


class _CountingClock:
    """A clock that is later at every look: each transaction gets a time of its own."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        """The next second."""
        self._now += timedelta(seconds=1)
        return self._now


def _maintenance(run: Run, value: Any) -> list[str]:
    """How long a transaction lasts depends on the machine; how much a bulk verb puts into one does not."""
    run.notes.append(f"seconds are not measured: no transaction of add_many and encode writes more than {_BULK} entries")
    made = []
    with Memory.open(run.folder.parent / "bulk.db", clock=_CountingClock()) as memory:
        memory.add_many([{"text": f"bulk note number {i}"} for i in range(3 * _BULK + 1)])
        births = Counter(event.at for event in memory.events(kind="add", limit=10_000))
        made += [f"one transaction of add_many wrote {most} entries" for most in births.values() if most > _BULK]
        if sum(births.values()) != 3 * _BULK + 1:
            made.append(f"{sum(births.values())} births are in the log")
    return made


def _first_search(run: Run, value: Any) -> list[str]:
    _only(value, "right hits by a scan, or a loud error")
    first = run.searches()[0]
    hits, all_of_them = len(first.hits or []), len(run.ids)
    return [] if (first.kinds and "unavailable" in first.kinds) or hits == all_of_them else [f"{hits} of {all_of_them} hits, and no error"]


def _after_repair(run: Run, value: Any) -> list[str]:
    names = [r.name for r in run.actions()]
    repaired = max((i for i, name in enumerate(names) if name in ("repair", "rebuild_index")), default=-1)
    searches = [r for r in run.actions()[repaired:] if r.name == "search"]
    if repaired < 0 or not searches:
        raise Unknown("there is no search after a repair")
    found = len(searches[-1].hits or [])
    return [] if found == value else [f"wanted {value} hits, found {found}"]


def _doctor_says(run: Run, value: Any) -> list[str]:
    doctors = [r for r in run.actions() if r.name in ("doctor", "health")]
    if not doctors:
        raise Unknown("there is no doctor in this case")
    if value in ("degraded", "keyword index: scan fallback") and run.facts.get("whole"):
        raise Left("no counterpart", f"doctor_says {value}: nothing is, since no such part is used")
    said = [json.dumps(finding, ensure_ascii=False).lower() for r in doctors for finding in (r.value or {}).get("findings", [])]
    words = str(value).lower().replace(":", "").split()
    return [] if any(all(word in finding for word in words) for finding in said) else [f"no finding says {value!r}: {said}"]


def _noticed(run: Run, value: Any) -> list[str]:
    """Damage shows: a step is refused as unavailable, or a look over the store names a problem. Nothing is a crash."""
    _only(value, True)
    refused = [r for r in run.actions() if r.kinds and "unavailable" in r.kinds]
    problems = [p for r in run.actions() if r.name in ("integrity", "check") and not r.kinds for p in r.value["problems"]]
    strange = [f"{r.name}: {r.message}" for r in run.actions() if r.kinds and not r.kinds & {"unavailable"}]
    return strange + ([] if refused or problems else ["every step went well, and `check` found nothing"])


def _store_after_kill(run: Run, value: Any) -> list[str]:
    _only(value, "old or new state, never half")
    run.surface.reopen()
    return damage.survived(run)


def _backup_made(run: Run, value: Any) -> list[str]:
    if run.facts.get("format") == FORMAT:
        raise Left("not yet", f"backup_made: the oldest format, {FORMAT}, is the newest too, so that nothing is migrated")
    copies = [path for path in run.folder.iterdir() if path.suffix not in (".db", "") and "backup" in path.name]
    return [] if bool(copies) == value else [f"beside the store there are {copies}"]


def _wal_after_close(run: Run, value: Any) -> list[str]:
    """Once everybody has let go of it, a store is one file."""
    run.surface.reopen()
    left = {path.name: path.stat().st_size for path in run.folder.iterdir() if path.name.endswith("-wal")}
    return [f"{name} holds {size} bytes" for name, size in left.items() if size > value]


def _duplicate(run: Run, value: Any) -> list[str]:
    """An id of the caller's own that comes again with another text is refused, and there is one row."""
    _only(value, "error or update, documented; never two rows")
    adds = [r for r in run.actions() if r.name == "add"]
    again = [r for i, r in enumerate(adds) if any(r.op["id"] == before.op["id"] for before in adds[:i])]
    made = [f"the second add of {r.op['id']!r} made another entry" for r in again if not r.kinds and r.value["id"] not in run.own.values()]
    made += [f"the second add of {r.op['id']!r} is refused as {sorted(r.kinds)}" for r in again if r.kinds and "conflict" not in r.kinds]
    made += [f"{r.op['id']!r} is refused: {r.message}" for r in adds if r not in again and r.kinds]
    wanted = len({r.op["id"] for r in adds})
    return made if run.live() == wanted else [*made, f"{run.live()} entries for {wanted} ids"]


def _metadata_round_trip(run: Run, value: Any) -> list[str]:
    _only(value, "equal, or refused at write")
    made = []
    for r in run.actions():
        if r.name == "add" and not r.kinds and "metadata" in r.op:
            back = run.surface.call(run.agent(r.op), "get", id=r.value["id"])["metadata"]
            if json.dumps(back, sort_keys=True) != json.dumps(r.op["metadata"], sort_keys=True):
                made.append(f"{r.op['metadata']} came back as {back}")
    return made


def _int_vs_text(run: Run, value: Any) -> list[str]:
    """Whatever takes an id takes text only, and says so alike."""
    _only(value, "same rule everywhere")
    if not isinstance(run.surface, PythonSurface):
        raise Left("not here", "int_vs_text: every word of the command line is text")
    calls: list[tuple[str, dict[str, Any]]] = [
        *((verb, {"id": 1}) for verb in ("get", "forget", "pin", "unpin", "restore", "obituary")),
        ("update", {"id": 1, "text": "y"}),
        ("merge", {"ids": [1, 2]}),
        ("settle", {"ticket": 1, "delta": 1}),
        ("abandon", {"ticket": 1}),
        ("events", {"entry": 1}),
        ("list", {"after": 1}),
        ("pending", {"after": 1}),
        ("add", {"text": "y", "key": 1}),
        ("add", {"text": "y", "scope": 1}),
        ("add", {"text": "y", "sources": [1]}),
        ("search", {"query": "x", "source": 1}),
        ("search", {"query": "x", "scope": 1}),
        ("tick", {"slot": 1}),
    ]
    made = []
    for verb, arguments in calls:
        try:
            run.surface.call(None, verb, **arguments)
            made.append(f"{verb}({arguments}) takes a number")
        except Refused as refused:
            if "validation" not in refused.kinds:
                made.append(f"{verb}({arguments}): {sorted(refused.kinds)} ({refused.message})")
    return made


def _same_result_on(run: Run, value: Any) -> list[str]:
    """The searches of the case once more on a store in memory: the same hits and the same refusals."""
    _only(value, ["memory store", "file store"])
    if not isinstance(run.surface, PythonSurface):
        raise Left("not here", "same_result_on: a store in memory ends with its command")
    from .operations import carry_out

    again = Run(run.case, PythonSurface(run.folder, in_memory=True), run.other, run.folder)
    made = []
    try:
        for op in run.case.setup:
            carry_out(again, op, Reply(op, "setup"))
        for r in run.searches():
            reply = Reply(r.op, "action")
            try:
                carry_out(again, r.op, reply)
            except Refused as refused:
                reply.kinds = refused.kinds
            if (reply.kinds, again.hit_keys(reply)) != (r.kinds, run.hit_keys(r)):
                made.append(f"{r.op}: {run.hit_keys(r)} from a file, {again.hit_keys(reply)} from memory")
    finally:
        again.surface.close()
    return made


def _error_kind_only(run: Run, value: Any) -> list[str]:
    return [f"{r.op}: {r.message}" for r in run.actions() if r.kinds and value not in r.kinds]


def _mentions(run: Run, value: Any) -> list[str]:
    """Every command that was run names what is there instead: "agents present: X" asks for the word agent and the name."""
    words = str(value).lower().replace("agents present:", "agent").split()
    asked = [r for r in run.actions() if r.name == "cli"]
    if not asked:
        raise Unknown("mentions: there is no command in this case")
    return [f"{r.op['args']} says {r.said!r}" for r in asked if not all(word in r.said.lower() for word in words)]


def _status(run: Run, value: Any) -> list[str]:
    """The status of every rule; or the HTTP status of a bad request, elsewhere that the step was refused as a validation."""
    if value in STATUSES:
        return ruling.statuses(run, value)
    if value == "stored, vector pending":
        return embedding.pending(run, value)
    _only(value, "400 or 422")
    judged = [r for r in run.actions() if r.name in ("add", "settle", "rest")]
    return [f"wanted a validation, got {r.op}: {sorted(r.kinds or [])} {r.message}" for r in judged if "validation" not in (r.kinds or ())]


def _replies_strict_json(run: Run, value: Any) -> list[str]:
    """Every value that comes back is strict JSON, the log included."""
    made = []
    log = run.surface.call(None, "events", limit=1000) if damage.store_file(run, {"op": ""}).exists() else []
    for what, said in [*((r.name, r.value) for r in run.actions()), ("events", log)]:
        try:
            json.dumps(said, allow_nan=False)
        except ValueError:
            made.append(f"{what} gives {said}")
    return made


EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "never": _never,
    "errors_without_a_type": _stumbles,
    "never_contains": _never_contains,
    "edges_crossing_agents": _edges_crossing_agents,
    "conflicts_crossing_agents": _conflicts_crossing_agents,
    "errors": _errors,
    "ledger_sum": _ledger_sum,
    "credits_applied": _credits_applied,
    "maintenance_tx_max_s": _maintenance,
    "first_search": _first_search,
    "after_repair": _after_repair,
    "doctor_says": _doctor_says,
    "noticed": _noticed,
    "store_after_kill": _store_after_kill,
    "backup_made": _backup_made,
    "wal_bytes_after_close_max": _wal_after_close,
    "duplicate": _duplicate,
    "metadata_round_trip": _metadata_round_trip,
    "int_vs_text": _int_vs_text,
    "same_result_on": _same_result_on,
    "error_kind_only": _error_kind_only,
    "mentions": _mentions,
    "status": _status,
    "statuses": web.statuses,
    "replies_strict_json": _replies_strict_json,
}
