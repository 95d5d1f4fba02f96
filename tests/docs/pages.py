"""The pages, cut into what can be checked: blocks of code, links, spans of code, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = (*(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")), *sorted((ROOT / "docs").glob("*.md")))

_FENCE: Final = re.compile(r"^(?P<indent> *)```(?P<language>\S*) *$")
_LINK: Final = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_SPAN: Final = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text without the fence's indentation, and the line where the text begins, from 1."""

    page: Path
    line: int
    language: str
    text: str


def name_of(page: Path) -> str:
    """A page's path in the checkout, for the names of tests."""
    return page.relative_to(ROOT).as_posix()


def read(page: Path) -> str:
    """A page's text."""
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order."""
    made: list[Block] = []
    begun: tuple[int, str, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(read(page).splitlines(), 1):
        fence = _FENCE.match(line)
        if begun is None:
            if fence:
                begun, lines = (number + 1, fence["language"], fence["indent"]), []
        elif fence and not fence["language"]:
            first, language, _ = begun
            made.append(Block(page, first, language, "\n".join(lines)))
            begun = None
        else:
            lines.append(line.removeprefix(begun[2]))
    assert begun is None, f"{name_of(page)}:{begun and begun[0]}: a block is not closed"
    return made


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    kept: list[str] = []
    inside = False
    for line in read(page).splitlines():
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def links(page: Path) -> list[str]:
    """Where a page's links lead."""
    return [match["target"] for match in _LINK.finditer(prose(page))]


def spans(text: str) -> list[str]:
    """The spans of code in a text."""
    return _SPAN.findall(text)


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings make, as repositories' web pages make them."""
    made: set[str] = set()
    for line in prose(page).splitlines():
        heading = re.match(r"^#{1,6} +(.*?) *#*$", line)
        if heading:
            plain = re.sub(r"[^\w\- ]", "", heading[1].lower())
            made.add(plain.replace(" ", "-"))
    return made


def section(page: Path, heading: str) -> str:
    """The text below a heading, up to the next one of its level or above."""
    text = read(page)
    begun = re.search(rf"^(#+) {re.escape(heading)} *$", text, re.MULTILINE)
    assert begun, f"{name_of(page)} has no heading {heading!r}"
    rest = text[begun.end() :]
    end = re.search(rf"^#{{1,{len(begun[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def rows(text: str) -> Iterator[list[str]]:
    """The rows of every table in a text, heads left out, each as its cells."""
    before = ""
    for line in text.splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            if before.startswith("|") and not set(line) <= set("|-: "):
                yield cells
        before = line if line.startswith("|") else ""
