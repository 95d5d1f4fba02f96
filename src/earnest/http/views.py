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


@dataclass(frozen=True, slots=True)
class Bond:
    """A link between two entries, by their ids: what kind, how close (0 to 1), why, and whether somebody stated it."""

    a: str
    b: str
    kind: str
    weight: float
    reason: str
    stated: bool


@dataclass(frozen=True, slots=True)
class Around:
    """What an entry is linked with: the entry itself first, and how all of them stand; `more` says that there are links beyond these."""

    nodes: list[Card]
    bonds: list[Bond]
    more: bool


_MOST_LINKS: Final = 200
_MOST_NODES: Final = 36


def _around(call: Call) -> Around:
    name = call.path["entry"]
    near = call.memory.related(name, _MOST_NODES)
    shown = dict.fromkeys((name, *(one.entry.id for one in near[: _MOST_NODES - 1])))
    graph = call.memory.graph(name, limit=_MOST_LINKS)
    bonds = {
        (edge.source, edge.target, edge.kind): Bond(edge.source, edge.target, edge.kind, edge.weight, edge.reason, edge.stated)
        for edge in graph.edges
        if edge.source in shown and edge.target in shown
    }
    # Who took whose place is told by versions and merges, and is no link in the graph.
    for one in near:
        if one.kind == "supersession" and one.entry.id in shown:
            bonds[name, one.entry.id, one.kind] = Bond(name, one.entry.id, one.kind, one.weight, one.reason, False)
    return Around(call.memory.cards([*shown]), [*bonds.values()], graph.more or len(near) >= _MOST_NODES)


OPERATIONS: Final = (
    Operation(
        "GET", ROOT + "/entries/{entry}/neighbourhood", "getNeighbourhood", "What an entry is linked with, and how all of them stand",
        _around, Around, failures=(404,), theme="entries",
    ),
    Operation(
        "POST", ROOT + "/survey", "searchSurvey", "Search, and how the entries that were found stand", _found, FoundList,
        body=shapes.Search, failures=(409,), span="search_memory", theme="entries",
    ),
)  # fmt: skip
"""Every operation that is for the dashboard."""
