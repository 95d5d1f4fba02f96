"""Services that rerank: Cohere, Voyage, Jina, and every server that speaks Jina's interface.

Keys come from the environment, are looked up when a driver is made, and are neither kept in a store nor shown.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from earnest import wire
from earnest.core import check
from earnest.errors import ModelFailed
from earnest.wire import Cancelled, key_for, key_from

# Somebody waits for the answer, which is there without a reranker too.
PATIENCE: Final = 8.0
"""Seconds that all tries and waits of one question may take."""
TRIES: Final = 2
"""How often a question is asked at most."""


class Endpoint(wire.Endpoint):
    """One URL that takes JSON and gives JSON, with the errors of a model."""

    later = "the order without it stands"

    def failure(self, reason: str, *, passing: bool = True) -> ModelFailed:
        """See `earnest.wire.Endpoint.failure`."""
        return ModelFailed(reason, passing=passing)


class ServiceReranker:
    """What all services share: bounds, patience, and reading what comes back. Not for use by itself."""

    longest = 4_000
    """Characters of a text that are sent at most, and of a question."""
    most = 100
    """Texts that are sent at most; the others get no score better than the worst of these."""

    def __init__(self, kind: str, name: str, endpoint: Endpoint, *, patience: float = PATIENCE) -> None:
        self.name, self._endpoint = check.label("reranker", name, limit=200), endpoint
        self.model_id = f"{kind}:{self.name}"
        self._patience = check.number("patience", patience, low=0.01, high=600.0)
        self._closed = threading.Event()

    def close(self) -> None:
        """Leave a question that is under way to itself, at once, and ask no other. Idempotent."""
        self._closed.set()

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, in order, on the service's own scale.

        Raises:
            ModelFailed: The service did not answer in time, refused, or answered something else; or this reranker was closed.
        """
        if not texts:
            return []
        sent = [text[: self.longest] for text in texts[: self.most]]
        try:
            reply = self._endpoint.ask(
                self._request(query[: self.longest], sent), tries=TRIES, patience=self._patience, cancel=self._closed
            )
        except Cancelled:
            raise ModelFailed(f"{self._endpoint.name}: the question was left, since the memory was closed") from None
        try:
            made = _by_index(self._results(reply), len(sent))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ModelFailed(
                f"{self._endpoint.name}: the reply has another form than expected ({type(error).__name__}: {error})", passing=False
            ) from error
        return made + [min(made)] * (len(texts) - len(sent))

    def _request(self, query: str, texts: Sequence[str]) -> Mapping[str, Any]:
        return {"model": self.name, "query": query, "documents": [*texts], "top_n": len(texts)}

    def _results(self, reply: Any) -> Any:
        return reply["results"]


def _by_index(items: Any, count: int) -> list[float]:
    """Scores in the order of the texts, whatever order they came in. A missing one, or one too many, is an error."""
    made: list[float] = [math.nan] * count
    for item in items:
        index, score = item["index"], item["relevance_score"]
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
            raise ValueError(f"index {index!r} for {count} texts")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise ValueError(f"the score of text {index} is {str(score)[:40]!r}")
        if not math.isnan(made[index]):
            raise ValueError(f"index {index} came twice")
        made[index] = float(score)
    left = sum(map(math.isnan, made))
    if left:
        raise ValueError(f"{left} of {count} texts have no score")
    return made


class CohereReranker(ServiceReranker):
    """Cohere's rerank interface, such as `cohere:rerank-v3.5`. The key is CO_API_KEY or COHERE_API_KEY."""

    def __init__(
        self,
        name: str = "rerank-v3.5",
        *,
        base_url: str = "https://api.cohere.com/v2",
        timeout: float = PATIENCE,
        patience: float = PATIENCE,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`timeout` is for one try, `patience` for all of them, in seconds.

        Raises:
            NotAvailable: No key in the environment. InvalidInput: A value out of range.
        """
        key = key_from(("CO_API_KEY", "COHERE_API_KEY"), "cohere")
        endpoint = Endpoint("cohere", f"{base_url.rstrip('/')}/rerank", key=key, timeout=timeout, pause=pause)
        super().__init__("cohere", name, endpoint, patience=patience)


class VoyageReranker(ServiceReranker):
    """Voyage's rerank interface, such as `voyage:rerank-2.5`. The key is VOYAGE_API_KEY."""

    def __init__(
        self,
        name: str = "rerank-2.5",
        *,
        base_url: str = "https://api.voyageai.com/v1",
        timeout: float = PATIENCE,
        patience: float = PATIENCE,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`timeout` is for one try, `patience` for all of them, in seconds.

        Raises:
            NotAvailable: No key in the environment. InvalidInput: A value out of range.
        """
        key = key_from(("VOYAGE_API_KEY",), "voyage")
        endpoint = Endpoint("voyage", f"{base_url.rstrip('/')}/rerank", key=key, timeout=timeout, pause=pause)
        super().__init__("voyage", name, endpoint, patience=patience)

    def _request(self, query: str, texts: Sequence[str]) -> Mapping[str, Any]:
        return {"model": self.name, "query": query, "documents": [*texts], "truncation": True}

    def _results(self, reply: Any) -> Any:
        return reply["data"]


class JinaReranker(ServiceReranker):
    """Jina's rerank interface, such as `jina:jina-reranker-v2-base-multilingual`, and every server that speaks it.

    JINA_BASE_URL names such a server: one on this machine needs no key. The key is JINA_API_KEY.
    """

    def __init__(
        self,
        name: str = "jina-reranker-v2-base-multilingual",
        *,
        base_url: str | None = None,
        timeout: float = PATIENCE,
        patience: float = PATIENCE,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`base_url` is where `/rerank` lies; `timeout` is for one try, `patience` for all of them, in seconds.

        Raises:
            NotAvailable: No key, and the server is not on this machine. InvalidInput: A value out of range.
        """
        base = base_url or os.environ.get("JINA_BASE_URL") or "https://api.jina.ai/v1"
        key = key_for(base, ("JINA_API_KEY",), "jina")
        endpoint = Endpoint("jina", f"{base.rstrip('/')}/rerank", key=key, timeout=timeout, pause=pause)
        super().__init__("jina", name, endpoint, patience=patience)

    def _request(self, query: str, texts: Sequence[str]) -> Mapping[str, Any]:
        return {**super()._request(query, texts), "return_documents": False}
