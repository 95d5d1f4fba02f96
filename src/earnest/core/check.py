"""The door: every value that comes from outside is checked here, once, before anything is written."""

from __future__ import annotations

import json
import math
import os
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from earnest.errors import InvalidInput

MAX_TEXT: Final = 100_000
MAX_CUE: Final = 4_000
MAX_QUERY: Final = 100_000
MAX_LABEL: Final = 500
MAX_DETAIL: Final = 4_000
MAX_LIST: Final = 100
MAX_METADATA: Final = 65_536
MAX_DEPTH: Final = 16
MAX_LIMIT: Final = 100_000
MAX_DELTA: Final = sys.float_info.max

_T = TypeVar("_T", bound=str)


def cleaned(text: str) -> str:
    """Text that any UTF-8 consumer can take: NUL becomes a space, a lone surrogate the replacement character."""
    if "\x00" in text:
        text = text.replace("\x00", " ")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def spelt(path: str) -> str:
    """A file's name as text. Bytes that are no UTF-8, and control characters, are spelt with escapes, so that no two names are one."""
    try:
        plain = path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte, as names on Windows may hold
        plain = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(c.encode("unicode_escape").decode("ascii") if unicodedata.category(c) == "Cc" else c for c in plain)


def text(name: str, value: Any, *, limit: int = MAX_TEXT) -> str:
    """A text with at least one visible character, cleaned; else `InvalidInput`."""
    if not isinstance(value, str):
        raise InvalidInput(name, value, f"must be text, not {type(value).__name__}")
    if len(value) > limit:
        raise InvalidInput(name, value, f"is {len(value):,} characters long, at most {limit:,} are kept; split it or `encode` it")
    made = cleaned(value)
    if blank(made):
        raise InvalidInput(name, value, "is blank; give it some words")
    return made


def blank(value: str) -> bool:
    """Whether a text shows nothing: spaces, controls and invisible format characters only."""
    if value[:1].isalnum():
        return False
    return all(c.isspace() or unicodedata.category(c) in ("Cc", "Cf", "Zs") for c in value)


def optional_text(name: str, value: Any, *, limit: int) -> str | None:
    """As `text`, but None and blank text mean that there is none."""
    if value is None or (isinstance(value, str) and blank(value) and len(value) <= limit):
        return None
    return text(name, value, limit=limit)


def note(name: str, value: Any, *, limit: int = MAX_DETAIL) -> str:
    """A free remark, maybe empty, cleaned."""
    if not isinstance(value, str):
        raise InvalidInput(name, value, f"must be text, not {type(value).__name__}")
    if len(value) > limit:
        raise InvalidInput(name, value, f"is {len(value):,} characters long, at most {limit:,} are kept")
    return cleaned(value)


_shows_nothing = blank


def label(name: str, value: Any, *, limit: int = MAX_LABEL, blank: bool = False) -> str:
    """A name that is compared for equality (a scope, a source, a tag, a meter): NFC, no control characters, not blank."""
    if not isinstance(value, str):
        raise InvalidInput(name, value, f"must be text, not {type(value).__name__}")
    if len(value) > limit:
        raise InvalidInput(name, value, f"is {len(value):,} characters long, at most {limit} are allowed")
    plain = value.isascii() and value.isprintable()
    if plain and not value.isspace() and (value or blank):
        # Nearly every name: there is nothing to compose in it, and nothing hides.
        return value
    if not plain and any(unicodedata.category(c) in ("Cc", "Cs") for c in value):
        raise InvalidInput(name, value, "must not contain control characters or broken Unicode")
    made = unicodedata.normalize("NFC", value)
    if _shows_nothing(made) and not (blank and made == ""):
        raise InvalidInput(name, value, "is blank; give it a name")
    return made


def labels(name: str, value: Any) -> tuple[str, ...]:
    """A list of names without repeats, in order. A single text counts as a list of one."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(name, value, f"must be a list of texts, not {type(value).__name__}")
    made = tuple(dict.fromkeys(label(name, item) for item in value))
    if len(made) > MAX_LIST:
        raise InvalidInput(name, value, f"has {len(made)} items, at most {MAX_LIST} are kept")
    return made


def path(name: str, value: Any, what: str = "the name of a file") -> Path:
    """A path that the file system can be asked for; `what` says what it must be."""
    said = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(said, str) or not said.strip() or "\x00" in said:
        raise InvalidInput(name, value, f"must be {what}")
    try:
        os.fsencode(said)
    except UnicodeEncodeError:
        raise InvalidInput(name, value, "is no name that a file can have: it is broken Unicode") from None
    return Path(said)


def items(name: str, value: Any) -> list[Any]:
    """The items of a list, tuple or other iterable of things; a single text or mapping is none."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(name, value, f"must be a list, not {type(value).__name__}")
    return [*value]


