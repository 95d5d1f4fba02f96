"""A mirror of a memory in a Chroma collection, for tools that read Chroma. The store stays the truth; the mirror only follows it.

What the mirror has to take in is a function of the store: the log names every entry that something happened to, and vectors are
numbered in the order in which they were written. So the mirror needs no list of its own of what is to be done, only its position in
both, which is kept in the collection itself. A mirror that is lost, or whose collection was emptied, begins again at the beginning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from earnest.core import check
from earnest.core.vectors import decoded, need_numpy
from earnest.errors import InvalidInput, NotAvailable
from earnest.protocols import Reading, Store

BATCH: Final = 256
"""Entries that are brought over at a time."""

_POSITION: Final = "earnest_position"
_MODEL: Final = "earnest_model"
_AGENT: Final = "earnest_agent"


class Collection(Protocol):
    """The part of a `chromadb` collection that the mirror uses."""

    metadata: Mapping[str, Any] | None

    def upsert(self, ids: Any, embeddings: Any = None, metadatas: Any = None, documents: Any = None) -> Any:
        """Write these, in place of those of the same ids."""
        ...

    def delete(self, ids: Any = None) -> Any:
        """Take these away; ids that are not there are passed over."""
        ...

    def modify(self, name: Any = None, metadata: Any = None) -> Any:
        """Replace the metadata."""
        ...

    def count(self) -> int:
        """How many there are."""
        ...


@dataclass(frozen=True, slots=True)
class Position:
    """How far a mirror has come: the last event and the last vector that it took in."""

    event: int
    vector: int


class ChromaMirror:
    """Keeps a collection in step with the living entries of a memory that have a vector of its model.

    `follow` brings over what changed since it was last called, in order; `position` and `behind` say how far it is. It may be
    interrupted anywhere: positions are written after what they stand for, and bringing an entry over twice changes nothing.
    """

    def __init__(self, memory: Any, collection: Collection, *, model: str | None = None) -> None:
        """`memory` is an open `Memory`; `collection` is what a Chroma client's `get_or_create_collection(name)` gives.

        `model` is the embedder's `model_id`; the memory's own unless given.

        Raises:
            NotAvailable: The memory has no embedder and none was named, or numpy is missing.
            InvalidInput: The collection mirrors another agent or model, or holds something else.
        """
        need_numpy("a mirror in Chroma", extra="chroma")
        self._store: Store = memory._store
        self._collection = collection
        named = model if model is not None else memory.stats().vectors.model
        if not named:
            raise NotAvailable("a mirror needs vectors, and this memory has no embedder; name the `model` whose vectors are to be mirrored")
        self.model = check.label("model", named, limit=200)
        known = dict(collection.metadata or {})
        for key, value in ((_AGENT, self._store.agent), (_MODEL, self.model)):
            if known.get(key, value) != value:
                raise InvalidInput(
                    "collection", known.get(key), f"mirrors another memory: its {key.removeprefix('earnest_')} is not {value!r}"
                )
        if _POSITION not in known:
            if collection.count():
                raise InvalidInput("collection", collection.count(), "holds something that is no mirror; name an empty collection")
            # Claimed before anything is written, so that what a first batch leaves behind is known for what it is.
            collection.modify(metadata=self._metadata(Position(0, 0)))

    @property
    def position(self) -> Position:
        """How far the mirror has come. An emptied collection has come nowhere."""
        said = str(dict(self._collection.metadata or {}).get(_POSITION, "0/0"))
        event, _, vector = said.partition("/")
        if not (event.isdecimal() and vector.isdecimal()):
            raise InvalidInput("collection", said, f"its {_POSITION} is no position; make the collection anew")
        if not self._collection.count():
            return Position(0, 0)
        return Position(int(event), int(vector))

    @property
    def behind(self) -> int:
        """How many events and vectors it has not taken in yet. 0: it is the memory's equal. O(1)."""
        at = self.position
        with self._store.read() as reading:
            head = self._head(reading)
        return max(0, head.event - at.event) + max(0, head.vector - at.vector)

    @staticmethod
    def _head(reading: Reading) -> Position:
        last = reading.events(entry=None, kind=None, after=0, limit=1, newest=True)
        return Position(last[0].seq if last else 0, reading.counter("vectors"))

    def follow(self) -> int:
        """Brings over everything that was committed by now; returns how many entries were written or taken away.

        Raises:
            StoreError: The store cannot be read. What Chroma's client raises passes through; the position stays where the last batch ended.
        """
        done, at = 0, self.position
        while True:
            with self._store.read() as reading:
                head = self._head(reading)
                if head.event <= at.event and head.vector <= at.vector:
                    return done
                changed = reading.changed(self.model, at.event, at.vector, BATCH)
                batch = [*self._written(reading, changed.rows)]
            done += self._brought(batch)
            at = Position(changed.event, changed.vector)
            self._collection.modify(metadata=self._metadata(at))

    def _written(self, reading: Reading, rows: Sequence[int]) -> Iterator[tuple[str, list[float] | None, str, dict[str, Any]]]:
        """Each entry as the mirror is to have it; without a vector it is to have none."""
        codes = reading.codes(self.model, rows)
        for stored in reading.entries(rows):
            entry = stored.entry
            code = codes.get(stored.row) if entry.alive else None
            fields: dict[str, Any] = {
                name: getattr(entry, name) for name in ("scope", "kind", "standing", "importance", "confidence", "version")
            }
            fields |= {"sources": "\n".join(entry.sources), "tags": "\n".join(entry.tags)}
            if entry.created is not None:
                fields["created"] = entry.created.isoformat()
            yield entry.id, None if code is None else decoded([code])[0].tolist(), entry.text, fields

    def _brought(self, batch: Sequence[tuple[str, list[float] | None, str, dict[str, Any]]]) -> int:
        gone = [name for name, vector, _, _ in batch if vector is None]
        here = [item for item in batch if item[1] is not None]
        if gone:
            self._collection.delete(ids=gone)
        if here:
            ids, embeddings, documents, metadatas = (list(part) for part in zip(*here, strict=True))
            self._collection.upsert(ids=ids, embeddings=embeddings, documents=documents, metadatas=metadatas)
        return len(batch)

    def _metadata(self, position: Position) -> dict[str, Any]:
        # Chroma refuses to be told its distance function again.
        known = {key: value for key, value in dict(self._collection.metadata or {}).items() if not key.startswith("hnsw:")}
        return {**known, _AGENT: self._store.agent, _MODEL: self.model, _POSITION: f"{position.event}/{position.vector}"}
