"""Finding what memory knows, and saying it with its provenance."""

from earnest.recall.search import KeywordRetriever, Retriever

__all__ = ["KeywordRetriever", "Retriever"]