def number(name: str, value: Any, *, low: float, high: float) -> float:
    """A finite number in a range, both ends included. Booleans and numerals in text are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(name, value, f"must be a number, not {type(value).__name__}")
    if isinstance(value, int) and abs(value) > 2**1000:
        raise InvalidInput(name, value, f"must lie between {low:g} and {high:g}")
    made = float(value)
    if not math.isfinite(made):
        way_out = (
            "a broken instrument measured nothing, so record nothing" if name == "delta" else f"give a number from {low:g} to {high:g}"
        )
        raise InvalidInput(name, value, f"must be finite; {way_out}")
    if not low <= made <= high:
        raise InvalidInput(name, value, f"must lie between {low:g} and {high:g}")
    return made


def delta(name: str, value: Any) -> float:
    """A measured change: finite, of either sign, in its meter's own unit."""
    return number(name, value, low=-MAX_DELTA, high=MAX_DELTA)


def scale(name: str, value: Any) -> float:
    """What one unit of credit takes: positive and finite."""
    made = number(name, value, low=0.0, high=MAX_DELTA)
    if made < 1e-300:
        raise InvalidInput(name, value, "must be greater than zero: it is the size of an ordinary effect in the meter's unit")
    return made


def integer(name: str, value: Any, *, low: int, high: int) -> int:
    """A whole number in a range, both ends included."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(name, value, f"must be a whole number, not {type(value).__name__}")
    if not low <= value <= high:
        raise InvalidInput(name, value, f"must lie between {low} and {high}")
    return value


def choice(name: str, value: Any, allowed: Sequence[_T]) -> _T:
    """One of a few words."""
    for word in allowed:
        if isinstance(value, str) and value == word:
            return word
    raise InvalidInput(name, value, f"must be one of {', '.join(allowed)}")


def flag(name: str, value: Any) -> bool:
    """True or False, nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise InvalidInput(name, value, "must be True or False")
    return value


def moment(name: str, value: Any) -> datetime | None:
    """A time, as UTC. A text is read as ISO 8601; a time without a zone is taken for UTC."""
    if value is None:
        return None
    made = value
    if isinstance(value, str):
        try:
            made = datetime.fromisoformat(value.strip())
        except ValueError:
            raise InvalidInput(name, value, "must be a time in ISO 8601, such as 2026-01-31T09:30:00+00:00") from None
    if not isinstance(made, datetime):
        raise InvalidInput(name, value, f"must be a datetime or an ISO 8601 text, not {type(value).__name__}")
    if made.tzinfo is None:
        made = made.replace(tzinfo=UTC)
    try:
        return made.astimezone(UTC)
    except (OverflowError, ValueError):
        raise InvalidInput(name, value, "is outside the years 1 to 9999 in UTC") from None


def metadata(name: str, value: Any) -> dict[str, Any]:
    """A JSON object: text keys; text, finite numbers, booleans, null, lists and objects inside. Comes back equal."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(name, value, f"must be a mapping, not {type(value).__name__}")
    made = _json(name, value, 0)
    assert isinstance(made, dict)
    size = len(json.dumps(made, ensure_ascii=False).encode("utf-8"))
    if size > MAX_METADATA:
        raise InvalidInput(name, value, f"takes {size:,} bytes as JSON, at most {MAX_METADATA:,} are kept")
    return made


def _json(name: str, value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise InvalidInput(name, value, f"is nested deeper than {MAX_DEPTH} levels")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, int):
        if abs(value) > 2**63 - 1:
            raise InvalidInput(name, value, "whole numbers must fit in 64 bits; write larger ones as text")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(name, value, "numbers must be finite: strict JSON has no NaN or Infinity")
        return value
    if isinstance(value, Mapping):
        made = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(name, key, "keys must be text")
            made[cleaned(key)] = _json(name, item, depth + 1)
        return made
    if isinstance(value, list | tuple):
        return [_json(name, item, depth + 1) for item in value]
    raise InvalidInput(name, value, f"{type(value).__name__} has no form in JSON")
