"""Conversations, lists of memories and files of notes, by the readers that `encode` uses too."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from earnest.core import check
from earnest.core.moving import Item, Left, Told
from earnest.encoding import LocalEncoder
from earnest.encoding.document import Document, Draft
from earnest.encoding.folders import find_files
from earnest.encoding.reading import format_of, read_document, read_documents
from earnest.encoding.records import read_json, written
from earnest.errors import EarnestError, InvalidInput, StoreError, shown

CHATS: Final = ("chatgpt", "claude", "chats")
_PIECE: Final = 1 << 16


def read_chats(path: Path) -> Iterator[Item | Left | Told]:
    """A fading entry for each turn that somebody said, in its session; records of other kinds as entries."""
    for document in _documents(path):
        for draft in document.passages:
            yield _item(draft, document.source)
        for said, reason in document.left_out:
            yield Left(f"{document.source}: {reason}", said[:200])
        for note in document.notes:
            yield Told(f"{document.source}: {note}")


def _documents(path: Path) -> Iterator[Document]:
    with path.open("rb") as file:
        archive = file.read(4) == b"PK\x03\x04"
    if archive or format_of(path.name) == "json":
        yield from read_documents(path, source=check.spelt(path.name))
    else:
        yield from read_json(_pieces(path), check.spelt(path.name))


def _pieces(path: Path) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    with path.open("rb") as file:
        while data := file.read(_PIECE):
            try:
                yield decoder.decode(data)
            except UnicodeDecodeError as error:
                raise InvalidInput("path", str(path), f"is not UTF-8 ({error.reason}); save it again as UTF-8") from None


def _item(draft: Draft, source: str) -> Item:
    sources = draft.sources or (source,)
    named = "\x1f".join((*sources, str(draft.metadata.get("turn", draft.metadata.get("id", ""))), draft.cue or "", draft.text))
    return Item(
        hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest(), draft.text, draft.cue, draft.kind, "imported", sources,
        retention=draft.retention, tags=draft.tags, metadata=draft.metadata, created=draft.valid_from or written(draft.metadata),
        valid_from=draft.valid_from,
    )  # fmt: skip


def read_notes(path: Path) -> Iterator[Item | Left | Told]:
    """Entries from files of notes in Markdown (MEMORY.md, AGENTS.md, CLAUDE.md), one file or all of a folder.

    Each statement is an entry under the heading that it stands under. What is put together from several statements is left to `encode`.
    """
    files = [path]
    if path.is_dir():
        search = find_files([path])
        files = [Path(found.path) for found in search.files if str(found.path).endswith((".md", ".markdown"))]
        if not files:
            raise InvalidInput("path", str(path), "is a folder without a file in Markdown; name a file")
    for file in files:
        name = check.spelt(file.relative_to(path).as_posix() if path.is_dir() else file.name)
        try:
            document = read_document(file, source=name)
        except (StoreError, InvalidInput) as error:
            if len(files) == 1:
                raise
            yield Left(f"{name}: {error}")
            continue
        made = LocalEncoder().encode([document])
        for draft in made.drafts:
            if draft.origin == "explicit":
                yield _item(draft, name)
        for skipped in made.skipped:
            yield Left(f"{name}: {skipped.reason}", skipped.text)
        for note in made.notes:
            yield Told(f"{name}: {note}")


def readable(path: Path) -> None:
    """Refuses what cannot be read at all. Raises StoreError."""
    try:
        if not path.exists():
            raise StoreError(f"{shown(str(path))}: no such file; check the name")
        if not path.is_dir():
            path.open("rb").close()
    except EarnestError:
        raise
    except OSError as error:
        raise StoreError(f"{shown(str(path))}: cannot be read ({error.strerror}); check who may read it") from error
