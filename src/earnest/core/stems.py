"""Stems: the forms of one word made one, by the rules of its language. A stem is found beside the word itself, never in its place."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final

LANGUAGES: Final = (
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hindi", "hungarian", "indonesian", "italian",
    "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "turkish",
)  # fmt: skip
"""Snowball stemmers that can be configured. Each works on words of its own script, so that those of different scripts do not meet."""

_CYRILLIC: Final = ("russian",)
_ARABIC: Final = ("arabic",)
_GREEK: Final = ("greek",)
_DEVANAGARI: Final = ("hindi",)
_LATIN: Final = tuple(name for name in LANGUAGES if name not in (*_CYRILLIC, *_ARABIC, *_GREEK, *_DEVANAGARI))

# Hebrew glues prepositions, the article and "and" to the front, one after the other; nouns end by number and gender.
_HEBREW_PREFIXES: Final = ("וכשה", "כשה", "וה", "שה", "מה", "בה", "לה", "כה", "ול", "וב", "ומ", "וש", "ה", "ו", "ב", "ל", "מ", "ש", "כ")
_HEBREW_ENDINGS: Final = ("יות", "יימ", "ימ", "ות", "ית", "ה", "ת", "י")
_HEBREW_ROOT: Final = 3
# What is left of a word must still be one.
_HEBREW_LEFT: Final = 2


def stems_of(word: str, languages: Sequence[str]) -> tuple[str, ...]:
    """The stems of a folded word that differ from it, at most one for each configured language of its script (for Hebrew, by its
    prefixes and endings). None for words of fewer than three letters, and for what is no plain word."""
    if len(word) < 3 or any(char.isdigit() or char == "_" for char in word):
        return ()
    fitting: tuple[str, ...]
    first = ord(word[0])
    if first < 0x250 or 0x1E00 <= first < 0x1F00:
        fitting = _LATIN
    elif 0x400 <= first < 0x530:
        fitting = _CYRILLIC
    elif 0x600 <= first < 0x780:
        fitting = _ARABIC
    elif 0x370 <= first < 0x400:
        fitting = _GREEK
    elif 0x900 <= first < 0x980:
        fitting = _DEVANAGARI
    elif 0x5D0 <= first < 0x5EB:
        return _hebrew(word)
    else:
        return ()
    made = [stem for name in languages if name in fitting and not _stays(name, word) for stem in _snowball(name, word)]
    return tuple(dict.fromkeys(stem for stem in made if stem and stem != word))


_ENGLISH_ENDS: Final = frozenset(
    ("e", "s", "y", "al", "ci", "ed", "er", "gi", "ic", "li", "ll", "ng", "nt", "on", "or", "sm", "st", "ti", "ul")
)
"""How the endings end that the English stemmer knows, by their last letter or their last two. A word that ends otherwise is its stem."""


def _stays(language: str, word: str) -> bool:
    """Whether a language's stemmer surely leaves a word as it is, told without asking it: it takes some fifty microseconds."""
    return language == "english" and word[-1] not in _ENGLISH_ENDS and word[-2:] not in _ENGLISH_ENDS and word.isalpha()


def _snowball(language: str, word: str) -> list[str]:
    stemmer = _stemmer(language)
    made = [stemmer.stemWord(word)]
    if language == "arabic" and not word.startswith("ال"):
        # The first letter of بيانات is not the preposition that the stemmer takes it for; after the article it cannot be.
        made.append(stemmer.stemWord("ال" + word))
    return made


class _Stemmers(threading.local):
    """The stemmers of one thread: each keeps the word that it is at, so that two threads would cut each other's words."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}


_STEMMERS: Final = _Stemmers()


def _stemmer(language: str) -> Any:
    known = _STEMMERS.known
    if language not in known:
        # It gives the same stems sooner where PyStemmer (the extra `fast`) is installed, which it looks for by itself.
        import snowballstemmer  # 13 ms: only a process that analyses text pays for it

        known[language] = snowballstemmer.stemmer(language)
    return known[language]


def _hebrew(word: str) -> tuple[str, ...]:
    heads = [
        word,
        *(word[len(prefix) :] for prefix in _HEBREW_PREFIXES if word.startswith(prefix) and len(word) - len(prefix) >= _HEBREW_ROOT),
    ]
    made = []
    for head in heads:
        made.append(head)
        ending = next((e for e in _HEBREW_ENDINGS if head.endswith(e) and len(head) - len(e) >= _HEBREW_LEFT), "")
        if ending:
            made.append(head[: -len(ending)])
    return tuple(stem for stem in dict.fromkeys(made) if stem != word)
