"""When a clock that several processes share is due: each stretch of time has a name, and the economy ticks once for each name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from earnest.core import check
from earnest.errors import InvalidInput

NEVER: Final = "never"
DAY: Final = "day"
SHORTEST: Final = 10
LONGEST: Final = 31_536_000

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def tick_every(value: Any) -> str:
    """The setting of that name, checked: `never`, `day`, or a whole number of seconds, which may be given as a number.

    Raises:
        InvalidInput: Says which forms there are.
    """
    said = value.strip() if isinstance(value, str) else value
    if said in (NEVER, DAY):
        return str(said)
    if isinstance(said, str) and said.isascii() and said.isdecimal() and len(said) < 12:
        said = int(said)
    if isinstance(said, bool) or not isinstance(said, int):
        raise InvalidInput("tick_every", value, f"must be {NEVER}, {DAY}, or a whole number of seconds")
    return str(check.integer("tick_every", said, low=SHORTEST, high=LONGEST))


def slot_of(every: str, now: datetime) -> str | None:
    """The name of the stretch of time that a moment lies in, by the setting `tick_every`; None if the clock is moved by hand alone.

    Stretches are counted from 1970 in UTC, so that every process names them alike: a day is 2026-01-31, the hour in it that begins
    at nine 2026-01-31T09:00:00Z.
    """
    if every == NEVER:
        return None
    moment = now.astimezone(UTC)
    if every == DAY:
        return f"{moment:%Y-%m-%d}"
    step = timedelta(seconds=int(every))
    begun = _EPOCH + (moment - _EPOCH) // step * step
    return f"{begun:%Y-%m-%dT%H:%M:%S}Z"
