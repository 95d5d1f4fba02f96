"""A small line-based reader of Markdown: headings, lists, tables, quotes, code, front matter, comments.

It wants what a memory needs, no more: what is said, and under which heading. Lines are looked at once, in order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from earnest.core.patterns import lazily
from earnest.core.sentences import join_lines
from earnest.encoding.blocks import ITEM, Builder, Reading, row_of
from earnest.encoding.frontmatter import FrontMatter, read_front_matter
from earnest.encoding.inline import label_of, plain_inline

_FENCE: Final = lazily(r"^(?P<lead>[ \t>]*(?P<item>(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
_QUOTE: Final = lazily(r"^ {0,3}>(?: ?>)* ?")
_RULE: Final = lazily(r"^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_ATX: Final = lazily(r"^ {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT: Final = lazily(r"^ {0,3}(?P<mark>=+|-{2,})[ \t]*$")
_TARGET: Final = lazily(r"^ {0,3}\[(?P<name>[^\]\[^][^\]\[]{0,200})\]:[ \t]*(?P<address>\S+)(?:[ \t]+[\"'(].*)?$")
_CALLOUT: Final = lazily(r"^\[!(\w{1,30})\][ \t]*")
_KEY: Final = lazily(r"^[\w\"'][\w .\"'/-]{0,100}:(?:[ \t]|$)|^#")
_INDENTED: Final = lazily(r"^(?: {4}| {0,3}\t)(.*)$")
_LOOKS: Final = lazily(r"^(?:#{1,6}[ \t]+\S|```|~~~)", re.MULTILINE)
_FRONT_MATTER_LINES: Final = 1000
_HEAD_CHARS: Final = 100_000


@dataclass(frozen=True, slots=True)
class _Code:
    body: str
    info: str
    indented: bool


def looks_like_markdown(text: str) -> bool:
    """Whether a text without a telling name is Markdown: it has front matter, a heading with # or a code fence."""
    # Enough of the head for any front matter, without taking a long text apart.
    lines = text[:_HEAD_CHARS].splitlines()
    return _LOOKS.search(text) is not None or _front_matter(lines, 0) > 0


def read_markdown(text: str) -> Reading:
    """Read a Markdown document. Comments and unused link targets are left out with a reason; front matter becomes metadata."""
    lines = text.splitlines()
    scan = _Scan(lines)
    used: set[str] = set()
    builder = Builder(lambda words: plain_inline(words, scan.targets, used))
    builder.reading.left_out.extend(scan.left_out)
    builder.reading.notes.extend([*scan.front.notes, *scan.notes])
    builder.reading.metadata, builder.reading.tags = scan.front.metadata, scan.front.tags
    _Blocks(scan.tokens, builder).read()
    reading = builder.finish()
    for name, address in scan.targets.items():
        if name not in used:
            reading.left_out.append((f"[{name}]: {address}", "link target that nothing refers to"))
    return reading


def _front_matter(lines: list[str], start: int) -> int:
    """The line after the front matter that begins at `start`; `start` itself if there is none or it is never closed."""
    if start + 1 >= len(lines) or lines[start].rstrip() != "---" or not _KEY.match(lines[start + 1]):
        return start
    for index in range(start + 1, min(len(lines), start + _FRONT_MATTER_LINES)):
        if lines[index].rstrip() in ("---", "..."):
            return index + 1
    return start


class _Scan:
    """The first pass: takes out what is no text (front matter, comments, link targets) and keeps each code block in one piece."""

    def __init__(self, lines: list[str]) -> None:
        self.tokens: list[str | _Code] = []
        self.targets: dict[str, str] = {}
        self.left_out: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.front = FrontMatter()
        self._lines = lines
        self._last_comment_end = max((i for i, line in enumerate(lines) if "-->" in line), default=-1)
        at = self._skip_front_matter()
        while at < len(lines):
            fence = _FENCE.match(lines[at])
            # Ticks in what follows the ticks: a span of code in a line of text.
            opens = fence is not None and (fence["fence"][0] == "~" or "`" not in fence["info"])
            at = self._fenced(at, fence) if fence and opens else self._text(at)

    def _skip_front_matter(self) -> int:
        """Some tools leave two headers on top of each other; both are metadata."""
        at = 0
        while True:
            start = at
            while at > 0 and start < len(self._lines) and not self._lines[start].strip():
                start += 1
            end = _front_matter(self._lines, start)
            if end == start:
                return at
            read_front_matter(self._lines[start + 1 : end - 1], self.front)
            at = end

    def _fenced(self, at: int, fence: re.Match[str]) -> int:
        mark, lead = fence["fence"], fence["lead"]
        quoted, width = ">" in lead, len(lead.expandtabs(4))
        body: list[str] = []
        for index in range(at + 1, len(self._lines)):
            line = self._lines[index]
            if quoted and not _QUOTE.match(line):
                self._keep(body, fence)
                return index
            bare = line.strip(" \t>") if quoted else line.strip()
            if len(bare) >= len(mark) and not bare.strip(mark[0]):
                self._keep(body, fence)
                return index + 1
            if quoted:
                line = _QUOTE.sub("", line, count=1)
            else:
                line = line.expandtabs(4) if width and line[:1] == "\t" else line
                line = line[min(width, len(line) - len(line.lstrip(" "))) :]
            body.append(line)
        self.notes.append(f"the code block that begins in line {at + 1} is never closed; it was read to the end")
        self._keep(body, fence)
        return len(self._lines)

    def _keep(self, body: list[str], fence: re.Match[str]) -> None:
        indented = fence["item"] is not None or fence["lead"].startswith((" ", "\t"))
        self.tokens.append(_Code("\n".join(body).strip("\n"), fence["info"].strip()[:100], indented))

    def _text(self, at: int) -> int:
        line = self._lines[at]
        if "<!--" in line:
            line, at = self._uncommented(at)
            if not line.strip():
                return at + 1
        target = _TARGET.match(line)
        if target:
            self.targets.setdefault(label_of(target["name"]), target["address"].strip("<>"))
        else:
            self.tokens.append(line)
        return at + 1

    def _uncommented(self, at: int) -> tuple[str, int]:
        """A line without the comments in it, and the last line that they reach. A comment that is never closed is text."""
        line, kept, pos, ticks, end = self._lines[at], [], 0, 0, 0
        while True:
            start = line.find("<!--", pos)
            if start < 0:
                break
            ticks += line.count("`", pos, start)
            # Looked for once only if there is none: else a line of openings would be searched again for each.
            end = line.find("-->", start + 4) if end >= 0 else end
            if ticks % 2 or (end < 0 and at >= self._last_comment_end):
                kept.append(line[pos : start + 4])
                pos = start + 4
                continue
            kept.append(line[pos:start])
            comment = [line[start + 4 : end if end >= 0 else None]]
            while end < 0:
                at += 1
                line = self._lines[at]
                end = line.find("-->")
                comment.append(line[: end if end >= 0 else None])
            if any(part.strip() for part in comment):
                self.left_out.append((" ".join(" ".join(comment).split()), "HTML comment"))
            pos = end + 3
        kept.append(line[pos:])
        return "".join(kept), at


