"""Embedders: what makes texts comparable by meaning. Each has `embed(texts) -> float32[n, d]` and a `model_id`."""

from earnest.embedders.foreign import ForeignEmbedder
from earnest.embedders.hashing import HashingEmbedder
from earnest.embedders.local import LocalEmbedder
from earnest.embedders.services import CohereEmbedder, OllamaEmbedder, OpenAIEmbedder, VoyageEmbedder, ZhipuEmbedder
from earnest.embedders.specs import made
from earnest.embedders.transformers import TransformersEmbedder

__all__ = [
    "CohereEmbedder",
    "ForeignEmbedder",
    "HashingEmbedder",
    "LocalEmbedder",
    "OllamaEmbedder",
    "OpenAIEmbedder",
    "TransformersEmbedder",
    "VoyageEmbedder",
    "ZhipuEmbedder",
    "made",
]
