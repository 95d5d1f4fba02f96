"""What rendering memory into a file made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Target = Literal["AGENTS.md", "CLAUDE.md", "MEMORY.md", "claude-memory"]
TARGETS: Final[tuple[Target, ...]] = ("AGENTS.md", "CLAUDE.md", "MEMORY.md", "claude-memory")

FileChange = Literal["unchanged", "written", "removed"]


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """One file: the part of it that is Earnest's (empty if that was taken out), how large the file is, and what became of it."""

    path: Path
    text: str
    bytes: int
    lines: int
    change: FileChange


@dataclass(frozen=True, slots=True)
class Rendered:
    """What rendering made, or would make on a check.

    text: what memory says, as it stands in the main file. files: the files that it is in, the main one first; none if no path was given.
    entries: ids of the entries that are shown, in their order. left_out: entries in good standing for which there was no room.
    current: whether every file was up to date already.
    """

    target: Target
    text: str
    files: tuple[RenderedFile, ...]
    entries: tuple[str, ...]
    left_out: int
    current: bool
