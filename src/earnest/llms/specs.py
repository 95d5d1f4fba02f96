"""From a spec such as `ollama:qwen3` to the model that it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from earnest.core.models import model_spec
from earnest.errors import NotAvailable
from earnest.llms.foreign import ForeignLLM
from earnest.llms.services import AnthropicLLM, OllamaLLM, OpenAILLM, ServiceLLM, ZhipuLLM
from earnest.protocols import LLM

_NAMED: Final[dict[str, Callable[..., ServiceLLM]]] = {
    "ollama": OllamaLLM,
    "openai": OpenAILLM,
    "zhipu": ZhipuLLM,
    "anthropic": AnthropicLLM,
}


def made(spec: str, *, chance: Callable[[], float] | None = None) -> LLM:
    """The model of a spec. Nobody is asked yet. `chance` spreads the waits between tries.

    Raises:
        InvalidInput: Not a spec. NotAvailable: It is "none", or a key is missing; the message names it.
    """
    kind, _, name = model_spec(spec).partition(":")
    if kind == "none":
        raise NotAvailable("no model is set: give llm= a spec such as ollama:qwen3, or set one with `earnest config llm SPEC`")
    return _NAMED[kind](name, chance=chance)


def model(given: Any, *, chance: Callable[[], float] | None = None) -> LLM:
    """The model that a caller gave: a spec, an object with `complete`, or a callable.

    Raises:
        InvalidInput, NotAvailable: As `made`.
    """
    return made(given, chance=chance) if isinstance(given, str) else given if isinstance(given, ServiceLLM) else ForeignLLM(given)
