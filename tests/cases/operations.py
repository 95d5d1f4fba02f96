"""What each operation of a case does. An operation that is not here is a failure of the runner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from earnest.opening import agents_in

from . import aging, ci_outcomes, conversing, documents, embedding, harness, modelling, moving, paging, places, ruling, texts, timing
from .absent import lacking_fields, needed
from .model import Left, Op, Refused, Reply, Unknown
from .run import DEPTH, Run

_WHILE_READ = 2_000
"""Entries that are written while a reader keeps the log from being emptied: enough for it to grow past what it usually holds."""

Operation = Callable[[Run, Op, Reply], None]

FILTERS = ("scope", "kind", "source", "tags", "since", "until", "as_of")
_STATED = ("limit", "mode", "half_life", "floor", "expand")


def carry_out(run: Run, op: Op, reply: Reply) -> None:
    """Carry one step out."""
    try:
        needed(op)
    except Left as left:
        if op["op"] not in harness.SUBSTITUTES:
            raise
        reply.instead = left
        harness.SUBSTITUTES[op["op"]](run, op, reply)
        return
    operation = OPERATIONS.get(op["op"])
    if operation is None:
        raise Unknown(f"I do not know the operation {op['op']!r}")
    operation(run, op, reply)


def entry_id(run: Run, op: Op) -> Any:
    """The entry that a step names: by the test's key, by "<id of KEY>", by the id that the case chose, or literally."""
    if "key" in op:
        left = next((r.left for r in run.replies if r.left and r.op.get("key") == op["key"] and r.name == "add"), None)
        if left is not None:
            raise left
        return run.ids.get(op["key"], op["key"])
    named = op.get("id")
    if isinstance(named, str) and named.startswith("<id of "):
        return run.ids[named.removeprefix("<id of ").removesuffix(">")]
    return run.own.get(named, run.ids.get(named, named)) if isinstance(named, str) else named


def _add(run: Run, op: Op, reply: Reply) -> None:
    lacking_fields(op)
    fields: dict[str, Any] = {name: op[name] for name in ("importance", "confidence", "tags", "sources", "scope", "kind", "cue",
                                                          "retention", "valid_from", "valid_to") if name in op}  # fmt: skip
    if op.get("missing") != "content":
        fields["text"] = texts.content(op.get("content"))
    if "source" in op:
        fields["sources"] = [op["source"]]
    if "expires_at" in op:
        run.notes.append("an entry that expires has a time until which it holds: valid_to")
        fields["valid_to"] = op["expires_at"]
    if "event_time" in op:
        fields["valid_from"] = op["event_time"]
    if "metadata" in op:
        fields["metadata"] = texts.metadata(op["metadata"])
    if "id" in op:
        run.notes.append("an id of the caller's own is his idempotency key: ids are the product's")
        fields["key"] = op["id"]
    surface = run.peers[op["by"]] if "by" in op else run.surface
    if "supersedes" in op:
        run.notes.append("what takes an entry's place is written by `update`, which needs its id")
        reply.value = made = surface.call(run.agent(op), "update", id=run.ids[op["supersedes"]], text=fields["text"])
    elif "created" in op:
        aging.written_at(run, op["created"], lambda: _written(run, op, reply, fields))
        made = reply.value
        if "updated" in op:
            change = {"id": made["id"], "importance": 0.6}
            aging.written_at(run, op["updated"], lambda: run.surface.call(run.agent(op), "update", **change))
    else:
        reply.value = made = surface.call(run.agent(op), "add", **fields)
    if "id" in op:
        run.own.setdefault(op["id"], made["id"])
    for name in (op.get("key"), op.get("id")):
        if name is not None:
            run.ids.setdefault(name, made["id"])
            run.added.setdefault(name, op)


def _written(run: Run, op: Op, reply: Reply, fields: dict[str, Any]) -> None:
    reply.value = run.surface.call(run.agent(op), "add", **fields)


def _add_many(run: Run, op: Op, reply: Reply) -> None:
    if "preexec_fn" in run.facts.get("started", {}) and run.surface.name == "cli":
        places.filled(run, op, reply, texts.numbered(op.get("text", "entry"), int(op["n"])))
        return
    count = int(op.get("n", 0))
    if "reader" in run.facts and count > _WHILE_READ:
        run.notes.append(f"{_WHILE_READ:,} entries in place of {count:,} while somebody reads")
        count = _WHILE_READ
    items = op.get("items") or texts.numbered(op.get("text", "entry"), count)
    made = run.surface.call(run.agent(op), "add_many", entries=[item if isinstance(item, dict) else {"text": item} for item in items])
    reply.value = len(made)
    for i, entry in enumerate(made):
        run.ids[f"#{i}"], run.added[f"#{i}"] = entry["id"], op


