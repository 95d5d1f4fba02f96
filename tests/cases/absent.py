"""Operations that the product does not have, or never will: found out by looking, so that a new feature shows up as a failure."""

from __future__ import annotations

from earnest import Memory

from .model import Left, Op, Unknown

# Operation: (what it needs, whether leaving it out leaves the store other than the case means).
_VERBS: dict[str, tuple[str, bool]] = {
    "prefetch": ("prefetch", False),
    "sync_turn": ("sync_turn", True),
    "sync_turns": ("sync_turn", True),
    "export": ("export", False),
    "purge": ("erase", True),
    "delete_source": ("erase", True),
    "delete_all": ("erase", True),
    "compact": ("compact", False),
}

_NONE: dict[str, str] = {
    "event_log": "the log is inside the store, without lines that could be cut or glued",
    "good_lines": "the log is inside the store, without lines that could be cut or glued",
    "bad_lines_reported": "the log is inside the store; what is changed in it, `check` reports as a broken chain",
}

_WRITES = {"add", "add_many", "update", "correct", "delete", "forget", "bury", "restore", "merge", "consolidate", "settle", "tick",
           "ingest_text", "ingest_file", "ingest_dir", "import",
           "store_of_version", "damage", "parallel", "kill -9 during save"}  # fmt: skip

_FIELDS = {"content", "key", "agent", "op", "missing", "id", "by", "importance", "confidence", "metadata", "tags", "source", "sources",
           "scope", "kind", "cue", "retention", "origin", "valid_from", "valid_to", "event_time", "created", "supersedes",
           "updated", "expires_at"}  # fmt: skip


def needed(op: Op) -> None:
    """Raises `Left` for an operation that the product lacks, `Unknown` for one that it has and the runner was not taught."""
    name = str(op["op"])
    if name in _NONE:
        raise Left("no counterpart", _NONE[name])
    if name in _VERBS and not hasattr(Memory, _VERBS[name][0]) and not hasattr(Memory, f"{_VERBS[name][0]}_"):
        raise Left("not yet", f"{name}: the library has no {_VERBS[name][0]}")


def no_counterpart(name: str) -> Left:
    """Why an expectation has no counterpart in this product."""
    return Left("no counterpart", f"{name}: {_NONE[name]}")


def changes(op: Op) -> bool:
    """Whether leaving this operation out leaves the store other than the case means."""
    name = str(op["op"])
    if name == "embedder" or "embedder" in op:
        return True  # without it there are no vectors
    if name in ("llm", "rule_reject"):
        return True  # without it there are no drafts, and nothing is rejected
    return (_VERBS.get(name) or ("", name in _WRITES))[1]


def lacking_fields(op: Op) -> None:
    """Raises `Left` for an entry with a field that the product does not keep."""
    for name in op:
        if name not in _FIELDS:
            raise Unknown(f"I do not know the field {name!r} of an entry")
