"""Rerankers: models that read a question and a text together. Each has `rerank(query, texts) -> scores` and a `model_id`."""

from earnest.rerankers.crossencoder import CrossEncoderReranker
from earnest.rerankers.foreign import ForeignReranker
from earnest.rerankers.services import CohereReranker, JinaReranker, VoyageReranker
from earnest.rerankers.specs import made, reranker

__all__ = [
    "CohereReranker",
    "CrossEncoderReranker",
    "ForeignReranker",
    "JinaReranker",
    "VoyageReranker",
    "made",
    "reranker",
]
