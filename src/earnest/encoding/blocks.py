"""From lines to units: paragraphs into sentences, lists with what leads them in, headings as context.

A lead-in ("Before deploying:") says nothing without what follows, so it is put in front of each item that follows. One that
nothing used comes out as a sentence of its own, and a heading that nothing stands under is reported: no words get lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any, Final, Literal

from earnest.core.patterns import lazily
from earnest.core.sentences import join_lines, split_sentences
from earnest.encoding.document import Draft

MAX_LEAD: Final = 200
"""The longest lead-in or heading that is repeated as context, in characters; a longer one is a sentence like any other."""

ITEM: Final = lazily(r"^(?P<indent>[ \t]*)(?:[-*+•‣▪◦]|(?P<number>\d{1,3})[.)])[ \t]+(?P<text>\S.*)$")
_ORNAMENT: Final = lazily(r"^[ \t]*(?:[-=_*~#+.][ \t]*){3,}$")


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that a document says. `heading` is the path of headings above it, `prefix` the lead-in it needs; "" if none."""

    kind: Literal["prose", "item", "row", "code"]
    text: str
    heading: str = ""
    prefix: str = ""
    cue: str = ""


@dataclass(slots=True)
class Reading:
    """What a reader found in a document: units in order, parts left out with the reason, and remarks.

    `metadata` and `tags` are what the document says about itself; `passages` are entries as they stand, such as records.
    """

    units: list[Unit] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    passages: list[Draft] = field(default_factory=list)


@dataclass(slots=True)
class _Lead:
    text: str
    used: bool = False


@dataclass(slots=True)
class _Heading:
    level: int
    text: str
    used: bool = False


@dataclass(slots=True)
class _Item:
    indent: int
    lines: list[str]
    lead: _Lead | None = None
    """Set when the item is complete; unused and ending in a colon, it is not yet a unit."""
    held: bool = False


def read_plain(text: str) -> Reading:
    """Read plain text: blank lines and bullets end a paragraph, other line ends are spaces."""
    builder = Builder(str)
    for line in text.splitlines():
        item = ITEM.match(line)
        if not line.strip() or _ORNAMENT.match(line):
            builder.blank()
        elif item and builder.may_start(item):
            builder.item(item)
        else:
            builder.line(line)
    return builder.finish()


