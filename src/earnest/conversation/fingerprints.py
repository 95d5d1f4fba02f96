"""Whether memory has it already: what came out of memory and is said again is no news.

Nothing is kept for this. A sentence is looked up in the index that there is, so that every process knows what any of them stored, and
what is forgotten leaves no trace here. It is known if an entry says all that it says: every word that carries meaning is in the entry,
the numbers, names and marks are the entry's and in its order, and neither denies what the other says. One new number, one new name, and
it is news.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from earnest.core.agreement import denies
from earnest.core.analysis import Analyser, folded
from earnest.core.entry import StoredEntry
from earnest.core.filters import Filter
from earnest.core.patterns import lazily
from earnest.core.sentences import words
from earnest.protocols import Reading

LOOKED_AT: Final = 24
"""Candidates that a sentence is compared with: an entry that says the same is among the first few."""
RECENT: Final = 1
"""Ticks for which a dead entry still counts as said: it may just have been shown."""
DEAD: Final = 200
"""At most so many of them are compared."""
DENSE: Final = 0.85
"""The part of its pairs of characters that a sentence in an unspaced script must share: frames around it make a few new ones."""
LOOSE: Final = 0.6
"""The part of its words that what an assistant says must share: it repeats in its own words what it was shown."""

_MARK: Final = lazily(r"\w*\d(?:[\w.,:/\-]*\w)?|\b[A-ZÀ-ÞΑ-ΩА-Я]\b|\b\w*[A-Z]\w*[A-Z]\w*\b|(?<=[^.!?。\s])\s[\"'“«(]?([A-ZÀ-ÞΑ-ΩА-Я]\w+)")
FRAME: Final = words(
    "user users assistant according memory memories remember remembered recall recalled know known note notes noted mentioned "
    "mention said say says told tell you your we our i my me us they he she decided decision still also just already currently now yes "
    "that's it's as of per based relevant earlier previously information context reminder fact use using used have has asked "
    "nutzer utilisateur usuario пользователь kullanici χρηστης המשתמש المستخدم"
)
"""Words that frame what is repeated, or stand for the same person from another side."""
_OPPOSED: Final = tuple(
    (words(a), words(b))
    for a, b in (
        ("before", "after"), ("on enabled", "off disabled"), ("in", "out"), ("up", "down"), ("above over", "below under"),
        ("with", "without"), ("all every always", "some none never"), ("first", "last"), ("more", "less fewer"), ("from", "to"),
        ("must", "may can"), ("vor", "nach"), ("mit", "ohne"), ("avant", "apres"), ("avec", "sans"), ("antes", "despues depois"),
        ("con", "sin"), ("до", "после"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Print:
    """What a sentence says, in a form that can be compared: its words (each with its forms), marks, and small words that turn it round."""

    words: tuple[tuple[str, ...], ...]
    dense: bool
    marks: tuple[str, ...]
    small: frozenset[str]
    text: str


def print_of(analyser: Analyser, text: str) -> Print:
    """The fingerprint of a sentence. O(its words)."""
    question = analyser.question(text)
    words = tuple(word.terms for word in question.words if word.weight >= 0.5 and not FRAME & set(word.terms))
    low = folded(text)
    dense = bool(words) and sum(len(terms[0]) <= 2 and not terms[0].isascii() for terms in words) * 2 > len(words)
    marks = tuple(folded(found[1] or found[0]).strip() for found in _MARK.finditer(text))
    return Print(words, dense, tuple(mark for mark in marks if mark not in FRAME), frozenset(re.findall(r"[^\W\d_]+", low)), text)


def says_all(entry_terms: frozenset[str], entry: Print, new: Print, *, loose: bool = False) -> bool:
    """Whether an entry says all that a sentence says."""
    if not new.words:
        return not set(new.marks) - set(entry.marks)
    if set(new.marks) - set(entry.marks) or not _in_order(new.marks, entry.marks):
        return False
    if denies(new.text) != denies(entry.text):
        return False
    if any(_turns(new.small, entry.small, a, b) or _turns(new.small, entry.small, b, a) for a, b in _OPPOSED):
        return False
    held = sum(any(term in entry_terms for term in terms) for terms in new.words)
    if loose:
        return held >= LOOSE * len(new.words)
    if not (held >= DENSE * len(new.words) if new.dense else held == len(new.words)):
        return False
    return _same_order(new, entry)


def _turns(new: frozenset[str], entry: frozenset[str], one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a sentence says "before" where an entry says "after"."""
    return bool(new & one and entry & other and not entry & one)


def _in_order(marks: Sequence[str], within: Sequence[str]) -> bool:
    """Whether the marks come in the order in which the entry has them: "from A to B" is not "from B to A"."""
    places = [within.index(mark) for mark in dict.fromkeys(marks)]
    return places == sorted(places) or len(places) < 2


def _same_order(new: Print, entry: Print) -> bool:
    """Of two sentences with the very same words, one that swaps its ends says something else ("Alice manages Bob")."""
    first, second = [terms[-1] for terms in new.words], [terms[-1] for terms in entry.words]
    return not (len(first) == len(second) > 1 and first != second and (first[0], first[-1]) == (second[-1], second[0]))


def known(reading: Reading, analyser: Analyser, scope: str, text: str, *, loose: bool = False) -> StoredEntry | None:
    """The entry of a scope that says all of a sentence already, living or dead since at most `RECENT` ticks; None if it is news.

    Cost: one index query, and the dead of the last ticks.
    """
    new = print_of(analyser, text)
    question = analyser.question(text)
    if not question.words:
        return None
    candidates, _ = reading.candidates(question, Filter(scopes=(scope,), rules=True), LOOKED_AT, 0.3)
    terms = {c.row: frozenset((*c.text_terms, *c.cue_terms)) for c in candidates}
    for stored in reading.entries([*terms]):
        if says_all(terms[stored.row], print_of(analyser, stored.entry.text), new, loose=loose):
            return stored
    for stored in reading.lately_dead(scope, reading.counter("tick") - RECENT, DEAD):
        if says_all(frozenset(analyser.terms(stored.entry.text)), print_of(analyser, stored.entry.text), new, loose=loose):
            return stored
    return None


def said_before(analyser: Analyser, text: str, others: Iterable[str]) -> bool:
    """Whether one of a few other sentences says all of this one."""
    new = print_of(analyser, text)
    return any(says_all(frozenset(analyser.terms(other)), print_of(analyser, other), new) for other in others)
