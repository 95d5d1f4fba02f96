"""By which words a sentence is known for what it is. The words are in `cues.txt`; here they become patterns, when first needed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from earnest.core.analysis import folded
from earnest.core.patterns import lazily
from earnest.core.sentences import words

_LATIN: Final = ("en", "de", "fr", "es", "pt", "tr", "vi")
_OF_SCRIPT: Final[tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]] = (
    (lazily("[a-z]"), _LATIN),
    (lazily("[\u0400-\u052f]"), ("ru",)),
    (lazily("[\u0370-\u03ff]"), ("el",)),
    (lazily("[\u05d0-\u05ea]"), ("he",)),
    (lazily("[\u0620-\u06d3]"), ("ar",)),
    (lazily("[\u0900-\u097f]"), ("hi",)),
    (lazily("[\u0e01-\u0e4e]"), ("th",)),
    (lazily("[\uac00-\ud7a3]"), ("ko",)),
    (lazily("[\u3041-\u30ff]"), ("ja",)),
    (lazily("[\u3400-\u9fff]"), ("zh",)),
)
"""Letters, and the languages that are written in them."""

# Where words are not set apart by spaces, or end in marks that are no letters, or carry glued particles, a cue may stand anywhere.
_ANYWHERE: Final = frozenset(("zh", "ja", "ko", "th", "hi"))

# A few words that each language of the Latin script cannot do without and the others hardly have.
_FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "en": words("the and is are was of to in for with that this it we i my you our on at not don't it's from have has be by as"),
    "de": words("der die das in und ist ich wir nicht ein eine mit auf fur den dem zu im mein unser wird bei von sich auch nur"),
    "fr": words("le la les des est et je nous une pour pas sur dans avec du mon notre ne que au aux sont c'est on toujours"),
    "es": words("el la los las es y en de que un una para con por no mi nuestro del se al esta muy siempre lo me"),
    "pt": words("o os as e em de que um uma para com por nao meu minha nosso do da no na ao esta muito sempre eu"),
    "tr": words("ve bir bu icin ile da de ben biz cok daha her degil olarak ama artik her zaman sonra"),
    "vi": words("la cua va toi chung khong cho voi mot nay duoc trong minh co cac se da o ban nguoi"),
}


_SURE: Final = 2
"""Function words of a language, more of which make a sentence one of that language."""


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    """The alternatives of each section and language, folded, as one pattern text each."""
    made: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    language = ""
    # Read as text of this package: a wheel, a checkout and a zip-free install all have it beside this file.
    for line in Path(__file__).with_name("cues.txt").read_text(encoding="utf-8").split("\n"):
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = made.setdefault(line.strip("[]"), {})
        elif line.startswith(" "):
            section[language] += " " + folded(line).strip()
        else:
            language, _, first = line.partition(":")
            section[language] = folded(first).strip()
    return made


@cache
def _pattern(section: str, language: str) -> re.Pattern[str]:
    text = _tables()[section].get(language, "")
    alternatives = "|".join(part.strip() for part in re.split(r"\s+\|\s+", text) if part.strip())
    if not alternatives:
        return re.compile(r"(?!)")
    if section in ("small talk", "remember"):
        return re.compile(rf"(?:{alternatives})")
    if section == "instruction":
        # A standing order is one where a sentence begins with it; inside one it is part of what is told.
        return re.compile(alternatives if language in _ANYWHERE else rf"^(?:{alternatives})")
    # A cue that ends in a space has ended its word.
    return re.compile(alternatives if language in _ANYWHERE else rf"(?<!\w)(?:{alternatives})(?:(?<= )|(?!\w))")


# A sentence is looked at several times while it is judged, and a service hears sentences for years.
@lru_cache(maxsize=1_024)
def languages_of(text: str) -> tuple[str, ...]:
    """The languages that a folded sentence may be in: by its scripts, and within the Latin one by its function words."""
    made: list[str] = []
    for letters, languages in _OF_SCRIPT:
        if letters.search(text):
            made += _latin(text) if languages is _LATIN else languages
    if "ja" in made and "zh" in made:
        made.remove("zh")  # kana are only written in Japanese
    return tuple(made)


def _latin(text: str) -> list[str]:
    seen = re.findall(r"[a-z']+", text)
    held = {language: sum(word in known for word in seen) for language, known in _FUNCTION_WORDS.items()}
    best = max(held.values())
    # A short sentence may be in any of them. The likeliest comes first.
    likely = [language for language, count in held.items() if best <= _SURE or 2 * count > best]
    return sorted(likely, key=lambda language: (-held[language], language == "en" and not held["en"]))


def found(section: str, text: str) -> re.Match[str] | None:
    """The first cue of a section in a folded sentence, in whatever language it is; None if there is none."""
    for language in languages_of(text):
        match = _pattern(section, language).search(text)
        if match:
            return match
    return None


_BETWEEN: Final = lazily(r"[^\w]+")


def only_small_talk(text: str) -> bool:
    """Whether a folded sentence is made of greetings, thanks, yes and no alone, in any mix and with any signs between them."""
    languages = languages_of(text)
    if not languages:
        # Digits and signs alone say nothing by themselves.
        return True
    anywhere = [language for language in languages if language in _ANYWHERE]
    spaced = [language for language in languages if language not in _ANYWHERE]
    rest = text
    for language in anywhere:
        rest = _pattern_of_parts(language).sub("", rest)
    for language in spaced:
        rest = _pattern_of_parts(language).sub(" ", rest)
    return not _BETWEEN.sub("", rest)


@cache
def _pattern_of_parts(language: str) -> re.Pattern[str]:
    """The small talk of a language, longest first, so that "thank you" is not left half."""
    inside = _pattern("small talk", language).pattern.removeprefix("(?:").removesuffix(")")
    parts = sorted(_alternatives(inside), key=len, reverse=True)
    return re.compile("|".join(parts) if language in _ANYWHERE else rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)")


def _alternatives(pattern: str) -> list[str]:
    """The alternatives of a pattern at its top level."""
    made, depth, current = [], 0, ""
    for char in pattern:
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            made.append(current)
            current = ""
        else:
            current += char
    return [*made, current]


def without_reminder(text: str) -> int:
    """How many characters of a folded sentence are a request to remember what follows; 0 if it begins with none."""
    for language in languages_of(text):
        match = re.match(_pattern("remember", language).pattern + r"[\s:,\-]*", text)
        if match and match.end() < len(text):
            return match.end()
    return 0
