"""A reader of HTML: what a page says to its reader, without its scripts, styles, menus and hidden parts.

Built on the parser of the standard library, which takes any tag soup. What is left out is reported, and an element that hides the
rest of the page because nobody closed it is read after all: no page comes out empty without a word.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from earnest.core.patterns import lazily
from earnest.core.sentences import words
from earnest.encoding.blocks import ITEM, Builder, Reading, row_of

_VOID: Final = words("area base br col embed hr img input link meta param source track wbr")
_LEFT_OUT: Final = {
    "nav": "navigation of the page", "footer": "footer of the page", "aside": "aside of the page", "form": "form",
    "button": "form", "select": "form", "textarea": "form", "dialog": "form",
}  # fmt: skip
_UNSEEN: Final = words("script style noscript template svg math iframe object canvas audio video map head datalist")
_BLOCKS: Final = words(
    "address article blockquote body center dd details div dl dt fieldset figcaption figure h1 h2 h3 h4 h5 h6 header hgroup hr html li "
    "main menu ol p pre section summary table tbody td tfoot th thead tr ul caption"
)
_LISTS: Final = frozenset(("ul", "ol", "menu"))
_HEADING: Final = lazily(r"h[1-6]")
_HIDDEN: Final = lazily(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LANGUAGE: Final = lazily(r"\blang(?:uage)?-([\w+#-]{1,30})")
_CHARSET: Final = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})|<\?xml[^>]{0,100}?encoding=["']([\w.:-]{1,40})""", re.IGNORECASE
)
_LOOKS: Final = lazily(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_HEAD: Final = 4_096
_MAX_DEPTH: Final = 100


def looks_like_html(text: str) -> bool:
    """Whether a text without a telling name is a web page: it begins as one."""
    return _LOOKS.match(text[:_HEAD]) is not None


def declared_charset(data: bytes) -> str | None:
    """The encoding that the head of a page names; None if it names none."""
    found = _CHARSET.search(data[:_HEAD])
    return (found[1] or found[2]).decode("ascii") if found else None


def read_html(text: str) -> Reading:
    """Read a web page. Scripts, styles and pictures are passed over; menus, footers, forms and hidden parts are left out and
    reported. Its title, author and description become metadata. Linear in the length of the text."""
    # Tags that nothing closes are text. The parser would look for the end of each of them through all that follows.
    end = text.rfind(">") + 1
    text = text[:end] + text[end:].replace("<", "&lt;")
    kept: frozenset[str] = frozenset()
    while True:
        page = _Page(kept)
        page.feed(text)
        page.close()
        unclosed = page.unclosed()
        if unclosed is None or unclosed in kept:
            return page.finish()
        kept |= {unclosed}


class _Page(HTMLParser):
    """Turns tags into the builder's blocks. `kept` are elements that are read although they would be left out."""

    def __init__(self, kept: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._kept = kept
        self._builder = Builder(lambda words: " ".join(words.split()))
        self._text: list[str] = []
        self._skipped: list[str] = []
        self._reason = ""
        self._unseen: list[str] = []
        self._lists: list[tuple[int, bool]] = []
        self._item = False
        self._heading = 0
        self._term = ""
        self._naming = False
        self._pre = 0
        self._info = ""
        self._rows: list[tuple[bool, list[str]]] = []
        self._cells: list[str] | None = None
        self._all_headers = True
        self._title: list[str] | None = None

    # what the parser says

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag opens."""
        if tag == "title" and self._title is None and self._skipped in (["head"], []):
            self._title = []
            self._skipped.append("title")
            return
        if tag == "meta":
            self._meta(dict(attrs))
        if self._skipped == ["head"] and tag in _BLOCKS:
            # Its end may be left out.
            self._skipped = []
        if self._skipped:
            if tag in _BLOCKS and self._reason:
                self._unseen.append(" ")
            if tag not in _VOID and len(self._skipped) < _MAX_DEPTH * 10:
                self._skipped.append(tag)
            return
        reason = self._left_out(tag, dict(attrs))
        if reason is not None and tag not in _VOID:
            if tag in _BLOCKS or tag in _LEFT_OUT:
                self._flush()
            self._skipped, self._reason = [tag], reason
            return
        self._open(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        """A tag closes. One that nothing opened inside a skipped part belongs to what is around it, which ends that part."""
        if self._skipped:
            if tag in self._skipped:
                while self._skipped.pop() != tag:
                    pass
                if self._skipped:
                    return
            elif tag in _BLOCKS:
                self._skipped = []
                self._report()
                self._close(tag)
                return
            else:
                return
            self._report()
            return
        self._close(tag)

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        if not self._skipped:
            self._text.append(data)
        elif self._title is not None and self._skipped[-1] == "title":
            self._title.append(data)
        elif self._reason:
            self._unseen.append(data)

    # what becomes of it

    def unclosed(self) -> str | None:
        """The element that was left out to the end of the page because it was never closed; None if there is none."""
        first = self._skipped[0] if self._skipped else None
        return first if first not in ("title", "script", "style") else None

    def finish(self) -> Reading:
        """Everything that the page says."""
        if self._skipped and self._skipped[0] in ("script", "style"):
            self._builder.reading.notes.append(f"a <{self._skipped[0]}> is never closed; the page was read up to it")
        if self._kept:
            names = ", ".join(f"<{name}>" for name in sorted(self._kept))
            self._builder.reading.notes.append(f"{names} is never closed; what it holds was read as text")
        self._flush()
        self._end_table()
        title = " ".join("".join(self._title or ()).split())
        if title:
            self._builder.reading.metadata = {"title": title[:500], **self._builder.reading.metadata}
        return self._builder.finish()

    def _left_out(self, tag: str, attrs: dict[str, str | None]) -> str | None:
        """Why an element is left out, "" for what no reader ever sees; None if it is read."""
        if tag in self._kept:
            return None
        if tag in _UNSEEN:
            return ""
        hidden = "hidden" in attrs or attrs.get("aria-hidden") == "true" or _HIDDEN.search(attrs.get("style") or "")
        if hidden and tag not in ("html", "body"):
            return "hidden on the page"
        return _LEFT_OUT.get(tag)

    def _report(self) -> None:
        said = " ".join("".join(self._unseen).split())
        if said and self._reason:
            self._builder.reading.left_out.append((said, self._reason))
        self._unseen, self._reason = [], ""

    def _meta(self, attrs: dict[str, str | None]) -> None:
        name = (attrs.get("name") or attrs.get("property") or "").lower().removeprefix("article:").removeprefix("og:")
        content = " ".join((attrs.get("content") or "").split())
        if name in ("author", "description", "published_time") and content:
            self._builder.reading.metadata.setdefault(name, content[:500])

    def _open(self, tag: str, attrs: dict[str, str | None]) -> None:
        if tag == "br":
            self._text.append("\n" if self._pre else " ")
            return
        if tag == "code" and self._pre:
            found = _LANGUAGE.search(attrs.get("class") or "")
            self._info = found[1] if found else self._info
        if tag not in _BLOCKS:
            return
        if self._cells is not None and tag not in ("td", "th", "tr", "table", "tbody", "tfoot"):
            # A paragraph or list inside a cell.
            self._text.append(" ")
            return
        self._flush()
        if tag in _LISTS and len(self._lists) < _MAX_DEPTH:
            self._lists.append((0, tag == "ol"))
        elif tag == "li":
            self._item = True
            if self._lists:
                number, ordered = self._lists[-1]
                self._lists[-1] = (number + 1, ordered)
        elif _HEADING.fullmatch(tag):
            self._heading = int(tag[1])
        elif tag == "dt":
            self._naming = True
        elif tag == "pre":
            self._pre, self._info = 1, ""
        elif tag == "hr":
            self._builder.end()
        elif tag == "table":
            self._end_table()
        elif tag == "tr":
            self._end_row()
            self._cells, self._all_headers = [], True
        elif tag in ("td", "th"):
            self._cells = [] if self._cells is None else self._cells
            self._all_headers = self._all_headers and tag == "th"

    def _close(self, tag: str) -> None:
        if tag not in _BLOCKS:
            return
        if self._cells is not None and tag not in ("td", "th", "tr", "table", "thead", "tbody", "tfoot"):
            self._text.append(" ")
            return
        if tag in ("td", "th"):
            self._end_cell()
            return
        self._flush()
        if tag in _LISTS and self._lists:
            self._lists.pop()
            self._item = bool(self._lists)
            if not self._lists:
                self._builder.blank()
                self._builder.end()
        elif tag == "li":
            self._item = False
        elif tag == "tr":
            self._end_row()
        elif tag == "table":
            self._end_table()

    def _flush(self) -> None:
        """The words since the last border become a block of the kind that is open."""
        raw = "".join(self._text)
        self._text = []
        pre, self._pre = self._pre, 0
        heading, self._heading = self._heading, 0
        naming, self._naming = self._naming, False
        if pre and raw.strip():
            self._builder.code(raw.expandtabs(4).strip("\n"), self._info, indented=bool(self._lists))
            return
        words = " ".join(raw.split())
        if not words:
            return
        if self._cells is not None:
            self._cells.append(words)
        elif heading:
            self._builder.heading(heading, words)
        elif naming:
            self._term = f"{self._term}, {words}" if self._term else words
        elif self._term:
            self._builder.row(f"{self._term.rstrip(':')}: {words}")
            self._term = ""
        elif self._item and self._lists:
            self._say_item(words)
        else:
            self._builder.line(words)
            self._builder.blank()

    def _say_item(self, words: str) -> None:
        number, ordered = self._lists[-1]
        mark = f"{number}." if ordered and number < 1000 else "-"
        found = ITEM.match(f"{'  ' * len(self._lists)}{mark} {words}")
        if found:
            self._builder.item(found)

    def _end_cell(self) -> None:
        words = " ".join("".join(self._text).split())
        self._text = []
        if self._cells is not None:
            self._cells.append(words)

    def _end_row(self) -> None:
        if self._cells is None:
            return
        if self._text and "".join(self._text).strip():
            self._end_cell()
        cells, self._cells = self._cells, None
        if any(cells):
            self._rows.append((self._all_headers, cells))

    def _end_table(self) -> None:
        self._end_row()
        rows, self._rows = self._rows, []
        headers = rows[0][1] if len(rows) > 1 and rows[0][0] else []
        for _, cells in rows[1:] if headers else rows:
            self._builder.row(row_of(headers, cells))
