"""From documents to entries: readers of bytes, text and Markdown, and an encoder that needs no model."""

from earnest.core.reports import Skipped
from earnest.encoding.demo import demo_corpus
from earnest.encoding.document import Document, Draft, Encoding
from earnest.encoding.local import LocalEncoder
from earnest.encoding.reading import read_document, read_documents
from earnest.encoding.reflection import ReflectionEncoder

__all__ = [
    "Document", "Draft", "Encoding", "LocalEncoder", "ReflectionEncoder", "Skipped", "demo_corpus", "read_document", "read_documents",
]  # fmt: skip
