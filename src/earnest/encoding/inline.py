"""Markup inside a paragraph of Markdown: what a reader of the page would see, as plain text.

More careful than the standard where it would eat meaning: `2**3`, `*.log`, `__init__.py` and `<host>` stay as they are.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from typing import Final

from earnest.core.patterns import lazily
from earnest.core.sentences import dense

_TOKEN: Final = lazily(
    r"\\(?P<escaped>[*_`\[\]<>#|~!()])"
    r"|(?P<ticks>`+)"
    r"|<(?P<address>(?:https?|ftp|mailto):[^<>\s]{1,2000})>"
    r"|</?(?P<tag>(?i:br|b|i|u|s|em|strong|code|kbd|sub|sup|p|div|span|details|summary|center))(?:\s[^<>]{0,200})?/?>"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});)"
    r"|(?P<open>!?\[)"
    r"|(?P<close>\])"
    r"|(?P<run>\*+|_+|~~)"
)
_BREAKS: Final = frozenset(("br", "p", "div", "summary", "details"))
_MAX_TARGET: Final = 2000


def label_of(text: str) -> str:
    """The form in which names of link targets are compared."""
    return " ".join(text.casefold().split())


def plain_inline(text: str, targets: dict[str, str], used: set[str]) -> str:
    """The text of a paragraph without its markup. Linear in its length.

    Args:
        text: One paragraph, on one line.
        targets: Link targets by name, as collected from the whole document.
        used: Gains the names of the targets that this paragraph refers to.
    """
    if not _TOKEN.search(text):
        return " ".join(text.split())
    return " ".join(_Inline(text, targets, used).read().split())


class _Inline:
    def __init__(self, text: str, targets: dict[str, str], used: set[str]) -> None:
        self.text, self.targets, self.used = text, targets, used
        self.out: list[str] = []
        self.brackets = _pairs(text, "[", "]")
        self.parens = _pairs(text, "(", ")")
        self.ticks: dict[int, list[int]] = {}
        for found in re.finditer("`+", text):
            self.ticks.setdefault(len(found[0]), []).append(found.start())
        # Where the text of a link ends: what to write there, and where to go on reading.
        self.ends: dict[int, tuple[str, int]] = {}
        # Runs of * _ ~~ that may be closed later: where they stand in the output, and where their content begins.
        self.opened: dict[str, tuple[int, int]] = {}

    def read(self) -> str:
        at = 0
        while found := _TOKEN.search(self.text, at):
            self.out.append(self.text[at : found.start()])
            at = self._token(found)
        self.out.append(self.text[at:])
        return "".join(self.out)

    def _token(self, found: re.Match[str]) -> int:
        """Write what a token stands for; returns where to go on."""
        kind = found.lastgroup
        if kind == "ticks":
            return self._code(found)
        if kind == "open":
            return self._link(found)
        if kind == "close":
            suffix, at = self.ends.get(found.start(), ("]", found.end()))
            self.out.append(suffix)
            return at
        if kind == "run":
            self._emphasis(found)
        elif kind == "entity":
            self.out.append(html.unescape(found[0]))
        elif kind == "tag":
            self.out.append(" " if found["tag"].lower() in _BREAKS else "")
        else:
            self.out.append(found[kind or 0])
        return found.end()

    def _code(self, found: re.Match[str]) -> int:
        """A span of code, its content untouched; without its other end the ticks are just ticks."""
        same = self.ticks.get(len(found[0]), [])
        index = bisect_right(same, found.start())
        if index == len(same):
            self.out.append(found[0])
            return found.end()
        end = same[index]
        self.out.append(self.text[found.end() : end])
        return end + len(found[0])

    def _link(self, found: re.Match[str]) -> int:
        close = self.brackets.get(found.end() - 1)
        target = self._target(found.end(), close) if close is not None else None
        if close is None or target is None:
            self.out.append(found[0])
            return found.end()
        address, at = target
        said = self.text[found.end() : close] if close - found.end() <= _MAX_TARGET else ""
        shown = address and not address.startswith("#") and address.removeprefix("mailto:") != said.strip("`<> ")
        self.ends[close] = (f" ({address})" if shown else "", at)
        return found.end()

    def _target(self, start: int, close: int) -> tuple[str, int] | None:
        """The address of a link whose text lies between two positions, and where to go on; None if it is no link."""
        after = self.text[close + 1 : close + 2]
        if after == "(":
            end = self.parens.get(close + 1)
            if end is None or end - close > _MAX_TARGET:
                return None
            inside = self.text[close + 2 : end].strip()
            if inside.startswith("<") and ">" in inside:
                return inside[1 : inside.index(">")].strip(), end + 1
            address, _, title = inside.partition(" ")
            return (address, end + 1) if not title or title.lstrip()[:1] in "\"'(" else None
        at = close + 1
        name = self.text[start:close] if close - start <= _MAX_TARGET else ""
        if after == "[":
            end = self.brackets.get(close + 1)
            if end is not None and end - close <= _MAX_TARGET:
                name, at = self.text[close + 2 : end].strip() or name, end + 1
        label = label_of(name)
        if label not in self.targets:
            return None
        self.used.add(label)
        return self.targets[label], at

    def _emphasis(self, found: re.Match[str]) -> None:
        run, start, end = found["run"], found.start(), found.end()
        self.out.append(run)
        if len(run) > 3:
            return
        opener = self.opened.get(run)
        if opener is not None and start > opener[1] and self._closes(start, end, run):
            # A lower-case word between two double underscores is more often a name of Python than a word in bold.
            inside = self.text[opener[1] : start] if start - opener[1] <= 40 else ""
            if not (run == "__" and inside.isidentifier() and inside.islower()):
                self.out[opener[0]] = self.out[-1] = ""
            del self.opened[run]
        elif self._opens(start, end, run):
            self.opened[run] = (len(self.out) - 1, end)

    def _opens(self, start: int, end: int, run: str) -> bool:
        """Whether emphasis may begin here: before a word, and not inside one, a path or a power."""
        before, after = self.text[start - 1 : start] or " ", self.text[end : end + 1] or " "
        if after.isspace() or after in "./\\,":
            return False
        return not (before.isalnum() or before in "./\\)") or (run[0] != "_" and dense(before))

    def _closes(self, start: int, end: int, run: str) -> bool:
        """Whether emphasis may end here: after a word, and not inside one, a path or a pattern such as `a/*.log`."""
        before, after = self.text[start - 1 : start], self.text[end : end + 1] or " "
        beyond = self.text[end + 1 : end + 2]
        if before.isspace() or before in "/\\" or (after in "./\\" and (beyond.isalnum() or beyond == "*")):
            return False
        return not after.isalnum() or (run[0] != "_" and dense(after))


def _pairs(text: str, left: str, right: str) -> dict[int, int]:
    """Which closing bracket belongs to which opening one, by position; escaped ones count for nothing."""
    made: dict[int, int] = {}
    stack: list[int] = []
    for found in re.finditer(rf"\\.|[{re.escape(left + right)}]", text):
        if found[0] == left:
            stack.append(found.start())
        elif found[0] == right and stack:
            made[stack.pop()] = found.start()
    return made
