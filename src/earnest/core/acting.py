"""Who is at work: one open memory may serve many callers, each of whom answers for what was done in their name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

from earnest.core import check


class Caller(NamedTuple):
    """In whose name a verb is carried out, and how the request came in."""

    actor: str
    channel: str


_CALLER: Final[ContextVar[Caller | None]] = ContextVar("earnest_caller", default=None)


@contextmanager
def acting(actor: str, channel: str) -> Iterator[None]:
    """Within the block, verbs are recorded with this actor and channel, whatever the memory was opened with.

    It holds for this thread or task alone, and for every memory that it calls. The channel decides what an unbound meter's word weighs.

    Raises:
        InvalidInput: A name that cannot be used.
    """
    token = _CALLER.set(Caller(check.label("actor", actor, limit=200), check.label("channel", channel, limit=50)))
    try:
        yield
    finally:
        _CALLER.reset(token)


def caller() -> Caller | None:
    """Who was named by the innermost `acting` block around this call; None outside of any."""
    return _CALLER.get()
