"""Text for people: text from memory is data, so nothing in it can steer a terminal or pass for Earnest's own words."""

from __future__ import annotations

import json
import os
import re
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TextIO, TypeAlias

# Escape sequences that carry no text. What lies inside an operating system command is left to be seen, without its brackets: an
# operator must not be shown less than a model would be.
_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?")
# Joiners that scripts and emoji need; they move nothing on a screen.
_KEPT: Final = frozenset("\u200c\u200d")
# What stands before the text of a line: its indent, and up to two labels that blanks set apart from it.
_LABELS = re.compile(r" *(?:\S+(?: +[0-9]+)? {2,}){0,2}")
_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_NARROWEST: Final = 40
_ROOM: Final = 32
_NARROW: Final = 20


class Painted(NamedTuple):
    """A text with a style, which shows only where colour is wanted."""

    text: str
    style: str


Part: TypeAlias = "str | Painted"


def one_line(text: str) -> str:
    """Text on one line, without escape sequences and without control, direction and other invisible characters."""
    plain = _ESCAPES.sub("", text)
    kept = (" " if c.isspace() else c for c in plain if c.isspace() or _shows(c))
    return re.sub(r" {2,}", " ", "".join(kept)).strip()


def _shows(c: str) -> bool:
    return c in _KEPT or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co")


def cleaned(text: str) -> str:
    """As `one_line`, but runs of blanks stay."""
    return "".join(" " if c.isspace() else c for c in _ESCAPES.sub("", text) if c.isspace() or _shows(c))


def lines_of(text: str) -> list[str]:
    """The lines of a text, each cleaned."""
    return [cleaned(line).rstrip() for line in _ESCAPES.sub("", text).splitlines()]


