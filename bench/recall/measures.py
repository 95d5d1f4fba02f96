"""Recall and rank measures of one ranked list, and their means. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import astuple, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """How one question was answered: shares of its evidence found, nDCG with binary gains, and whether a session of it was among the
    first five and ten distinct sessions in the order of their best turn."""

    conversation: str
    kind: int
    recall5: float
    recall10: float
    ndcg10: float
    session5: bool
    session10: bool

    def plain(self) -> list[Any]:
        """For a results file: the fields in their order."""
        return [*astuple(self)]


def row(conversation: str, kind: int, ranked: Sequence[str], evidence: AbstractSet[str], sessions: Mapping[str, int]) -> Row:
    """The measures of one ranked list of distinct ids."""
    seen = list(dict.fromkeys(sessions[each] for each in ranked if each in sessions))
    wanted = {sessions[each] for each in evidence if each in sessions}
    return Row(
        conversation, kind, recall(ranked, evidence, 5), recall(ranked, evidence, 10), ndcg(ranked, evidence, 10),
        not wanted.isdisjoint(seen[:5]), not wanted.isdisjoint(seen[:10]),
    )  # fmt: skip


def recall(ranked: Sequence[str], evidence: AbstractSet[str], k: int) -> float:
    """The share of the evidence among the first k."""
    return len(evidence & set(ranked[:k])) / len(evidence)


def ndcg(ranked: Sequence[str], evidence: AbstractSet[str], k: int) -> float:
    """Normalised discounted cumulative gain at k (Järvelin and Kekäläinen, 2002), a piece of evidence being worth 1."""
    gain = sum(1 / math.log2(place + 2) for place, each in enumerate(ranked[:k]) if each in evidence)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(k, len(evidence))))


def mean(rows: Iterable[Row], of: str, where: Callable[[Row], bool] = lambda row: True) -> float:
    """The mean of one measure over the questions that are meant; NaN without any."""
    values = [float(getattr(each, of)) for each in rows if where(each)]
    return sum(values) / len(values) if values else math.nan
