"""Reading what a language model replied, with suspicion: one reader for every place that asks a model for something.

Models wrap JSON in fences and prose, think aloud before it, stop in the middle, use the wrong quotes, repeat keys, encode twice, name
things that they were not shown. Whatever can be read for certain is read; the rest is left out and counted, and nothing here raises.
Pure; the cost is linear in the reply, of which a bounded part is looked at.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from earnest.core.analysis import folded
from earnest.core.cutting import line
from earnest.core.patterns import lazily

READ: Final = 400_000
"""Characters of a reply that are looked at."""
DEPTH: Final = 32
"""Levels of lists and objects that are followed."""
_TRIES: Final = 60
_TWICE: Final = 3
_LITERAL: Final = 50_000
_MENDS: Final = 3

_THOUGHT_WORDS: Final = "think|thinking|thought|thoughts|reasoning|reflection|analysis"
_THOUGHT: Final = lazily(rf"<({_THOUGHT_WORDS})(?:\s[^<>]*)?>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED: Final = lazily(rf"\A.*</(?:{_THOUGHT_WORDS})\s*>", re.DOTALL | re.IGNORECASE)
_TURNED: Final = lazily(r"◁think▷.*?(?:◁/think▷|\Z)|<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|\Z)", re.DOTALL)
_OPENS: Final = lazily(r"[\[{]")
_FENCE: Final = lazily(r"```[\w+-]*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_QUOTED: Final = lazily(r'"(?:[^"\\]|\\.)*(?:"|\Z)', re.DOTALL)
_LAST_COMMA: Final = lazily(r",(\s*[\]}])")
_SMART: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'"})
_LITERAL_WORDS: Final = lazily(r"\b(true|false|null|NaN|Infinity)\b")
_AS_PYTHON: Final = {"true": "True", "false": "False", "null": "None", "NaN": "None", "Infinity": "None"}


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a list that a model was asked for. `found` says whether there was a list at all: an empty one is an answer.

    `why` says what was wrong where `found` is False, in words that may be told to the model, or to people.
    """

    values: tuple[Any, ...]
    found: bool
    why: str = ""


def without_thoughts(reply: Any) -> str:
    """The reply without what the model thought aloud: also where the thought was not closed, or its opening mark was cut off."""
    if not isinstance(reply, str):
        return ""
    text = reply[:READ].lstrip("\ufeff")
    text = _TURNED.sub("", _THOUGHT.sub("", text))
    return _UNOPENED.sub("", text).strip()


def values(reply: Any) -> Iterator[Any]:
    """The JSON lists and objects in a reply, from left to right, outermost first.

    What stands in a fence comes before what stands in prose. Inside a text, blanks other than a space may stand as they are; a number
    that is none (NaN) is None; of repeated keys the last counts. Commas too many, single and curly quotes are put right where the rest
    is whole. A list that was cut off in the middle gives the items that were complete, one by one.
    """
    text = without_thoughts(reply)
    for _ in range(_TWICE):
        inner = _as_text(text)
        if inner is None:
            break
        text = without_thoughts(inner)
    fenced = [found[1] for found in _FENCE.finditer(text) if _OPENS.search(found[1])]
    for part in (*fenced, text) if fenced else (text,):
        made = False
        for value in _in(part):
            made = True
            yield value
        if made:
            return


def items(reply: Any, names: Sequence[str] = (), fields: Collection[str] = ()) -> Items:
    """The list that a model was asked for.

    Args:
        reply: What it replied.
        names: Keys under which the list may stand in an object: `{"facts": [...]}`.
        fields: Keys by which a single object is known to be an item itself.
    """
    if not without_thoughts(reply):
        empty = not isinstance(reply, str) or not reply.strip()
        return Items((), False, "the reply is empty" if empty else "the reply holds nothing but thoughts")
    loose: list[Any] = []
    seen = nothing = False
    for value in values(reply):
        seen = True
        inside = _list_in(value, names, fields)
        if inside and any(isinstance(item, str | Mapping) for item in inside):
            return Items(tuple(inside), True)
        if isinstance(value, Mapping) and not fields_of(value).isdisjoint(fields):
            loose.append(value)
        # A list of bare numbers is a citation in the prose around, and says nothing.
        nothing = nothing or inside == [] or value == {}
    if loose or nothing:
        return Items(tuple(loose), True)
    return Items((), False, "the reply holds no list of what was asked for" if seen else "the reply holds no JSON")


def cut_off(reply: Any) -> bool:
    """Whether a list in a reply ends before it is closed: what would have come after it is missing."""
    text = without_thoughts(reply)
    opened = _OPENS.search(text)
    if opened is None or text.rstrip("` \n").endswith("]" if opened[0] == "[" else "}"):
        return False
    bare = _QUOTED.sub('""', text)
    return bare.count("[") > bare.count("]") or bare.count("{") > bare.count("}")


