"""Operations that the dashboard needs beyond what a program does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from earnest.core.survey import Card
from earnest.http import shapes
from earnest.http.asking import recall
from earnest.http.entries import ROOT
from earnest.http.operations import Call, Operation


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with how its entry stands; `score` is relevance, never a balance."""

    card: Card
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class FoundList:
    """What a search found, best first; `next` is always null: ask for more with a larger k."""

    items: list[Found]
    next: str | None = None


def _found(call: Call) -> FoundList:
    hits = call.memory.search(**recall(call.body))
    cards = call.memory.cards([hit.entry.id for hit in hits])
    return FoundList([Found(card, hit.score, hit.why) for card, hit in zip(cards, hits, strict=True)])


OPERATIONS: Final = (
    Operation(
        "POST", ROOT + "/survey", "searchSurvey", "Search, and how the entries that were found stand", _found, FoundList,
        body=shapes.Search, failures=(409,), span="search_memory", theme="entries",
    ),
)  # fmt: skip
"""Every operation that is for the dashboard."""
