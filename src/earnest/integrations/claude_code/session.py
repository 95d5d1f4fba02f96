"""What happened in a session, as its hooks wrote it down a line at a time, and what follows from it. Pure but for reading and appending.

A line is appended in one write, so that hooks which run at the same time lose nothing of each other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

MAX_LINE: Final = 8_000
"""Characters of a line: what is longer is cut by its writer, for a line that is torn says nothing."""
MAX_BYTES: Final = 4_000_000
"""A session that wrote more than this is read from its end."""


@dataclass(slots=True)
class Session:
    """What is known of a session. `tickets` are open, in the order of their prompts."""

    tickets: list[str] = field(default_factory=list)
    first: dict[str, bool] = field(default_factory=dict)
    """What each test command said before anything was changed since the oldest open ticket."""
    last: dict[str, bool] = field(default_factory=dict)
    """What each said after something was changed."""
    changed: bool = False
    prompt: str = ""

    @property
    def delta(self) -> int | None:
        """How many test commands pass now that did not, less those that do not any more; None if none was run before and after a change."""
        both = self.first.keys() & self.last.keys()
        return sum(self.last[name] - self.first[name] for name in both) if both else None


def folded(lines: Iterable[Mapping[str, Any]]) -> Session:
    """A session from its lines, in order."""
    made = Session()
    known: dict[str, bool] = {}
    for line in lines:
        what = line.get("what")
        if what == "prompt":
            made.prompt = str(line.get("prompt", ""))
            if isinstance(line.get("ticket"), str):
                if not made.tickets:
                    # What the tests said last, if nothing was changed since, is how things stand before the advice.
                    made.first, made.last, made.changed = dict(known), {}, False
                made.tickets.append(line["ticket"])
        elif what == "change":
            made.changed = True
            known = {}
        elif what == "test" and isinstance(line.get("command"), str):
            command, passed = line["command"], line.get("passed") is True
            known[command] = passed
            if made.changed:
                made.last[command] = passed
            else:
                made.first[command] = passed
        elif what == "ended":
            said = line.get("tickets")
            ended = said if isinstance(said, list) else []
            made.tickets = [ticket for ticket in made.tickets if ticket not in ended]
            if not made.tickets:
                made.first, made.last, made.changed = dict(known), {}, False
    return made


class Journal:
    """The file of one session's lines."""

    def __init__(self, folder: Path, session: str) -> None:
        name = "".join(c if c.isalnum() or c in "-_" else "_" for c in session)[:100] or "session"
        self.path = folder / f"{name}.jsonl"

    def write(self, what: str, **said: Any) -> None:
        """Appends one line. It is on the disk when the system gets to it: what a crash loses of it is one outcome, not a memory."""
        line = json.dumps({"what": what, **said}, ensure_ascii=False)
        if len(line) > MAX_LINE:
            line = json.dumps({"what": what, **{k: v[:1_000] if isinstance(v, str) else v for k, v in said.items()}}, ensure_ascii=False)
        folder = self.path.parent
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # What is said in a session is no part of the project that it is about.
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # A line that a full disk tore is ended by the next one, so that only itself is lost.
            os.write(descriptor, f"\n{line}\n".encode("utf-8", "replace"))
        finally:
            os.close(descriptor)

    def read(self) -> Session:
        """The session so far; lines that cannot be read are passed over."""
        try:
            raw = self.path.read_bytes()[-MAX_BYTES:]
        except FileNotFoundError:
            return Session()
        lines = []
        for text in raw.split(b"\n"):
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(line, dict):
                lines.append(line)
        return folded(lines)

    def remove(self) -> None:
        """The session is over."""
        self.path.unlink(missing_ok=True)
