"""Finding what memory knows, and saying it with its provenance."""

from earnest.recall.protocol import QueryProtocol
from earnest.recall.search import KeywordRetriever, Retriever

__all__ = ["KeywordRetriever", "QueryProtocol", "Retriever"]
