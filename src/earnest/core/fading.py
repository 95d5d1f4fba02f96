"""The forgetting curve: what an unused entry is still worth, when it has faded, and how use strengthens it. Pure.

Ebbinghaus' retention in the form that spaced-repetition systems use: ``R = exp(-age / S)`` with the stability
``S = half-life / ln 2 × strength``, so that an entry of strength 1 has lost half of its worth after one half-life. Its worth is
``importance × R``; it has faded when that lies below the threshold.

Strength is the stability in half-lives: it begins at 1 and only grows, the more the longer the entry had been left alone (the spacing
effect: Cepeda et al., "Distributed practice in verbal recall tasks", 2006).

Everything is derived from times that are stored and one "now", so that looking often changes nothing. An age is never below zero: what
comes from the future, or a clock that was set back, neither adds worth nor takes it.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Final

STRONGEST: Final = 16.0
"""The most that an entry's strength can be: at the default half-life it then takes four years to lose half of its worth."""

RECALL: Final = 1.0
"""Half-lives that a recall adds to the strength of an entry that was all but forgotten; one that is fresh gains next to nothing."""

HELPFUL: Final = 0.5
"""Half-lives that helpful feedback adds at most."""

AT_ONCE: Final = 0.2
"""Part of it that feedback adds however fresh the entry is: somebody said so, which a recall does not."""

_DAY: Final = 86_400.0
_LN2: Final = math.log(2.0)
_FARTHEST: Final = datetime.max.year - 1
"""Years from which on an entry counts as never fading: no calendar holds its date."""


def age_days(since: datetime, now: datetime) -> float:
    """Days since a moment, never below zero."""
    return max(0.0, (now - since).total_seconds() / _DAY)


def retention(age: float, half_life: float, strength: float = 1.0) -> float:
    """What is left of an entry after `age` days without use, 0 to 1; ages below zero count as zero.

    `half_life` is in days and above zero, `strength` in half-lives. Neither overflows nor is ever negative; monotone in each argument.
    """
    if not age > 0:
        return 1.0
    stability = half_life * strength
    return 0.0 if stability <= 0 else math.exp(-_LN2 * (age / stability))


def worth(importance: float, age: float, half_life: float, strength: float = 1.0) -> float:
    """``importance × R``, 0 to 1."""
    return importance * retention(age, half_life, strength)


def lasts(importance: float, half_life: float, threshold: float, strength: float = 1.0) -> float:
    """Days without use after which an entry is worth less than the threshold; infinite if it never is.

    ``half_life × strength × log2(importance / threshold)``, and zero for one that is worth less from the start.
    """
    if threshold <= 0:
        return math.inf
    if importance <= threshold:
        return 0.0
    return half_life * strength * math.log2(importance / threshold)


def began(recorded: datetime | None, recalled: datetime | None, event: datetime | None) -> datetime | None:
    """When an entry's clock began to run: when it was last recalled (or brought back), else recorded; never before the event that it is
    about, which may lie ahead. None where neither is known."""
    start = recalled or recorded
    return start if start is None or event is None else max(start, event)


def fades_at(began: datetime | None, importance: float, strength: float, half_life: float, threshold: float) -> datetime | None:
    """When an entry whose clock began then will have faded; None if no calendar holds that day, or nobody knows when it began."""
    if began is None:
        return None
    days = lasts(importance, half_life, threshold, strength)
    if not days < (_FARTHEST - began.year) * 365.0:
        return None
    return began + timedelta(days=days)


def recalled(strength: float, left: float) -> float:
    """The strength after a recall, when `left` (R, 0 to 1) was left of the entry: spaced recalls add, massed ones hardly do."""
    return min(STRONGEST, max(strength, strength + RECALL * (1.0 - left)))


def helped(strength: float, left: float) -> float:
    """The strength after helpful feedback, when `left` was left of the entry."""
    return min(STRONGEST, max(strength, strength + HELPFUL * (AT_ONCE + (1.0 - AT_ONCE) * (1.0 - left))))