class Builder:
    """Collects the lines of a document and turns them into units.

    Args:
        inline: Turns the markup inside a paragraph, item or cell into plain text.
    """

    def __init__(self, inline: Callable[[str], str]) -> None:
        self.reading = Reading()
        self.inline = inline
        self._paragraph: list[str] = []
        self._items: list[_Item] = []
        self._headings: list[_Heading] = []
        self._lead: _Lead | None = None
        self._last = ""
        self._blank = False

    # what the readers ask

    @property
    def in_paragraph(self) -> bool:
        """Whether a paragraph is open, outside of any list."""
        return bool(self._paragraph)

    @property
    def in_list(self) -> bool:
        """Whether a list is open."""
        return bool(self._items)

    def may_start(self, item: re.Match[str]) -> bool:
        """Whether an item may begin here: a number other than 1 in the midst of a paragraph is the rest of a wrapped line."""
        return not self._paragraph or item["number"] in (None, "1")

    # what the readers say

    def blank(self) -> None:
        """A blank line: a paragraph ends; a list may go on."""
        self._end_paragraph()
        self._blank = True

    def line(self, text: str) -> None:
        """A line of a paragraph, or of the item that is open."""
        if self._items:
            goes_on = not self._blank or _indent(text) > self._items[0].indent
            if goes_on and self._items[-1].lead is None:
                self._items[-1].lines.append(text)
                return
            if not goes_on:
                self._end_list()
        if not self._paragraph:
            self._drop_lead()
        self._blank = False
        self._paragraph.append(text)

    def item(self, found: re.Match[str]) -> None:
        """The first line of a list item. Numbers stay in the text: the order of steps is part of what they say."""
        self._end_paragraph()
        self._blank = False
        indent = _indent(found["indent"])
        self._complete()
        while self._items and indent <= self._items[-1].indent:
            self._pop()
        number = f"{found['number']}. " if found["number"] else ""
        self._items.append(_Item(indent, [number + found["text"]]))

    def heading(self, level: int, text: str) -> None:
        """A heading. It is the context of what follows, up to the next one of its level."""
        self.end()
        text = self.inline(text)
        if not text:
            return
        if len(text) > MAX_LEAD:
            self._say("prose", text)
            return
        while self._headings and self._headings[-1].level >= level:
            self._close_heading()
        self._headings.append(_Heading(level, text))
        self._last = ""

    def underlined(self, level: int) -> bool:
        """Turn the open paragraph into a heading, if it can be one: a single line that is no sentence."""
        if len(self._paragraph) != 1 or (level == 2 and self._paragraph[0].rstrip().endswith((".", ":", "。"))):
            return False
        text = self._paragraph.pop()
        self.heading(level, text)
        return True

    def code(self, body: str, info: str, *, indented: bool) -> None:
        """A block of code, kept whole. The sentence or heading before it is its cue."""
        self._end_paragraph()
        self._complete()
        if not indented:
            self._end_items()
        if not body.strip():
            self.reading.left_out.append((info or "```", "empty code block"))
            return
        before = self._lead
        if self._items and self._items[-1].lead is not None:
            before = self._items[-1].lead
        said = before.text if before else self._last
        if before:
            before.used = True
        if not self._items:
            self._lead = None
        path = self._path()
        said = said[:MAX_LEAD].rstrip(":： ")
        self.reading.units.append(Unit("code", body, path, cue=": ".join(part for part in (path, said) if part) or info))

    def row(self, text: str) -> None:
        """A row of a table, as `row_of` says it."""
        self._end_paragraph()
        self._end_items()
        if text:
            self._say("row", text, self._prefix([]))

    def end(self) -> None:
        """A border: no paragraph, list or lead-in goes past it."""
        self._end_paragraph()
        self._end_list()
        self._drop_lead()

    def finish(self) -> Reading:
        """Everything that was read."""
        self.end()
        while self._headings:
            self._close_heading()
        return self.reading

    # how it is done

    def _say(self, kind: Literal["prose", "item", "row"], text: str, prefix: str = "") -> None:
        if text:
            self.reading.units.append(Unit(kind, text, self._path(), prefix))
            self._last = text

    def _path(self) -> str:
        for heading in self._headings:
            heading.used = True
        return " > ".join(heading.text for heading in self._headings)

    def _close_heading(self) -> None:
        heading = self._headings.pop()
        if not heading.used:
            self.reading.left_out.append((heading.text, "heading with nothing under it"))

    def _end_paragraph(self) -> None:
        if not self._paragraph:
            return
        sentences = split_sentences(self.inline(join_lines(self._paragraph)))
        self._paragraph = []
        lead = sentences.pop() if sentences and _leads(sentences[-1]) else ""
        for sentence in sentences:
            self._say("prose", sentence)
        self._lead = _Lead(lead) if lead else None

    def _drop_lead(self) -> None:
        lead, self._lead = self._lead, None
        if lead and not lead.used:
            self._say("prose", lead.text)

    def _complete(self) -> None:
        """The last item has all its lines: it becomes a unit, unless it may be the lead-in of what is nested in it."""
        if not self._items or self._items[-1].lead is not None:
            return
        item = self._items[-1]
        item.lead = _Lead(self.inline(join_lines(item.lines)))
        item.held = _leads(item.lead.text)
        if not item.held:
            self._say("item", item.lead.text, self._prefix(self._items[:-1]))

    def _pop(self) -> None:
        self._complete()
        item = self._items.pop()
        if item.held and item.lead and not item.lead.used:
            self._say("item", item.lead.text, self._prefix(self._items))

    def _end_items(self) -> None:
        while self._items:
            self._pop()

    def _end_list(self) -> None:
        if self._items:
            self._end_items()
            self._drop_lead()

    def _prefix(self, above: list[_Item]) -> str:
        """The lead-ins above a unit, outermost first; only the innermost if together they are too long."""
        leads = [lead for lead in (self._lead, *(item.lead for item in above)) if lead and lead.text]
        for chosen in (leads, leads[-1:]):
            prefix = " ".join(lead.text.rstrip(".:：;。 ") + ":" for lead in chosen)
            if chosen and len(prefix) <= MAX_LEAD:
                for lead in chosen:
                    lead.used = True
                return prefix
        return ""


def row_of(headers: Sequence[str], cells: Sequence[str]) -> str:
    """What a row of a table says, as "header: cell; header: cell". An empty cell says nothing; one beyond the headers has none."""
    named = zip(chain(headers, repeat("")), cells, strict=False)
    return "; ".join(f"{header}: {cell}" if header else cell for header, cell in named if cell)


def _leads(sentence: str) -> bool:
    return sentence.endswith((":", "：")) and len(sentence) <= MAX_LEAD


def _indent(line: str) -> int:
    """The width of a line's leading blanks, in columns; a tab goes to the next multiple of four."""
    width = 0
    for char in line:
        if char == "\t":
            width += 4 - width % 4
        elif char == " ":
            width += 1
        else:
            break
    return width
