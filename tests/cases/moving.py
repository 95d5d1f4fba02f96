"""Operations that take memory out, bring it back, or take it away for good, and what cases expect of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import damage
from .model import Left, Op, Reply
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
    target = run.folder.parent / f"export-{len(run.replies)}.jsonl"
    run.surface.call(run.agent(op), "export", path=str(target))
    reply.value = target.read_text(encoding="utf-8")
    run.facts.setdefault("exports", []).append(reply.value)


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {
    "purge": _purge,
    "delete_source": _delete_source,
    "delete_all": _delete_all,
    "compact": _compact,
    "file_size": _file_size,
    "export": _export,
}


# expectations


def _after_compact(run: Run, value: Any) -> list[str]:
    if "file size" not in run.facts or not run.facts.get("compacted"):
        raise Left("not here", "after_compact_bytes_max: nothing was compacted")
    size = run.facts["file size"]
    return [] if size <= value else [f"the file has {size} bytes"]


EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "after_compact_bytes_max": _after_compact,
}
