"""Whether two texts that look alike say the same. Pure; when in doubt, they do not.

Two questions. `disagreement` names in what two texts exclude one another (numbers with their units, dates, negation, advice,
opposites, names, values, who does what to whom): such entries are shown as conflicting. `difference` asks more: whether anything at
all tells them apart, so that one of them adds nothing but detail to the other: only such entries may be merged unasked.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from earnest.core.agreement_words import (
    CONDITION_SIGNS,
    CONDITIONS,
    DATES,
    FILLERS,
    MOODS,
    NEGATING_PREFIXES,
    NEGATING_SIGNS,
    NEGATIONS,
    OPPOSITE_SIGNS,
    OPPOSITES,
    PAST,
    PRESENT,
    QUANTITIES,
    UNITS,
)
from earnest.core.analysis import folded
from earnest.core.decision import decision_polarity
from earnest.core.patterns import lazily

READ: Final = 20_000
"""Characters of a text that are compared. Longer texts agree only if they are equal."""

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_NUMBER: Final = lazily(r"(?<![\w.])[-+]?\d+(?:[.,:/\-]\d+)*|\d+(?:[.,:/\-]\d+)*")
_THOUSANDS: Final = lazily(r"[-+]?\d{1,3}(?:,\d{3})+\Z")
_NUMBER_WORD: Final = lazily(
    r"\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million|once|twice|half|double|triple|daily|hourly|weekly|monthly|quarterly|yearly|annually|nightly"
    r"|third|fourth|fifth)\b"
)
_CJK_NUMBER: Final = lazily(r"[零〇一二两三四五六七八九十百千万亿]+(?=[个個天日月年周次小时分秒元点號号倍成人台条块])")
_UNIT: Final = lazily(rf"\s*(%|[°$€£]?[^\W\d_{_CJK}]+|[{_CJK}]{{1,2}}|[$€£])")
_TOKEN: Final = lazily(rf"[{_CJK}]|(?:(?![{_CJK}])\w)+(?:['’\-.:/=@](?:(?![{_CJK}])\w)+)*")
_NAME: Final = lazily(r"\b[A-ZÀ-ÖØ-ÞА-ЯЁ][\w]*")
_INSIDE: Final = lazily(r"(?<![.!?。:]\s)(?<!^)\b[A-ZÀ-ÖØ-ÞА-ЯЁ]\w+")
# Looked for in each word by itself: with the rest of the word in the pattern, a long text without blanks would cost its square.
_VALUE: Final = lazily(r"[^\W\d_]\d|\d[^\W\d_]|_|=|[a-z][A-Z]")
_PATH: Final = lazily(r"[\w.~\-]*[/\\@][\w./\\@:\-]*|\w+(?:\.\w+)*\.[^\W\d]\w*(?:\(\))?")
_ENDINGS: Final = ("ing", "ies", "ed", "es", "s")


@dataclass(frozen=True, slots=True)
class _Said:
    """What there is to compare in one text."""

    text: str
    words: tuple[str, ...]
    roots: tuple[str, ...]
    content: tuple[str, ...]
    numbers: frozenset[str]
    dates: frozenset[str]
    negated: bool
    inside: frozenset[str]
    names: tuple[str, ...]
    values: frozenset[str]


def _words(plain: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(plain.replace("'", "").replace("’", "")))


@lru_cache(maxsize=4096)
def _said(text: str) -> _Said:
    plain = folded(text)
    normal = unicodedata.normalize("NFKC", text)
    words = _words(plain)
    roots = tuple(root(word) for word in words)
    inside = frozenset(_INSIDE.findall(normal))
    dates = {word for word in words if word in DATES} | ({"may"} if "May" in inside else set())
    return _Said(
        text=text,
        words=words,
        roots=roots,
        content=tuple(one for word, one in zip(words, roots, strict=True) if word not in FILLERS),
        numbers=frozenset(_numbers(plain)),
        dates=frozenset(root(date) for date in dates),
        negated=bool(NEGATIONS & set(words)) or any(sign in plain for sign in NEGATING_SIGNS),
        inside=inside,
        names=tuple(_NAME.findall(normal)),
        values=frozenset(word for word in normal.split() if _VALUE.search(word)),
    )


# Reading advice costs more than everything else: it comes last, and once for each text.
_advice: Final = lru_cache(maxsize=4096)(decision_polarity)


def disagreement(first: str, second: str) -> str | None:
    """In what two near-duplicates exclude one another, in a word; None if nothing was found.

    One of: numbers, dates, negation, advice, opposites, names, values, roles. Symmetric. Cost: linear in the texts; the last few
    thousand texts are remembered.
    """
    if first == second:
        return None
    a, b = _said(first[:READ]), _said(second[:READ])
    if a.numbers != b.numbers:
        return "numbers"
    if a.dates - b.dates and b.dates - a.dates:
        return "dates"
    if a.negated != b.negated or _prefixed(a, b) or _prefixed(b, a):
        return "negation"
    if _advice(a.text) is not _advice(b.text):
        return "advice"
    if _opposite(a, b):
        return "opposites"
    if _other_names(a, b):
        return "names"
    if {value.lower() for value in a.values - b.values} & {value.lower() for value in b.values - a.values}:
        return "values"
    return "roles" if _roles(a) != _roles(b) and sorted(_roles(a)) == sorted(_roles(b)) else None


def difference(first: str, second: str) -> str | None:
    """What tells two near-duplicates apart, in a word; None where one of them says what the other says, and perhaps more.

    Beyond `disagreement`: conditions, quantities, mood (must, should, may), tense, the order of words, wording (each has words that the
    other lacks). Refusing to merge is always right, merging what differs is not: everything unknown counts as a difference.
    """
    excluding = disagreement(first, second)
    if excluding is not None or first == second:
        return excluding
    if first[READ:] != second[READ:]:
        return "length"
    a, b = _said(first[:READ]), _said(second[:READ])
    if a.dates != b.dates:
        return "dates"
    if _bound(a) != _bound(b):
        return "conditions"
    if QUANTITIES & set(a.words) != QUANTITIES & set(b.words):
        return "quantities"
    if _moods(a) != _moods(b):
        return "mood"
    if _tense(a) * _tense(b) < 0:
        return "tense"
    one, other = a.content, b.content
    if set(one) - set(other) and set(other) - set(one):
        return "wording"
    shared = set(one) & set(other)
    if [word for word in dict.fromkeys(one) if word in shared] != [word for word in dict.fromkeys(other) if word in shared]:
        return "order"
    return None


def adds_nothing(text: str, to: str) -> bool:
    """Whether all that a text says is said by another one, which agrees with it: it can be left out and nothing is lost."""
    one, other = _said(text[:READ]).content, _said(to[:READ]).content
    # Most texts are told apart by their words alone, and far sooner than by what else they may differ in.
    return set(one) <= set(other) and Counter(one) <= Counter(other) and difference(text, to) is None


def opposed(first: str, second: str) -> bool:
    """Whether two texts say the same but for one word, in which they exclude one another: a contradiction however short they are."""
    # Few pairs are that alike, and it is told far sooner than whether two texts disagree.
    one, other = _counted(first[:READ]), _counted(second[:READ])
    alike = bool(one & other) and (one - other).total() <= 1 and (other - one).total() <= 2
    return alike and disagreement(first, second) is not None


@lru_cache(maxsize=1024)
def _counted(text: str) -> Counter[str]:
    """How often a text says each word that carries what it says. Shared by those who ask: not to be changed."""
    return Counter(root(word) for word in _words(folded(text)) if word not in FILLERS)


def denies(text: str) -> bool:
    """Whether a text denies something, in the languages that are known here."""
    return _said(text[:READ]).negated


def particulars(text: str) -> frozenset[str]:
    """What a shorter text must not lose: numbers with their units, dates, names inside sentences, values, and words of condition."""
    said = _said(text[:READ])
    named = {folded(name) for name in said.inside} | {value.strip(".,;:!?()[]\"'").lower() for value in said.values}
    named |= {folded(path).strip(".,;:") for path in _PATH.findall(said.text)}
    return said.numbers | said.dates | frozenset(named) | _bound(said)


def content(text: str) -> tuple[str, ...]:
    """The roots of the words that carry what a text says, in order."""
    return _said(text[:READ]).content


def moods(text: str) -> frozenset[str]:
    """Whether a text says that something must, should or may be."""
    return frozenset(_moods(_said(text[:READ])))


def root(word: str) -> str:
    """A word without its English endings, so that "files" and "file", "increased" and "increase" are one. Values stay whole."""
    if not word.isalpha() or not word.isascii():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending == "ies" else "")
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _numbers(plain: str) -> list[str]:
    made = []
    for match in _NUMBER.finditer(plain):
        number = match.group()
        if _THOUSANDS.match(number):
            number = number.replace(",", "")
        unit = _UNIT.match(plain, match.end())
        measure = UNITS.get(_singular(unit.group(1))) if unit else None
        before = plain[match.start() - 1 : match.start()]
        made.append(f"{number} {UNITS.get(before, '') or measure or ''}".strip())
    return made + _NUMBER_WORD.findall(plain) + _CJK_NUMBER.findall(plain)


def _singular(unit: str) -> str:
    if unit in UNITS:
        return unit
    return unit.removesuffix("s") if unit.removesuffix("s") in UNITS else unit.replace("ies", "y")


def _prefixed(a: _Said, b: _Said) -> bool:
    """Whether `a` has the opposite of a word of `b` by a prefix: unsafe and safe."""
    bare = set(b.roots) - set(a.roots)
    return any(
        len(rest) > 2 and rest in bare
        for word in set(a.roots) - set(b.roots)
        for prefix in NEGATING_PREFIXES
        if word.startswith(prefix) and (rest := word.removeprefix(prefix))
    )


_OPPOSITE_ROOTS: Final = tuple(frozenset(root(word) for word in row) for row in OPPOSITES)


def _opposite(a: _Said, b: _Said) -> bool:
    mine, others = set(a.roots) - set(b.roots), set(b.roots) - set(a.roots)
    if any(row & mine and row & others for row in _OPPOSITE_ROOTS):
        return True
    x, y = "".join(a.words), "".join(b.words)
    return any(
        (p in x and p not in y and q in y and q not in x) or (q in x and q not in y and p in y and p not in x) for p, q in OPPOSITE_SIGNS
    )


def _other_names(a: _Said, b: _Said) -> bool:
    """Whether each names somebody or something that the other does not."""
    named_a, named_b = {folded(name) for name in a.inside}, {folded(name) for name in b.inside}
    mine, others = named_a - named_b - set(b.words), named_b - named_a - set(a.words)
    if mine and others:
        return True
    # A name that opens the sentence cannot be told from any other word there, unless all the rest is the same.
    opens = a.words and b.words and a.words[0] != b.words[0] and a.words[1:] == b.words[1:]
    return bool(opens and a.text[:1].isupper() and b.text[:1].isupper() and len(a.words) > 1)


def _roles(said: _Said) -> list[str]:
    """Names in the order in which they appear, case folded: who does what to whom."""
    opening = said.names[:1] if said.text.lstrip().startswith(said.names[:1]) else ()
    return [folded(name) for name in said.names if not (name in opening and folded(name) in FILLERS)]


def _bound(said: _Said) -> frozenset[str]:
    plain = "".join(said.words)
    return (CONDITIONS & set(said.words)) | {sign for sign in CONDITION_SIGNS if sign.strip() in plain}


def _moods(said: _Said) -> set[str]:
    return {mood for mood, words in MOODS.items() if words & set(said.words)}


def _tense(said: _Said) -> int:
    now, then = bool(PRESENT & set(said.words)), bool(PAST & set(said.words))
    return int(now) - int(then)
