"""Joining rankings: normalised scores, or ranks alone. Pure, the same whatever engine found the entries, with ties in a fixed order.

Scores are joined after each has been brought to 0 to 1, because they say how much better one entry is than the next; ranks alone
(RRF) forget that, and a weak second ranking then drags a strong first one down. RRF is offered by name: Cormack, Clarke and
Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods" (SIGIR 2009), with their k = 60.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

RRF_K: Final = 60


def normalised(values: Mapping[int, float]) -> dict[int, float]:
    """Values brought to 0 to 1 (the least and the greatest of them); all 1 where they do not differ."""
    if not values:
        return {}
    low, high = min(values.values()), max(values.values())
    if high <= low:
        return dict.fromkeys(values, 1.0)
    return {row: (value - low) / (high - low) for row, value in values.items()}


def in_order(scores: Mapping[int, float]) -> list[int]:
    """Rows by score, best first; ties go to the later row, the newer entry."""
    # Sorting keeps what is equal in its order, turned round too: so two sorts by plain values do what one by pairs does, in half the time.
    return sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)


def reciprocal(rankings: Iterable[Sequence[int]], k: int = RRF_K) -> dict[int, float]:
    """The RRF score of every row that any ranking has: the sum of 1 / (k + rank), over the most that there could be, so 0 to 1."""
    made: dict[int, float] = {}
    count = 0
    for ranking in rankings:
        count += 1
        for rank, row in enumerate(ranking, start=1):
            made[row] = made.get(row, 0.0) + 1.0 / (k + rank)
    most = count / (k + 1)
    return {row: score / most for row, score in made.items()}


AT_NEAR: Final = 0.2
"""What nearness in meaning is worth, as a share of a question, at the cosine from which two texts are about the same matter."""


def sure(covered: float, cosine: float, near: float) -> float:
    """How sure a match is, 0 to 1: the share of the question that it covers by words, and what its nearness in meaning adds.

    `near` is the cosine from which the model's vectors say that two texts are about the same matter; 0: nobody knows, and nearness adds
    nothing. Nearness is worth `AT_NEAR` there, 1 at a cosine of 1, and falls to 0 as fast below. The two are joined like independent
    hints: ``1 - (1 - a)(1 - b)``.
    """
    if not 0 < near < 1:
        return covered
    worth = min(1.0, max(0.0, AT_NEAR + (1 - AT_NEAR) * (cosine - near) / (1 - near)))
    return 1 - (1 - covered) * (1 - worth)


FOLLOWS: Final = 0.7
"""What a hit that falls short of the floor must have of the relevance of the best one that clears it, to be told beside it."""
HALF: Final = 0.5
"""The part of the floor that it must clear all the same."""


def told(hits: Sequence[tuple[float, float]], floor: float, leads: Sequence[bool] = ()) -> list[int]:
    """The places of the hits that are told together, in their order; none where memory is silent.

    `hits` are (relevance, how sure), `leads` says which of them may speak for memory (all, unless given). Whether memory speaks is up to
    the floor: it does if one that may lead clears it. Then what clears it is told, and so is what follows the best of these closely:
    `FOLLOWS` of its relevance, and `HALF` of the floor. What may not lead is told by the same measure, for it guards its question: the
    caller shows it to nobody, nor what is much less relevant than it. How relevant a turn is tells more than the words it shares: on the
    two tuning conversations of `bench/recall` such followers are right as often as hits that clear the floor by a little. O(hits).
    """
    may = leads or [True] * len(hits)
    best = max((score for (score, certain), lead in zip(hits, may, strict=True) if lead and certain >= floor), default=None)
    if best is None:
        return []
    return [
        place for place, (score, certain) in enumerate(hits) if certain >= floor or (score >= FOLLOWS * best and certain >= HALF * floor)
    ]