def width(text: str) -> int:
    """How many columns a text takes on a terminal."""
    return sum(
        0 if c in _KEPT or unicodedata.category(c) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def fit(text: str, columns: int) -> str:
    """A text cut to so many columns, with an ellipsis where it was cut."""
    if width(text) <= columns:
        return text
    made, used = [], 0
    for c in text:
        used += width(c)
        if used > columns - 1:
            break
        made.append(c)
    return "".join(made).rstrip() + "…"


def wrap(text: str, columns: int) -> list[str]:
    """A line as several lines of at most so many columns, broken at blanks where there are any."""
    made: list[str] = []
    line = ""
    for word in text.split(" "):
        candidate = f"{line} {word}" if line else word
        if width(candidate) <= columns:
            line = candidate
            continue
        if line:
            made.append(line)
        while width(word) > columns:
            head = _head(word, columns)
            made.append(head)
            word = word[len(head) :]
        line = word
    return [*made, line] if line or not made else made


def _head(word: str, columns: int) -> str:
    used = 0
    for i, c in enumerate(word):
        used += width(c)
        if used > columns and i:
            return word[:i]
    return word


def plain(value: Any) -> Any:
    """A value as strict JSON has it: records as objects, times in ISO 8601, in UTC as the service writes them."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is not None:
        return {name: plain(getattr(value, name)) for name in fields}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return str(value)


def to_json(value: Any, indent: int | None = None) -> str:
    """Strict JSON, in ASCII, so that every terminal and pipe takes it."""
    return json.dumps(plain(value), allow_nan=False, indent=indent)


class Screen:
    """Where a command prints. Colour, and lines cut to the window, only on a terminal."""

    def __init__(self, stream: TextIO, *, as_json: bool = False, environ: Mapping[str, str] | None = None) -> None:
        env = os.environ if environ is None else environ
        self.stream = stream
        self.as_json = as_json
        self.live = stream.isatty()
        self.colour = self.live and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
        self.columns = max(_NARROWEST, shutil.get_terminal_size().columns) if self.live else None

    def say(self, *parts: Part) -> None:
        """Print one line. Every part is cleaned, whoever wrote it; line breaks become blanks."""
        self.stream.write("".join(self._shown(part) for part in parts).rstrip() + "\n")

    def cut(self, *parts: Part) -> None:
        """Print one line; on a terminal its last part is cut so that the line does not wrap."""
        *front, last = parts
        if self.columns is not None:
            room = self.columns - sum(width(cleaned(_text(part))) for part in front)
            shown = fit(cleaned(_text(last)), max(room, 4))
            last = Painted(shown, last.style) if isinstance(last, Painted) else shown
        self.say(*front, last)

    def block(self, text: str, indent: str = "") -> None:
        """Print a text of several lines, on a terminal wrapped to the window, under the column that each line's text begins in."""
        for line in lines_of(text):
            if self.columns is None:
                self.say(indent, line)
                continue
            found = _LABELS.match(line)
            room = self.columns - len(indent)
            left = len(found[0]) if found and len(found[0]) <= room // 2 else 0
            for i, piece in enumerate(wrap(line[left:], room - left)):
                self.say(indent, line[:left] if i == 0 else " " * left, piece)

    def pairs(self, rows: Sequence[tuple[str, Part]], indent: str = "") -> None:
        """Print names and values in two columns, values wrapped under themselves on a terminal."""
        left = max((len(name) for name, _ in rows), default=0) + 2
        for name, value in rows:
            text = cleaned(_text(value))
            pieces = wrap(text, max(self.columns - left - len(indent), 20)) if self.columns is not None else [text]
            for i, piece in enumerate(pieces):
                shown = Painted(piece, value.style) if isinstance(value, Painted) else piece
                self.say(indent, Painted((name if i == 0 else "").ljust(left), "dim"), shown)

    def table(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[Part]],
        *,
        right: frozenset[int] = frozenset(),
        whole: bool = False,
        narrow: int | None = None,
    ) -> None:
        """Print a table. The columns that `right` names are numbers.

        On a terminal the last column is cut to the window, or wrapped if the `whole` of it is wanted; it goes on a line of its own where
        little room is left for it. The column that `narrow` names gives room to the last one, where that keeps both on one line.
        """
        shown = [[cleaned(_text(cell)) for cell in row] for row in rows]
        last = len(head) - 1
        widths = [max(width(row[i]) for row in [list(head), *shown]) for i in range(len(head))]
        room = 0 if self.columns is None else self.columns - sum(widths[:last]) - 2 * last
        if self.columns is not None and narrow is not None and room < widths[last]:
            spared = min(widths[last] - room, widths[narrow] - _NARROW)
            if spared > 0 and room + spared >= _ROOM:
                room += spared
                widths[narrow] -= spared
                for row_of in shown:
                    row_of[narrow] = fit(row_of[narrow], widths[narrow])
        stacked = self.columns is not None and room < min(_ROOM, widths[last])
        for cells, styles in [(list(head), ["dim"] * len(head)), *zip(shown, map(_style_of, rows), strict=True)]:
            front: list[Part] = []
            for i, cell in enumerate(cells[:last]):
                blank = " " * (widths[i] - width(cell))
                front += [Painted(blank + cell if i in right else cell + ("" if stacked and i == last - 1 else blank), styles[i]), "  "]
            if stacked:
                self.cut(*front[:-1])
                front = ["    "]
            style = styles[last]
            if not whole or self.columns is None:
                self.cut(*front, Painted(cells[last], style))
                continue
            left = sum(width(_text(part)) for part in front)
            for piece in wrap(cells[last], self.columns - left):
                self.say(*front, Painted(piece, style))
                front = [" " * left]

    def json(self, value: Any) -> None:
        """Print a value as strict JSON."""
        self.stream.write(to_json(value, 2) + "\n")

    def _shown(self, part: Part) -> str:
        text = cleaned(_text(part))
        if not self.colour or not isinstance(part, Painted) or not part.style or not text.strip():
            return text
        codes = ";".join(_STYLES[name] for name in part.style.split())
        return f"\x1b[{codes}m{text}\x1b[0m"


def _text(part: Part) -> str:
    return part.text if isinstance(part, Painted) else part


def _style_of(row: Sequence[Part]) -> list[str]:
    return [cell.style if isinstance(cell, Painted) else "" for cell in row]
