"""Words of a command line as values, each refused with a sentence that says what it may be."""

from __future__ import annotations

import json
import math
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from typing import Any, Final

GUARD: Final = "\0"
"""Put before a word that looks like a negative number, so that argparse does not take it for an option: no argument of a process
can contain it, and `text` takes it off again."""

_NEGATIVE = re.compile(r"-(?:[0-9.]|inf|nan)[-+0-9.,_eEa-zA-Z]*\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")
_WHOLE = re.compile(r"[-+]?[0-9]{1,20}\Z")
_LONGEST: Final = 40
_UNSPELT: Final = ("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity", "nan", "+nan", "-nan")


def guarded(words: list[str]) -> list[str]:
    """The words of a command line, with those that look like negative numbers marked as values."""
    return [GUARD + word if _NEGATIVE.match(word) else word for word in words]


def text(word: str) -> str:
    """A word as it was typed."""
    return word.removeprefix(GUARD)


def _shown(word: str) -> str:
    return repr(word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…")


def number(word: str) -> float:
    """A finite number in plain spelling. A whole one stays whole, so that it is shown as it was typed."""
    said = text(word)
    if said.strip().lower() in _UNSPELT:
        raise ArgumentTypeError(
            f"{_shown(said)} is not finite; give a number (and record nothing where an instrument is broken: it measured nothing)"
        )
    if not _NUMBER.match(said):
        raise ArgumentTypeError(f"{_shown(said)} is not a number; write it plainly, such as 4096, -2.5 or 1e-3")
    made = float(said)
    if not math.isfinite(made):
        raise ArgumentTypeError(f"{_shown(said)} is too large to be a number here; at most about 1e300")
    return int(said) if _WHOLE.match(said) else made


def whole(word: str) -> int:
    """A whole number in plain spelling."""
    said = text(word)
    if not _WHOLE.match(said):
        raise ArgumentTypeError(f"{_shown(said)} is not a whole number; write it plainly, such as 5")
    return int(said)


def json_object(word: str) -> dict[str, Any]:
    """A JSON object."""
    try:
        made = json.loads(text(word), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ArgumentTypeError(f"{_shown(text(word))} is not JSON ({error})") from None
    if not isinstance(made, dict):
        raise ArgumentTypeError(f'{_shown(text(word))} is not a JSON object, such as {{"ticket": 7}}')
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in strict JSON")


TYPES: Final[Mapping[str, Callable[[str], Any]]] = {"text": text, "number": number, "whole": whole, "json": json_object}
"""The kinds of value that the tables of commands name."""
