"""Showing a part of a text: what is cut is marked, no character is cut in two, and nothing invisible is shown as if it were nothing."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MARK: Final = "…"
_JOINER: Final = "\u200d"
_JOINERS: Final = "\u200c\u200d"
_SPACE: Final = re.compile(r"\s+")


def border(text: str, length: int) -> int:
    """The last place at or before `length` where a text may be cut: not before a mark or modifier that belongs to what stands before it,
    nor inside a joined emoji, a flag, or the syllable of a script that joins its letters."""
    at = min(length, len(text))
    while 0 < at < len(text) and _joined(text, at):
        at -= 1
    return at


def _joined(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if unicodedata.category(after).startswith("M") or after in _JOINERS or before == _JOINER:
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff":  # a skin tone
        return True
    if _flag(after):
        run = 0
        while at - 1 - run >= 0 and _flag(text[at - 1 - run]):
            run += 1
        return run % 2 == 1
    return False


def _flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def cut(text: str, length: int) -> str:
    """The beginning of a text, at most `length` characters with the mark that it goes on."""
    if len(text) <= length:
        return text
    return text[: border(text, max(length - len(MARK), 0))].rstrip() + MARK


def visible(text: str) -> str:
    """A text without control, direction, private and other invisible characters; line breaks and tabs stay, and the joiners that scripts
    and emoji need. A reader, a model too, is shown no more and no less than a person would see."""
    if text.isprintable():
        return text
    return "".join(c for c in text if c in "\n\t" or c in _JOINERS or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co"))


def line(text: str) -> str:
    """A visible text on one line."""
    return visible(_SPACE.sub(" ", text)).strip()
