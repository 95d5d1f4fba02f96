"""Cutting a text into the pieces of words that BERT's uncased vocabulary has (Devlin et al., 2019; Wu et al., 2016).

The vocabulary beside this file is that of `bert-base-uncased`, published by Google under the Apache licence 2.0.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Final

VOCABULARY: Final = Path(__file__).with_name("vocabulary.txt")
UNKNOWN: Final = "[UNK]"
FIRST: Final = "[CLS]"
LAST: Final = "[SEP]"
_LONGEST_WORD: Final = 100
# Blocks of CJK ideographs, each of which is a word to this model.
_IDEOGRAPHS: Final = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


@lru_cache(maxsize=1)
def vocabulary() -> dict[str, int]:
    """Every piece and its number. Read once: 10 ms."""
    return {piece: number for number, piece in enumerate(VOCABULARY.read_text(encoding="utf-8").split("\n")[:-1])}


def pieces(text: str, limit: int) -> list[int]:
    """The numbers of a text's pieces, at most `limit` of them, without the marks of its ends. O(the part that is read)."""
    known = vocabulary()
    made: list[int] = []
    for word in _words(text):
        made += _cut(word, known)
        if len(made) >= limit:
            return made[:limit]
    return made


@lru_cache(maxsize=50_000)
def _pieces_of(word: str) -> tuple[int, ...]:
    known = vocabulary()
    unknown = (known[UNKNOWN],)
    if len(word) > _LONGEST_WORD:
        return unknown
    made, start = [], 0
    while start < len(word):
        # The longest piece that fits comes first.
        for end in range(len(word), start, -1):
            number = known.get(word[start:end] if start == 0 else "##" + word[start:end])
            if number is not None:
                made.append(number)
                start = end
                break
        else:
            return unknown
    return tuple(made)


def _cut(word: str, known: dict[str, int]) -> tuple[int, ...]:
    number = known.get(word)
    return (number,) if number is not None else _pieces_of(word)


def _words(text: str) -> list[str]:
    made: list[str] = []
    for raw in _plain(text).split():
        # Accents go with case: NFD takes them off as marks of their own.
        word = raw.lower()
        if not word.isascii():
            word = "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn")
        if word.isalnum():
            made.append(word)
            continue
        start = 0
        for place, c in enumerate(word):
            if _punctuation(c):
                if place > start:
                    made.append(word[start:place])
                made.append(c)
                start = place + 1
        if start < len(word):
            made.append(word[start:])
    return made


def _plain(text: str) -> str:
    """A text without control characters, with blanks about ideographs."""
    if text.isascii() and text.isprintable():
        return text
    made = []
    for c in text:
        code = ord(c)
        if c in "\t\n\r" or c.isspace():
            made.append(" ")
        elif code in (0, 0xFFFD) or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn"):
            continue
        elif code > 0x33FF and any(low <= code <= high for low, high in _IDEOGRAPHS):
            made.append(f" {c} ")
        else:
            made.append(c)
    return "".join(made)


def _punctuation(c: str) -> bool:
    code = ord(c)
    if code < 128:
        return not c.isalnum()
    return unicodedata.category(c).startswith("P")
