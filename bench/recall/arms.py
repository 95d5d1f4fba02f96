"""Who answers: Earnest in its modes, and others. Each takes a conversation in and ranks ids for a question."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Protocol

from earnest import Memory
from earnest.recall import KeywordRetriever

DEPTH: Final = 100
"""Turns that are asked for: enough for ten distinct sessions."""

_STOP: Final = frozenset(
    [
        *(
            "a",
            "about",
            "an",
            "and",
            "are",
            "as",
            "at",
            "be",
            "by",
            "can",
            "could",
            "did",
            "do",
            "does",
            "for",
            "from",
            "had",
            "has",
            "have",
        ),
        *("he", "her", "him", "his", "how", "i", "in", "is", "it", "its", "may", "me", "my", "of", "on", "or", "our", "she", "should"),
        *("that", "the", "their", "them", "they", "this", "to", "was", "we", "were", "what", "when", "where", "which", "who", "whom"),
        *("whose", "why", "will", "with", "would", "you", "your"),
    ]
)


class Arm(Protocol):
    """One way to rank."""

    name: str

    def take(self, ids: Sequence[str], entries: Sequence[dict[str, Any]]) -> None:
        """Remember these entries in place of all others; `ids` are their ids in the bench."""
        ...

    def rank(self, question: str) -> list[str]:
        """Up to `DEPTH` ids, best first."""
        ...


class Shared:
    """Memories that arms share, so that nothing is embedded once for each mode."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bool], tuple[tuple[str, ...], Memory]] = {}

    def memory(self, embedder: str, placed: bool, ids: Sequence[str], entries: Sequence[dict[str, Any]]) -> Memory:
        """A memory of exactly these entries."""
        known = self._kept.get((embedder, placed))
        if known is not None and known[0] == (*ids, str(len(entries)), entries[0]["text"]):
            return known[1]
        if known is not None:
            known[1].close()
        made = filled(Memory.open(":memory:", embedder=embedder), ids, entries)
        self._kept[embedder, placed] = ((*ids, str(len(entries)), entries[0]["text"]), made)
        return made


def filled(memory: Memory, ids: Sequence[str], entries: Sequence[dict[str, Any]]) -> Memory:
    """The memory with these entries in it."""
    memory.add_many([{**entry, "sources": [id]} for id, entry in zip(ids, entries, strict=True)])
    return memory


class EarnestArm:
    """A `Memory` in one mode. `placed=False` gives it turns that do not say that they are turns."""

    def __init__(self, name: str, mode: Any, shared: Shared, *, embedder: str = "none", placed: bool = True, plain: bool = False) -> None:
        self.name, self.placed, self._shared = name, placed, shared
        self._mode, self._embedder, self._plain = mode, embedder, plain
        self.memory: Memory | None = None

    def take(self, ids: Sequence[str], entries: Sequence[dict[str, Any]]) -> None:
        """See `Arm.take`."""
        if self._plain:
            self.memory = filled(Memory.open(":memory:", embedder="none", retriever=KeywordRetriever()), ids, entries)
        else:
            self.memory = self._shared.memory(self._embedder, self.placed, ids, entries)

    def rank(self, question: str) -> list[str]:
        """See `Arm.rank`."""
        assert self.memory is not None, "nothing was taken in"
        hits = self.memory.search(question, DEPTH, mode=self._mode)
        return list(dict.fromkeys(source for hit in hits for source in hit.entry.sources))


