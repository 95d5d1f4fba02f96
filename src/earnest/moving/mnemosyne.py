"""SQLite files of Mnemosyne and its kin: whatever their version, by the shapes of their tables.

A table whose columns hold a text and an id is a table of memories; one with a trigger and an action is one of rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from earnest.core.entry import Cause, Kind
from earnest.core.moving import Item, Left, Tie, Told
from earnest.encoding.chats import moment_of
from earnest.errors import InvalidInput
from earnest.moving.limits import left, named, number, words
from earnest.moving.tables import Tables

NAME: Final = "mnemosyne"
_TEXTS: Final = ("content", "text", "memory", "body", "fact", "value", "summary")
_IDS: Final = ("id", "memory_id", "uuid", "mem_id")
_KINDS: Final = ("memory_type", "type", "kind", "category")
_BORN: Final = ("created_at", "created", "timestamp", "recorded_at", "create_time")
_ENDS: Final = ("valid_until", "valid_to", "expires_at")
_STARTS: Final = ("valid_from", "event_time", "event_date", "occurred_at")
_META: Final = ("metadata_json", "metadata", "meta")
_GONE: Final = ("is_deleted", "deleted", "deleted_at", "forgotten")
_OLD: Final = ("superseded_by", "replaced_by")
_TRIGGERS: Final = ("trigger_cond", "trigger_condition", "trigger")
_ACTIONS: Final = ("action_guide", "action", "guide")
_ABOUT: Final = (
    "session_id", "access_count", "recall_count", "last_accessed", "last_recalled", "strength", "decay_rate", "veracity", "trust_tier",
    "scope", "author_id", "channel_id", "updated_at", "status", "rule_type", "hit_count", "user_id", "agent_id",
)  # fmt: skip
_KIND_WORDS: Final[Mapping[str, Kind]] = {
    "episodic": "episodic", "event": "episodic", "conversation": "episodic", "turn": "episodic", "procedural": "procedural",
    "procedure": "procedural", "skill": "procedural", "how-to": "procedural",
}  # fmt: skip
_HOW: Final = ("relation", "relation_type", "relationship", "link_type", "type", "label")
_PAIRS: Final = (("source_id", "target_id"), ("from_id", "to_id"), ("memory_a", "memory_b"), ("src", "dst"))


def is_mnemosyne(path: Path) -> bool:
    """Whether a database has a table of memories of that shape."""
    with Tables(path) as tables:
        return any(_memories(tables.columns(name)) or _rules(tables.columns(name)) for name in tables.names)


def _first(columns: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in columns), None)


def _memories(columns: Sequence[str]) -> bool:
    telling = ("importance", "session_id", "access_count", "recall_count", "memory_type")
    return bool(_first(columns, _TEXTS) and _first(columns, _IDS)) and any(name in columns for name in telling)


def _rules(columns: Sequence[str]) -> bool:
    return bool(_first(columns, _TRIGGERS) and _first(columns, _ACTIONS))


def read(path: Path) -> Iterator[Item | Left | Tie | Told]:
    """Memories and rules; what was deleted there is left out, what was replaced there is dead."""
    seen: dict[str, str] = {}
    with Tables(path) as tables:
        known = 0
        relations: list[tuple[str, str, str]] = []
        # Tables of tiers first, so that the older table that repeats them adds only what they lack.
        for table in sorted(tables.names, key=lambda name: (name == "memories", tables.names.index(name))):
            columns = tables.columns(table)
            if _rules(columns):
                known += 1
                yield from _read_rules(tables, table, columns)
            elif _memories(columns):
                known += 1
                yield from _read_memories(tables, table, columns, seen)
            elif pair := next((pair for pair in _PAIRS if {*pair} <= {*columns}), None):
                relations.append((table, *pair))
            elif not table.startswith("sqlite_") and (count := sum(1 for _ in tables.rows(table))):
                yield Left(f"rows of the table {table}, which holds no memories", "", count)
        for table, start, end in relations:
            for row in tables.rows(table):
                ends = [seen.get(str(row.get(start))), seen.get(str(row.get(end)))]
                if ends[0] and ends[1]:
                    yield Tie(ends[0], ends[1], next((said for name in _HOW if (said := words(row.get(name)))), ""))
                else:
                    yield Left(f"relations in the table {table} to memories that are not there")
        if not known:
            raise InvalidInput("path", str(path), "is an SQLite database without a table of memories that is known here")


def _read_memories(tables: Tables, table: str, columns: Sequence[str], seen: dict[str, str]) -> Iterator[Item | Left]:
    text_at, id_at = _first(columns, _TEXTS), _first(columns, _IDS)
    assert text_at is not None and id_at is not None
    for row in tables.rows(table):
        name, text = str(row.get(id_at)), words(row.get(text_at))
        if name in seen:
            continue
        seen[name] = called = f"{table}\x1f{name}" if name.isdecimal() else name
        if not text:
            yield left(f"{table}: row {name} has no text", {key: str(value)[:50] for key, value in row.items()})
            continue
        if any(row.get(gone) for gone in _GONE):
            yield Left(f"{table}: rows that were deleted there", text[:200])
            continue
        cause: Cause | None = "superseded" if any(row.get(old) for old in _OLD) else None
        yield Item(
            called, text, cue=words(row.get("cue") or row.get("question")) or None,
            kind=_kind(row, table), sources=_sources(row), importance=number(row.get("importance"), 0.5, 0.0, 1.0),
            confidence=number(row.get("confidence"), 1.0, 0.0, 1.0), retention="fading", tags=_tags(row.get("tags")),
            metadata=_about(row, table),
            created=_time(row, _BORN), valid_from=_time(row, _STARTS), valid_to=_time(row, _ENDS), cause=cause,
        )  # fmt: skip


def _read_rules(tables: Tables, table: str, columns: Sequence[str]) -> Iterator[Item | Left]:
    trigger_at, action_at, id_at = _first(columns, _TRIGGERS), _first(columns, _ACTIONS), _first(columns, _IDS)
    assert trigger_at is not None and action_at is not None
    for place, row in enumerate(tables.rows(table), 1):
        trigger, action = words(row.get(trigger_at)), words(row.get(action_at))
        name = str(row.get(id_at)) if id_at else str(place)
        if not action:
            yield left(f"{table}: row {name} has no action", trigger)
            continue
        yield Item(
            f"{table}\x1f{name}", action, trigger or None, "rule", "imported", (NAME,),
            confidence=number(row.get("confidence"), 1.0, 0.0, 1.0), retention="kept",
            metadata=_about(row, table), created=_time(row, _BORN),
        )  # fmt: skip


def _kind(row: Mapping[str, Any], table: str) -> Kind:
    said = next((word for name in _KINDS if (word := words(row.get(name)).lower())), "")
    return _KIND_WORDS.get(said) or ("episodic" if "episodic" in table and not said else "semantic")


def _sources(row: Mapping[str, Any]) -> tuple[str, ...]:
    session = words(row.get("session_id"))
    return named([words(row.get("source")), f"session:{session}" if session and session != "default" else ""]) or (NAME,)


def _tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    return named(value.split(",") if isinstance(value, str) else value or [])


def _time(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((when for name in names if (when := moment_of(row.get(name))) is not None), None)


def _about(row: Mapping[str, Any], table: str) -> dict[str, Any]:
    about: dict[str, Any] = {"table": table}
    about |= {name: row[name] for name in _ABOUT if isinstance(row.get(name), str | int | float) and row[name] != ""}
    more = next((words(row.get(name)) for name in _META if words(row.get(name))), "")
    if more:
        try:
            said = json.loads(more)
        except (ValueError, RecursionError):
            said = more
        about |= said if isinstance(said, dict) else {"metadata": said}
    return about
