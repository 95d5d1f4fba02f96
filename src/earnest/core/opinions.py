"""What readers say of an entry, and what that may change: bounded, so that nobody talks an entry up, down, or away. Pure.

Feedback is an opinion, not a measurement: it moves neither evidence nor balance, and no standing. Helpful feedback strengthens an entry
against forgetting; unhelpful feedback lowers its importance, and helpful feedback raises it again, between half of what the author gave
it and what the author gave it. At most three opinions a day change anything on one entry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

Verdict = Literal["helpful", "unhelpful", "outdated"]
VERDICTS: Final[tuple[Verdict, ...]] = ("helpful", "unhelpful", "outdated")

DAILY: Final = 3
"""Opinions about one entry that count in a day, whoever they come from."""

LEAST: Final = 0.5
"""Part of the importance that the author gave, below which no opinion takes an entry."""

STEP: Final = 0.125
"""Part of the importance that the author gave that one opinion takes away, or gives back."""


@dataclass(frozen=True, slots=True)
class Opinions:
    """What was said of one entry so far. `given` is the importance that its author gave it, `made` what opinions made of it; `today` counts
    those of `day` (days since 1970) that changed something; `asks` says that somebody called it outdated and nothing replaced it yet."""

    given: float
    made: float
    helpful: int = 0
    unhelpful: int = 0
    outdated: int = 0
    day: int = 0
    today: int = 0
    asks: bool = False


def heard(known: Opinions | None, importance: float, day: int) -> Opinions:
    """What is known before one more opinion, on a day: an importance that was edited since is what its author gives now."""
    if known is None:
        return Opinions(importance, importance, day=day)
    if known.made != importance:
        known = replace(known, given=importance, made=importance)
    return known if known.day == day else replace(known, day=day, today=0)


def counts(known: Opinions) -> bool:
    """Whether one more opinion still changes something that day."""
    return known.today < DAILY


def said(known: Opinions, verdict: Verdict) -> Opinions:
    """With one more opinion that counts; `made` is the importance after it."""
    made = known.made
    if verdict == "helpful":
        made = min(known.given, made + STEP * known.given)
    elif verdict == "unhelpful":
        made = max(LEAST * known.given, made - STEP * known.given)
    return replace(
        known,
        made=made,
        today=known.today + 1,
        helpful=known.helpful + (verdict == "helpful"),
        unhelpful=known.unhelpful + (verdict == "unhelpful"),
        outdated=known.outdated + (verdict == "outdated"),
        asks=known.asks or verdict == "outdated",
    )
