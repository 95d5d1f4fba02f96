"""A mirror in Chroma follows the store: a function of its log and its vectors, whatever happens to the mirror."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from earnest.core.filters import ALL
from earnest.embedders import HashingEmbedder
from earnest.errors import InvalidInput, NotAvailable
from earnest.memory import Memory
from earnest.recall import mirror
from earnest.recall.mirror import ChromaMirror, Position


class InMemory:
    """A collection as Chroma's client has it, in a dictionary; `fails_after` calls it raises."""

    def __init__(self) -> None:
        self.metadata: Mapping[str, Any] | None = None
        self.items: dict[str, tuple[list[float], str, dict[str, Any]]] = {}
        self.fails_after: int | None = None

    def _called(self) -> None:
        if self.fails_after is not None:
            self.fails_after -= 1
            if self.fails_after < 0:
                raise ConnectionError("Chroma is down")

    def upsert(self, ids: Any, embeddings: Any = None, metadatas: Any = None, documents: Any = None) -> None:
        self._called()
        assert len(set(ids)) == len(ids), "Chroma refuses the same id twice"
        for name, vector, fields, text in zip(ids, embeddings, metadatas, documents, strict=True):
            assert all(isinstance(value, str | int | float | bool) for value in fields.values())
            self.items[name] = (vector, text, fields)

    def delete(self, ids: Any = None) -> None:
        self._called()
        for name in ids:
            self.items.pop(name, None)

    def modify(self, name: Any = None, metadata: Any = None) -> None:
        self._called()
        self.metadata = metadata

    def count(self) -> int:
        return len(self.items)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", embedder=HashingEmbedder(64)) as memory:
        yield memory


def the_same(memory: Memory, collection: InMemory) -> bool:
    living = {entry.id: entry.text for entry in [*memory.list(scope=ALL), *memory.list(scope=ALL, kind="rule")]}
    return {name: text for name, (_, text, _) in collection.items.items()} == living


def test_it_brings_over_what_is_there_and_says_how_far_it_is(memory: Memory) -> None:
    collection = InMemory()
    memory.add_many([{"text": f"Note {n}.", "scope": "s", "tags": ["t"]} for n in range(5)])
    made = ChromaMirror(memory, collection)
    assert made.position == Position(0, 0) and made.behind == 11  # the store's birth, five entries, five vectors
    assert made.follow() == 5 and made.behind == 0 and the_same(memory, collection)
    assert made.position.vector == 5
    [(vector, text, fields), *_] = collection.items.values()
    assert len(vector) == 64 and text == "Note 0." and fields["scope"] == "s" and fields["tags"] == "t" and fields["standing"] == "active"
    assert made.follow() == 0


def test_it_is_the_store_s_equal_after_everything_that_happens(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "BATCH", 7)
    collection, chance = InMemory(), random.Random(5)
    made = ChromaMirror(memory, collection)
    for step in range(60):
        living = memory.list()
        what = chance.choice(("add", "add", "add many", "forget", "update", "edit", "restore", "tick"))
        if what == "add" or not living:
            memory.add(f"Note {step} of many.")
        elif what == "add many":
            memory.add_many([{"text": f"Note {step}.{n}"} for n in range(20)])
        elif what == "forget":
            memory.forget(chance.choice(living).id)
        elif what == "update":
            memory.update(chance.choice(living).id, text=f"Changed {step}.")
        elif what == "edit":
            memory.update(chance.choice(living).id, importance=0.9)
        elif what == "restore":
            for entry in memory.list(standing="dead")[:1]:
                if entry.heir is None:
                    memory.restore(entry.id)
        else:
            memory.tick()
        if step % 9 == 0:
            made.follow()
            assert made.behind == 0 and the_same(memory, collection)


def test_it_goes_on_where_it_was_cut_off(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "BATCH", 10)
    memory.add_many([{"text": f"Note {n}."} for n in range(95)])
    collection = InMemory()
    for calls in range(1, 16):
        collection.fails_after = calls % 4
        with pytest.raises(ConnectionError):
            ChromaMirror(memory, collection).follow()
        assert ChromaMirror(memory, collection).behind > 0
    collection.fails_after = None
    ChromaMirror(memory, collection).follow()
    assert the_same(memory, collection)


def test_a_lost_mirror_begins_again(memory: Memory) -> None:
    memory.add_many([{"text": f"Note {n}."} for n in range(9)])
    collection = InMemory()
    made = ChromaMirror(memory, collection)
    made.follow()
    collection.items.clear()
    assert made.position == Position(0, 0)
    assert made.follow() == 9 and the_same(memory, collection)


def test_entries_without_a_vector_come_when_they_have_one() -> None:
    with Memory.open(":memory:") as memory:
        memory.add("The cat sleeps.")
        collection = InMemory()
        made = ChromaMirror(memory, collection, model="hashing:64")
        made.follow()
        assert collection.items == {}
        memory.configure(embedder="hashing:64")
        from earnest.opening import given_embedding

        embedding = given_embedding(HashingEmbedder(64))
        assert embedding is not None
        memory._embedding = embedding
        memory.reembed()
        assert made.behind > 0
        made.follow()
        assert the_same(memory, collection)


def test_an_empty_memory_and_one_of_the_dead_alone_are_mirrored_too(memory: Memory) -> None:
    collection = InMemory()
    made = ChromaMirror(memory, collection)
    assert made.follow() == 0
    entry = memory.add("The cat sleeps.")
    made.follow()
    memory.forget(entry.id)
    made.follow()
    assert collection.items == {}


def test_a_collection_of_somebody_else_is_refused(memory: Memory) -> None:
    taken = InMemory()
    taken.items["x"] = ([1.0], "x", {})
    with pytest.raises(InvalidInput, match="no mirror"):
        ChromaMirror(memory, taken)
    other = InMemory()
    with Memory.open(":memory:", "somebody", embedder=HashingEmbedder(64)) as somebody:
        somebody.add("The cat sleeps.")
        ChromaMirror(somebody, other).follow()
    with pytest.raises(InvalidInput, match="another memory"):
        ChromaMirror(memory, other)
    with Memory.open(":memory:") as plain, pytest.raises(NotAvailable, match="embedder"):
        ChromaMirror(plain, InMemory())
