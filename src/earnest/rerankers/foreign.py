"""Rerankers of other people: any object with `rerank`, and any callable. Whatever they raise becomes one typed error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from earnest.core import check
from earnest.errors import EarnestError, InvalidInput, ModelFailed


class ForeignReranker:
    """Wraps an object with `rerank(query, texts) -> scores`, or a callable of that form; implements `earnest.protocols.Reranker`."""

    def __init__(self, wrapped: Any) -> None:
        """Raises InvalidInput: It is neither."""
        # A class is none yet: it has to be made.
        made = None if isinstance(wrapped, type) else wrapped
        method = getattr(made, "rerank", None)
        self._call: Callable[..., Any]
        if callable(method):
            self._call = method
        elif callable(made):
            self._call = made
        else:
            forms = "must be a spec such as ce:MODEL, an object with rerank(query, texts) -> scores, or a callable"
            raise InvalidInput("reranker", wrapped, forms)
        named = getattr(wrapped, "model_id", None) or getattr(wrapped, "__qualname__", None)
        self.model_id = check.label("reranker.model_id", named if isinstance(named, str) else type(wrapped).__qualname__, limit=200)

    def rerank(self, query: str, texts: Sequence[str]) -> Any:
        """What the wrapped one gives, unchecked.

        Raises:
            ModelFailed: It raised something.
        """
        try:
            return self._call(query, [*texts])
        except EarnestError:
            raise
        except Exception as error:
            # A connection that is down is down for the next question too; whatever else it is, it may be these texts.
            down = isinstance(error, OSError)
            raise ModelFailed(f"reranker {self.model_id}: {type(error).__name__}: {str(error)[:200]}", passing=down) from error