def _search(run: Run, op: Op, reply: Reply) -> None:
    filters = dict(op.get("filters") or {})
    strange = [name for name in filters if name not in FILTERS]
    if strange:
        raise Left("no counterpart", f"searches filter by {', '.join(FILTERS)}, not by metadata such as {strange[0]!r}")
    filters |= {name: op[name] for name in FILTERS if name in op}
    unknown = set(op) - {"op", "query", "agent", "filters", "by", *FILTERS, *_STATED}
    if unknown:
        raise Unknown(f"I do not know what {sorted(unknown)} means for a search")
    embedding.needed_for(run, op)
    options: dict[str, Any] = {name: op[name] for name in ("half_life", "floor") if name in op}
    if op.get("expand"):
        options["links"] = True
    if "mode" in op:
        options["mode"] = {"vector": "dense"}.get(op["mode"], op["mode"])
    reply.wanted = frozenset(key for key, added in run.added.items() if run.agent(added) == run.agent(op) and _passes(added, filters))
    hits = run.surface.call(run.agent(op), "search", query=op.get("query"), k=int(op.get("limit", DEPTH)), **filters, **options)
    reply.value = reply.hits = hits
    for hit in hits:
        key = run.key_of(hit["id"])
        if key in run.added and key not in reply.wanted:
            raise Refused(frozenset({"crash"}), f"a hit that its filters exclude: {key} for {op}")


def _passes(added: Op, filters: dict[str, Any]) -> bool:
    sources = [added["source"]] if "source" in added else added.get("sources", [])
    has = {"source": sources, "tags": added.get("tags", []), "scope": [added.get("scope", "")], "kind": [added.get("kind", "semantic")]}
    for name, wanted in filters.items():
        if name in has and not set(has[name]) & set(wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


def _answer(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "answer", query=op.get("query"))


def _on_entry(verb: str, **extra: Any) -> Operation:
    def operation(run: Run, op: Op, reply: Reply) -> None:
        reply.value = run.surface.call(run.agent(op), verb, id=entry_id(run, op), **extra)

    return operation


def _update(run: Run, op: Op, reply: Reply) -> None:
    changes: dict[str, Any] = {
        name: op[name] for name in ("importance", "confidence", "metadata", "tags", "retention", "cue") if name in op
    }
    if "content" in op or not changes:
        changes["text"] = texts.content(op.get("content", "changed by somebody"))
    made = run.surface.call(run.agent(op), "update", id=entry_id(run, op), **changes)
    reply.value = made
    if "key" in op:
        run.ids[op["key"]] = made["id"]


def _merge(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "merge", ids=[run.ids.get(key, key) for key in op["keys"]])


def _decide(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "decide", query=op.get("query"))
    run.facts["ticket"] = reply.value["id"]


def _settle(run: Run, op: Op, reply: Reply) -> None:
    ticket = op["ticket"] if "ticket" in op else entry_id(run, op) if "id" in op else run.facts.get("ticket")
    outcome = {name: op[name] for name in ("meter", "scale", "detail", "acted") if name in op}
    delta = op.get("delta", 1)
    if delta in ("nan", "inf", "-inf"):
        delta = float(delta)
    reply.value = run.surface.call(run.agent(op), "settle", ticket=ticket, delta=delta, **outcome)


def _tick(run: Run, op: Op, reply: Reply) -> None:
    for _ in range(int(op.get("n", 1))):
        reply.value = run.surface.call(run.agent(op), "tick")


def _whole(verb: str, **extra: Any) -> Operation:
    """A look at, or a change of, an agent's memory as a whole."""

    def operation(run: Run, op: Op, reply: Reply) -> None:
        surface = run.peers[op["by"]] if "by" in op else run.surface
        reply.value = surface.call(run.agent(op), verb, **extra)

    return operation


def _repair(run: Run, op: Op, reply: Reply) -> None:
    """Repair the store of the agent that is named, or of all that are there."""
    agents = [op["agent"]] if "agent" in op else agents_in(run.folder)
    embedding.note_vectors(run, op)
    reply.value = [run.surface.call(agent, "repair") for agent in agents]
    embedding.mended(run, op)


def _history(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "events", limit=1000)


OPERATIONS: dict[str, Operation] = {
    "add": _add,
    "add_many": _add_many,
    "search": _search,
    "answer": _answer,
    "stats": _whole("stats"),
    "top": _whole("top"),
    "doctor": _whole("doctor"),
    "health": _whole("doctor"),
    "audit": _whole("audit"),
    "integrity": _whole("check"),
    "check": _whole("check"),
    "repair": _repair,
    "tick or repair": _repair,
    "rebuild_index": _repair,
    "consolidate": _whole("consolidate"),
    "get": _on_entry("get"),
    "delete": _on_entry("forget"),
    "forget": _on_entry("forget"),
    "bury": _on_entry("forget"),
    "restore": _on_entry("restore"),
    "pin": _on_entry("pin"),
    "unpin": _on_entry("unpin"),
    "obituary": _on_entry("obituary"),
    "update": _update,
    "correct": _update,
    "merge": _merge,
    "decide": _decide,
    "settle": _settle,
    "tick": _tick,
    "history": _history,
    **ci_outcomes.OPERATIONS,
    "archive": _on_entry("forget"),
    "get_stats_of": _on_entry("get"),
    **aging.OPERATIONS,
    **conversing.OPERATIONS,
    **documents.OPERATIONS,
    **harness.OPERATIONS,
    **moving.OPERATIONS,
    **paging.OPERATIONS,
    **ruling.OPERATIONS,
    **timing.OPERATIONS,
    **modelling.OPERATIONS,
}
