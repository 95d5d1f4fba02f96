"""What can be replaced: a store, a clock, a source of chance, an encoder, a retriever. Structural: no class needs to inherit.

The words that the contract rests on: *atomic*, all of it or nothing, also after a crash; *durable*, on the disk when the block
has been left; *snapshot*, reads see one moment of the store however long they take; *ordered*, in the order of the named key.
`earnest.testing.store_conformance` is this contract as a test suite.
"""

from earnest.protocols.models import LLM, Embedder, Encoder, Reranker, SecondMeter
from earnest.protocols.reading import Reading
from earnest.protocols.rows import Changed, Damage, Mentions, StoredDocument, StoredModel
from earnest.protocols.store import Store
from earnest.protocols.system import Author, Clock, Rng
from earnest.protocols.writing import Writing

__all__ = [
    "LLM",
    "Author",
    "Changed",
    "Clock",
    "Damage",
    "Embedder",
    "Encoder",
    "Mentions",
    "Reading",
    "Reranker",
    "Rng",
    "SecondMeter",
    "Store",
    "StoredDocument",
    "StoredModel",
    "Writing",
]
