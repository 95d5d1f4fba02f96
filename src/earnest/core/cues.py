"""What kind of answer a question asks for, and whether a text holds one: a time for "when", a number for "how many"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from earnest.core.analysis import folded
from earnest.core.patterns import lazily
from earnest.core.ranking import Candidate
from earnest.core.stopwords import ENGLISH
from earnest.core.timetables import FIXED, LATELY, MONTHS, NUMBERS, SEASONS, UNITS, WEEKDAYS


@dataclass(frozen=True, slots=True)
class Cues:
    """What is asked for."""

    when: bool = False
    count: bool = False

    @property
    def any(self) -> bool:
        """Whether the question asks for a kind of answer that can be told from its words."""
        return self.when or self.count

    def met(self, candidate: Candidate | None) -> bool:
        """Whether a text holds such an answer, by its terms."""
        if candidate is None:
            return False
        terms = candidate.text_terms
        if self.when and not _times().isdisjoint(terms):
            return True
        return self.count and (not _numbers().isdisjoint(terms) or any(term[:1].isdigit() for term in terms))


NOTHING: Final = Cues()


def cues(text: str) -> Cues:
    """What a question asks for, by its question words in the languages that `timewords` reads. O(text), cut at 2,000 characters."""
    plain = folded(text[:2_000])
    when, count = bool(_WHEN.search(plain)), bool(_COUNT.search(plain))
    return Cues(when, count) if when or count else NOTHING


def names(text: str) -> list[str]:
    """Words of an English question that are names by their capital letter, folded: the first word of a sentence is none, and where most
    words have one, none is. In German all nouns have one, in other scripts no word, so that no other language is read.
    """
    plain = text[:2_000].strip()
    words = list(_WORD.finditer(plain))
    inner = [match for match in words if match.start() > 0 and not _STARTS.search(plain[max(0, match.start() - 4) : match.start()])]
    capital = [match for match in inner if match[0][0].isupper() and not match[0].isupper()]
    if not capital or 2 * len(capital) > len(words) or ENGLISH.isdisjoint(folded(match[0]) for match in words):
        return []
    made = (folded(match[0]).replace("’", "'").removesuffix("'s") for match in capital)
    return list(dict.fromkeys(name for name in made if name not in ENGLISH and name not in MONTHS and name not in WEEKDAYS))


_WORD: Final = lazily(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_STARTS: Final = lazily(r"(?:[.!?:]\s|[\"“'‘])\s*$")
_WHEN: Final = lazily(
    r"\b(?:when|how long ago|(?:what|which) (?:date|day|month|year|time)|wann|seit wann|welche[nrsm]? (?:tag|monat|jahr)|quand|"
    r"quel(?:le)? (?:jour|mois|annee|date)|cuando|que (?:dia|mes|ano|fecha))\b|когда|в каком (?:году|месяце)|какого числа|"
    r"什么时候|何时|哪天|哪年|几月|几号|いつ|何年|何月|何日"
)
_COUNT: Final = lazily(
    r"\b(?:how (?:many|much|long|often|old)|wie (?:viele?|lange|oft|alt)|combien|cuant[oa]s?|con que frecuencia)\b|"
    r"сколько|как (?:долго|часто)|多少|几个|几次|多久|多长|いくつ|何回|何人|どのくらい|いくら"
)


@cache
def _times() -> frozenset[str]:
    """Words that place something in time."""
    words = {word for phrase in (*FIXED, *LATELY) for word in (phrase.split() if phrase.isascii() else [phrase])}
    words |= set(MONTHS) | set(SEASONS) | set(WEEKDAYS) | {"ago", "since", "week", "weeks", "weekend", "month", "months", "year", "years"}
    words |= {unit for unit in UNITS if len(unit) > 2}
    return frozenset(words - _NOT_TIMES)


_NOT_TIMES: Final = frozenset(
    [
        *("am", "an", "before", "ce", "ci", "cette", "de", "diese", "diesem", "diesen", "dieser", "dieses", "es", "esta", "este", "fin"),
        *("hier", "in", "la", "le", "les", "mar", "may", "mes", "next", "on", "past", "previous", "the", "this"),
    ]
)
"""Parts of those phrases, and names of months, that say other things far more often."""


@cache
def _numbers() -> frozenset[str]:
    return frozenset(word for word in NUMBERS if NUMBERS[word] > 1 and " " not in word) | {"once", "twice", "dozen", "hundred", "thousand"}
