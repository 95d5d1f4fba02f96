"""What is read of files from elsewhere: bounded in size and depth, and never run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from earnest.core.moving import Left
from earnest.errors import InvalidInput, StoreError, shown

MAX_WHOLE: Final = 512 * 1024 * 1024
"""Bytes of a file that is one JSON value, which has to be read whole."""

HEAD: Final = 1 << 16
"""How much of a file tells what it is."""


def head_of(path: Path) -> bytes:
    """The beginning of a file.

    Raises:
        StoreError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError as error:
        raise StoreError(f"{shown(str(path))}: cannot be read ({error.strerror}); name a file that can") from error


def json_of(path: Path) -> Any:
    """The one JSON value that a file is.

    Raises:
        InvalidInput: It is none, is nested too deep, or is larger than `MAX_WHOLE`. StoreError: it cannot be read.
    """
    try:
        size = path.stat().st_size
        if size > MAX_WHOLE:
            raise InvalidInput("path", str(path), f"takes {size:,} bytes, at most {MAX_WHOLE:,} are read as one value; split it")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise StoreError(f"{shown(str(path))}: cannot be read ({error.strerror}); name a file that can") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("path", str(path), f"is not UTF-8 ({error.reason} at byte {error.start:,}); save it again as UTF-8") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("path", str(path), f"is no JSON that can be read ({error or 'nested too deep'}); was it cut off?") from None


def number(value: Any, usual: float, low: float, high: float) -> float:
    """A number inside its range; what is none is the usual one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return usual
    return float(min(max(value, low), high))


def words(value: Any) -> str:
    """A text, stripped; what is none is empty."""
    return value.strip() if isinstance(value, str) else ""


def named(value: Any) -> tuple[str, ...]:
    """The texts of a list of labels, or of one."""
    listed = value if isinstance(value, list | tuple) else [value]
    return tuple(dict.fromkeys(" ".join(item.split())[:500] for item in listed if isinstance(item, str) and item.strip()))[:100]


def left(reason: str, value: Any = "") -> Left:
    """Why something was left out, with the beginning of what it was."""
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return Left(reason, said[:200])
