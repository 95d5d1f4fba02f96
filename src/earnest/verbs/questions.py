"""A question with how it is asked, checked at the door."""

from __future__ import annotations

from typing import Any, Literal, get_args

from earnest.core import check
from earnest.core.vectors import Asked
from earnest.errors import InvalidInput

Mode = Literal["auto", "hybrid", "rrf", "keyword", "dense"]

_MAX_K = 1_000


class Asking:
    """A question with how it is asked, checked."""

    def __init__(self, query: Any, k: Any, half_life: Any, mode: Any) -> None:
        self.mode: Mode = check.choice("mode", mode, get_args(Mode))
        self.k = check.integer("k", k, low=1, high=_MAX_K)
        self.half_life = None if half_life is None else check.number("half_life", half_life, low=0.001, high=1e12)
        self.text = self.kept = asked(query)
        self.asked: Asked | None = None
        """The question as a vector, where recall goes by meaning too."""
        self.past = False
        """Whether entries that were superseded since the time that is asked about (`as_of`) are found too."""
        self.weigh: tuple[str, ...] | None = None
        """What relevance is multiplied by; None: as the setting `weigh` says."""
        self.links: bool | None = None
        """Whether hits lend to what they are linked with; None: as the setting `spread` says."""
        self.note = ""
        """Why recall goes by words alone, or not by every entry's meaning, where that was to be expected."""


def asked(query: Any) -> str:
    """A question as text: None and blank ask nothing."""
    if query is None:
        return ""
    if not isinstance(query, str):
        raise InvalidInput("query", query, f"must be text, not {type(query).__name__}")
    if len(query) > check.MAX_QUERY:
        raise InvalidInput("query", query, f"is {len(query):,} characters long, at most {check.MAX_QUERY:,} are read")
    made = check.cleaned(query)
    return "" if check.blank(made) else made
