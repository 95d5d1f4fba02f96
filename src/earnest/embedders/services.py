"""Services that embed: OpenAI's interface and everything that speaks it, Zhipu, Ollama, Cohere, Voyage.

Keys come from the environment, are looked up when a driver is made, and are neither kept in a store nor shown. Drivers are
`remote`: no write waits for them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from earnest.core import check
from earnest.embedders.http import PATIENCE, TRIES, Endpoint
from earnest.errors import EmbedderFailed
from earnest.wire import key_for, key_from, ollama_at

Purpose = Literal["text", "question"]

# A question is asked while somebody waits.
_QUESTION_PATIENCE: Final = 8.0
_QUESTION_TRIES: Final = 2


class ServiceEmbedder:
    """What all services share: batches, patience, and reading what comes back. Not for use by itself."""

    remote = True
    longest = 6_000
    """Characters of a text that are sent; the rest is not embedded."""

    def __init__(self, kind: str, name: str, endpoint: Endpoint, *, batch: int, dimensions: int | None = None) -> None:
        self.name, self._endpoint = check.label("model", name, limit=200), endpoint
        self.batch = check.integer("batch", batch, low=1, high=2_048)
        self.dimensions = None if dimensions is None else check.integer("dimensions", dimensions, low=1, high=16_384)
        self.model_id = f"{kind}:{self.name}" + ("" if dimensions is None else f"@{dimensions}")

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """A vector for each text, as numbers in lists; None for one that the service left out.

        Raises:
            EmbedderFailed: The service did not answer, refused, or answered something else.
        """
        made: list[Any] = []
        for start in range(0, len(texts), self.batch):
            made += self._some(texts[start : start + self.batch], "text", TRIES, PATIENCE)
        return made

    def embed_query(self, text: str) -> Any:
        """The vector of a question, with less patience: somebody waits for the answer."""
        return self._some([text], "question", _QUESTION_TRIES, _QUESTION_PATIENCE)[0]

    def _some(self, texts: Sequence[str], purpose: Purpose, tries: int, patience: float) -> list[Any]:
        cut = [text[: self.longest] for text in texts]
        reply = self._endpoint.ask(self._request(cut, purpose), tries=tries, patience=patience)
        try:
            return self._read(reply, len(cut))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise EmbedderFailed(
                f"{self._endpoint.name}: the reply has another form than expected ({type(error).__name__}: {error})"
            ) from error

    def _request(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, Any]:
        made = {"model": self.name, "input": [*texts]}
        return made if self.dimensions is None else {**made, "dimensions": self.dimensions}

    def _read(self, reply: Any, count: int) -> list[Any]:
        return _by_index(reply["data"], count)


def _by_index(items: Any, count: int) -> list[Any]:
    """Vectors in the order of the texts, whatever order they came in. A missing one is None; one too many is an error."""
    made: list[Any] = [None] * count
    for place, item in enumerate(items):
        index = item.get("index", place)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
            raise ValueError(f"index {index!r} for {count} texts")
        if made[index] is not None:
            raise ValueError(f"index {index} came twice")
        made[index] = item["embedding"]
    return made


class OpenAIEmbedder(ServiceEmbedder):
    """OpenAI's embeddings interface, and every server that speaks it: `text-embedding-3-small` has 1,536 dimensions."""

    def __init__(
        self,
        name: str = "text-embedding-3-small",
        *,
        base_url: str | None = None,
        dimensions: int | None = None,
        timeout: float = 30.0,
        batch: int = 64,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`base_url` is where `/embeddings` lies; OPENAI_BASE_URL or OpenAI itself unless given. The key is OPENAI_API_KEY.

        Raises:
            NotAvailable: No key, and the server is not on this machine. InvalidInput: A value out of range.
        """
        base = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        key = key_for(base, ("OPENAI_API_KEY",), "openai")
        endpoint = Endpoint("openai", f"{base.rstrip('/')}/embeddings", key=key, timeout=timeout, pause=pause)
        super().__init__("openai", name, endpoint, batch=batch, dimensions=dimensions)

    def _request(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, Any]:
        return {**super()._request(texts, purpose), "encoding_format": "float"}


class ZhipuEmbedder(ServiceEmbedder):
    """Zhipu's `embedding-3`: 2,048 dimensions, Chinese and English. The key is ZHIPUAI_API_KEY or ZAI_API_KEY."""

    def __init__(
        self,
        name: str = "embedding-3",
        *,
        base_url: str = "https://open.bigmodel.cn/api/paas/v4",
        dimensions: int | None = None,
        timeout: float = 30.0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises NotAvailable: No key in the environment."""
        key = key_from(("ZHIPUAI_API_KEY", "ZAI_API_KEY"), "zhipu")
        endpoint = Endpoint("zhipu", f"{base_url.rstrip('/')}/embeddings", key=key, timeout=timeout, pause=pause)
        super().__init__("zhipu", name, endpoint, batch=64, dimensions=dimensions)


class OllamaEmbedder(ServiceEmbedder):
    """A model that Ollama runs, on this machine unless OLLAMA_HOST names another."""

    def __init__(
        self, name: str, *, base_url: str | None = None, timeout: float = 60.0, pause: Callable[[float], None] = time.sleep
    ) -> None:
        """Raises InvalidInput: No address."""
        endpoint = Endpoint("ollama", f"{ollama_at(base_url)}/api/embed", timeout=timeout, pause=pause)
        super().__init__("ollama", name, endpoint, batch=32)

    def _request(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, Any]:
        return {**super()._request(texts, purpose), "truncate": True}

    def _read(self, reply: Any, count: int) -> list[Any]:
        return _in_order(reply["embeddings"], count)


class CohereEmbedder(ServiceEmbedder):
    """Cohere's embed interface. The key is CO_API_KEY or COHERE_API_KEY."""

    def __init__(
        self, name: str, *, base_url: str = "https://api.cohere.com/v2", timeout: float = 30.0, pause: Callable[[float], None] = time.sleep
    ) -> None:
        """Raises NotAvailable: No key in the environment."""
        key = key_from(("CO_API_KEY", "COHERE_API_KEY"), "cohere")
        endpoint = Endpoint("cohere", f"{base_url.rstrip('/')}/embed", key=key, timeout=timeout, pause=pause)
        super().__init__("cohere", name, endpoint, batch=96)

    def _request(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, Any]:
        kind = "search_document" if purpose == "text" else "search_query"
        return {"model": self.name, "texts": [*texts], "input_type": kind, "embedding_types": ["float"]}

    def _read(self, reply: Any, count: int) -> list[Any]:
        return _in_order(reply["embeddings"]["float"], count)


class VoyageEmbedder(ServiceEmbedder):
    """Voyage's embeddings interface. The key is VOYAGE_API_KEY."""

    def __init__(
        self,
        name: str,
        *,
        base_url: str = "https://api.voyageai.com/v1",
        timeout: float = 30.0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises NotAvailable: No key in the environment."""
        key = key_from(("VOYAGE_API_KEY",), "voyage")
        endpoint = Endpoint("voyage", f"{base_url.rstrip('/')}/embeddings", key=key, timeout=timeout, pause=pause)
        super().__init__("voyage", name, endpoint, batch=128)

    def _request(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, Any]:
        return {**super()._request(texts, purpose), "input_type": "document" if purpose == "text" else "query"}


def _in_order(vectors: Any, count: int) -> list[Any]:
    made = [*vectors]
    if len(made) != count:
        raise ValueError(f"{len(made)} vectors for {count} texts")
    return made
