"""Embedders of other people: any object with `embed` and `model_id`, and any callable. Whatever they raise becomes one typed error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from earnest.core import check
from earnest.errors import EarnestError, EmbedderFailed, InvalidInput


class ForeignEmbedder:
    """Wraps a callable `(list[str]) -> vectors`, or an object with `embed` and `model_id`.

    A callable is known by its name unless a `model_id` is given: give one that changes with the model.
    """

    def __init__(self, wrapped: Any, model_id: str | None = None) -> None:
        """Raises InvalidInput: It is neither, or its model has no name."""
        method = getattr(wrapped, "embed", None)
        self._embed: Callable[..., Any]
        if callable(method):
            self._embed = method
            name = model_id if model_id is not None else getattr(wrapped, "model_id", None)
            if name is None:
                raise InvalidInput("embedder", wrapped, "needs a `model_id` that names its model")
        elif callable(wrapped):
            self._embed = wrapped
            name = model_id or getattr(wrapped, "model_id", None) or _name_of(wrapped)
        else:
            raise InvalidInput("embedder", wrapped, "must be a spec, an object with `embed` and `model_id`, or a callable")
        self.model_id = check.label("embedder.model_id", name, limit=200)
        self.remote = bool(getattr(wrapped, "remote", False))
        batch, longest = getattr(wrapped, "batch", 64), getattr(wrapped, "longest", 8_000)
        self.batch = check.integer("embedder.batch", batch, low=1, high=10_000)
        self.longest = check.integer("embedder.longest", longest, low=1, high=check.MAX_TEXT)
        self.near = check.number("embedder.near", getattr(wrapped, "near", 0.0), low=0.0, high=1.0)
        query, reads = getattr(wrapped, "embed_query", None), getattr(wrapped, "reads", None)
        self._query: Callable[[str], Any] | None = query if callable(query) else None
        self._reads: Callable[[str], Any] | None = reads if callable(reads) else None

    def embed(self, texts: Sequence[str]) -> Any:
        """What the wrapped one gives, unchecked.

        Raises:
            EmbedderFailed: It raised something.
        """
        return self._asked(self._embed, [*texts])

    def embed_query(self, text: str) -> Any:
        """The vector of a question."""
        return self._asked(self._query, text) if self._query is not None else self.embed([text])[0]

    def reads(self, text: str) -> bool:
        """Whether the wrapped one says that it can read a text's script; yes if it says nothing."""
        return self._reads is None or bool(self._asked(self._reads, text))

    def _asked(self, call: Callable[..., Any], argument: Any) -> Any:
        try:
            return call(argument)
        except EarnestError:
            raise
        except Exception as error:
            # A connection that is down is down for every text; whatever else it is, it may be this text.
            down = isinstance(error, OSError)
            raise EmbedderFailed(f"embedder {self.model_id}: {type(error).__name__}: {error}", passing=down) from error


def _name_of(wrapped: Any) -> str:
    name = getattr(wrapped, "__qualname__", type(wrapped).__qualname__)
    return f"callable:{getattr(wrapped, '__module__', '')}.{name}"
