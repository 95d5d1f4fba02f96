"""A real model that works offline right after the extra `local` is installed: all-MiniLM-L6-v2, run by numpy."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earnest.core.vectors import need_numpy
from earnest.embedders.minilm import network, weights, wordpiece

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PIECES: Final = 254
"""Pieces of words that the model reads at once, beside the marks of a text's beginning and end: some 200 words."""

WINDOWS: Final = 4
"""A longer text is read in so many windows, and its vector is the mean over all of its pieces; what comes after them is not read."""

_BATCH: Final = 32
_LOADING: Final = threading.Lock()


@lru_cache(maxsize=1)
def _weights(path: Path) -> weights.Weights:
    """The weights, once for all embedders of a process: one that serves many agents opens many."""
    return weights.load(path)


class LocalEmbedder:
    """all-MiniLM-L6-v2 (sentence-transformers, Apache-2.0): 384 dimensions, made for English, fair for other languages in Latin script.

    Safe for threads. Loaded when it is first asked: about 80 ms and 70 MB. A question then takes some 7 ms, a hundred short texts a
    second. Nothing is downloaded; the weights come with the extra and are checked by their digest.
    """

    model_id = "local:all-minilm-l6-v2"
    batch = 64
    near = 0.5

    def __init__(self) -> None:
        """Looks whether the extra is there.

        Raises:
            NotAvailable: It is not.
        """
        need_numpy("the local embedding model", extra="local")
        self._path = weights.located()
        self._weights: weights.Weights | None = None

    def _loaded(self) -> weights.Weights:
        with _LOADING:
            if self._weights is None:
                self._weights = _weights(self._path)
            return self._weights

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32[len(texts), 384], of unit length.

        Raises:
            EmbedderFailed: The weights are missing, or are not the published ones.
        """
        import numpy as np

        model, known = self._loaded(), wordpiece.vocabulary()
        first, last = known[wordpiece.FIRST], known[wordpiece.LAST]
        windows: list[list[int]] = []
        owner: list[int] = []
        for number, text in enumerate(texts):
            pieces = wordpiece.pieces(text, PIECES * WINDOWS) or [known[wordpiece.UNKNOWN]]
            for start in range(0, len(pieces), PIECES):
                windows.append([first, *pieces[start : start + PIECES], last])
                owner.append(number)
        sums = np.zeros((len(texts), network.UNITS), np.float32)
        # Neighbours in length share a batch: then attention runs over whole groups.
        order = sorted(range(len(windows)), key=lambda i: len(windows[i]))
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            means = network.run(model, [windows[i] for i in some])
            for i, mean in zip(some, means, strict=True):
                sums[owner[i]] += mean * len(windows[i])
        made: NDArray[np.float32] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return made

    @staticmethod
    def reads(text: str) -> bool:
        """Whether most of a text's letters are of a script that the model was trained on: Latin. In others, words find more."""
        letters = latin = 0
        for c in text:
            if c.isalpha():
                letters += 1
                latin += c.isascii() or unicodedata.name(c, "").startswith("LATIN")
        return latin * 2 >= letters
