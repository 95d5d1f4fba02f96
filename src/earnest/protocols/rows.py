"""What a store hands over beside the plain values of `core`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that `check` found wrong. `repairable` parts are rebuilt from the entries by a repair."""

    code: str
    text: str
    repairable: bool = False


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What a store knows of an embedder whose vectors it has, or which failed here.

    `living` counts the living entries that have a vector of it. `problem` says what went wrong when it was last asked (`failed`, in
    microseconds since 1970), and is None if nothing did. `holder` fills in missing vectors until the time `held`.
    """

    name: str
    dimension: int | None
    living: int
    problem: str | None
    failed: int | None
    holder: str | None
    held: int | None


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What a store knows of a document that was encoded from a file: to see later whether the file changed, or went away.

    `path` is where it was ("" if it was no file), `digest` what it held, `encoder` which rules its pieces were made by.
    """

    source: str
    scope: str
    path: str
    digest: bytes
    encoder: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A stretch of what happened: rows of the entries that it is about, and the last event and vector that it covers."""

    rows: tuple[int, ...]
    event: int
    vector: int


@dataclass(frozen=True, slots=True)
class Mentions:
    """Where a text stands beside the entries: rows of tickets, events (of remarks), sources and documents; keys; names of scopes; links."""

    tickets: tuple[int, ...]
    notes: tuple[int, ...]
    sources: tuple[int, ...]
    documents: tuple[int, ...]
    keys: tuple[str, ...]
    scopes: tuple[str, ...]
    links: tuple[str, ...] = ()
