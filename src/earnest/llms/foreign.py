"""Models of other people: any object with `complete`, and any callable. Whatever they raise becomes one typed error."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from earnest.core import check
from earnest.core.models import Reply
from earnest.errors import EarnestError, InvalidInput, ModelFailed


class ForeignLLM:
    """Wraps an object with `complete(prompt) -> str`, or a callable of that form; implements `earnest.protocols.LLM`.

    Of the options that Earnest gives, the wrapped one gets those that its signature names, or all if it takes any.
    """

    def __init__(self, wrapped: Any) -> None:
        """Raises InvalidInput: It is neither."""
        # A class is none yet: it has to be made.
        made = None if isinstance(wrapped, type) else wrapped
        replies, completes = getattr(made, "reply", None), getattr(made, "complete", None)
        self._call: Callable[..., Any]
        if callable(replies) and callable(completes):
            self._call = replies
        elif callable(completes):
            self._call = completes
        elif callable(made):
            self._call = made
        else:
            raise InvalidInput("llm", wrapped, "must be a spec such as ollama:qwen3, an object with complete(prompt) -> str, or a callable")
        named = getattr(wrapped, "model_id", None) or getattr(wrapped, "__qualname__", type(wrapped).__qualname__)
        self.model_id = check.label("llm.model_id", named if isinstance(named, str) else type(wrapped).__qualname__, limit=200)
        self.price = getattr(wrapped, "price", None)
        self._takes = _options(self._call)

    def complete(self, prompt: str, **options: Any) -> str:
        """What the wrapped one replies; see `reply`."""
        return self.reply(prompt, **options).text

    def reply(self, prompt: str, **options: Any) -> Reply:
        """What the wrapped one replies, with its tokens if it counts them.

        Raises:
            ModelFailed: It raised something, or its reply is no text.
        """
        passed = options if self._takes is None else {name: value for name, value in options.items() if name in self._takes}
        try:
            made = self._call(prompt, **passed)
        except EarnestError:
            raise
        except Exception as error:
            raise ModelFailed(f"model {self.model_id}: {type(error).__name__}: {str(error)[:200]}") from error
        if isinstance(made, Reply):
            return made
        if made is None or isinstance(made, str):
            return Reply(made or "")
        raise ModelFailed(f"model {self.model_id}: its reply is {type(made).__name__}, not text", passing=False)


def _options(call: Callable[..., Any]) -> frozenset[str] | None:
    """The options that a callable names; None if it takes any."""
    try:
        known = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known):
        return None
    return frozenset(one.name for one in known if one.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD))
