"""Exports of mem0: a list of memories as its `get_all` gives it, or the history file that it keeps beside its vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from earnest.core.moving import Item, Left, Told
from earnest.encoding.chats import moment_of
from earnest.errors import InvalidInput
from earnest.moving.limits import json_of, left, words
from earnest.moving.tables import Tables, is_sqlite

NAME: Final = "mem0"
_ABOUT: Final = ("agent_id", "run_id", "app_id", "actor_id", "role", "categories", "hash", "immutable", "updated_at")


def listed(value: Any) -> list[Any] | None:
    """The memories in an export, whatever lies around them; None if it is none of mem0."""
    if isinstance(value, Mapping):
        value = next((value[name] for name in ("results", "memories") if isinstance(value.get(name), list)), None)
    if not isinstance(value, list) or not value:
        return None
    first = value[0]
    telling = ("user_id", "agent_id", "run_id", "hash", "created_at", "metadata", "categories")
    if isinstance(first, Mapping) and isinstance(first.get("memory"), str) and any(name in first for name in telling):
        return value
    return None


def read(path: Path) -> Iterator[Item | Left | Told]:
    """An entry for each memory; a user's memories are in the scope of that user."""
    if is_sqlite(path):
        yield from _history(path)
        return
    memories = listed(json_of(path))
    if memories is None:
        raise InvalidInput("path", str(path), "is no export of mem0: a list of objects with `memory`, or one in `results`")
    for place, value in enumerate(memories, 1):
        if not isinstance(value, Mapping):
            yield left(f"item {place:,} is no object", value)
            continue
        text = words(value.get("memory")) or words(value.get("text"))
        if not text:
            yield left(f"item {place:,} has no text", value)
            continue
        about = {name: value[name] for name in _ABOUT if value.get(name) is not None}
        more = value.get("metadata")
        about |= {f"mem0_{name}": item for name, item in more.items()} if isinstance(more, Mapping) else {}
        user = words(value.get("user_id"))
        name = words(value.get("id")) or f"{user}\x1f{text}"
        yield Item(name, text, sources=(NAME,), scope=user[:500], metadata=about, created=moment_of(value.get("created_at")))
    if any(isinstance(value, Mapping) and value.get("user_id") for value in memories):
        yield Told("memories of a user are in the scope of that user's id; name a scope to put all of them into one")


def _history(path: Path) -> Iterator[Item | Left | Told]:
    """The last state of every memory that its history tells of."""
    with Tables(path) as tables:
        if "memory_id" not in tables.columns("history"):
            raise InvalidInput("path", str(path), "is no history of mem0: it has no table `history` with a `memory_id`")
        last: dict[str, Mapping[str, Any]] = {}
        for row in tables.rows("history"):
            last[str(row["memory_id"])] = row
    gone = 0
    for name, row in last.items():
        text = words(row.get("new_memory"))
        if not text or row.get("is_deleted") or words(row.get("event")).upper() == "DELETE":
            gone += 1
            continue
        when = moment_of(row.get("created_at")) or moment_of(row.get("updated_at"))
        yield Item(name, text, sources=(NAME,), metadata={k: row[k] for k in ("actor_id", "role") if row.get(k)}, created=when)
    if gone:
        yield Left("memories that were deleted there", "", gone)
    yield Told("the history does not say whose memories they are; name a scope if they are one user's")