def fields_of(value: Mapping[Any, Any]) -> set[str]:
    """The keys of an object that are text."""
    return {key for key in value if isinstance(key, str)}


def text_of(value: Any, names: Sequence[str], *, limit: int = 2_000) -> str | None:
    """A text from an item of a reply: the item itself, or what it has under the first of these names that holds one.

    None where there is none: it is blank, longer than `limit` characters, or of another type.
    """
    if isinstance(value, Mapping):
        value = next((value[name] for name in names if isinstance(value.get(name), str) and value[name].strip()), None)
    if not isinstance(value, str):
        return None
    made = clean(value)
    return made if made and len(made) <= limit else None


def texts(reply: Any, list_names: Sequence[str], text_names: Sequence[str], *, limit: int = 2_000) -> tuple[list[str], int, str]:
    """The texts of a list that a model was asked for, each once; how many items were none; and what was wrong if there was no list.

    Two texts that differ in case and blanks alone are one.
    """
    found = items(reply, list_names, text_names)
    made: dict[str, str] = {}
    strange = 0
    for item in found.values:
        text = text_of(item, text_names, limit=limit)
        if text is None:
            strange += 1
        else:
            made.setdefault(folded(text), text)
    return [*made.values()], strange, found.why


def whole(value: Any, low: int, high: int) -> int | None:
    """A whole number from a reply, which may have written it as text, between `low` and `high`; None if it is none."""
    if isinstance(value, str) and re.fullmatch(r"\s*\[?#?\d{1,9}\]?\s*", value):
        value = int(re.sub(r"\D", "", value))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if low <= value <= high else None


def wholes(value: Any, low: int, high: int) -> list[int]:
    """The whole numbers of a list, or of a single value, that lie between `low` and `high`, each once, in order."""
    if isinstance(value, str):
        value = re.findall(r"\d{1,9}", value)
    made = [whole(item, low, high) for item in (value if isinstance(value, list) else [value])]
    return list(dict.fromkeys(number for number in made if number is not None))


def clean(text: str) -> str:
    """A model's text on one line, without control and direction characters, and in whole Unicode."""
    return line(text.encode("utf-8", "replace").decode("utf-8"))


def _list_in(value: Any, names: Sequence[str], fields: Collection[str], depth: int = 0) -> list[Any] | None:
    """The list of a value: itself, or under one of these names, perhaps in an envelope around it."""
    if isinstance(value, list):
        flat = value[0] if len(value) == 1 and isinstance(value[0], list) else value
        return list(flat)
    if not isinstance(value, Mapping):
        return None
    for name in names:
        if isinstance(value.get(name), list):
            return list(value[name])
    if depth < 2 and fields_of(value).isdisjoint(fields):
        inner = [part for part in value.values() if isinstance(part, Mapping | list)]
        if len(inner) == 1 and isinstance(inner[0], Mapping):
            made = _list_in(inner[0], names, fields, depth + 1)
            if made is not None:
                return made
            if not fields_of(inner[0]).isdisjoint(fields):
                return [inner[0]]
    return None


def _as_text(text: str) -> str | None:
    """The text that a reply encodes as a JSON text; None if it is none."""
    if not text.startswith('"'):
        return None
    try:
        made = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return made if isinstance(made, str) else None


def _in(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(strict=False, parse_constant=lambda name: None)
    at, mends = 0, _MENDS
    for _ in range(_TRIES):
        found = _OPENS.search(text, at)
        if found is None:
            return
        try:
            value, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            mended = _mended(text[found.start() :]) if mends else None
            if mended is not None and _shallow(mended):
                yield mended
                return
            at, mends = found.start() + 1, max(0, mends - 1)
            continue
        if _shallow(value):
            yield value
        at = end


def _mended(text: str) -> Any:
    """A list or object with commas too many, or single or curly quotes; None if that does not make it whole."""
    end = max(text.rfind("]"), text.rfind("}"))
    if end < 0 or end > _LITERAL:
        return None
    part = text[: end + 1]
    for made in (_LAST_COMMA.sub(r"\1", part), _LAST_COMMA.sub(r"\1", part.translate(_SMART))):
        try:
            return json.loads(made, strict=False, parse_constant=lambda name: None)
        except (ValueError, RecursionError):
            continue
    try:
        # Evaluates literals alone; nothing is called or looked up.
        value = ast.literal_eval(_LITERAL_WORDS.sub(lambda found: _AS_PYTHON[found[0]], part.translate(_SMART)))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return value if isinstance(value, list | dict) else None


def _shallow(value: Any, depth: int = 0) -> bool:
    """Whether a value is nested no deeper than is followed."""
    if depth > DEPTH:
        return False
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(_shallow(part, depth + 1) for part in inner)
