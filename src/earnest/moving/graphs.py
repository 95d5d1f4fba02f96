"""The reference memory server's knowledge graph: entities with observations, and relations, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from earnest.core.moving import Item, Left
from earnest.encoding.chats import name_of
from earnest.errors import StoreError, shown
from earnest.moving.limits import left, words

NAME: Final = "mcp-memory"
_LINE: Final = 4_000_000


def is_graph(head: bytes) -> bool:
    """Whether a file begins with a line of such a graph."""
    for data in head.split(b"\n"):
        if not data.strip():
            continue
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return False
        return isinstance(value, dict) and value.get("type") in ("entity", "relation") and ("name" in value or "from" in value)
    return False


def read(path: Path) -> Iterator[Item | Left]:
    """An entry for every observation and every relation."""
    known: set[str] = set()
    waiting: list[tuple[str, str, str]] = []
    try:
        with path.open("rb") as lines:
            number = 0
            while data := lines.readline(_LINE):
                number += 1
                yield from _line(data, number, known, waiting)
    except OSError as error:
        raise StoreError(f"{shown(str(path))}: cannot be read ({error.strerror})") from error
    for start, how, end in waiting:
        about = {"relation": how, "from": start, "to": end}
        missing = [name for name in (start, end) if name not in known]
        if missing:
            about["unresolved"] = ", ".join(missing)
            yield left(
                f"the relation to {missing[0]!r} has no entity of that name in the file; it is kept as a sentence", f"{start} {how} {end}"
            )
        yield Item(
            f"relation\x1f{start}\x1f{how}\x1f{end}",
            f"{start} {how.replace('_', ' ')} {end}.",
            sources=(NAME,),
            metadata=about,
            tags=(start,),
        )


def _line(data: bytes, number: int, known: set[str], waiting: list[tuple[str, str, str]]) -> Iterator[Item | Left]:
    if not data.strip():
        return
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        yield left(f"line {number:,} is no JSON: cut off, or two lines glued together", data.decode("utf-8", "replace"))
        return
    if not isinstance(value, Mapping) or value.get("type") not in ("entity", "relation"):
        yield left(f"line {number:,} is neither an entity nor a relation", value)
        return
    if value["type"] == "relation":
        ends = name_of(value.get("from"), ""), name_of(value.get("to"), "")
        how = " ".join(words(value.get("relationType")).split()) or "relates to"
        if all(ends):
            waiting.append((ends[0], how, ends[1]))
        else:
            yield left(f"line {number:,}: a relation without two ends", value)
        return
    name, kind = name_of(value.get("name"), ""), " ".join(words(value.get("entityType")).split())
    if not name:
        yield left(f"line {number:,}: an entity without a name", value)
        return
    known.add(name)
    observed = value.get("observations")
    said = [one.strip() for one in observed if isinstance(one, str) and one.strip()] if isinstance(observed, list) else []
    about = {"entity": name, **({"type": kind} if kind else {})}
    for one in said:
        yield Item(f"observation\x1f{name}\x1f{one}", f"{name}: {one}", sources=(NAME,), metadata=about, tags=(name,))
    if not said:
        yield left(f"line {number:,}: the entity {name!r} has no observations", value)
