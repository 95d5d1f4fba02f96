"""One process's embedder: what it gives is looked over before anything relies on it, and what fails is said, not hidden."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from earnest.core.vectors import Asked, encoded, looked_over
from earnest.errors import EmbedderFailed
from earnest.protocols import Embedder
from earnest.recall.resting import Rest

_QUESTIONS: Final = 256
# A text that an embedder refuses is halved so often; what is left of it is then embedded.
_HALVINGS: Final = 4
_SHORTEST_CUT: Final = 500


@dataclass(slots=True)
class Vectors:
    """What became of some texts: for each a stored vector or what was wrong."""

    codes: list[bytes | None]
    problems: list[str | None]
    shortened: set[int] = field(default_factory=set)
    """Places of the texts that were embedded in part."""
    down: bool = False
    """Whether the embedder itself failed, so that nothing is known against these texts."""


class Embedding:
    """The embedder of one process, or the reason why it has none. Safe for threads."""

    def __init__(self, embedder: Embedder | None, spec: str = "none", why_not: str | None = None) -> None:
        """`spec` is the setting that it was made for, `why_not` why that could not be made."""
        self._embedder = embedder
        self.spec, self.why_not = spec, why_not
        self.model: str = embedder.model_id if embedder is not None else ""
        self.remote = bool(getattr(embedder, "remote", False))
        self.batch = int(getattr(embedder, "batch", 64))
        self._longest = int(getattr(embedder, "longest", 0))
        self.near = float(getattr(embedder, "near", 0.0))
        self._asked: OrderedDict[str, Asked] = OrderedDict()
        self._lock = threading.Lock()
        self._rest = Rest()
        self.trouble: str | None = why_not
        """What went wrong when a question was to be embedded last; None if nothing did."""
        self.refused: dict[int, str] = {}
        """Entry rows whose texts this embedder could not embed, and why: not tried again by this process until it is asked to."""

    @property
    def usable(self) -> bool:
        """Whether there is an embedder to ask."""
        return self._embedder is not None

    @property
    def resting(self) -> bool:
        """Whether the embedder was down a moment ago, so that nobody waits for it now."""
        return self._rest.under_way

    def reads(self, text: str) -> bool:
        """Whether the model can make sense of a text's script."""
        reads = getattr(self._embedder, "reads", None)
        return True if reads is None else bool(reads(text))

    def question(self, text: str, dimension: int | None, *, insist: bool = False) -> Asked | None:
        """A question as a vector; None if the embedder gives none that points anywhere (`trouble` says why).

        So it is if the embedder fails, and for a while after it did, unless the caller insists.

        Raises:
            EmbedderFailed: The caller insists, and the embedder fails.
        """
        if self._embedder is None:
            return None
        with self._lock:
            known = self._asked.get(text)
            if known is not None:
                self._asked.move_to_end(text)
                return known
        if self.resting and not insist:
            return None
        try:
            query = getattr(self._embedder, "embed_query", None)
            raw = [query(text)] if query is not None else self._embedder.embed([text])
            made = self._checked(raw, 1, dimension)
        except EmbedderFailed as error:
            self._failed(str(error), rest=error.passing)
            if insist:
                raise
            return None
        vector = made.vectors[0]
        if vector is None:
            self._failed(f"embedder {self.model} gave {made.problems[0]} for the question", rest=False)
            return None
        asked = Asked(self.model, vector)
        self._answered()
        with self._lock:
            self._asked[text] = asked
            while len(self._asked) > _QUESTIONS:
                self._asked.popitem(last=False)
        return asked

    def _failed(self, why: str, *, rest: bool) -> None:
        self.trouble = why
        if rest:
            self._rest.begin()

    def _answered(self) -> None:
        """Questions need not be asked by words alone any longer."""
        self.trouble = None
        self._rest.end()

    def _checked(self, raw: Any, count: int, dimension: int | None) -> Any:
        try:
            return looked_over(raw, count, dimension)
        except ValueError as error:
            raise EmbedderFailed(f"embedder {self.model} {error}", passing=False) from error

    def vectors(self, texts: Sequence[str], dimension: int | None) -> Vectors:
        """Stored vectors of some texts; `dimension` is what this model's vectors have, if that is known.

        A batch that fails for what is in it is halved until the texts that it fails for are alone.

        Raises:
            EmbedderFailed: The embedder itself is down or broken: no other text would do better.
        """
        assert self._embedder is not None
        made = Vectors([None] * len(texts), [None] * len(texts))
        shortened = [text[: self._longest] if self._longest else text for text in texts]
        made.shortened = {place for place, text in enumerate(texts) if len(shortened[place]) < len(text)}
        try:
            for start in range(0, len(texts), self.batch):
                stop = min(len(texts), start + self.batch)
                dimension = self._some(shortened, range(start, stop), dimension, made) or dimension
        except EmbedderFailed as error:
            self._failed(str(error), rest=True)
            raise
        self._answered()
        return made

    def _some(self, texts: Sequence[str], places: range, dimension: int | None, made: Vectors) -> int | None:
        """Embed the texts at these places into `made`; returns the dimension that they have."""
        assert self._embedder is not None
        try:
            got = self._checked(self._embedder.embed([texts[i] for i in places]), len(places), dimension)
        except EmbedderFailed as error:
            if error.passing:
                raise
            if len(places) == 1:
                return self._shortened(texts[places[0]], places[0], dimension, made, str(error))
            half = len(places) // 2
            dimension = self._some(texts, places[:half], dimension, made) or dimension
            return self._some(texts, places[half:], dimension, made) or dimension
        codes = iter(encoded([vector for vector in got.vectors if vector is not None]))
        for place, vector, problem in zip(places, got.vectors, got.problems, strict=True):
            made.problems[place] = None if problem is None else f"embedder {self.model} gave {problem}"
            made.codes[place] = None if vector is None else next(codes)
        return got.dimension or dimension

    def _shortened(self, text: str, place: int, dimension: int | None, made: Vectors, why: str) -> int | None:
        """A single text was refused: maybe it is too long. Its beginning is tried, each time half as long."""
        assert self._embedder is not None
        made.problems[place] = why
        length = len(text) // 2
        for _ in range(_HALVINGS):
            if length < _SHORTEST_CUT:
                break
            try:
                got = self._checked(self._embedder.embed([text[:length]]), 1, dimension)
            except EmbedderFailed as error:
                if error.passing:
                    raise
                length //= 2
                continue
            if got.vectors[0] is not None:
                made.codes[place], made.problems[place] = encoded([got.vectors[0]])[0], None
                made.shortened.add(place)
                return int(got.dimension)
            break
        return dimension
