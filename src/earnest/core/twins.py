"""When two texts are one: the form in which trivial variants of a text are the same, and its digest. Pure.

Folded are blanks, composition (NFC), a closing full stop or exclamation mark, the case of a sentence's first word, and a "the" that
opens a sentence before a word in lower case. Nothing that could be a value is touched: `key=ABC123` and `key=abc123` stay two, and so
do "US" and "us", "Turkey" and "turkey" inside a sentence, a question and a statement.
"""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Final

from earnest.core.patterns import lazily

_CLOSING: Final = " .!。！．"
_ENDS: Final = ".!?。！？"
_SENTENCE: Final = lazily(r"(?:\A|(?<=[.!?。！？]\s))(?:[Tt]he\s+(?=[^\W\d_]|\d)(?![A-ZÀ-ÞΑ-ΩА-Я]))*(\w+)(?=\s|[.,;:!?]?\Z)")
_CAPITALISED: Final = lazily(r"[^\W\d_](?:[^\W\d_]*)\Z")


def plain_form(text: str) -> str:
    """The form that a text shares with its trivial variants. Idempotent; never empty for a text that says something."""
    said = " ".join(unicodedata.normalize("NFC", text).split())
    closed = said.rstrip(_CLOSING) or said
    if not any(map(closed.__contains__, _ENDS)):
        # One sentence, as most texts are: it begins where the text does, and is looked for nowhere else.
        match = _SENTENCE.match(closed)
        return closed if match is None else _opening(match.group(1)) + closed[match.end() :]
    return _SENTENCE.sub(lambda match: _opening(match.group(1)), closed)


def _opening(word: str) -> str:
    """A sentence's first word without the case that its place gave it; abbreviations and values keep theirs."""
    if _CAPITALISED.match(word) and word[1:] == word[1:].lower() and len(word) > 1:
        return word[0].lower() + word[1:]
    return word


def twin_digest(text: str, cue: str | None) -> bytes:
    """Equal for entries that say the same but for trivial variants; kept in an index, so that twins are found at once."""
    return _digest(plain_form(text), plain_form(cue) if cue else "")


def exact_digest(text: str, cue: str | None) -> bytes:
    """The digest that stores of the first format keep: equal for entries whose texts differ in spaces alone."""
    return _digest(" ".join(text.split()), " ".join((cue or "").split()))


def _digest(text: str, cue: str) -> bytes:
    return hashlib.sha256(f"{text}\x00{cue}".encode()).digest()[:16]
