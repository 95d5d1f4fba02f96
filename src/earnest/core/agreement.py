"""Whether two texts that look alike say the same. Pure; when in doubt, they do not."""

from __future__ import annotations

import re
from typing import Final

from earnest.core.analysis import folded
from earnest.core.decision import decision_polarity

_NUMBER: Final = re.compile(r"\d+(?:[.,:/\-]\d+)*")
_NUMBER_WORD: Final = re.compile(
    r"\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million|once|twice|half|daily|hourly|weekly|monthly|quarterly|yearly|annually|nightly)\b"
)
_NAME: Final = re.compile(r"(?<![.!?。]\s)(?<!^)\b[A-ZÀ-ÞА-Я]\w+")
_NEGATION_WORDS = (
    "not no never none without cannot cant dont doesnt isnt arent wasnt wont shouldnt mustnt neither nor unless except "
    "nicht kein keine nie ne pas jamais sans nunca sin não nem sem не нет никогда без нельзя ليس لا بدون"
)
_NEGATIONS: Final = frozenset(_NEGATION_WORDS.split())


def disagreement(first: str, second: str) -> str | None:
    """In what two near-duplicates differ that matters, or None if nothing was found: numbers, negation, advice, names."""
    a, b = folded(first), folded(second)
    if set(_NUMBER.findall(a) + _NUMBER_WORD.findall(a)) != set(_NUMBER.findall(b) + _NUMBER_WORD.findall(b)):
        return "numbers"
    if _negations(a) != _negations(b):
        return "negation"
    if decision_polarity(first) is not decision_polarity(second):
        return "advice"
    names_a, names_b = set(_NAME.findall(first)), set(_NAME.findall(second))
    if names_a - names_b and names_b - names_a:
        return "names"
    return None


def denies(text: str) -> bool:
    """Whether a text denies something, in the languages that are known here."""
    return _negations(folded(text))


def _negations(text: str) -> bool:
    words = re.findall(r"\w+", text.replace("'", "").replace("’", ""))
    return bool(_NEGATIONS & set(words)) or any(sign in text for sign in ("不", "没", "沒", "勿", "ない", "ません", "않"))
