"""Operations that take memory out, bring it back, or take it away for good, and what cases expect of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import apsw

from earnest import Memory
from earnest.embedders import HashingEmbedder
from earnest.encoding import demo_corpus

from . import damage
from .model import Left, Op, Reply, Unknown
from .run import Run


def _purge(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "erase", entry=run.ids.get(op["key"], op["key"]))
    run.facts.setdefault("purged", []).append(op["key"])


def _delete_source(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "erase", source=op["source"])


def _delete_all(run: Run, op: Op, reply: Reply) -> None:
    """Everything in the default scope; what is in another one is asked for by its name. How large it was before is what it grew to."""
    run.surface.reopen()
    run.facts["bytes_of_store"] = damage.store_file(run, op).stat().st_size
    reply.value = run.surface.call(run.agent(op), "erase", scope="")


def _compact(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "compact")
    run.facts["compacted"] = True


def _file_size(run: Run, op: Op, reply: Reply) -> None:
    run.surface.reopen()
    reply.value = run.facts["file size"] = damage.store_file(run, op).stat().st_size


def _export(run: Run, op: Op, reply: Reply) -> None:
    ending = {"jsonl": "jsonl", "markdown": "md"}[op.get("format", "jsonl")]
    target = run.folder.parent / f"export-{len(run.replies)}.{ending}"
    run.surface.call(run.agent(op), "export", path=str(target))
    reply.value = target.read_text(encoding="utf-8")
    if ending == "md":
        return
    run.facts.setdefault("exports", []).append(reply.value)


def _raw_bytes(run: Run, op: Op, reply: Reply) -> None:
    """What the files hold once what was deleted is erased too: a deleted entry is buried, and can be restored until then."""
    if "after" not in op:
        run.surface.reopen()
        run.facts["bytes"] = b"".join(item.read_bytes() for item in sorted(run.folder.iterdir()))
        return
    if op["after"] != "close and compact":
        raise Unknown(f"I do not know when {op} is meant")
    for deleted in [r.op for r in run.replies if r.name in ("delete", "forget") and not r.kinds]:
        run.surface.call(run.agent(deleted), "erase", entry=run.ids[deleted["key"]])
    run.notes.append("what is deleted is buried and can be restored; that it leaves no byte is asked of erasing")
    run.surface.call(run.agent(op), "compact")
    run.surface.reopen()
    run.facts["bytes"] = b"".join(item.read_bytes() for item in sorted(run.folder.iterdir()))


def _check(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "check")


def _hold_snapshot(run: Run, op: Op, reply: Reply) -> None:
    """Somebody reads, and goes on reading the same moment."""
    run.surface.call(run.agent(op), "add", text="something to be read")
    reader = apsw.Connection(str(damage.store_file(run, op)), flags=apsw.SQLITE_OPEN_READONLY)
    run.closing.callback(reader.close)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchall()
    run.facts["reader"] = reader


def _release_reader(run: Run, op: Op, reply: Reply) -> None:
    run.facts["reader"].close()
    run.facts["released"] = True


def _build(run: Run, op: Op, reply: Reply) -> None:
    """A memory with everything that the case names."""
    strange = {*op["with"]} - _BUILT
    if strange:
        raise Unknown(f"I do not know how to build {sorted(strange)}")
    run.surface.reopen()
    with Memory.open(run.folder, run.agent(op), embedder=HashingEmbedder(64)) as memory:
        memory.encode(demo_corpus())
        memory.add("Rex likes walks.", metadata={"deep": [1, 2.5, None, "é"]}, valid_from="2026-01-31T09:30:00.123456+00:00")
        old = memory.add("The office opens at nine.")
        memory.update(old.id, text="The office opens at eight.")
        memory.forget(memory.add("Nobody needs this.").id)
        one, other = memory.list(limit=2)
        memory.pin(one.id)
        memory.link(one.id, other.id, reason="of one kind")
        for status in ("pending", "active", "rejected", "expired"):
            rule = memory.rules.add("avoid", trigger=f"deploying {status}", action=f"wait for a {status} day")
            if status in ("active", "rejected"):
                memory.rules.verify(rule.id, accept=status == "active")
        for delta in (4096, -4096):
            ticket = memory.decide("Is it safe to delete an old log file?")
            if ticket.id is not None:
                memory.settle(ticket.id, delta=delta, meter="disk", scale=4096)
            memory.tick()
        run.facts["open"] = memory.decide("When does the office open?").id
    run.notes.append("a rule that is pending stands for one that has expired, which takes half a year")


_BUILT = frozenset(
    ("entries", "pins", "links", "rules in all four states", "open and closed tickets", "graveyard", "history", "replaced entries",
     "vectors", "metadata", "times with microseconds", "agents")
)  # fmt: skip


def _import_into(run: Run, op: Op, reply: Reply) -> None:
    """Bring the last export into the store of an agent that had none."""
    source = run.folder.parent / "export.jsonl"
    source.write_text(run.facts["exports"][0], encoding="utf-8")
    reply.value = run.surface.call("fresh", "import_", path=str(source))
    run.facts.setdefault("imports", []).append(reply.value)


def _export_again(run: Run, op: Op, reply: Reply) -> None:
    _export(run, {**op, "agent": "fresh"}, reply)


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {
    "purge": _purge,
    "delete_source": _delete_source,
    "delete_all": _delete_all,
    "compact": _compact,
    "file_size": _file_size,
    "export": _export,
    "export again": _export_again,
    "import again": _import_into,
    "raw_bytes_of_store": _raw_bytes,
    "fts_integrity_check": _check,
    "hold_read_snapshot": _hold_snapshot,
    "release_reader": _release_reader,
    "build": _build,
}


# expectations


def _after_compact(run: Run, value: Any) -> list[str]:
    if "file size" not in run.facts or not run.facts.get("compacted"):
        raise Left("not here", "after_compact_bytes_max: nothing was compacted")
    size = run.facts["file size"]
    return [] if size <= value else [f"the file has {size} bytes"]


def _bytes_lack(run: Run, value: Any) -> list[str]:
    if "bytes" not in run.facts:
        raise Unknown("nothing of this case looks at the bytes of the store")
    return [f"the files hold {value!r}"] if value.encode("utf-8") in run.facts["bytes"] else []


def _export_lacks(run: Run, value: Any) -> list[str]:
    reply = Reply({"op": "export"}, "action")
    _export(run, {"op": "export"}, reply)
    return [f"an export made now holds {value!r}"] if value in reply.value else []


def _graph_edges(run: Run, value: Any) -> list[str]:
    found = [r.value for r in run.actions() if r.name == "graph"]
    return [] if len(found[-1]) == value else [f"the graph has {found[-1]}"]


def _entity_exists(run: Run, value: Any) -> list[str]:
    [graph] = [r.value for r in run.actions() if r.name == "graph"]
    return [] if bool(graph) == value else [f"entries that name it: {graph}"]


def _linked_sources(run: Run, value: Any) -> list[str]:
    [graph] = [r.value for r in run.actions() if r.name == "graph"]
    found = sorted({source for entry in graph for source in entry["sources"]})
    return [] if found == value else [f"its sources are {found}"]


def _wal_after_release(run: Run, value: Any) -> list[str]:
    if not run.facts.get("released"):
        raise Unknown("no reader of this case lets go")
    log = damage.store_file(run, {"op": ""})
    size = sum(item.stat().st_size for item in log.parent.glob(f"{log.name}-wal"))
    return [] if size <= value else [f"the log has {size} bytes"]


def _exports_equal(run: Run, value: Any) -> list[str]:
    """The rows are equal; the header says when it was written, and by whom."""
    first, second = (text.splitlines()[1:-1] for text in run.facts["exports"][:2])
    return [] if (first == second) == value else [f"{sum(a != b for a, b in zip(first, second, strict=False))} rows differ"]


def _counts_equal(run: Run, value: Any) -> list[str]:
    first, second = (json.loads(text.splitlines()[-1])["end"]["counts"] for text in run.facts["exports"][:2])
    return [] if (first == second) == value else [f"{first} rows and {second}"]


def _second_adds(run: Run, value: Any) -> list[str]:
    last = run.facts["imports"][-1]
    found = last["added"] + last["joined"]
    return [] if len(run.facts["imports"]) > 1 and found == value else [f"a second import adds {found}"]


EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "after_compact_bytes_max": _after_compact,
    "bytes_lack_when_purged": _bytes_lack,
    "export_lacks": _export_lacks,
    "graph_edges": _graph_edges,
    "entity_exists": _entity_exists,
    "linked_sources": _linked_sources,
    "wal_bytes_after_release_max": _wal_after_release,
    "exports_equal": _exports_equal,
    "counts_per_table_equal": _counts_equal,
    "second_import_adds": _second_adds,
}
