"""Making a text shorter without a model: what says least is left out, and nothing that must not be lost. Pure and deterministic."""

from __future__ import annotations

from collections import Counter
from typing import Final

from earnest.core.agreement import adds_nothing, content, denies, moods, particulars
from earnest.core.grounding import lost, openers
from earnest.core.sentences import split_sentences

PART: Final = 0.6
"""The part of a text's length that shortening aims at."""
ENOUGH: Final = 0.9
"""A shorter text that is longer than this part of the original is not worth a new version."""
READ: Final = 400
"""Sentences that are looked at; a text of more is not shortened."""


def shortened(text: str, part: float = PART) -> str | None:
    """The text without the sentences that say least, at about `part` of its length; None if too little can be left out.

    A sentence may go if another one says all that it says; or if it holds no number, name, value, date, condition or denial, says of
    nothing that it must, should or may be, and is not the first. Those whose words the rest repeats go first. Lines stay lines.
    """
    lines = [split_sentences(" ".join(line.split())) for line in text.splitlines() if line.strip()]
    sentences = [(number, sentence) for number, line in enumerate(lines) for sentence in line]
    if not 1 < len(sentences) <= READ:
        return None
    known = Counter(word for _, sentence in sentences for word in set(content(sentence)))
    kept = dict(enumerate(sentences))

    def said(place: int) -> float:
        words = content(sentences[place][1])
        return sum(1.0 / known[word] for word in set(words)) / (len(words) or 1)

    def joined() -> str:
        made: dict[int, list[str]] = {}
        for place in sorted(kept):
            made.setdefault(kept[place][0], []).append(kept[place][1])
        return "\n".join(" ".join(line) for line in made.values())

    for place in range(len(sentences) - 1, 0, -1):
        if any(other != place and adds_nothing(sentences[place][1], kept[other][1]) for other in kept):
            del kept[place]
    free = [place for place in kept if place and not _bound(sentences[place][1])]
    for place in sorted(free, key=lambda place: (said(place), -place)):
        if len(joined()) <= part * len(text):
            break
        del kept[place]
    made = joined()
    return made if len(made) <= ENOUGH * len(text) and not lost(text, made) else None


def _bound(sentence: str) -> bool:
    return bool(particulars(sentence)) or denies(sentence) or bool(moods(sentence)) or bool(openers(sentence))