class Fts5Arm:
    """SQLite's FTS5 as it comes, with the Porter stemmer and the question's fillers left out: what a day's work gives."""

    name = "SQLite FTS5, Porter"
    placed = True

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._db: sqlite3.Connection | None = None

    def take(self, ids: Sequence[str], entries: Sequence[dict[str, Any]]) -> None:
        """See `Arm.take`."""
        self._ids = [*ids]
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE turns USING fts5 (text, tokenize = 'porter unicode61')")
        self._db.executemany("INSERT INTO turns (rowid, text) VALUES (?, ?)", [(n, entry["text"]) for n, entry in enumerate(entries)])

    def rank(self, question: str) -> list[str]:
        """See `Arm.rank`."""
        assert self._db is not None, "nothing was taken in"
        words = [word for word in re.findall(r"\w+", question.lower()) if word not in _STOP] or re.findall(r"\w+", question.lower())
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        found = self._db.execute("SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH))
        return [self._ids[number] for (number,) in found]


class DarwinArm:
    """darwin-memo 0.7.1 from PyPI with its own lexical retriever."""

    name = "darwin-memo 0.7.1, lexical"
    placed = True

    def __init__(self) -> None:
        self._ids: dict[int, str] = {}
        self._entries: list[Any] = []
        self._retriever: Any = None

    def take(self, ids: Sequence[str], entries: Sequence[dict[str, Any]]) -> None:
        """See `Arm.take`."""
        from darwin_memo.retrieval import LexicalRetriever
        from darwin_memo.types import MemoryEntry

        self._retriever = LexicalRetriever()
        self._entries = [MemoryEntry(question="", answer=entry["text"], sources=[id]) for id, entry in zip(ids, entries, strict=True)]
        self._ids = {id(made): name for made, name in zip(self._entries, ids, strict=True)}

    def rank(self, question: str) -> list[str]:
        """See `Arm.rank`."""
        ranked = sorted(self._retriever.rank(question, self._entries), key=lambda pair: -pair[1])
        return [self._ids[id(entry)] for entry, score in ranked[:DEPTH] if score > 0]


class ChromaArm:
    """Chroma, a vector database, given the same vectors as Earnest's `dense` arm."""

    name = "Chroma, same vectors"
    placed = True

    def __init__(self) -> None:
        from earnest.embedders import LocalEmbedder

        self._client: Any = import_module("chromadb").EphemeralClient()
        self._model = LocalEmbedder()
        self._collection: Any = None

    def take(self, ids: Sequence[str], entries: Sequence[dict[str, Any]]) -> None:
        """See `Arm.take`."""
        if self._collection is not None:
            self._client.delete_collection("turns")
        self._collection = self._client.create_collection("turns", metadata={"hnsw:space": "cosine"})
        texts = [entry["text"] for entry in entries]
        self._collection.add(ids=[*ids], documents=texts, embeddings=self._model.embed(texts).tolist())

    def rank(self, question: str) -> list[str]:
        """See `Arm.rank`."""
        found = self._collection.query(query_embeddings=self._model.embed([question]).tolist(), n_results=DEPTH)
        ranked: list[str] = found["ids"][0]
        return ranked


def arms(embedder: str) -> tuple[list[Callable[[], Any]], list[str]]:
    """The arms that can run here, made when they are needed, and what is missing for the others."""
    shared = Shared()
    chosen: list[Callable[[], Any]] = [
        Fts5Arm,
        lambda: EarnestArm("Earnest, words alone, no context", "auto", shared, plain=True),
        lambda: EarnestArm("Earnest, no turns told", "keyword", shared, placed=False),
        lambda: EarnestArm("Earnest, no embedder (default)", "auto", shared),
    ]
    missing = []
    if find_spec("darwin_memo"):
        chosen.insert(1, DarwinArm)
    else:
        missing.append("darwin-memo: pip install darwin-memo==0.7.1")
    if embedder != "none":
        chosen += [
            lambda: EarnestArm("Earnest, dense", "dense", shared, embedder=embedder),
            lambda: EarnestArm("Earnest, RRF", "rrf", shared, embedder=embedder),
            lambda: EarnestArm(f"Earnest, {embedder} (default)", "auto", shared, embedder=embedder),
        ]
    if embedder == "local" and find_spec("chromadb"):
        chosen.append(ChromaArm)
    else:
        missing.append("Chroma: pip install chromadb (large), with --embedder local")
    return chosen, missing
