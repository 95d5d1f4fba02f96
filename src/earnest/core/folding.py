"""One form for every letter: what people type in different ways and mean alike."""

from __future__ import annotations

import unicodedata
from typing import Final

# Letters that no rule of Unicode takes apart, though people do: stroked and joined Latin ones, the dotless i of Turkish, Persian
# forms of Arabic ones, the final forms of Hebrew, and Arabic letters that are written for each other.
_LETTERS: Final = {
    "ı": "i", "đ": "d", "ð": "d", "ø": "o", "ł": "l", "ħ": "h", "ŧ": "t", "þ": "th", "æ": "ae", "œ": "oe", "ĸ": "k", "ŋ": "n",
    "ک": "ك", "ی": "ي", "ى": "ي", "ے": "ي", "ہ": "ه", "ھ": "ه", "ة": "ه", "ٱ": "ا", "ء": "", "ـ": "",
    "ך": "כ", "ם": "מ", "ן": "נ", "ף": "פ", "ץ": "צ", "ँ": "ं", "़": "", "ґ": "г",
}  # fmt: skip

_ORNAMENTED: Final = ("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW")


class _Fold(dict[int, str]):
    """Folds one character at a time and remembers it: case, digits of every script, and the accents of Latin, Greek, Cyrillic, Arabic and
    Hebrew.

    Marks of other scripts are letters, not ornaments: without them a Japanese or Thai word would be another word.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        made = char.casefold()
        name, category = unicodedata.name(char, ""), unicodedata.category(char)
        if char in _LETTERS:
            made = _LETTERS[char]
        elif category == "Nd":
            made = str(unicodedata.decimal(char))
        elif name.startswith(_ORNAMENTED) and category != "Mn":
            made = "".join(c for c in unicodedata.normalize("NFD", made) if unicodedata.category(c) != "Mn")
            made = "".join(_LETTERS.get(c, c) for c in made)
        elif "\u0931" <= char <= "\u0934" or "\u0958" <= char <= "\u095f":
            made = "".join(c for c in unicodedata.normalize("NFD", made) if c != "\u093c")
        elif category == "Mn" and name.startswith(("COMBINING", "ARABIC", "HEBREW")):
            made = ""
        elif category in ("Cf", "Cc", "Cs"):
            made = " " if char.isspace() or category == "Cc" else ""
        self[code] = made
        return made


FOLD: Final = _Fold()
"""For `str.translate`, on text that is in NFKC."""


def folded(text: str) -> str:
    """Text as it is compared: compatibility forms, case, digits and ornamental marks made one."""
    return unicodedata.normalize("NFKC", text).translate(FOLD)
