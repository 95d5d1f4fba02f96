"""The analyser: from text to the terms that are indexed and asked for. The same on both sides.

Text is normalised (NFKC), folded (see `folding`), and cut into words. Each word gives its surface form and its stem; one with accents
also itself as it is written, so that the exact form ranks first; a word glued from parts (a path, a version, an identifier) is kept whole
and in parts; text in scripts without spaces gives overlapping pieces (see `unspaced`). Terms never contain a space, so that an index
that splits at spaces keeps them whole, and what a user typed can never reach an index's query syntax.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

from earnest.core import unspaced
from earnest.core.folding import FOLD
from earnest.core.folding import folded as folded
from earnest.core.patterns import lazily
from earnest.core.stems import LANGUAGES as LANGUAGES
from earnest.core.stems import stems_of
from earnest.core.stopwords import AMBIGUOUS, ENGLISH, FOREIGN, STOPWORDS
from earnest.core.unspaced import CJK, HANGUL, JOINED, Segmenter
from earnest.core.unspaced import Wanted as Wanted

ANALYSER: Final = "earnest-2"
"""Changes whenever terms would come out differently; a store whose terms were made by another one is reindexed."""

MAX_TERM: Final = 64
MAX_QUERY_TERMS: Final = 64

_UNSPACED: Final = CJK + HANGUL + JOINED
# Vowel signs of Indian scripts, accents that no letter swallowed, points of Hebrew and Arabic: parts of words, though no "letters".
_MARKS: Final = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff"
_SIGNS: Final = "\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
_FLAG: Final = "\U0001f1e6-\U0001f1ff"
_LETTER: Final = rf"(?:(?![{_UNSPACED}{_SIGNS}])[\w{_MARKS}])"
_TOKEN: Final = lazily(
    rf"(?P<cjk>[{CJK}]+)|(?P<hangul>[{HANGUL}]+)|(?P<joined>[{JOINED}]+)"
    rf"|(?P<number>(?<![\w.,])\d{{1,3}}(?:,\d{{3}})+(?![\w,]))"
    rf"|(?P<word>{_LETTER}+(?:[./\\:@'’\-]+{_LETTER}+)*(?:\+\+|#)?)"
    rf"|(?P<sign>[{_FLAG}]{{2}}|[{_SIGNS}])"
)
# The same for plain ASCII, which most texts are, in half the time; and for those of them that hold no grouped number.
_PLAIN_WORD: Final = r"\w+(?:[./\\:@'\-]+\w+)*(?:\+\+|#)?"
_PLAIN: Final = lazily(rf"(?P<number>(?<![\w.,])\d{{1,3}}(?:,\d{{3}})+(?![\w,]))|(?P<word>{_PLAIN_WORD})", re.ASCII)
_WORDS: Final = lazily(_PLAIN_WORD, re.ASCII)
_GROUP: Final = lazily(r"\d,\d", re.ASCII)
_PART: Final = lazily(rf"[^\W_]+(?:[{_MARKS}][^\W_]*)*")
_ALNUM: Final = lazily(r"\d+|[^\W\d_]+")
_CAMEL: Final = lazily(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_GROUPED: Final = lazily(r"\d{1,3}(?:[.'’]\d{3})+")
_VERSION: Final = lazily(r"v\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, analysed. `words` is empty when it holds nothing that can be looked for."""

    words: tuple[Wanted, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """All distinct terms, in order."""
        return tuple(dict.fromkeys(term for word in self.words for term in word.terms))


WORDS: Final = 8_192
"""Words whose stems and whose terms are kept. In conversations and in documentation the next word is among them as often as among four
times as many, for which a process that runs for long would come to hold 15 MB."""


class Analyser:
    """Makes terms by one configuration of languages. Safe to share between threads.

    `segmenter` cuts runs of Chinese into words, for questions alone. Cost: about 2 µs a word once its stem is cached.
    """

    def __init__(
        self, languages: Sequence[str] = ("english", "russian", "arabic", "greek", "hindi"), segmenter: Segmenter | None = None
    ) -> None:
        self.languages = tuple(languages)
        self.id = f"{ANALYSER}:{','.join(self.languages)}"
        self._segmenter = segmenter
        self._stems = lru_cache(maxsize=WORDS)(self._stemmed)
        self._of_word = lru_cache(maxsize=WORDS)(self._word)

    def terms(self, text: str) -> list[str]:
        """Every term of a text, repeats included, in order of appearance."""
        plain, of_word = text.isascii(), self._of_word
        if plain and ("," not in text or not _GROUP.search(text)):
            words = _WORDS.findall(text)
            if max(map(len, words), default=0) <= MAX_TERM:
                return [*chain.from_iterable(map(of_word, words))]
        made: list[str] = []
        matches = _PLAIN.finditer(text) if plain else _TOKEN.finditer(unicodedata.normalize("NFKC", text))
        for match in matches:
            token, kind = match[0], match.lastgroup
            if kind == "word":
                made += of_word(token) if len(token) <= MAX_TERM else self._word(token)
            elif kind == "number":
                made.append(token.replace(",", ""))
            elif kind == "sign":
                made.append(token)
            else:
                made.extend(_RUNS[kind or "cjk"](token.translate(FOLD)))
        return made

    def _word(self, token: str) -> tuple[str, ...]:
        """The terms of one word as it is written: itself if it is glued, its parts, and their stems."""
        if token.isascii() and token.isalpha() and token.islower():
            # Most words of most texts.
            return (token[:MAX_TERM], *self._stems(token[:MAX_TERM]))
        whole, parts = _word_terms(token.lower() if token.isascii() else token.translate(FOLD), token)
        made = [*whole]
        for part in parts:
            made.append(part)
            made.extend(self._stems(part))
        exact = _exact(token, parts)
        return (exact, *made) if exact else tuple(made)

    def question(self, text: str) -> Question:
        """What a question asks for: its words without the ones that every question has, each with its forms."""
        words: list[Wanted] = []
        spare: list[Wanted] = []
        tokens = _tokens(text)
        foreign = any(token in FOREIGN for kind, token, _ in tokens if kind == "word" and token.isascii())
        for kind, token, original in tokens:
            if kind == "cjk":
                words.extend(unspaced.cjk_question(token, spare, self._segmenter))
            elif kind == "hangul":
                words.extend(unspaced.hangul_question(token, spare))
            elif kind == "joined":
                words.extend(unspaced.joined_question(token, spare))
            elif kind in ("sign", "number"):
                words.append(Wanted((token.replace(",", ""),), 1.0))
            else:
                self._word_question(token, original, words, spare, foreign)
        chosen = words if any(word.weight > 0 for word in words) else words + spare
        distinct = _distinct(chosen)
        if len(distinct) > MAX_QUERY_TERMS:
            # Of a long question, the words that it can be judged by; what only helps to rank comes last.
            distinct = sorted(distinct, key=lambda word: word.weight == 0)[:MAX_QUERY_TERMS]
        return Question(tuple(distinct))

    def _word_question(self, token: str, original: str, words: list[Wanted], spare: list[Wanted], foreign: bool) -> None:
        whole, parts = _word_terms(token, original)
        if whole:
            words.append(Wanted(tuple(whole), 0.0 if parts else 1.0))
        exact = _exact(original, parts)
        if exact:
            # Beside the folded form, so that among entries that hold that one, those that are written so come first.
            words.append(Wanted((exact,), 0.0))
        for part in parts:
            forms = (part, *self._stems(part))
            # A glued word is one word of the question, however many parts it has.
            wanted = Wanted((exact, *forms) if exact else forms, 1.0 / len(parts))
            # Inside an identifier no part is a filler: the "is" of "is-valid" is wanted.
            filler = len(parts) == 1 and (part in STOPWORDS or (foreign and part in AMBIGUOUS and part not in ENGLISH))
            (spare if filler else words).append(wanted)

    def stems(self, word: str) -> tuple[str, ...]:
        """The stems of a folded word that differ from it."""
        return self._stems(word)

    def _stemmed(self, word: str) -> tuple[str, ...]:
        return stems_of(word, self.languages)


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


_RUNS: Final[dict[str, Callable[[str], list[str]]]] = {
    "cjk": unspaced.cjk_terms,
    "hangul": unspaced.hangul_terms,
    "joined": unspaced.joined_terms,
}


def _tokens(text: str) -> list[tuple[str, str, str]]:
    """(kind, folded token, original token) for each token. Folding may change lengths, so the original is folded in pieces."""
    plain = text.isascii()
    normal = text if plain else unicodedata.normalize("NFKC", text)
    made: list[tuple[str, str, str]] = []
    for match in (_PLAIN if plain else _TOKEN).finditer(normal):
        original = match.group()
        made.append((match.lastgroup or "word", original.lower() if plain else original.translate(FOLD), original))
    return made


def _exact(original: str, parts: Sequence[str]) -> str:
    """A word as it is written, case apart, if that is not how it is folded; "" for any other. One word alone, in Latin letters."""
    if original.isascii() or len(parts) != 1 or ord(parts[0][0]) >= 0x250:
        return ""
    made = unicodedata.normalize("NFC", original).casefold()[:MAX_TERM]
    return made if made != parts[0] and _PART.fullmatch(made) else ""


def _word_terms(token: str, original: str) -> tuple[list[str], list[str]]:
    """The whole of a glued word in the forms that it may be asked by (none for a plain one), and its parts."""
    if token == original and token.isalpha():
        return [], [token[:MAX_TERM]]
    parts = [part[:MAX_TERM] for part in _PART.findall(token)]
    if not parts:
        return [token[:MAX_TERM]] if token else [], []
    split: list[str] = []
    for part in parts:
        pieces = _ALNUM.findall(part) if not part.isalpha() and not part.isdigit() else []
        split.append(part)
        if 1 < len(pieces) <= 4 and "".join(pieces) == part:
            split.extend(piece for piece in pieces if len(piece) > 1)
    if original.isascii() and original != token:
        for piece in _CAMEL.split(original):
            for part in _PART.findall(piece.lower()):
                if part not in split and len(part) > 1:
                    split.append(part)
    if len(parts) == 1 and token == parts[0]:
        return [], split
    whole = token.replace("’", "'")[:MAX_TERM]
    if len(parts) == 2 and "'" in whole and parts[1] in ("s", "t", "re", "ve", "ll", "d", "m"):
        # A contraction or a possessive is one word: its tail says nothing by itself.
        joined = whole.replace("'", "")
        return [], [parts[0], joined] if parts[1] == "s" else [joined]
    if _GROUPED.fullmatch(whole):
        return [whole, re.sub(r"\D", "", whole)], split
    return [whole, whole[1:]] if _VERSION.fullmatch(whole) else [whole], split
