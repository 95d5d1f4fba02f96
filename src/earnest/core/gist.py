"""The gist of a text: what is shown of an entry that was not used for long. Pure, deterministic, made of the text's own words.

Extractive: the sentence that says most for its length, by how much in it is rare in the text or stands for itself (numbers, names,
values), with a bonus for the first. Nothing is made up and nothing is changed; the text itself stays as it is.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from earnest.core.analysis import folded
from earnest.core.cutting import border
from earnest.core.patterns import lazily
from earnest.core.sentences import split_sentences

LENGTH: Final = 120
"""Characters of a gist at most, its closing mark included."""

_WORD: Final = lazily(r"\w+(?:['’.\-]\w+)*")
_TELLS: Final = lazily(r"\d|[a-z][A-Z]|_|(?<=[^.!?]\s)[A-ZÀ-ÞΑ-ΩА-Я]")
_FIRST: Final = 1.25
"""What the first sentence weighs more: it names what the text is about."""


def gist(text: str, limit: int = LENGTH) -> str:
    """The gist of a text in at most `limit` characters (at least 8), on one line; a text that is no longer is its own gist. O(text)."""
    plain = " ".join(text.split())
    if len(plain) <= limit:
        return plain
    sentences = [" ".join(part.split()) for part in split_sentences(plain[:20_000])] or [plain]
    known = Counter(word for sentence in sentences for word in {folded(w) for w in _WORD.findall(sentence)})
    best = max(range(len(sentences)), key=lambda place: (_weight(sentences[place], known, place), -place))
    return _cut(sentences[best], limit)


def _weight(sentence: str, known: Counter[str], place: int) -> float:
    """What a sentence says for its length: rare words count whole, those that the text repeats less; values and names count besides."""
    words = [folded(word) for word in _WORD.findall(sentence) if len(word) > 2 or not word.isascii()]
    if not words:
        return 0.0
    said: float = sum(1.0 / math.sqrt(known[word]) for word in dict.fromkeys(words) if known[word]) + len(_TELLS.findall(sentence))
    return said / math.sqrt(max(len(sentence), 40)) * (_FIRST if place == 0 else 1.0)


def _cut(sentence: str, limit: int) -> str:
    """A sentence that fits, cut between words where it has any."""
    if len(sentence) <= limit:
        return sentence
    made = sentence[: border(sentence, limit - 1)]
    space = made.rfind(" ")
    return (made[:space] if space >= limit // 2 else made).rstrip(" ,;:") + "…"
