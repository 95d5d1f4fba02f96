"""Which program a file comes from, by what is in it and not by its name; and reading it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from earnest.core import check
from earnest.core.moving import IMPORT_FORMATS, Item, Left, Tie, Told
from earnest.errors import InvalidInput
from earnest.moving import chats, darwin, graphs, mem0, mnemosyne, records
from earnest.moving.limits import head_of
from earnest.moving.tables import Tables, is_sqlite

Reader = Callable[[Path], Iterator[Item | Left | Tie | Told]]

READERS: Final[Mapping[str, Reader]] = {
    darwin.NAME: darwin.read, mnemosyne.NAME: mnemosyne.read, mem0.NAME: mem0.read, graphs.NAME: graphs.read, "markdown": chats.read_notes,
    **dict.fromkeys(chats.CHATS, chats.read_chats),
}  # fmt: skip
EARNEST: Final = "earnest"
_NOTES: Final = (".md", ".markdown", ".mdx")


def format_of(path: Path, format: Any) -> str:
    """The format that was named, or that a file is in.

    Raises:
        InvalidInput: It is none that is known; says which there are. StoreError: it cannot be read.
    """
    chosen = check.choice("format", format, IMPORT_FORMATS)
    chats.readable(path)
    if path.is_file() and path.stat().st_size == 0:
        raise InvalidInput("path", str(path), "is empty: there is nothing in it to take in")
    if path.is_file() and is_sqlite(path) and _is_ours(path):
        raise InvalidInput(
            "path", str(path),
            f"is a store of Earnest itself: `earnest export --store {path.name} FILE` writes what can be imported, and "
            f"`earnest backup --restore {path.name}` puts it in a store's place",
        )  # fmt: skip
    if chosen != "auto":
        return chosen
    if path.is_dir() or path.suffix.lower() in _NOTES:
        return "markdown"
    head = head_of(path)
    found = _by_bytes(path, head)
    if found is None:
        raise InvalidInput(
            "path", str(path), f"is in no format that is known here; name one of {', '.join(IMPORT_FORMATS[1:])}, or `encode` it"
        )
    return found


def _is_ours(path: Path) -> bool:
    """Whether an SQLite file is a store of Earnest, by what it keeps its books in."""
    with Tables(path) as tables:
        return {"rent_mark", "standing", "cause"} <= {*tables.columns("entries")} and bool(tables.columns("postings"))


def _by_bytes(path: Path, head: bytes) -> str | None:
    if records.is_header(head):
        return EARNEST
    if is_sqlite(path):
        with Tables(path) as tables:
            if "memory_id" in tables.columns("history"):
                return mem0.NAME
        return mnemosyne.NAME if mnemosyne.is_mnemosyne(path) else None
    if head.startswith(b"PK\x03\x04"):
        return "chats"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text.startswith((b"{", b"[")):
        return None
    if graphs.is_graph(text):
        return graphs.NAME
    return _by_shape(text)


def _by_shape(text: bytes) -> str | None:
    """By the names that stand in the beginning of a JSON file, which may be cut anywhere."""
    names = _names(text)
    if {"config", "entries"} <= names and ("max_energy" in names or "upkeep" in names):
        return darwin.NAME
    if "mapping" in names and ("current_node" in names or "create_time" in names or "parent" in names):
        return "chatgpt"
    if "chat_messages" in names:
        return "claude"
    if "memory" in names and names & {"user_id", "agent_id", "run_id", "hash", "created_at"}:
        return mem0.NAME
    return "chats"


def _names(text: bytes) -> set[str]:
    """The names of members in a piece of JSON, read from string to string."""
    found: set[str] = set()
    said = text.decode("utf-8", "replace")
    at = 0
    while (start := said.find('"', at)) >= 0:
        end = start + 1
        while end < len(said) and said[end] != '"':
            end += 2 if said[end] == "\\" else 1
        if said[end + 1 : end + 3].lstrip().startswith(":"):
            try:
                found.add(str(json.loads(said[start : end + 1])))
            except ValueError:
                break
        at = end + 1
    return found
