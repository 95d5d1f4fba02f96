"""From a spec such as `zhipu:embedding-3` to the embedder that it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from earnest.core.settings import embedder_spec
from earnest.embedders.hashing import HashingEmbedder
from earnest.embedders.local import LocalEmbedder
from earnest.embedders.services import CohereEmbedder, OllamaEmbedder, OpenAIEmbedder, VoyageEmbedder, ZhipuEmbedder
from earnest.embedders.transformers import TransformersEmbedder
from earnest.protocols import Embedder

_NAMED: Final[dict[str, Callable[[str], Embedder]]] = {
    "openai": OpenAIEmbedder,
    "zhipu": ZhipuEmbedder,
    "ollama": OllamaEmbedder,
    "cohere": CohereEmbedder,
    "voyage": VoyageEmbedder,
    "st": TransformersEmbedder,
}


def made(spec: str) -> Embedder | None:
    """The embedder of a spec; None for `none`. Nothing is loaded and nobody is asked yet.

    Raises:
        InvalidInput: Not a spec. NotAvailable: An extra or a key is missing; the message names it.
    """
    kind, _, name = embedder_spec(spec).partition(":")
    if kind == "none":
        return None
    if kind == "local":
        return LocalEmbedder()
    if kind == "hashing":
        return HashingEmbedder(int(name)) if name else HashingEmbedder()
    return _NAMED[kind](name)
