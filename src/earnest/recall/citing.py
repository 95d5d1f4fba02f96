"""Who an answer of a language model cites: read from what it says, never from what it thinks, and never from code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from earnest.core.patterns import lazily
from earnest.core.replies import without_thoughts

_CODE: Final = lazily(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_MARK: Final = lazily(r"(?<![A-Za-z0-9_])[\[【［]\s*#?(\d{1,6}(?:\s*[,;、，]\s*#?\d{1,6})*)\s*[\]】］]")
_SOURCES: Final = lazily(r"^[\s>*_#-]*(?:sources?|citations?|cited|来源|出处)[\s*_]*[:：](.*)$", re.IGNORECASE | re.MULTILINE)
_NONE: Final = lazily(r"^[\s\[(*_]*(?:none|no(?:thing|ne)?|n/?a|-+|0|无|没有)?[\s\])*_.。]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cited:
    """What an answer says, without the line that names its sources, and the places of the snippets that it cites, each once, in order.

    `said` is whether it said anything of sources at all: an answer that names none on purpose is one that memory did not give.
    """

    text: str
    places: tuple[int, ...]
    said: bool


def cited(reply: str, marks: Mapping[int, int]) -> Cited:
    """Reads an answer.

    Args:
        reply: What the model said, thoughts and all.
        marks: The mark of each snippet that it was shown, and the snippet's place. Other numbers are nobody's.

    The last line of sources counts; without one, the marks in the text do. Marks in thoughts and in code count nowhere.
    """
    spoken = without_thoughts(reply)
    lines = [*_SOURCES.finditer(_blanked(spoken))]
    if lines:
        named = lines[-1][1]
        found = [int(number) for number in re.findall(r"(?<![\w.])\d{1,6}(?![\w.]*\w)", named)]
        text = _SOURCES.sub("", spoken) if len(lines) == len(_SOURCES.findall(spoken)) else spoken[: lines[-1].start()]
        places = _places(found, marks)
        return Cited(_shown(text.strip(), marks, places), places, bool(places) or _NONE.match(named) is not None)
    found = [int(number) for mark in _MARK.finditer(_blanked(spoken)) for number in re.findall(r"\d+", mark[1])]
    places = _places(found, marks)
    return Cited(_shown(spoken, marks, places), places, bool(places))


def _blanked(text: str) -> str:
    """The text with code made blank, every other character where it was."""
    return _CODE.sub(lambda found: " " * len(found[0]), text)


def _places(found: list[int], marks: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(marks[number] for number in found if number in marks))


def _shown(text: str, marks: Mapping[int, int], places: tuple[int, ...]) -> str:
    """The text with the marks of cited snippets counted from 1, in the order of citing, and without those of others."""
    order = {place: number for number, place in enumerate(places, 1)}

    def said(found: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", found[1])]
        if not any(number in marks for number in numbers):
            return found[0]
        kept = [str(order[marks[number]]) for number in numbers if number in marks and marks[number] in order]
        return f"[{', '.join(kept)}]" if kept else ""

    blank = _blanked(text)
    made, at = [], 0
    for found in _MARK.finditer(blank):
        made += [text[at : found.start()], said(found)]
        at = found.end()
    return "".join([*made, text[at:]]).strip()
