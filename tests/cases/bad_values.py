"""Values that no argument may stumble over: whatever a verb is given, it takes it or refuses it with a type."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from earnest import Memory
from earnest.errors import EarnestError, shown


def _deep(kind: type) -> Any:
    """A value nested deeper than Python itself follows."""
    made = kind()
    for _ in range(5_000):
        made = [made] if kind is list else {"a": made}
    return made


BAD: tuple[Any, ...] = (
    "\ud800", "\udcff", "", " ", "a\x00b", "nope", "x" * 200_000, None, True, 1, -1, 1.5, 2**80, float("nan"), float("inf"), [], ["\ud800"],
    {}, b"x", object(), 10**5000, _deep(list), _deep(dict), Decimal("NaN"), datetime.max, datetime.min, iter(()),
)  # fmt: skip

GIVEN: Mapping[str, Mapping[str, Any]] = {
    "add": {"text": "walrus"},
    "answer": {"query": "walrus"},
    "decide": {"query": "zebra"},
    "search": {"query": "walrus"},
    "settle": {"ticket": "nope", "delta": 1},
    "abandon": {"ticket": "nope"},
    "merge": {"ids": ["nope", "none"]},
    "feedback": {"verdict": "helpful"},
    "recalled": {"ids": []},
    "link": {"a": "nope", "b": "none"},
    "unlink": {"a": "nope", "b": "none"},
    "undo": {"event": 999},
    "encode": {"documents": []},
    "add_many": {"entries": []},
    "backup": {"path": "/no/such/folder/copy.db"},
    "export": {"path": "/no/such/folder/export.jsonl"},
    "import_": {"path": "/no/such/file.jsonl"},
    "rules.add": {"type": "avoid", "trigger": "when it rains", "action": "wait"},
    "rules.verify": {"id": "nope", "accept": True},
    "remeasure": {"ticket": "nope", "delta": 1, "meter": "other"},
    "control": {"delta": 0, "meter": "disk"},
    "meters.bind": {"name": "disk", "channel": "cli"},
    "meters.add": {"name": "disk"},
    "meters.revoke": {"name": "disk"},
    "sync_turn": {"user_text": "I live in Oslo", "assistant_text": "ok"},
    "prefetch": {"message": "walrus"},
}
"""What a verb is given beside the bad value, where it needs something; verbs by id are given an entry's."""

TRIED: Mapping[str, tuple[str, ...]] = {
    "add": ("text", "cue", "kind", "scope", "sources", "origin", "importance", "confidence", "retention", "metadata", "tags", "valid_from",
            "valid_to", "key"),
    "add_many": ("entries", "key"),
    "encode": ("documents", "scope", "key"),
    "get": ("id",),
    "forget": ("id", "reason"),
    "restore": ("id",),
    "pin": ("id",),
    "unpin": ("id",),
    "obituary": ("id",),
    "update": ("id", "cue", "importance", "confidence", "metadata", "tags", "valid_from", "valid_to", "retention", "key"),
    "merge": ("ids", "text"),
    "undo": ("event",),
    "list": ("scope", "kind", "source", "tags", "standing", "after", "limit"),
    "search": ("query", "k", "scope", "kind", "source", "tags", "since", "until", "as_of", "half_life", "mode", "floor", "links", "weigh"),
    "answer": ("query", "k", "half_life", "mode", "scope", "links"),
    "decide": ("query", "k", "half_life", "mode", "scope", "key"),
    "settle": ("ticket", "delta", "meter", "scale", "acted", "detail", "key"),
    "abandon": ("ticket", "reason"),
    "tick": ("slot", "expire_after"),
    "top": ("limit",),
    "pending": ("after", "limit"),
    "events": ("entry", "kind", "after", "limit", "newest"),
    "audit": ("after", "limit"),
    "check": ("repair",),
    "consolidate": ("dry_run",),
    "decay_cleanup": ("dry_run", "key"),
    "feedback": ("id", "verdict", "key"),
    "recalled": ("ids",),
    "earned": ("id",),
    "link": ("a", "b", "kind", "weight", "reason", "key"),
    "unlink": ("a", "b", "kind", "key"),
    "related": ("id", "k", "hops", "kind"),
    "graph": ("id", "hops", "limit"),
    "configure": ("rule", "rent", "stake", "cap", "floor", "languages", "expire_after", "default_retention", "embedder"),
    "backup": ("path",),
    "meters.add": ("name", "unit", "scale", "tier"),
    "meters.bind": ("name", "channel"),
    "meters.revoke": ("name", "since"),
    "rules.list": ("status", "scope", "after", "limit"),
    "rules.match": ("text",),
    "rules.add": ("type", "trigger", "action", "scope"),
    "rules.verify": ("id", "accept"),
    "rules.trial": ("id",),
    "export": ("path", "format", "vectors", "scope", "overwrite"),
    "import_": ("path", "format", "probation"),
    "encode_files": ("paths",),
    "sync_turn": ("user_text", "assistant_text", "scope", "extract"),
    "prefetch": ("message", "budget", "floor", "scope"),
    "remeasure": ("ticket", "delta", "meter"),
    "control": ("delta", "meter"),
    "uplift": ("meter",),
    "compress": ("id",),
    "erase": ("entry", "text", "source", "scope"),
}  # fmt: skip

OPENED = ("path", "agent", "actor", "channel", "timeout", "read_only", "settings", "embedder", "decay_half_life", "decay_threshold")


def stumbles(folder: Path) -> list[str]:
    """Every verb with every bad value: those that raise what is no error of Earnest's, and what a look over the store finds."""
    made: list[str] = []
    with Memory.open(folder / "bad-values.db") as memory:
        entry = memory.add("walrus").id
        for verb, names in TRIED.items():
            method: Any = memory
            for part in verb.split("."):
                method = getattr(method, part)
            given = GIVEN.get(verb, {})
            if names[0] == "id":
                given = {"id": entry, **GIVEN.get(verb, {})}
            for name in names:
                for bad in BAD:
                    if verb in ("backup", "export") and isinstance(bad, str) and bad in ("nope", " ", "\udcff"):
                        continue  # good names of files, in whatever folder this runs
                    made += _tried(f"{verb}({name}=", bad, lambda m=method, g={**given, name: bad}: m(**g))
        made += [f"afterwards: {problem}" for problem in memory.check().problems]
    for name in OPENED:
        for bad in BAD:
            if name == "path" and isinstance(bad, str) and bad in ("nope", " "):
                continue
            made += _tried(f"open({name}=", bad, lambda g={"path": ":memory:", name: bad}: Memory.open(**g).close())
    return made


def _tried(what: str, bad: Any, call: Any) -> list[str]:
    try:
        call()
    except EarnestError:
        return []
    except Exception as error:  # noqa: BLE001  whatever else it is, it is what is looked for
        return [f"{what}{shown(bad, 30)}): {type(error).__name__}: {str(error)[:80]}"]
    return []
