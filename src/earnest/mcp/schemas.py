"""What tools take and give: JSON schemas that every common client accepts, and arguments read by them.

Several model families refuse unions, references, lists of types and null defaults in a tool's schema, some of them the whole session with
it. So an argument has one type, an optional one is left out of `required`, a field that has no value is left out of a result, and rules
that join several arguments are checked when the tool is called and said in words. What a client sends is read leniently where its meaning
is clear (a whole number in text, an omitted list of one), and refused by name where it is not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from earnest.errors import InvalidInput

Schema = dict[str, Any]

_UNSPELT: Final = ("nan", "inf", "infinity")


class Arg(NamedTuple):
    """One argument of a tool. `type` is `text`, `number`, `whole`, `flag`, `texts` (a list) or `object`.

    `verb` is the façade's own name for it, if that is another one; `default` is what the tool does without it, for the schema.
    """

    name: str
    type: str
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    default: Any = None
    verb: str = ""

    @property
    def target(self) -> str:
        """The façade's name for it."""
        return self.verb or self.name


_JSON_TYPES: Final = {"text": "string", "number": "number", "whole": "integer", "flag": "boolean", "texts": "array", "object": "object"}


def input_schema(args: Sequence[Arg]) -> Schema:
    """The schema of a tool's arguments."""
    made: Schema = {"type": "object", "properties": {arg.name: _property(arg) for arg in args}}
    required = [arg.name for arg in args if arg.required]
    return made | ({"required": required} if required else {})


def _property(arg: Arg) -> Schema:
    made: Schema = {"type": _JSON_TYPES[arg.type], "description": arg.description}
    if arg.type == "texts":
        made["items"] = {"type": "string"}
        if arg.choices:
            made["items"]["enum"] = list(arg.choices)
    elif arg.choices:
        made["enum"] = list(arg.choices)
    for name, bound in (("minimum", arg.low), ("maximum", arg.high)):
        if bound is not None:
            made[name] = int(bound) if arg.type == "whole" else bound
    if arg.default is not None:
        made["default"] = arg.default
    return made


# results


def text(description: str) -> Schema:
    """A text in a result."""
    return {"type": "string", "description": description}


def number(description: str) -> Schema:
    """A number in a result."""
    return {"type": "number", "description": description}


def whole(description: str) -> Schema:
    """A whole number in a result."""
    return {"type": "integer", "description": description}


def flag(description: str) -> Schema:
    """True or false in a result."""
    return {"type": "boolean", "description": description}


def many(items: Schema, description: str) -> Schema:
    """A list in a result."""
    return {"type": "array", "items": items, "description": description}


def counts(description: str) -> Schema:
    """Numbers by name, of which the names are not known beforehand."""
    return {"type": "object", "description": description}


def record(description: str, always: Mapping[str, Schema], sometimes: Mapping[str, Schema] | None = None) -> Schema:
    """An object in a result: the fields that it always has, and those that are left out where they have no value."""
    made: Schema = {"type": "object", "properties": {**always, **(sometimes or {})}, "required": list(always)}
    return made | ({"description": description} if description else {})


# reading what a client sent


def arguments(tool: str, args: Sequence[Arg], given: Any) -> dict[str, Any]:
    """The arguments of a call by the façade's names, each read and checked; those that were not given are left out.

    Raises:
        InvalidInput: Names the argument by the name that the tool has for it, and says what it may be.
    """
    if isinstance(given, str):
        given = _parsed(given)
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InvalidInput("arguments", given, f"must be an object that holds {_listed(args)}")
    known = {arg.name: arg for arg in args}
    strange = [name for name in given if name not in known]
    missing = [arg.name for arg in args if arg.required and given.get(arg.name) is None]
    if missing:
        hint = next((f" (is {name!r} meant for it?)" for name in strange if str(name).lower() == missing[0]), "")
        raise InvalidInput(missing[0], given.get(missing[0]), f"is required by {tool}{hint}; it takes {_listed(args)}")
    if strange:
        near = get_close_matches(str(strange[0]).lower(), list(known), 1)
        raise InvalidInput(
            str(strange[0]), given[strange[0]],
            f"is no argument of {tool}{f'; is {near[0]!r} meant?' if near else ''}; it takes {_listed(args) or 'none'}",
        )  # fmt: skip
    made: dict[str, Any] = {}
    for name, value in given.items():
        arg = known[name]
        if value is None or (arg.type != "text" and isinstance(value, str) and value.strip().lower() in ("null", "none", "undefined", "")):
            if arg.required:
                raise InvalidInput(name, value, f"is required by {tool}; it is {_described(arg)}")
            continue
        made[arg.target] = _READERS[arg.type](arg, value)
    return made


