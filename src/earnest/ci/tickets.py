"""Which tickets a pull request names, and which of them its outcome may settle."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from earnest.core import check
from earnest.errors import InvalidInput

MAX_TEXT: Final = 1_000_000
MAX_TICKETS: Final = 100
_NAMED: Final = re.compile(r"^[ \t>*-]*earnest-ticket[ \t]*:[ \t]*`?([A-Za-z0-9_-]{1,100})`?[ \t]*$", re.IGNORECASE | re.MULTILINE)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")


def tickets_in(text: Any) -> tuple[str, ...]:
    """The tickets that a text names, each on a line `earnest-ticket: ID`, in order and without repeats.

    Raises:
        InvalidInput: No text, one of more than a million characters, or more than 100 tickets.
    """
    if not isinstance(text, str):
        raise InvalidInput("text", text, f"must be text, not {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise InvalidInput("text", text, f"is {len(text):,} characters long, at most {MAX_TEXT:,} are searched for tickets")
    return few(_NAMED.findall(text.replace("\r\n", "\n").replace("\r", "\n")))


def few(names: Sequence[str]) -> tuple[str, ...]:
    """Names without repeats; more than a pull request can have followed are refused by InvalidInput."""
    made = tuple(dict.fromkeys(names))
    if len(made) > MAX_TICKETS:
        raise InvalidInput("tickets", made[:3], f"names {len(made)} tickets; one pull request settles at most {MAX_TICKETS}")
    return made


def listed(word: Any) -> tuple[str, ...]:
    """Tickets as a person lists them: ids with commas or blanks between them.

    Raises:
        InvalidInput: Something that is no ticket's id.
    """
    if not isinstance(word, str):
        raise InvalidInput("tickets", word, f"must be text, not {type(word).__name__}")
    names = word.replace(",", " ").split()
    for name in names:
        if not _BARE.fullmatch(name):
            raise InvalidInput("tickets", name, "must be a ticket's id: letters, digits, - and _; `decide` gave it")
    return few(names)


def in_file(path: str | Path) -> tuple[str, ...]:
    """The tickets of a file: lines `earnest-ticket: ID`, or one id a line. Raises InvalidInput if it cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidInput("tickets", str(path), f"cannot be read: {error.strerror or error}") from None
    named = tickets_in(text)
    if named:
        return named
    return few([word for line in text.splitlines() if _BARE.fullmatch(word := line.strip())])


def in_commits(span: Any, folder: str | Path = ".") -> tuple[str, ...]:
    """The tickets that the messages of some commits name, oldest commit first.

    Args:
        span: What git calls a revision range, such as `origin/main..HEAD`.
        folder: Somewhere in the repository.

    Raises:
        InvalidInput: There is no git, no such range, or this is no repository.
    """
    span = check.label("commits", span, limit=400)
    if span.startswith("-"):
        raise InvalidInput("commits", span, "must be a range of commits, such as origin/main..HEAD")
    command = ["git", "-C", str(folder), "log", "--reverse", "--format=%B", "--end-of-options", span, "--"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InvalidInput("commits", span, f"git could not be asked: {error}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InvalidInput("commits", span, f"git does not know it: {said[-1] if said else 'no reason given'}")
    return tickets_in(done.stdout.decode("utf-8", "replace"))
