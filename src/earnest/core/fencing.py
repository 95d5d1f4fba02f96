"""Text from memory inside a document that a model or a person reads: as data, inside a fence that it cannot close.

A fence says what a text is; it cannot make a model heed that. What it can do is see to it that nothing in the text ends the fence, opens a
tag, passes for a role's mark of a chat template, or makes whoever shows the document fetch or include something.
"""

from __future__ import annotations

import re
from typing import Final

from earnest.core.cutting import line, visible
from earnest.core.patterns import lazily

_TAG: Final = lazily(r"<(?=[A-Za-z/!|?])")
_ROLES: Final = lazily(r"\[(/?)(INST|SYS)\]", re.IGNORECASE)
_TICKS: Final = lazily(r"`{3,}|~{3,}")
_RUN: Final = lazily(r"`+")
# Outside of a fence: what makes links, images, emphasis, code and headings, and the at sign by which some clients include a file.
_INCLUDE: Final = lazily(r"(?<!\w)@(?=\S)")
_MARKUP: Final = lazily(r"([\\`*_\[\]<>#|~@!])")
_NUMBERED: Final = lazily(r"[\[【［]\s*(\d[\d\s,;、，]*)[\]】］]")


def escaped(text: str) -> str:
    """Text from memory as it may stand in a prompt: on one line, without control or direction characters, and with nothing that
    could close the block, open a tag, or pass for a role's mark. What it says is left as it is."""
    plain = line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("```", "'''")
    return _ROLES.sub(r"(\1\2)", plain).strip()


def unnumbered(text: str) -> str:
    """As `escaped`, and with no number in square brackets: nothing in it can be taken for the mark of a snippet."""
    return _NUMBERED.sub(lambda found: f"({found[1].strip()})", escaped(text))


def inert(text: str) -> str:
    """A text on one line, for a fenced block."""
    return _TICKS.sub(lambda found: "'" * len(found[0]), _plain(line(text)))


def unlinked(text: str) -> str:
    """A text on one line for a head that is neither fenced nor Markdown: it names no image, and includes no file."""
    return _INCLUDE.sub("@ ", inert(text).replace("![", "! ["))


def inert_block(text: str) -> str:
    """A text of several lines for a block of its own, fenced by a fence that is longer than any in it."""
    return _plain(visible(text.replace("\r\n", "\n").replace("\r", "\n")).strip("\n"))


def fence_for(text: str) -> str:
    """A fence that no line of a text can close."""
    return "`" * max(3, 1 + max((len(found) for found in _RUN.findall(text)), default=0))


def plain_markdown(text: str) -> str:
    """A text on one line, for Markdown outside of a fence: it is shown as it is, and makes nothing."""
    return _MARKUP.sub(r"\\\1", line(text))


def _plain(text: str) -> str:
    return _ROLES.sub(r"(\1\2)", _TAG.sub("&lt;", text))
