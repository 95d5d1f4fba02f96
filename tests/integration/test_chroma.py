"""The mirror in Chroma, with the real package where it is installed: on disk, read by a client of its own, and opened again."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from earnest import ALL, Memory
from earnest.embedders import HashingEmbedder
from earnest.errors import InvalidInput
from earnest.recall.mirror import ChromaMirror

if find_spec("chromadb") is not None:

    def collection_in(folder: Path, name: str = "memory") -> Any:
        client = import_module("chromadb").PersistentClient(str(folder))
        return client.get_or_create_collection(name, metadata={"hnsw:space": "cosine"}, embedding_function=None)

    def said(collection: Any) -> dict[str, str]:
        held = collection.get(include=["documents"])
        return dict(zip(held["ids"], held["documents"], strict=True))

    @pytest.mark.full
    @pytest.mark.filterwarnings("default")
    def test_a_real_collection_follows_the_store_and_finds_what_the_store_finds(tmp_path: Path) -> None:
        embedder = HashingEmbedder(64)
        things = ("zebra", "wine", "rain", "bicycle")
        with Memory.open(tmp_path / "memory.db", embedder=embedder) as memory:
            made = memory.add_many([{"text": f"note {n} about {things[n % 4]}", "tags": ["t"]} for n in range(300)])
            collection = collection_in(tmp_path / "chroma")
            mirror = ChromaMirror(memory, collection)
            assert mirror.follow() >= 300 and mirror.behind == 0
            memory.forget(made[0].id, reason="moved on")
            memory.update(made[1].id, text="note about the cellar")
            memory.erase(entry=made[2].id)
            assert mirror.behind > 0 and mirror.follow() and mirror.behind == 0
            living = {entry.id: entry.text for entry in memory.list(scope=ALL, limit=1_000)}
            assert said(collection) == living and len(living) == 298
            asked = "the cellar with the note"
            near = collection.query(query_embeddings=embedder.embed([asked]).tolist(), n_results=3)["ids"][0]
            assert near[0] == memory.search(asked, 1, mode="dense")[0].entry.id
            position = mirror.position
        with Memory.open(tmp_path / "memory.db", embedder=embedder) as memory:
            collection = collection_in(tmp_path / "chroma")
            again = ChromaMirror(memory, collection)
            assert again.position == position and again.behind == 0
            collection.delete(ids=[*said(collection)])
            assert again.behind > 0 and again.follow() and said(collection) == living, "an emptied one begins again"
            other = collection_in(tmp_path / "chroma", "somebody")
            other.add(ids=["1"], embeddings=[[1.0] * 64], documents=["somebody else's"])
            with pytest.raises(InvalidInput, match="no mirror"):
                ChromaMirror(memory, other)