def _listed(args: Sequence[Arg]) -> str:
    return ", ".join(arg.name if arg.required else f"{arg.name}?" for arg in args)


def _described(arg: Arg) -> str:
    bounds = ""
    if arg.low is not None or arg.high is not None:
        shown = ["" if bound is None else f"{bound:g}" for bound in (arg.low, arg.high)]
        bounds = f" from {shown[0]} to {shown[1]}" if all(shown) else f" of at least {shown[0]}" if shown[0] else f" of at most {shown[1]}"
    words = {"text": "text", "number": "a number", "whole": "a whole number", "flag": "true or false", "texts": "a list of texts"}
    return (f"one of {', '.join(arg.choices)}" if arg.choices else words.get(arg.type, "a JSON object")) + bounds


def _refused(arg: Arg, value: Any) -> InvalidInput:
    return InvalidInput(arg.name, value, f"must be {_described(arg)}")


def _parsed(value: str) -> Any:
    try:
        return json.loads(value, parse_constant=lambda name: name)
    except (ValueError, RecursionError):
        return value


def _text(arg: Arg, value: Any) -> str:
    if not isinstance(value, str) or (arg.choices and value not in arg.choices):
        raise _refused(arg, value)
    return value


def _number(arg: Arg, value: Any) -> float:
    made = value
    if isinstance(value, str):
        word = value.strip().lower()
        if word.lstrip("+-") in _UNSPELT:
            raise InvalidInput(arg.name, value, "must be a finite number; a broken instrument measured nothing, so record nothing")
        made = _parsed(word.removeprefix("+"))
    if isinstance(made, bool) or not isinstance(made, int | float):
        raise _refused(arg, value)
    if isinstance(made, float) and not math.isfinite(made):
        raise InvalidInput(arg.name, value, "must be a finite number; a broken instrument measured nothing, so record nothing")
    if (arg.low is not None and made < arg.low) or (arg.high is not None and made > arg.high):
        raise _refused(arg, value)
    return made


def _whole(arg: Arg, value: Any) -> int:
    made = _number(arg._replace(low=None, high=None), value)
    if made != int(made) or abs(made) > 2**62:
        raise _refused(arg, value)
    if arg.low is not None and made < arg.low:
        raise _refused(arg, value)
    # A list that is asked for in a length that no answer may have is cut, and says so.
    return int(made if arg.high is None else min(made, arg.high))


def _flag(arg: Arg, value: Any) -> bool:
    made = {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(made, bool):
        raise _refused(arg, value)
    return made


def _texts(arg: Arg, value: Any) -> list[str]:
    made = value
    if isinstance(value, str):
        parsed = _parsed(value) if value.lstrip().startswith("[") else None
        made = parsed if isinstance(parsed, list) else [value]
    if not isinstance(made, list) or not all(isinstance(item, str) and (not arg.choices or item in arg.choices) for item in made):
        raise _refused(arg, value)
    return made


def _object(arg: Arg, value: Any) -> dict[str, Any]:
    made = _parsed(value) if isinstance(value, str) else value
    if not isinstance(made, dict):
        raise _refused(arg, value)
    return made


_READERS: Final = {"text": _text, "number": _number, "whole": _whole, "flag": _flag, "texts": _texts, "object": _object}
