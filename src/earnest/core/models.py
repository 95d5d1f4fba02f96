"""What a language model replied, and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from earnest.core import check
from earnest.errors import InvalidInput

MICRO_DOLLARS: Final = 1_000_000
"""Costs are kept as whole millionths of a US dollar."""

MOST_TOKENS: Final = 1_024
"""Tokens that a reply may take unless something else is asked for."""

_MOST_PRICES: Final = 50

KINDS: Final = ("ollama", "openai", "zhipu", "anthropic")
"""Kinds of models that a spec may name, as in `openai:gpt-4o-mini`."""


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


def spec(what: str, value: Any, kinds: Sequence[str], bare: Sequence[str] = ("none",)) -> str:
    """What names a model, checked for its form: one of the words `bare`, or a kind and a name. What it names need not be there.

    Raises:
        InvalidInput: Calls it `what`, and says which forms there are.
    """
    if isinstance(value, str) and len(value) <= check.MAX_LABEL:
        kind, colon, name = value.strip().partition(":")
        if not colon and kind in bare:
            return kind
        if kind in kinds and name.strip():
            return f"{kind}:{check.label(what, name.strip(), limit=200)}"
    words = bare[0] if len(bare) == 1 else f"one of {', '.join(bare)}"
    raise InvalidInput(what, value, f"must be {words}, or {', '.join(f'{kind}:MODEL' for kind in kinds)}")


def model_spec(value: Any) -> str:
    """A language model's spec, such as `ollama:qwen3`; "none" is no model. Raises InvalidInput."""
    return spec("llm", value, KINDS)


def price_text(value: Any) -> str:
    """Prices as the setting keeps them: "READ/WRITTEN" in US dollars for a million tokens, "MODEL=READ/WRITTEN" for one model alone, or
    several of these, comma-separated; "" where nobody said any.

    Raises:
        InvalidInput: Not of that form, or not a price.
    """
    forms = (
        "must be two numbers such as 0.15/0.60: US dollars for a million tokens, read and written; openai:NAME=0.15/0.60 for one model "
        "alone; several, comma-separated; or empty"
    )
    if not isinstance(value, str) or len(value) > check.MAX_LABEL * _MOST_PRICES:
        raise InvalidInput("llm_price", value, forms)
    made: dict[str, str] = {}
    for part in value.split(",") if value.strip() else ():
        model, named, amounts = part.rpartition("=")
        try:
            read, written = (check.number("llm_price", float(one), low=0.0, high=100_000.0) for one in amounts.split("/"))
        except ValueError:
            raise InvalidInput("llm_price", value, forms) from None
        if named and (not model.strip() or "=" in model):
            raise InvalidInput("llm_price", value, forms)
        name = check.label("llm_price", model.strip(), limit=200) if named else ""
        if name in made or len(made) == _MOST_PRICES:
            raise InvalidInput("llm_price", value, f"prices a model twice, or more than {_MOST_PRICES} of them; {forms}")
        made[name] = f"{name}={read:g}/{written:g}" if name else f"{read:g}/{written:g}"
    return ",".join(made.values())


def price_of(model_id: str, given: str = "", own: Any = None) -> Price | None:
    """What a model costs: as the setting `llm_price` says of it by name, or of whatever is asked, or as the model itself says; None where
    nobody said. Prices of services change, and none are built in: a wrong one would be worse than none.

    What Ollama runs has no price for a token, unless the setting names it.
    """
    told: dict[str, str] = {}
    for part in given.split(",") if given else ():
        name, _, amounts = part.rpartition("=")
        told[name] = amounts
    local = model_id.startswith("ollama:")
    said = told.get(model_id, None if local else told.get(""))
    if said is not None:
        read, _, written = said.partition("/")
        return Price(float(read), float(written))
    if isinstance(own, tuple | list) and len(own) == 2:
        return Price(*(check.number("price", part, low=0.0, high=100_000.0) for part in own))
    return Price(0.0, 0.0) if local else None
