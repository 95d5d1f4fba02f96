"""The one retriever. Earnest's own keyword ranking, over whatever an arm still holds, for the arms that are not Earnest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from earnest.core import ranking
from earnest.core.settings import Settings
from earnest.verbs.base import analyser_for


class SharedRanking:
    """Ranks texts as a `Memory` that holds exactly these entries, in this order, would. It is never given a balance."""

    def __init__(self) -> None:
        settings = Settings()
        self.floor = settings.floor
        self._analyser = analyser_for(settings)
        self._terms = lru_cache(maxsize=4096)(lambda text: tuple(self._analyser.terms(text)))
        self._question = lru_cache(maxsize=4096)(self._analyser.question)

    def rank(self, query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
        """The places of the texts that clear the floor with their scores, best first. O(texts × words)."""
        question = self._question(query)
        if not question.words or not texts:
            return []
        terms = [self._terms(text) for text in texts]
        holding: Counter[str] = Counter()
        for held in terms:
            holding.update(set(held))
        statistics = ranking.Statistics(len(terms), sum(map(len, terms)) / len(terms), holding)
        scored = ranking.score(question, statistics, [ranking.Candidate(place, held, ()) for place, held in enumerate(terms)])
        return [(s.row, s.score) for s in scored if s.covered >= self.floor and s.score > 0]

    def similarity(self, one: str, other: str) -> float:
        """How alike two texts are, as Earnest's consolidation measures it."""
        return ranking.similarity(self._terms(one), self._terms(other))
