"""Stores of darwin-memo: one JSON file with entries, a graveyard and a ledger, and event logs beside it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from earnest.core import check
from earnest.core.amounts import micro
from earnest.core.entry import Cause, Kind, Origin
from earnest.core.moving import Item, Left, Told
from earnest.encoding.chats import moment_of
from earnest.errors import InvalidInput
from earnest.moving.limits import json_of, left, named, number, words

NAME: Final = "darwin-memo"
_ORIGINS: Final[Mapping[str, Origin]] = {
    "explicit": "explicit", "inferred": "inferred", "entity": "entity", "cross_doc": "cross_doc", "experience": "experience",
    "consolidated": "consolidated",
}  # fmt: skip
_KEPT: Final = ("born_cycle", "last_used_cycle", "uses", "juvenile", "imported_from", "imported_at", "kind")
_ROOM: Final = check.MAX_METADATA - 4_096
_LINE: Final = 1_000_000
_LOGS: Final = ("", ".1", ".2", ".3")
_ALIVE: Final = 1e-9
"""Energy above which an entry of darwin-memo lives, by its own rule."""


def is_darwin(value: Any) -> bool:
    """Whether a JSON value is a store of darwin-memo."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("config"), Mapping)
        and isinstance(value.get("entries"), list)
        and isinstance(value.get("graveyard"), list)
    )


def read(path: Path) -> Iterator[Item | Left | Told]:
    """Everything that such a store holds: the living with their energy, the dead with their causes, whole lives as metadata."""
    store = json_of(path)
    if not is_darwin(store):
        raise InvalidInput("path", str(path), "is no store of darwin-memo: it has no config, entries and graveyard")
    ledger = store["ledger"] if isinstance(store.get("ledger"), Mapping) else {}
    logs, counts, broken = _logs(path)
    yield from _told(store, ledger, counts, broken)
    damaged = {name for name in _list(ledger.get("damaged")) if isinstance(name, str)}
    history = ledger["history"] if isinstance(ledger.get("history"), Mapping) else {}
    heirs = {
        parent for entry in [*store["entries"], *store["graveyard"]] if isinstance(entry, Mapping) for parent in named(entry.get("lineage"))
    }
    for alive, listed in ((False, store["graveyard"]), (True, store["entries"])):
        for value in listed:
            name = words(value.get("id")) if isinstance(value, Mapping) else ""
            if not name:
                yield left("an entry without an id", value)
                continue
            cause: Cause | None = None if alive else "executed" if name in damaged else "merged" if name in heirs else "starved"
            yield from _entry(value, name, cause, _list(history.get(name)), logs.get(name, []))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _entry(value: Mapping[str, Any], name: str, cause: Cause | None, history: list[Any], log: list[Any]) -> Iterator[Item | Left]:
    text = words(value.get("answer"))
    if not text:
        yield left(f"entry {name} has no answer", value)
        return
    about: dict[str, Any] = {"id": name, **{key: value[key] for key in _KEPT if value.get(key) not in (None, "")}}
    about["energy"] = number(value.get("energy"), 0.0, -1e6, 1e6)
    about["history"], about["log"] = [_note(note) for note in history], log
    cut = 0
    while (about["log"] or about["history"]) and len(json.dumps(about, ensure_ascii=False).encode("utf-8")) > _ROOM:
        # The oldest go first, of the log before the history.
        cut += 1
        (about["log"] or about["history"]).pop(0)
    if cut:
        yield Left(f"the oldest notes of the long life of entry {name}", "", cut)
    origin = _ORIGINS.get(words(value.get("kind")), "imported")
    kind: Kind = "procedural" if origin == "experience" else "semantic"
    yield Item(
        name=name, text=text, cue=words(value.get("question")) or None, kind=kind, origin=origin, sources=named(value.get("sources") or []),
        retention="earned", metadata={"darwin_memo": {key: item for key, item in about.items() if item not in ([], None)}},
        created=moment_of(value.get("recorded_ts")), balance=micro(number(value.get("energy"), 1.0, 0.0, 1e6)),
        pinned=value.get("pinned") is True and cause is None, probation=int(number(value.get("probation"), 0, 0, 1_000)), cause=cause,
        parents=named(value.get("lineage") or []), keeps_name=True,
    )  # fmt: skip


def _note(note: Any) -> Any:
    return note if isinstance(note, str | dict) else str(note)


def _logs(path: Path) -> tuple[dict[str, list[Any]], Counter[str], int]:
    """The lines of the event logs beside a store by the entries that they name, oldest first; how many of a kind; how many are broken."""
    lives: dict[str, list[Any]] = {}
    counts: Counter[str] = Counter()
    broken = 0
    base = path.with_suffix("") if path.suffix == ".json" else path
    for end in reversed(_LOGS):
        file = base.with_name(f"{base.name}.events.jsonl{end}")
        if not file.is_file():
            continue
        with file.open("rb") as lines:
            while data := lines.readline(_LINE):
                try:
                    event = json.loads(data)
                except (ValueError, RecursionError):
                    broken += bool(data.strip())
                    continue
                if not isinstance(event, dict):
                    broken += 1
                    continue
                counts[str(event.get("event", "?"))[:40]] += 1
                for name, said in _about(event):
                    lives.setdefault(name, []).append(said)
    return lives, counts, broken


def _about(event: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What one event says of each entry that it names."""
    said = {
        key: item
        for key, item in event.items()
        if key in ("event", "tick", "ts", "ticket", "delta", "detail", "reason", "lifecycle", "stake", "source")
    }
    entry = event.get("entry")
    if isinstance(entry, str):
        yield entry, said
    for applied in _list(event.get("applied")):
        if isinstance(applied, Mapping) and isinstance(applied.get("entry"), str):
            yield applied["entry"], {**said, "credit": applied.get("credit")}
    for name in (*_list(event.get("provenance")), *_list(event.get("withheld"))):
        if isinstance(name, str):
            yield name, said
    for name in _list(event.get("dead_entries")):
        if isinstance(name, str):
            yield name, {**said, "died": True}


def _told(store: Mapping[str, Any], ledger: Mapping[str, Any], counts: Counter[str], broken: int) -> Iterator[Left | Told]:
    config = store["config"]
    yield Told(
        f"its settings were max_energy {config.get('max_energy')} and upkeep {config.get('upkeep')} "
        "(settings `cap` and `rent` here; `rule` classic is its rule)"
    )
    if counts:
        yield Told(f"of its event log {counts.total():,} events were read; each entry keeps those that name it in its metadata")
    if broken:
        yield Left("broken lines in the event log", "", broken)
    silent = sum(count for kind, count in counts.items() if kind in ("tick", "settle_dropped", "settle_rejected"))
    if silent:
        yield Left("events that name no entry (ticks, refused settlements): they are counted, not kept", "", silent)
    tickets = _list(ledger.get("pending"))
    if tickets:
        yield Left("open tickets: their decisions were made elsewhere; settle them there first", "", len(tickets))
    if isinstance(store.get("retriever"), Mapping):
        yield Left("vectors of its retriever: vectors are made anew by the embedder here")
