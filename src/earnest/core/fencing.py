"""Text from memory as it may stand in a prompt: data that cannot close its fence, open a tag, or pass for a mark of the prompt's own."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_INSTRUCTION_MARKS: Final = re.compile(r"\[(/?)(INST|SYS)\]", re.IGNORECASE)
_SPACE: Final = re.compile(r"\s+")
_JOINERS: Final = "\u200c\u200d"
_NUMBERED: Final = re.compile(r"[\[【［]\s*(\d[\d\s,;、，]*)[\]】］]")


def escaped(text: str) -> str:
    """Text from memory as it may stand in a prompt: on one line, without control or direction characters, and with nothing that
    could close the block, open a tag, or pass for a role's mark. What it says is left as it is."""
    plain = "".join(
        char for char in _SPACE.sub(" ", text) if char in _JOINERS or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co")
    )
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("```", "'''")
    return _INSTRUCTION_MARKS.sub(r"(\1\2)", plain).strip()


def unnumbered(text: str) -> str:
    """As `escaped`, and with no number in square brackets: nothing in it can be taken for the mark of a snippet."""
    return _NUMBERED.sub(lambda found: f"({found[1].strip()})", escaped(text))
