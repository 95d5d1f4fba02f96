"""From a spec such as `ce:FOLDER` or `cohere:rerank-v3.5` to the reranker that it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from earnest.core.settings import reranker_spec
from earnest.protocols import Reranker
from earnest.rerankers.crossencoder import CrossEncoderReranker
from earnest.rerankers.foreign import ForeignReranker
from earnest.rerankers.services import CohereReranker, JinaReranker, VoyageReranker

_NAMED: Final[dict[str, Callable[[str], Reranker]]] = {
    "ce": CrossEncoderReranker,
    "cohere": CohereReranker,
    "voyage": VoyageReranker,
    "jina": JinaReranker,
}


def made(spec: str) -> Reranker | None:
    """The reranker of a spec; None for `none`. Nothing is loaded and nobody is asked yet.

    Raises:
        InvalidInput: Not a spec. NotAvailable: An extra or a key is missing; the message names it.
    """
    kind, _, name = reranker_spec(spec).partition(":")
    return None if kind == "none" else _NAMED[kind](name)


def reranker(given: Any) -> Reranker | None:
    """The reranker that a caller gave: a spec, an object with `rerank`, or a callable.

    Raises:
        InvalidInput, NotAvailable: As `made`.
    """
    return made(given) if isinstance(given, str) else ForeignReranker(given)
