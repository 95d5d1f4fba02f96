"""What a language model replied, and what that cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from earnest.core import check
from earnest.errors import InvalidInput

MICRO_DOLLARS: Final = 1_000_000
"""Costs are kept as whole millionths of a US dollar."""

MOST_TOKENS: Final = 1_024
"""Tokens that a reply may take unless something else is asked for."""

KINDS: Final = ("ollama", "openai", "zhipu", "anthropic")
"""Kinds of models that a spec may name, as in `openai:gpt-4o-mini`."""

LIST_PRICES: Final[Mapping[str, tuple[float, float]]] = {
    "openai:gpt-4o-mini": (0.15, 0.60),
    "openai:gpt-4o": (2.50, 10.00),
    "zhipu:glm-4-flash": (0.0, 0.0),
    "anthropic:claude-haiku-4-5": (1.00, 5.00),
    "anthropic:claude-sonnet-4-5": (3.00, 15.00),
}
"""US dollars for a million tokens, read and written, as they were listed when this was written. Prices change: the setting `llm_price`
counts before them."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied. `tokens_in` and `tokens_out` are None where the model does not count them; they are estimated then.

    `whole` is False if the reply was cut off at its limit. `kept`: an earlier call's reply to the same prompt, which cost nothing now.
    """

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    whole: bool = True
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, read and written."""

    read: float
    written: float

    def micros(self, tokens_in: int, tokens_out: int) -> int:
        """What so many tokens cost, in whole millionths of a dollar, rounded up."""
        return -int(-(tokens_in * self.read + tokens_out * self.written) // 1)


def model_spec(value: Any) -> str:
    """A model's spec, checked for its form: what it names need not be there. "none" is no model.

    Raises:
        InvalidInput: Says which forms there are.
    """
    forms = f"must be none, or {', '.join(f'{kind}:MODEL' for kind in KINDS)}"
    if not isinstance(value, str) or len(value) > check.MAX_LABEL:
        raise InvalidInput("llm", value, forms)
    kind, _, name = value.strip().partition(":")
    if kind == "none" and not name:
        return kind
    if kind in KINDS and name.strip():
        return f"{kind}:{check.label('llm', name.strip(), limit=200)}"
    raise InvalidInput("llm", value, forms)


def price_text(value: Any) -> str:
    """A price as the setting keeps it: "READ/WRITTEN" in US dollars for a million tokens, or "" for the listed one.

    Raises:
        InvalidInput: Not of that form, or not a price.
    """
    forms = "must be two numbers such as 0.15/0.60: US dollars for a million tokens, read and written; or empty"
    if not isinstance(value, str):
        raise InvalidInput("llm_price", value, forms)
    if not value.strip():
        return ""
    parts = value.split("/")
    try:
        read, written = (check.number("llm_price", float(part), low=0.0, high=100_000.0) for part in parts)
    except ValueError:
        raise InvalidInput("llm_price", value, forms) from None
    return f"{read:g}/{written:g}"


def price_of(model_id: str, given: str = "", own: Any = None) -> Price | None:
    """What a model costs: as the setting says, as the model itself says, or as it is listed; None where nobody knows.

    What runs on one's own machine costs nothing.
    """
    if given:
        read, _, written = given.partition("/")
        return Price(float(read), float(written))
    if isinstance(own, tuple | list) and len(own) == 2:
        return Price(*(check.number("price", part, low=0.0, high=100_000.0) for part in own))
    if model_id.startswith("ollama:"):
        return Price(0.0, 0.0)
    listed = LIST_PRICES.get(model_id)
    return None if listed is None else Price(*listed)
