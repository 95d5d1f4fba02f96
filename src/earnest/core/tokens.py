"""How many tokens a text takes in a model's context, estimated from above for every script, without a tokenizer.

Tokenizers differ; a budget that is overrun breaks a prompt, and one that is not filled costs little. So each piece is counted as
the more expensive of the common byte-pair vocabularies would cut it: three letters of plain Latin to a token, every digit, sign and
line break by itself, one token for a letter of two bytes (accents, Cyrillic, Greek, Arabic, Hebrew), two for one of three (Han,
kana, Hangul, Thai, Devanagari), four for one of four (emoji). Byte-level vocabularies never need more than a token a byte, so the
estimate is never above the bytes of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from earnest.errors import InvalidInput

_PIECE: Final = re.compile(r"(?P<letters>[A-Za-z]+)|(?P<spaces>[ \t]+)|(?P<other>[\x00-\x7f])|(?P<wide>[^\x00-\x7f]+)")
_LETTERS: Final = 3
_BYTES: Final = {2: 1, 3: 2, 4: 4}

Counter = Callable[[str], int]


def estimated(text: str) -> int:
    """An upper estimate of a text's tokens; 0 for the empty text. O(characters)."""
    count = 0
    for found in _PIECE.finditer(text):
        piece = found.group()
        kind = found.lastgroup
        if kind == "letters":
            count += -(-len(piece) // _LETTERS)
        elif kind == "spaces":
            # One space belongs to the word after it; every further one may be a token.
            count += len(piece) - 1
        elif kind == "other":
            count += 1
        else:
            count += sum(_BYTES[len(char.encode("utf-8", "replace"))] if char > "\x7f" else 1 for char in piece)
    return count


def counter(count_tokens: Any) -> Counter:
    """The counter that a caller gave, checked at every call; the estimate if none was given.

    Raises:
        InvalidInput: It is no function, or did not give a whole number of 0 or more.
    """
    if count_tokens is None:
        return estimated
    if not callable(count_tokens):
        raise InvalidInput("count_tokens", count_tokens, "must be a function from a text to its number of tokens")

    def counted(text: str) -> int:
        made = count_tokens(text)
        if isinstance(made, bool) or not isinstance(made, int) or made < 0:
            raise InvalidInput("count_tokens", made, "must give a whole number of 0 or more")
        return made

    return counted
