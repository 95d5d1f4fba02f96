"""What is asked to be erased, and what an erasure reports. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from earnest.core import check
from earnest.core.analysis import folded
from earnest.errors import InvalidInput

LEAST_TEXT: Final = 3
"""Characters that a text to erase must have at least: shorter ones are in nearly everything."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What to erase. Everything that is given must hold of an entry; what is None is not asked."""

    scope: str | None = None
    source: str | None = None
    entry: str | None = None
    text: str | None = None

    @property
    def words(self) -> str:
        """Which kinds of subject were named, for the log: never what they were."""
        return " and ".join(name for name in ("scope", "source", "entry", "text") if getattr(self, name) is not None)


def subject(scope: Any, source: Any, entry: Any, text: Any) -> Subject:
    """A subject from what a caller gave.

    Raises:
        InvalidInput: Nothing was named, or with a value that cannot be used.
    """
    if scope is None and source is None and entry is None and text is None:
        raise InvalidInput("erase", None, "names nothing to erase; give scope=, source=, entry= or text=")
    needle = None if text is None else check.text("text", text, limit=check.MAX_QUERY)
    if needle is not None and len(plain(needle)) < LEAST_TEXT:
        raise InvalidInput("text", text, f"is too short to erase by: at least {LEAST_TEXT} characters that show")
    if entry is not None and not isinstance(entry, str):
        raise InvalidInput("entry", entry, "must be an entry's id, which is text")
    return Subject(
        None if scope is None else check.label("scope", scope, blank=True),
        None if source is None else check.label("source", source),
        entry,
        needle,
    )


def plain(text: str) -> str:
    """A text as it is compared: width, case, accents and runs of blanks folded."""
    return " ".join(folded(text).split())


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an erasure took away, or would take on a dry run: counts only, never what it was.

    `counts` says how many `entries` (of them `derived`: versions of the others, and what was made of them), `tickets`, `vectors`,
    stated `links`, `notes`, `sources`, `documents` and `keys` were emptied or taken away. `released` are the ids of entries that had
    been merged into an erased one and live again. `event` is the number in the log that says so. `probed` counts what a look afterwards still found:
    `keyword` and `dense` in the indexes, `file` in the bytes of the store's files. `left` names, in sentences, what still holds it or may;
    it is empty when everything is gone (`complete`).
    """

    subject: str
    dry_run: bool
    counts: Mapping[str, int]
    released: tuple[str, ...] = ()
    event: int | None = None
    probed: Mapping[str, int] = field(default_factory=dict)
    left: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether it was carried out, and nothing was found afterwards."""
        return not self.dry_run and not self.left

    def __bool__(self) -> bool:
        return self.complete


@dataclass(frozen=True, slots=True)
class Compaction:
    """What writing a file anew did: bytes of the file and its log `before` and `after`; `left` says what could not be done."""

    before: int
    after: int
    left: tuple[str, ...] = ()
