"""Models of the package `sentence-transformers`, such as `st:BAAI/bge-small-zh-v1.5` (512 dimensions, Chinese)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from earnest.core import check
from earnest.errors import EmbedderFailed, NotAvailable
from earnest.installed import bringing


class TransformersEmbedder:
    """A model that `sentence-transformers` loads by name or from a folder; it may download it when it is first used."""

    remote = True
    batch = 64

    def __init__(self, name: str) -> None:
        """Raises NotAvailable: `sentence-transformers` is not installed."""
        self.name = check.label("embedder", name, limit=200)
        if find_spec("sentence_transformers") is None:
            raise NotAvailable(f"embedder st:… needs the package `sentence-transformers`: {bringing('rerank')} brings it")
        self._model: Any = None
        self._loading = threading.Lock()

    @property
    def model_id(self) -> str:
        """`st:` and the model's name."""
        return f"st:{self.name}"

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                try:
                    import sentence_transformers

                    self._model = sentence_transformers.SentenceTransformer(self.name)
                except (ImportError, OSError, ValueError, RuntimeError, LookupError, AttributeError, TypeError) as error:
                    raise EmbedderFailed(f"embedder {self.model_id} could not be loaded: {error}") from error
            return self._model

    def embed(self, texts: Sequence[str]) -> Any:
        """float32[len(texts), d].

        Raises:
            EmbedderFailed: The model cannot be loaded or run.
        """
        model = self._loaded()
        try:
            return model.encode([*texts], batch_size=self.batch, show_progress_bar=False, convert_to_numpy=True)
        except (OSError, ValueError, RuntimeError, TypeError) as error:
            raise EmbedderFailed(f"embedder {self.model_id}: {type(error).__name__}: {error}", passing=False) from error
