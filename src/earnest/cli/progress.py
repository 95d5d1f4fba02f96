"""How far long work has come: on standard error, and only where somebody watches."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Final, Self, TextIO

_BAR: Final = 24


class Progress:
    """A line that is written over itself while work goes on, and wiped away at its end. Silent unless on a terminal."""

    def __init__(self, label: str, *, stream: TextIO | None = None, quiet: bool = False) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._live = not quiet and self._stream.isatty()
        self._label = label
        self._widest = 0

    def __call__(self, done: int, of: int) -> None:
        """Show that so many of so many are done."""
        if not self._live:
            return
        full = _BAR * done // of if of else _BAR
        text = f"{self._label} [{'#' * full}{'.' * (_BAR - full)}] {done:,}/{of:,}"
        self._widest = max(self._widest, len(text))
        self._stream.write(f"\r{text.ljust(self._widest)}")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live and self._widest:
            self._stream.write("\r" + " " * self._widest + "\r")
            self._stream.flush()
