"""The stem of an English word, by the rules of Snowball's English stemmer ("Porter2", snowballstem.org), as of its version 3.1.

Written anew for plain words, because most words of most texts are such: the stemmer that is generated from the rules takes eight times
as long, and is a module to load. A test holds that both give the same, so that stores that were indexed by the other need nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_VOWELS: Final = frozenset("aeiouy")
"""A y that is a consonant, at the beginning or after a vowel, is written as Y until the end."""
_LONG: Final = _VOWELS | frozenset("wxY")
_DOUBLES: Final = frozenset(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"))
_BEFORE_LI: Final = frozenset("cdeghkmnrt")

# R1 is what follows the first consonant after a vowel; R2 is the R1 of that.
_REGION: Final = re.compile("[^aeiouy]*[aeiouy]+[^aeiouy]")
_BEGINNINGS: Final = ("arsen", "commun", "emerg", "gener", "inter", "later", "organ", "past", "univers")
"""Words that begin like this have their R1 after it."""

_IRREGULAR: Final = {
    "skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
} | {same: same for same in ("andes", "atlas", "bias", "cosmos", "howe", "news", "sky")}  # fmt: skip
_WHOLE_BEFORE_ING: Final = frozenset(("even", "cann", "inn", "earr", "herr", "out"))
_WHOLE_BEFORE_EED: Final = frozenset(("succ", "proc", "exc"))

_STEP_2: Final[Mapping[str, str]] = {
    "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "izer": "ize", "ization": "ize", "ational": "ate",
    "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al", "alli": "al", "fulness": "ful", "fulli": "ful", "ousli": "ous",
    "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble", "bli": "ble", "ogist": "og", "ogi": "og", "lessli": "less",
    "li": "",
}  # fmt: skip
_STEP_3: Final[Mapping[str, str]] = {
    "ational": "ate", "tional": "tion", "alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic", "ful": "", "ness": "", "ative": "",
}  # fmt: skip
_STEP_4: Final[Mapping[str, str]] = dict.fromkeys(
    (
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    ),
    "",
)  # fmt: skip


def _ends(endings: Mapping[str, str]) -> tuple[frozenset[str], range]:
    """The last two letters of these endings, and their lengths from the longest to the shortest."""
    lengths = [len(ending) for ending in endings]
    return frozenset(ending[-2:] for ending in endings), range(max(lengths), min(lengths) - 1, -1)


_ENDS_2, _LENGTHS_2 = _ends(_STEP_2)
_ENDS_3, _LENGTHS_3 = _ends(_STEP_3)
_ENDS_4, _LENGTHS_4 = _ends(_STEP_4)


def stem(word: str) -> str:
    """The stem of a word of small letters a to z. O(length), some 5 µs."""
    known = _IRREGULAR.get(word)
    if known is not None or len(word) < 3:
        return known or word
    marked = "y" in word
    if marked:
        word = _with_consonants(word)
    first, second = _regions(word)
    word = _ending_in_s(word)
    word = _past_and_progressive(word, first)
    if word[-1] in "yY" and len(word) > 2 and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    if len(word) > first:
        # No later rule touches what lies before R1.
        word = _derived(word, first, second)
    return word.replace("Y", "y") if marked else word


def _with_consonants(word: str) -> str:
    """A word with every y that is a consonant as Y."""
    made: list[str] = []
    before = ""
    for letter in word:
        before = "Y" if letter == "y" and (not made or before in _VOWELS) else letter
        made.append(before)
    return "".join(made)


def _regions(word: str) -> tuple[int, int]:
    """Where R1 and R2 begin; at the end of a word that has none."""
    if word.startswith(_BEGINNINGS):
        first = max(len(beginning) for beginning in _BEGINNINGS if word.startswith(beginning))
    else:
        found = _REGION.match(word)
        if found is None:
            return len(word), len(word)
        first = found.end()
    found = _REGION.match(word, first)
    return first, len(word) if found is None else found.end()


def _short(word: str) -> bool:
    """Whether a word ends in a short syllable."""
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    short = len(word) > 2 and word[-1] not in _LONG and word[-2] in _VOWELS and word[-3] not in _VOWELS
    return short or word.endswith("past")


def _vowel_in(word: str) -> bool:
    return not _VOWELS.isdisjoint(word)


def _ending_in_s(word: str) -> str:
    """Step 1a."""
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word[-1] == "s" and word[-2] not in "su" and _vowel_in(word[:-2]):
        return word[:-1]
    return word


def _past_and_progressive(word: str, first: int) -> str:
    """Step 1b."""
    ending = word[-2:]
    if ending == "ly":
        size = 5 if word.endswith(("eedly", "ingly")) else 4 if word.endswith("edly") else 0
    elif ending == "ed":
        size = 3 if word.endswith("eed") else 2
    else:
        size = 3 if word.endswith("ing") else 0
    if not size:
        return word
    rest, ending = word[:-size], word[-size:]
    if ending in ("eed", "eedly"):
        return f"{rest}ee" if len(rest) >= first and rest not in _WHOLE_BEFORE_EED else word
    if ending == "ing":
        if len(rest) == 2 and rest[1] == "y" and rest[0] not in _VOWELS:
            return f"{rest[0]}ie"
        if rest in _WHOLE_BEFORE_ING:
            return word
    if not _vowel_in(rest):
        return word
    last = rest[-2:]
    if last in ("at", "bl", "iz"):
        return f"{rest}e"
    if last in _DOUBLES:
        return rest if len(rest) == 3 and rest[0] in "aeo" else rest[:-1]
    return f"{rest}e" if len(rest) == first and _short(rest) else rest


def _derived(word: str, first: int, second: int) -> str:
    """Steps 2 to 5."""
    if word[-2:] in _ENDS_2:
        at = _longest(word, _STEP_2, _LENGTHS_2)
        ending, before = word[at:], word[at - 1 : at]
        if first <= at < len(word) and (ending != "li" or before in _BEFORE_LI) and (ending != "ogi" or before == "l"):
            word = word[:at] + _STEP_2[ending]
    if word[-2:] in _ENDS_3:
        at = _longest(word, _STEP_3, _LENGTHS_3)
        ending = word[at:]
        if (second if ending == "ative" else first) <= at < len(word):
            word = word[:at] + _STEP_3[ending]
    if word[-2:] in _ENDS_4:
        at = _longest(word, _STEP_4, _LENGTHS_4)
        if second <= at < len(word) and (word[at:] != "ion" or word[at - 1] in "st"):
            word = word[:at]
    at = len(word) - 1
    if word[at] == "e":
        return word[:at] if at >= second or (at >= first and not _short(word[:at])) else word
    return word[:at] if at >= second and word[at - 1 :] == "ll" else word


def _longest(word: str, endings: Mapping[str, str], lengths: range) -> int:
    """Where the longest of these endings begins that a word has; its length if it has none."""
    return next((max(0, len(word) - size) for size in lengths if word[-size:] in endings), len(word))
