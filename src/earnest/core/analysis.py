"""The analyser: from text to the terms that are indexed and asked for. The same on both sides.

Text is normalised (NFKC), folded (case, and diacritics in scripts where they are ornaments), and cut into words. Each word gives
its surface form and its stem; a word glued from parts (a path, a version, an identifier) is kept whole and in parts; text in
scripts without spaces gives single characters and pairs. Terms never contain a space, so that an index that splits at spaces
keeps them whole, and what a user typed can never reach an index's query syntax.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from earnest.core.stopwords import STOPWORDS

ANALYSER: Final = "earnest-1"
"""Changes whenever terms would come out differently; a store whose terms were made by another one is reindexed."""

LANGUAGES: Final = (
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "indonesian", "italian",
    "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "turkish",
)  # fmt: skip
"""Snowball stemmers that can be configured."""

_CYRILLIC: Final = ("russian",)
_ARABIC: Final = ("arabic",)
_GREEK: Final = ("greek",)

_LATIN: Final = tuple(name for name in LANGUAGES if name not in (*_CYRILLIC, *_ARABIC, *_GREEK))

MAX_TERM: Final = 64
MAX_QUERY_TERMS: Final = 64

# Scripts written without spaces between words: Han, kana, Thai, Lao, Khmer, Myanmar. Hangul has spaces, but its particles
# are glued to words, so that pairs of syllables find what whole words miss.
_DENSE = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\uac00-\ud7a3\u1100-\u11ff"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1780-\u17d3\u1000-\u109f"
)
_HANGUL = re.compile("^[\uac00-\ud7a3\u1100-\u11ff]+$")
_TOKEN = re.compile(
    rf"(?P<dense>[{_DENSE}]+)"
    rf"|(?P<word>(?:(?![{_DENSE}])[\w\U0001f000-\U0001faff\u2600-\u27bf])+"
    rf"(?:[./\\:@'’\-]+(?:(?![{_DENSE}])\w)+)*(?:\+\+|#)?)"
    r"|(?P<sign>[\U0001f000-\U0001faff\u2600-\u27bf])"
)
_PART = re.compile(r"[^\W_]+")
_ALNUM = re.compile(r"\d+|[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class _Fold(dict[int, str]):
    """Folds one character at a time and remembers it: case, and the accents of Latin, Greek, Cyrillic, Arabic and Hebrew.

    Marks of other scripts are letters, not ornaments: without them a Japanese or Thai word would be another word.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        made = char.casefold()
        name = unicodedata.name(char, "")
        if name.startswith(("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW")):
            made = "".join(c for c in unicodedata.normalize("NFD", made) if unicodedata.category(c) != "Mn")
        elif unicodedata.category(char) == "Mn" and name.startswith(("COMBINING", "ARABIC", "HEBREW")):
            made = ""
        elif unicodedata.category(char) in ("Cf", "Cc", "Cs"):
            made = " " if char.isspace() or unicodedata.category(char) == "Cc" else ""
        self[code] = made
        return made


_FOLD: Final = _Fold()


