"""Cross-encoders of the package `sentence-transformers`, such as `ce:cross-encoder/ms-marco-MiniLM-L6-v2`, or of a folder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Final

from earnest.core import check
from earnest.errors import ModelFailed, NotAvailable
from earnest.installed import bringing

_BATCH: Final = 32


class CrossEncoderReranker:
    """A model that `sentence-transformers` loads by name or from a folder; it may download it when it is first used.

    Scores are the model's own, one for each pair; what it was trained to give for "fits" must be the higher. Safe for threads, which take
    turns: the tokenizers of such models are not made for being shared.
    """

    longest = 4_000
    """Characters of a text that are read; the model cuts further, to the length that it was trained for."""

    def __init__(self, name: str) -> None:
        """`name` is a folder that holds a model, or a model's name.

        Raises:
            InvalidInput: No name. NotAvailable: The extra `rerank` is not installed.
        """
        self.name = check.label("reranker", name, limit=200)
        if find_spec("sentence_transformers") is None:
            raise NotAvailable(f"reranker ce:… needs the extra `rerank`: {bringing('rerank')}")
        self._model: Any = None
        self._turn = threading.Lock()

    @property
    def model_id(self) -> str:
        """`ce:` and the model's name."""
        return f"ce:{self.name}"

    def _loaded(self) -> Any:
        if self._model is None:
            try:
                import sentence_transformers

                self._model = sentence_transformers.CrossEncoder(self.name)
            except (OSError, ValueError, RuntimeError, LookupError, AttributeError, TypeError, ImportError) as error:
                # Whoever asks again soon would wait for the same failure.
                raise ModelFailed(f"reranker {self.model_id} could not be loaded: {error}") from error
        return self._model

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, in order. About 2 to 20 ms for each on one core with a small model, much more with a large one.

        Raises:
            ModelFailed: The model cannot be loaded or run, or gives something else than one score for each pair.
        """
        if not texts:
            return []
        pairs = [(query, text[: self.longest]) for text in texts]
        with self._turn:
            model = self._loaded()
            try:
                made = model.predict(pairs, batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)
            except (OSError, ValueError, RuntimeError, LookupError, TypeError) as error:
                raise ModelFailed(f"reranker {self.model_id}: {type(error).__name__}: {error}", passing=False) from error
        if getattr(made, "shape", None) != (len(texts),):
            shape = getattr(made, "shape", type(made).__name__)
            raise ModelFailed(f"reranker {self.model_id} gave {shape} for {len(texts)} pairs, not one score for each", passing=False)
        return [float(score) for score in made]
