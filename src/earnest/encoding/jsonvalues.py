"""Values out of JSON, one at a time: a list, one value a line, or values glued together, from text of any length.

An export of years of conversations is one list of a gigabyte; only one of its items is in memory at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from earnest.core.patterns import lazily

MAX_VALUE: Final = 100_000_000
"""The longest single value that is read, in characters."""
_NEAR: Final = 12
_SPACE: Final = lazily(r"[\s,\ufeff\x1e]*")
_GOES_ON: Final = lazily(r"(?:\.|[eE][+-]?)?")
"""What may stand behind a number at the end of what was read, if more of the number is to come."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A place where JSON was expected and something else stands. `text` is its beginning."""

    line: int
    text: str
    reason: str


def json_values(chunks: Iterable[str]) -> Iterator[Any | Broken]:
    """The values in a stream of text. The items of a list at the top are values of their own.

    What is no JSON is given as `Broken`: up to the end of its line between values, and for all the rest inside a list. NaN and the
    infinities, which are no JSON, are None. Linear in the length of the text.
    """
    return _Values(chunks).read()


class _Values:
    def __init__(self, chunks: Iterable[str]) -> None:
        self._chunks = iter(chunks)
        self._buffer = ""
        self._at = 0
        self._lines = 1
        self._ended = False
        self._decoder = json.JSONDecoder(parse_constant=lambda name: None)

    def read(self) -> Iterator[Any | Broken]:
        inside = False
        while self._skip_space():
            sign = self._buffer[self._at]
            if not inside and sign == "[":
                inside = True
                self._move(self._at + 1)
                continue
            if inside and sign == "]":
                inside = False
                self._move(self._at + 1)
                continue
            value = self._value()
            yield value
            if isinstance(value, Broken):
                if inside:
                    return
                self._to_next_line()
        if inside:
            yield Broken(self._lines, "", "the list is cut off: it has no end")

    def _more(self, wanted: int) -> bool:
        """Read on until so many characters lie ahead, or to the end; whether anything was gained."""
        parts, size = [], len(self._buffer) - self._at
        before = size
        while size < wanted and not self._ended:
            chunk = next(self._chunks, None)
            if chunk is None:
                self._ended = True
            else:
                parts.append(chunk)
                size += len(chunk)
        if parts:
            self._buffer = self._buffer[self._at :] + "".join(parts)
            self._at = 0
        return size > before

    def _move(self, to: int) -> None:
        self._lines += self._buffer.count("\n", self._at, to)
        self._at = to

    def _skip_space(self) -> bool:
        """Go to the next value; whether there is one."""
        while True:
            found = _SPACE.match(self._buffer, self._at)
            self._move(found.end() if found else self._at)
            if self._at < len(self._buffer):
                return True
            if not self._more(1):
                return False

    def _value(self) -> Any | Broken:
        while True:
            ahead = len(self._buffer) - self._at
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._at)
                if not _GOES_ON.fullmatch(self._buffer, end) or not self._more(ahead + 1):
                    self._move(end if end <= len(self._buffer) else len(self._buffer))
                    return value
            except json.JSONDecodeError as problem:
                cut = problem.msg.startswith("Unterminated string") or problem.pos >= len(self._buffer) - _NEAR
                if ahead > MAX_VALUE:
                    return self._broken(f"a value of more than {MAX_VALUE:,} characters")
                if not (cut and self._more(2 * ahead + 1)):
                    return self._broken(f"not JSON: {problem.msg}")
            except (ValueError, RecursionError) as problem:
                return self._broken("nested too deep" if isinstance(problem, RecursionError) else f"not JSON: {problem}")

    def _broken(self, reason: str) -> Broken:
        return Broken(self._lines, self._buffer[self._at : self._at + 200].split("\n", 1)[0], reason[:200])

    def _to_next_line(self) -> None:
        while True:
            end = self._buffer.find("\n", self._at)
            if end >= 0:
                self._move(end + 1)
                return
            self._at = len(self._buffer)
            if not self._more(1):
                return
