"""Regular expressions that are compiled when they are first used.

Compiling one takes a few tenths of a millisecond, and there are some hundred: together as long as opening a store and answering takes.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    """Stands in for a pattern. What is asked of it is kept, so that the second use costs what it does with the pattern itself."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        # `re` keeps what it compiled: threads that come here at once get one pattern, or two that are alike.
        made = getattr(re.compile(self._source, self._flags), name)
        self.__dict__[name] = made
        return made

    def __repr__(self) -> str:
        return f"lazily({self._source!r})"


def lazily(source: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern with the methods of a compiled one; a mistake in `source` shows when it is first used. O(1)."""
    return cast("re.Pattern[str]", _Late(source, flags))
