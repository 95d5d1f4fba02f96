"""The one retriever: Earnest's own keyword ranking, over whatever an arm still holds, for every arm; and one by meaning beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from bench.selection.corpus import Line
from earnest.core import ranking
from earnest.core.settings import Settings
from earnest.protocols import Embedder
from earnest.verbs.base import analyser_for

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Ranked = tuple[tuple[Line, float], ...]


class SharedRanking:
    """Ranks texts as a `Memory` that holds exactly these entries, in this order, would. It is never given a balance."""

    def __init__(self) -> None:
        settings = Settings()
        self.floor = settings.floor
        self._analyser = analyser_for(settings)
        self._terms = lru_cache(maxsize=16384)(lambda text: tuple(self._analyser.terms(text)))
        self._question = lru_cache(maxsize=16384)(self._analyser.question)
        self._views: dict[tuple[Line, ...], View] = {}

    def rank(self, query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
        """The places of the texts that clear the floor with their scores, best first. O(texts × words)."""
        question = self._question(query)
        if not question.words or not texts:
            return []
        terms = [self._terms(text) for text in texts]
        holding: Counter[str] = Counter()
        for held in terms:
            holding.update(set(held))
        return self._scored(query, terms, ranking.Statistics(len(terms), sum(map(len, terms)) / len(terms), holding))

    def _scored(self, query: str, terms: Sequence[Sequence[str]], statistics: ranking.Statistics) -> list[tuple[int, float]]:
        question = self._question(query)
        wanted = {term for word in question.words for term in word.terms}
        candidates = [ranking.Candidate(place, held, ()) for place, held in enumerate(terms) if not wanted.isdisjoint(held)]
        scored = ranking.score(question, statistics, candidates)
        return [(s.row, s.score) for s in scored if s.covered >= self.floor and s.score > 0]

    def view(self, lines: tuple[Line, ...]) -> View:
        """The ranking over these lines; what was asked of it is remembered, for arms and seeds ask the same again and again."""
        found = self._views.get(lines)
        if found is None:
            if len(self._views) > 4096:
                self._views.clear()
            found = self._views[lines] = View(self, lines)
        return found

    def similarity(self, one: str, other: str) -> float:
        """How alike two texts are, as Earnest's consolidation measures it."""
        return ranking.similarity(self._terms(one), self._terms(other))


class View:
    """The ranking over a fixed set of lines."""

    def __init__(self, shared: SharedRanking, lines: tuple[Line, ...]) -> None:
        self.lines = lines
        self._shared = shared
        self._terms = [shared._terms(line.text) for line in lines]
        holding: Counter[str] = Counter()
        for held in self._terms:
            holding.update(set(held))
        mean = sum(map(len, self._terms)) / len(self._terms) if lines else 1.0
        self._statistics = ranking.Statistics(len(lines), mean, holding)
        self._asked: dict[str, Ranked] = {}

    def rank(self, prompt: str) -> Ranked:
        """The lines that clear the floor with their scores, best first."""
        found = self._asked.get(prompt)
        if found is None:
            ranked = self._shared._scored(prompt, self._terms, self._statistics)
            found = self._asked[prompt] = tuple((self.lines[row], score) for row, score in ranked)
        return found


class MeaningRanking(SharedRanking):
    """Ranks by meaning alone: the cosine of an embedder's vectors, for every arm that is lived over it. What an embedder calls near is the
    floor; where it says nothing, the floor is the one of words. It is never given a balance either."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder
        self.floor = float(getattr(embedder, "near", 0.0)) or self.floor
        self._known: dict[str, NDArray[np.float32]] = {}
        self._seen: dict[tuple[Line, ...], MeaningView] = {}

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32[len(texts), dimension], of unit length. Each text is embedded once in a process."""
        import numpy as np

        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        if fresh:
            made = np.asarray(self._embedder.embed(fresh), np.float32)
            self._known.update(zip(fresh, made / np.linalg.norm(made, axis=1, keepdims=True), strict=True))
        return np.stack([self._known[text] for text in texts])

    def view(self, lines: tuple[Line, ...]) -> MeaningView:
        """See `SharedRanking.view`."""
        if lines not in self._seen:
            self._seen[lines] = MeaningView(self, lines)
        return self._seen[lines]


class MeaningView(View):
    """The ranking by meaning over some lines."""

    def __init__(self, shared: MeaningRanking, lines: tuple[Line, ...]) -> None:
        super().__init__(shared, lines)
        self._meaning = shared

    def rank(self, prompt: str) -> Ranked:
        """The lines that are near enough with their cosines, nearest first; among equals the earlier one."""
        found = self._asked.get(prompt)
        if found is None and self.lines:
            near = self._meaning.vectors([line.text for line in self.lines]) @ self._meaning.vectors([prompt])[0]
            cosines = [(line, round(float(cosine), 6)) for line, cosine in zip(self.lines, near, strict=True)]
            near_enough = [(line, cosine) for line, cosine in cosines if cosine >= self._meaning.floor]
            found = self._asked[prompt] = tuple(sorted(near_enough, key=lambda pair: -pair[1]))
        return found or ()