def folded(text: str) -> str:
    """Text as it is compared: compatibility forms, case and ornamental marks taken away."""
    return unicodedata.normalize("NFKC", text).translate(_FOLD)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One word of a question: a document that holds any of `terms` holds it.

    `weight` is 1 for a word that the question can be judged by, and less for a form that only helps to rank (a whole path
    beside its parts, a single character beside the pairs that it is in).
    """

    terms: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Question:
    """A question, analysed. `words` is empty when it holds nothing that can be looked for."""

    words: tuple[Wanted, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """All distinct terms, in order."""
        return tuple(dict.fromkeys(term for word in self.words for term in word.terms))


class Analyser:
    """Makes terms by one configuration of languages. Safe to share between threads.

    Cost: about 2 µs a word once its stem is cached.
    """

    def __init__(self, languages: Sequence[str] = ("english", "russian", "arabic")) -> None:
        self.languages = tuple(languages)
        self.id = f"{ANALYSER}:{','.join(self.languages)}"
        self._stems = lru_cache(maxsize=32_768)(self._stemmed)
        self._of_word = lru_cache(maxsize=32_768)(self._word)

    def terms(self, text: str) -> list[str]:
        """Every term of a text, repeats included, in order of appearance."""
        made: list[str] = []
        normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
        for match in _TOKEN.finditer(normal):
            token = match.group()
            if match.lastgroup == "dense":
                made.extend(_dense_terms(token.translate(_FOLD)))
            elif len(token) <= MAX_TERM:
                made.extend(self._of_word(token))
            else:
                made.extend(self._word(token))
        return made

    def _word(self, token: str) -> tuple[str, ...]:
        """The terms of one word as it is written: itself if it is glued, its parts, and their stems."""
        whole, parts = _word_terms(token.lower() if token.isascii() else token.translate(_FOLD), token)
        made = [whole] if whole else []
        for part in parts:
            made.append(part)
            made.extend(self._stems(part))
        return tuple(made)

    def question(self, text: str) -> Question:
        """What a question asks for: its words without the ones that every question has, each with its forms."""
        words: list[Wanted] = []
        spare: list[Wanted] = []
        for kind, token, original in _tokens(text):
            if kind == "dense":
                words.extend(self._dense_question(token, spare))
            elif kind == "sign":
                words.append(Wanted((token,), 1.0))
            else:
                whole, parts = _word_terms(token, original)
                if whole:
                    words.append(Wanted((whole,), 0.0 if parts else 1.0))
                for part in parts:
                    # A glued word is one word of the question, however many parts it has.
                    wanted = Wanted((part, *self._stems(part)), 1.0 / len(parts))
                    # Inside an identifier no part is a filler: the "is" of "is-valid" is wanted.
                    (spare if part in STOPWORDS and len(parts) == 1 else words).append(wanted)
        chosen = words if any(word.weight > 0 for word in words) else words + spare
        return Question(tuple(_distinct(chosen)[:MAX_QUERY_TERMS]))

    def _dense_question(self, run: str, spare: list[Wanted]) -> list[Wanted]:
        made: list[Wanted] = []
        for char in run:
            wanted = Wanted((char,), 0.5 if len(run) == 1 else 0.25)
            (spare if char in STOPWORDS else made).append(wanted)
        for first, second in itertools.pairwise(run):
            if first in STOPWORDS and second in STOPWORDS:
                spare.append(Wanted((first + second,), 1.0))
            elif first + second in STOPWORDS or first in STOPWORDS or second in STOPWORDS:
                made.append(Wanted((first + second,), 0.25))
            else:
                made.append(Wanted((first + second,), 1.0))
        return made

    def _stemmed(self, word: str) -> tuple[str, ...]:
        """The stems of a folded word that differ from it, at most one for each configured language of its script."""
        if len(word) < 3 or not word.isalpha():
            return ()
        first = ord(word[0])
        fitting: tuple[str, ...]
        if 0x400 <= first < 0x530:
            fitting = _CYRILLIC
        elif 0x600 <= first < 0x780:
            fitting = _ARABIC
        elif 0x370 <= first < 0x400:
            fitting = _GREEK
        elif first < 0x250 or 0x1E00 <= first < 0x1F00:
            fitting = _LATIN
        else:
            return ()
        made = (_stemmer(name).stemWord(word) for name in self.languages if name in fitting)
        return tuple(dict.fromkeys(stem for stem in made if stem and stem != word))


@cache
def _stemmer(language: str) -> Any:
    import snowballstemmer  # 13 ms: only a process that analyses text pays for it

    return snowballstemmer.stemmer(language)


def _distinct(words: Sequence[Wanted]) -> list[Wanted]:
    """Words without repeats: two that share a stem ("log", "logs") are one, asked for once."""
    by_stem: dict[str, Wanted] = {}
    for word in words:
        stem = word.terms[-1]
        known = by_stem.get(stem)
        if known is None:
            by_stem[stem] = word
        else:
            by_stem[stem] = Wanted(tuple(dict.fromkeys((*known.terms[:-1], *word.terms[:-1], stem))), max(known.weight, word.weight))
    return list(by_stem.values())


def _tokens(text: str) -> list[tuple[str, str, str]]:
    """(kind, folded token, original token) for each token. Folding may change lengths, so the original is folded in pieces."""
    plain = text.isascii()
    normal = text if plain else unicodedata.normalize("NFKC", text)
    made: list[tuple[str, str, str]] = []
    for match in _TOKEN.finditer(normal):
        original = match.group()
        made.append((match.lastgroup or "word", original.lower() if plain else original.translate(_FOLD), original))
    return made


def _dense_terms(run: str) -> list[str]:
    made = list(run)
    made.extend(a + b for a, b in itertools.pairwise(run))
    if _HANGUL.match(run) and len(run) > 2:
        made.append(run[:MAX_TERM])
    return made


def _word_terms(token: str, original: str) -> tuple[str | None, list[str]]:
    """The whole of a glued word (None for a plain one) and its parts."""
    if token == original and token.isalpha():
        return None, [token[:MAX_TERM]]
    parts = [part[:MAX_TERM] for part in _PART.findall(token)]
    if not parts:
        return (token[:MAX_TERM] or None), []
    split: list[str] = []
    for part in parts:
        pieces = _ALNUM.findall(part) if not part.isalpha() and not part.isdigit() else []
        split.append(part)
        if len(pieces) > 1 and len(pieces) <= 4:
            split.extend(piece for piece in pieces if len(piece) > 1)
    if original.isascii() and original != token:
        for piece in _CAMEL.split(original):
            for part in _PART.findall(piece.lower()):
                if part not in split and len(part) > 1:
                    split.append(part)
    if len(parts) == 1 and token == parts[0]:
        return None, split
    whole = token.replace("’", "'")[:MAX_TERM]
    if len(parts) == 2 and "'" in whole and parts[1] in ("s", "t", "re", "ve", "ll", "d", "m"):
        # A contraction or a possessive is one word: its tail says nothing by itself.
        joined = whole.replace("'", "")
        return None, [parts[0], joined] if parts[1] == "s" else [joined]
    return whole, split
