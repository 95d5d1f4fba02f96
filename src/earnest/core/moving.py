"""What moves between stores: an entry as somebody else kept it, and what exporting and importing report. Pure."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from earnest.core.entry import Cause, Kind, Origin, Retention
from earnest.core.links import LinkKind
from earnest.core.reports import Skipped

EXPORT_FORMATS: Final = ("jsonl", "markdown")
IMPORT_FORMATS: Final = (
    "auto", "earnest", "darwin-memo", "mnemosyne", "mem0", "chatgpt", "claude", "mcp-memory", "markdown", "chats",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """An entry from elsewhere, as its reader understood it; not checked yet.

    `name` is what it was called there: the same name of the same format is the same entry, however often it is imported. `created` None:
    its age is unknown. `balance` is in micro-units; None gives the usual stake. `parents` are names. A `cause` says that it was dead.
    """

    name: str
    text: str
    cue: str | None = None
    kind: Kind = "semantic"
    origin: Origin = "imported"
    sources: tuple[str, ...] = ()
    scope: str | None = None
    importance: float = 0.5
    confidence: float = 1.0
    retention: Retention | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    balance: int | None = None
    pinned: bool = False
    strength: float = 1.0
    probation: int = 0
    version: int = 1
    cause: Cause | None = None
    parents: tuple[str, ...] = ()
    keeps_name: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """A part that could not be carried, and why. `count` is how many of the kind there were."""

    reason: str
    text: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Tie:
    """Two items, by their names, that somebody stated to belong together there, and why."""

    one: str
    other: str
    reason: str = ""
    kind: LinkKind = "related"
    weight: float = 1.0
    keeps_name: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """Something that a user should know about what was read."""

    sentence: str


def identified(format: str, name: str) -> str:
    """The id that an entry of that name gets here: the same for the same name, and like no other."""
    return base64.b32encode(hashlib.sha256(f"{format}\x00{name}".encode("utf-8", "surrogatepass")).digest()[:10]).decode("ascii").lower()


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was exported: where to, how many rows by table (or entries), and the digest of the rows (empty for Markdown)."""

    path: str
    format: str
    counts: Mapping[str, int]
    sha256: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """What was archived: where to, how many events, the first and the last of them, and the digest of the file's rows."""

    path: str
    events: int
    first: int
    last: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What was imported, or would be on a dry run.

    `restored`: everything was put into an empty store, just as it was; then `counts` are rows by table. Otherwise `added` entries are new
    (of them `dead` in the graveyard), `joined` said what an entry here says and gave it their sources, `already` were here; `linked` counts
    stated links that came too. `skipped` says what could not be carried, and why; `notes` what else to know.
    """

    format: str
    dry_run: bool = False
    restored: bool = False
    added: int = 0
    joined: int = 0
    already: int = 0
    dead: int = 0
    linked: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