class _Blocks:
    """The second pass: tells the builder which kind of block each line belongs to."""

    def __init__(self, tokens: list[str | _Code], builder: Builder) -> None:
        self._tokens, self._builder = tokens, builder
        self._quoted = False
        self._at = 0

    def read(self) -> None:
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if isinstance(token, _Code):
                self._builder.code(token.body, token.info, indented=token.indented)
            else:
                self._line(token)

    def _line(self, line: str) -> None:
        builder = self._builder
        bare = _QUOTE.sub("", line, count=1)
        quoted = len(bare) < len(line)
        if quoted != self._quoted and not (self._quoted and not line.strip()):
            if self._quoted:
                builder.end()
            else:
                builder.blank()
            self._quoted = quoted
        if quoted:
            bare = _CALLOUT.sub(lambda found: f"{found[1].capitalize()}: ", bare)
        if not bare.strip():
            builder.blank()
            return
        if self._heading(bare, quoted) or self._table(bare, quoted) or self._indented(bare, quoted):
            return
        item = ITEM.match(bare)
        if item and builder.may_start(item):
            builder.item(item)
        else:
            builder.line(bare)

    def _heading(self, line: str, quoted: bool) -> bool:
        builder = self._builder
        setext = _SETEXT.match(line)
        if setext and builder.in_paragraph and not quoted and builder.underlined(1 if setext["mark"][0] == "=" else 2):
            return True
        if _RULE.match(line) or (setext and len(setext["mark"]) > 2):
            builder.end()
            return True
        atx = _ATX.match(line)
        if not atx:
            return False
        text = line[atx.end() :].strip()
        closed = text.rstrip("#")
        text = closed.rstrip() if not closed or closed[-1].isspace() else text
        if quoted:
            # A heading in a quotation orders the quotation, not this document.
            builder.blank()
            builder.line(text)
            builder.blank()
        else:
            builder.heading(len(atx[1]), text)
        return True

    def _table(self, line: str, quoted: bool) -> bool:
        if "|" not in line or not self._delimits(self._peek(quoted)):
            return False
        self._at += 1
        headers = [self._builder.inline(cell) for cell in _cells(line)]
        rows = 0
        while (row := self._peek(quoted)) is not None and "|" in row and row.strip():
            self._at += 1
            self._builder.row(row_of(headers, [self._builder.inline(cell) for cell in _cells(row)]))
            rows += 1
        if not rows:
            self._builder.end()
            self._builder.reading.left_out.append((" | ".join(h for h in headers if h) or "|", "table without rows"))
        return True

    def _peek(self, quoted: bool) -> str | None:
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        if not isinstance(token, str):
            return None
        return _QUOTE.sub("", token, count=1) if quoted else token

    @staticmethod
    def _delimits(line: str | None) -> bool:
        return line is not None and "-" in line and "|" in line and not line.strip("|:- \t")

    def _indented(self, line: str, quoted: bool) -> bool:
        """A block indented by four columns after a blank line, outside of lists, is code."""
        builder = self._builder
        found = _INDENTED.match(line)
        if not found or quoted or builder.in_paragraph or builder.in_list:
            return False
        body = [found[1]]
        while (token := self._peek(False)) is not None:
            found = _INDENTED.match(token)
            if not found and token.strip():
                break
            body.append(found[1] if found else "")
            self._at += 1
        builder.code("\n".join(body).strip("\n"), "", indented=False)
        return True


def _cells(line: str) -> list[str]:
    """The cells of a row. A pipe that is escaped or inside a span of code is text."""
    made, current, code = [], "", False
    parts = re.findall(r"\\\||\||`+|[^|`\\]+|\\", line.strip())
    spans = sum(part[0] == "`" for part in parts) % 2 == 0
    for part in parts:
        if part == "|" and not code:
            made.append(current)
            current = ""
            continue
        if part[0] == "`":
            code = spans and not code
        current += "|" if part == "\\|" else part
    made.append(current)
    if made and not made[0].strip():
        made = made[1:]
    if made and not made[-1].strip():
        made = made[:-1]
    return [join_lines([cell]) for cell in made]
