"""What `doctor` says about recall by meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from earnest.core.reports import Finding, Vectors
from earnest.core.vectors import UNREAD
from earnest.protocols import Reading

# Entries in a script that the model does not read, from which it is worth a word.
MIN_UNREAD: Final = 5


def embedding_findings(reading: Reading, vectors: Vectors, without: Sequence[str]) -> Iterator[Finding]:
    """Findings about vectors: missing ones, a failing or absent embedder, another model's vectors, scripts that it does not read."""
    others = ", ".join(f"{count:,} of {name}" for name, count in vectors.others.items())
    if not vectors.model:
        yield from _without_embedder(vectors, others)
        return
    if vectors.missing and vectors.usable == 0 and others:
        yield Finding(
            "embedder_changed",
            "warning",
            "The store's vectors were made by another embedder: recall goes by words alone until they are made anew.",
            f"0 of {vectors.missing:,} living entries have a vector of {vectors.model}; kept unused: {others}",
            "`earnest reembed` makes them; or go back to the embedder that made the others: `earnest config embedder SPEC`",
        )
    elif vectors.missing:
        named = f", such as {', '.join(without)}" if without else ""
        yield Finding(
            "vectors_missing",
            "warning",
            "Some entries have no vector yet: they are found by their words alone.",
            f"{vectors.missing:,} of {vectors.missing + vectors.usable:,} living entries lack a vector of {vectors.model}{named}",
            "`earnest reembed` makes them, and says of which it cannot",
        )
    if vectors.problem:
        yield Finding(
            "embedder_failing",
            "warning",
            "The embedder failed when it was last asked: nothing is lost, but recall goes by words where a vector is missing.",
            vectors.problem,
            "mend what the message names, then `earnest reembed`",
        )
    unread = reading.counter(UNREAD)
    if unread >= MIN_UNREAD:
        yield Finding(
            "script_not_read",
            "info",
            "The embedder does not read the script of some entries: questions in that script are answered by words alone.",
            f"{unread:,} entries were written in a script that {vectors.model} does not read",
            "where meaning matters in that language, take an embedder that knows it: docs/embedders.md names some",
        )


def _without_embedder(vectors: Vectors, others: str) -> Iterator[Finding]:
    if vectors.problem:
        yield Finding(
            "embedder_absent",
            "warning",
            "The store's embedder cannot be made here: recall goes by words alone, and new entries wait for their vectors.",
            vectors.problem,
            "mend what the message names; a process that has the embedder then makes the missing vectors: `earnest reembed`",
        )
    elif others:
        yield Finding(
            "vectors_unused",
            "info",
            "The store has vectors, but no embedder is set: recall goes by words alone.",
            f"kept unused: {others}",
            "`earnest config embedder SPEC`, with the embedder that made them",
        )
