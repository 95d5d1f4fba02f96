"""From documents to entries: readers of bytes, text and Markdown, and an encoder that needs no model."""

from earnest.core.reports import Skipped
from earnest.encoding.demo import demo_corpus
from earnest.encoding.document import Document, Draft, Encoding
from earnest.encoding.local import LocalEncoder
from earnest.encoding.reading import read_document, read_documents

__all__ = ["Document", "Draft", "Encoding", "LocalEncoder", "Skipped", "demo_corpus", "read_document", "read_documents"]
