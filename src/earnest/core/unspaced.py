"""Words in scripts that put no spaces between them: Chinese, Japanese, Thai and their neighbours, and Korean with its glued particles.

Where a word ends cannot be known without a dictionary, and a dictionary errs. So a text gives overlapping pieces: characters and
pairs of Chinese and Japanese, pairs of Korean syllables, pairs and triples of the letters of Thai, Lao, Khmer and Burmese. A
question gives the same pieces, weighed: what every question has is set aside, pieces across its borders hardly count, and where a
segmenter is installed, pieces across the borders of its words do not count either. The index is the same with and without one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from earnest.core.folding import folded
from earnest.core.patterns import lazily
from earnest.core.stopwords import FOREIGN, PARTICLES, PHRASES

CJK: Final = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
HANGUL: Final = "\uac00-\ud7a3\u1100-\u11ff"
JOINED: Final = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1780-\u17d3\u1000-\u109f"
"""Thai, Lao, Khmer and Burmese: letters, of which one says nothing by itself."""

MAX_RUN: Final = 64
# What a single character says, beside the pairs that it is in; alone it is all that was asked for.
_SINGLE: Final = 0.25
_ALONE: Final = 0.5
# A pair across the border of a filler.
_ACROSS: Final = 0.25
# A word of Thai has some five letters, and so three triples: together they count like one word.
_TRIPLE: Final = 1 / 3

_HIRAGANA: Final = lazily("[\u3041-\u309f\u30fc]+")
_KANA: Final = lazily("[\u3041-\u30ff]")
_FILLERS: Final = lazily("|".join(sorted((folded(word) for word in PHRASES.split()), key=len, reverse=True)))
_PARTICLES: Final = sorted(PARTICLES.split(), key=len, reverse=True)
_STEM: Final = 2

Segmenter = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """One word of a question: a document that holds any of `terms` holds it.

    `weight` is 1 for a word that the question can be judged by, and less for a form that only helps to rank (a whole path
    beside its parts, a single character beside the pairs that it is in).
    """

    terms: tuple[str, ...]
    weight: float


def cjk_terms(run: str) -> list[str]:
    """The terms of a run of Chinese or Japanese."""
    return [*run, *_pairs(run)]


def hangul_terms(run: str) -> list[str]:
    """The terms of a Korean word: its syllables and pairs, itself, and itself without its particle."""
    made = [*run, *_pairs(run)]
    made += [word for word in (run[:MAX_RUN], stem_of(run)) if len(word) > _STEM and word not in made]
    return made


def joined_terms(run: str) -> list[str]:
    """The terms of a run of Thai or a script like it."""
    return [run] if len(run) == 1 else [*_pairs(run), *_triples(run)]


def _pairs(run: str) -> list[str]:
    return [a + b for a, b in itertools.pairwise(run)]


def _triples(run: str) -> list[str]:
    return [run[i : i + 3] for i in range(len(run) - 2)]


def stem_of(word: str) -> str:
    """A Korean word without the particles at its end; at least two syllables are left."""
    for _ in range(2):
        for particle in _PARTICLES:
            if word.endswith(particle) and len(word) - len(particle) >= _STEM:
                word = word[: -len(particle)]
                break
        else:
            break
    return word


def _covered(run: str) -> list[bool]:
    """Which characters of a run belong to what every question has."""
    made = [False] * len(run)
    for found in _FILLERS.finditer(run):
        made[found.start() : found.end()] = [True] * len(found.group())
    return made


def _borders(run: str, segmenter: Segmenter | None) -> set[int]:
    """Positions at which a word ends by the segmenter; none without one, or where it does not give the run back."""
    if segmenter is None or _KANA.search(run):
        # A dictionary of Chinese takes Japanese apart into characters.
        return set()
    words = segmenter(run)
    if "".join(words) != run:
        return set()
    return set(itertools.accumulate(len(word) for word in words))


def cjk_question(run: str, spare: list[Wanted], segmenter: Segmenter | None) -> list[Wanted]:
    """What a run of Chinese or Japanese asks for; fillers go to `spare`."""
    made: list[Wanted] = []
    covered, borders = _covered(run), _borders(run, segmenter)
    mixed = _HIRAGANA.fullmatch(run) is None
    for place, char in enumerate(run):
        filler = covered[place] or char in FOREIGN or (mixed and _HIRAGANA.match(char) is not None)
        (spare if filler else made).append(Wanted((char,), _ALONE if len(run) == 1 else _SINGLE))
    for place, (first, second) in enumerate(itertools.pairwise(run)):
        pair = first + second
        fillers = (covered[place] or first in FOREIGN, covered[place + 1] or second in FOREIGN)
        if all(fillers):
            spare.append(Wanted((pair,), 1.0))
        elif any(fillers) or pair in FOREIGN or (mixed and _HIRAGANA.fullmatch(pair)):
            # The endings of a Japanese verb say little beside the characters that it is written with.
            made.append(Wanted((pair,), _ACROSS))
        else:
            made.append(Wanted((pair,), 0.0 if place + 1 in borders else 1.0))
    return made


def hangul_question(run: str, spare: list[Wanted]) -> list[Wanted]:
    """What a Korean word asks for: its stem, by pairs that count as one word together."""
    stem = stem_of(run)
    if len(run) == 1:
        wanted = [Wanted((run,), _ALONE)]
    else:
        share = 1.0 / max(1, len(stem) - 1)
        wanted = [Wanted((pair,), share if place + 1 < len(stem) else 0.0) for place, pair in enumerate(_pairs(run))]
        if len(stem) > _STEM:
            wanted.append(Wanted((stem,), 0.0))
    if run in FOREIGN or stem in FOREIGN:
        spare += wanted
        return []
    return wanted


def joined_question(run: str, spare: list[Wanted]) -> list[Wanted]:
    """What a run of Thai or a script like it asks for."""
    made: list[Wanted] = []
    at = 0
    for found in [*_FILLERS.finditer(run), None]:
        piece = run[at : found.start() if found else len(run)]
        made += _joined_piece(piece)
        if found:
            spare += _joined_piece(found.group())
            at = found.end()
    return made


def _joined_piece(piece: str) -> list[Wanted]:
    if len(piece) < 3:
        return [Wanted((piece,), _TRIPLE)] if piece else []
    return [*(Wanted((triple,), _TRIPLE) for triple in _triples(piece)), *(Wanted((pair,), 0.0) for pair in _pairs(piece))]
