"""Whether what a language model wrote is borne out by what it was shown, and whether a shorter text keeps what the longer one says.

Pure, and strict: what cannot be told for certain is refused, since the text that was there is at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from earnest.core.agreement import content, denies, moods, particulars
from earnest.core.analysis import Analyser, folded
from earnest.core.patterns import lazily
from earnest.core.sentences import split_sentences, words
from earnest.core.stopwords import STOPWORDS

GROUNDED: Final = 0.7
"""The part of a statement's words that the passage it is from must hold."""
TOLD: Final = 0.85
"""The part of a passage's words that statements must hold to stand for it: another word may be another thing."""
MATCHED: Final = 0.5
"""The part of its words that a sentence shares with the one it stands for."""

_OPENING: Final = lazily(r"^\W*([^\W\d_][\w'’]*)")
_COMMON: Final = STOPWORDS | words(
    """
    a an the this that these those it its he she they we you i one some any no none nobody everybody anybody somebody everyone anyone
    someone everything nothing something each every both most many more few all another other such here there what which who whose why how
    when where while if unless until after before since once because although though as at by for from in into of on over per to under up
    with without within during between about and or but so then thus also only even just not never always often sometimes usually please
    may might must should shall can could will would do does did don't is are was were be been has have had use make keep let take see
    der die das den dem des ein eine einer man es wir ihr sie er ich kein keine nicht im am in an auf aus bei mit nach von vor zu zum zur
    wenn falls weil und oder aber auch nur nie immer alle jeder jede niemand le la les un une des il elle on nous vous ils elles je ce cette
    ces si quand dans sur sous avec sans pour par et ou mais ne pas el los las una unos lo se no si cuando en con sin para por y o pero
    """
)
"""Words that open a sentence with a capital and are no names."""
_DIGITS: Final = lazily(r"\d+")
_KEY: Final = lazily(r"\d+(?:[.,:/\-]\d+)*|\w+(?:[./:@\-]\w+)*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, the words that carry what it says, and how it says it: read once, for it is held against all of another text."""

    text: str
    content: frozenset[str]
    denies: bool
    moods: frozenset[str]

    def share(self, other: Sentence) -> float:
        """The part of its words that another one holds."""
        return len(self.content & other.content) / len(self.content) if self.content else 1.0


@dataclass(frozen=True, slots=True)
class Ground:
    """What passages hold: their terms, their numbers and their sentences."""

    terms: frozenset[str]
    numbers: frozenset[str]
    sentences: tuple[Sentence, ...]


def ground(analyser: Analyser, passages: Iterable[str]) -> Ground:
    """What these passages hold. Linear in their length."""
    texts = [*passages]
    return Ground(
        frozenset(term for text in texts for term in analyser.terms(text)),
        frozenset(number for text in texts for number in _DIGITS.findall(folded(text))),
        tuple(sentence for text in texts for sentence in _read(text)),
    )


def unborne(analyser: Analyser, statement: str, on: Ground) -> str | None:
    """What in a statement is not borne out by the passages that it is from, in a few words; None if it is."""
    words = [word.terms for word in analyser.question(statement).words if word.weight >= 0.5]
    if not words:
        return "it says nothing"
    borne = sum(any(term in on.terms for term in terms) for terms in words)
    if borne < GROUNDED * len(words):
        return "most of its words are not there"
    strange = [name for name in openers(statement) if on.terms.isdisjoint(analyser.terms(name))]
    if strange:
        return f"{strange[0]} is not there"
    made_up = set(_DIGITS.findall(folded(statement))) - on.numbers
    if made_up:
        return f"the number {min(made_up)} is not there"
    # Each sentence on its own: of two that are joined, one may deny and the other not.
    for sentence in _read(statement):
        source = _nearest(sentence, on.sentences)
        if source is not None and sentence.share(source) >= GROUNDED and source.denies != sentence.denies:
            return "it denies what is said there, or says what is denied"
    return None


def openers(text: str) -> list[str]:
    """Words that open a sentence of a text with a capital and may be names: they are not common, and never stand there in small letters."""
    made = []
    for sentence in sentences_of(text):
        found = _OPENING.match(sentence)
        word = "" if found is None else found[1].removesuffix("'s").removesuffix("’s")
        if len(word) > 1 and word[0].isupper() and folded(word) not in _COMMON and not re.search(rf"\b{re.escape(word.lower())}\b", text):
            made.append(word)
    return made


def _unnamed(text: str, other: str) -> list[str]:
    """Words that open sentences of a text like names and do not stand in another."""
    roots = frozenset(content(other)) | frozenset(folded(word) for word in _KEY.findall(other))
    return sorted({folded(word) for word in openers(text) if folded(word) not in roots and not roots.intersection(content(word))})


def _nearest(sentence: Sentence, among: Sequence[Sentence]) -> Sentence | None:
    """The first of the sentences that hold most of another's words; None if it has no words, or there are none."""
    return max(among, key=sentence.share, default=None) if sentence.content else None


def lost(original: str, shorter: str) -> list[str]:
    """What a shorter text loses, adds or turns round of what the original says, in words; empty if nothing was found.

    Numbers with their units, dates, names, values, conditions and denials are all kept, none is new, and they come in the same order, so
    that no number changes its owner; no other word is new; nothing that may be becomes what must be.
    """
    made = []
    before, after = _all(original), _all(shorter)
    gone = sorted(before - after) or _unnamed(original, shorter)
    new = sorted(after - before) or _unnamed(shorter, original)
    if gone:
        made.append("loses " + ", ".join(gone[:5]))
    if new:
        made.append("adds " + ", ".join(new[:5]))
    unknown = sorted(frozenset(content(shorter)) - frozenset(content(original)) - _COMMON)
    if not made and unknown:
        # One word in the place of another may be another thing altogether.
        made.append("uses words that are not there: " + ", ".join(unknown[:5]))
    if not made and not _in_order(_keys(shorter, before), _keys(original, before)):
        made.append("puts numbers or names in another order")
    old, fresh = _read(original), _read(shorter)
    for sentence in old:
        if sentence.denies and not any(other.denies and sentence.share(other) >= MATCHED for other in fresh):
            made.append(f"loses a denial: {sentence.text[:60]}")
            break
    for sentence in fresh:
        if not sentence.content:
            continue
        source = _nearest(sentence, old)
        if source is None or sentence.share(source) < MATCHED:
            made.append(f"says what is not there: {sentence.text[:60]}")
            break
        near = [other for other in old if other.share(sentence) >= MATCHED] or [source]
        if sentence.denies and not any(other.denies for other in near):
            made.append(f"denies what is not denied: {sentence.text[:60]}")
            break
        if not sentence.moods <= frozenset(mood for other in near for mood in other.moods):
            made.append(f"changes what must, should or may be: {sentence.text[:60]}")
            break
    return made


def tells(texts: Sequence[str], passage: str) -> bool:
    """Whether some statements together tell all that a passage says: its numbers, names, conditions and denials, and most of its words."""
    together = frozenset(one for text in texts for one in particulars(text))
    words = frozenset(word.strip(".,;:!?()[]\"'") for text in texts for word in folded(text).split())
    if _unnamed(passage, "\n".join(texts)):
        return False
    denied = denies(passage) and not any(denies(text) for text in texts)
    return not denied and particulars(passage) <= together | words and _one(passage).share(_one("\n".join(texts))) >= TOLD


def _one(text: str) -> Sentence:
    return Sentence(text, frozenset(content(text)), denies(text), moods(text))


def _read(text: str) -> list[Sentence]:
    return [_one(sentence) for sentence in sentences_of(text)]


def _all(text: str) -> frozenset[str]:
    return frozenset(one for sentence in sentences_of(text) for one in particulars(sentence))


def _keys(text: str, wanted: frozenset[str]) -> list[str]:
    """The numbers and names of a text in the order in which they stand."""
    held = frozenset(part for one in wanted for part in one.split())
    return [key for key in _KEY.findall(folded(text)) if key in held or key[:1].isdigit()]


def _in_order(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether all of `part` stands in `whole` in the same order."""
    left = iter(whole)
    return all(any(key == other for other in left) for key in part)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text of several lines."""
    return [sentence for line in text.splitlines() if line.strip() for sentence in split_sentences(" ".join(line.split()))]
