"""What a run of tests came to, in one sentence, and the sentence in a few numbers where it is kept a thousand times. Pure."""

from __future__ import annotations

import re
from typing import Any, Final

_SENTENCE: Final = re.compile(r"(0|[1-9]\d{0,8}) mended, (0|[1-9]\d{0,8}) broken of (0|[1-9]\d{0,8}) tests that both runs measured")


def tally(mended: int, broken: int, measured: int) -> str:
    """What a comparison of two runs came to, in words."""
    return f"{mended} mended, {broken} broken of {measured} tests that both runs measured"


def shortened(note: str, delta: float) -> Any:
    """A note as it is kept: as it is; or if it is a tally, as its numbers: of all of them the last, where the delta tells the others."""
    found = _SENTENCE.fullmatch(note)
    if found is None:
        return note
    mended, broken, measured = (int(number) for number in found.groups())
    if (mended, broken) == (max(delta, 0), max(-delta, 0)):
        return measured
    return [mended, broken, measured]


def lengthened(kept: Any, delta: float) -> str:
    """The note from what was kept of it.

    Raises:
        ValueError: It was something else.
    """
    numbers = [max(delta, 0), max(-delta, 0), kept] if isinstance(kept, int) and not isinstance(kept, bool) else kept
    if isinstance(numbers, str):
        return numbers
    if not isinstance(numbers, list) or len(numbers) != 3 or not all(_whole(number) for number in numbers):
        raise ValueError(f"{kept!r} is no note")
    return tally(*(int(number) for number in numbers))


def _whole(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < 1e9 and number == int(number)
