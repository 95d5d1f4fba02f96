"""Saying what was found: the answer, its age, its sources, and what contradicts it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from earnest.core.cutting import cut, line
from earnest.core.entry import Entry
from earnest.core.ranking import similarity
from earnest.core.ticket import Answer
from earnest.recall.search import Found, decider

SILENCE: Final = Answer("", None, (), "", True, False)


def answer(
    found: Sequence[Found], *, pass_over: float, conflict: float, supporters: int, now: datetime, tick: int
) -> tuple[Answer, Found | None, list[Found]]:
    """The answer that these hits make, the one that decides, and those that support it."""
    chosen = decider(found, pass_over)
    if chosen is None:
        return SILENCE, None, []
    others = [f for f in found if f.stored.row != chosen.stored.row and f.stored.may_support][:supporters]
    entry = chosen.stored.entry
    alike = [f.stored.entry for f in found if f.stored.row != chosen.stored.row and _one_matter(chosen, f, conflict)]
    said = Answer(
        text=entry.text,
        deciding=entry,
        supporting=tuple(f.stored.entry for f in others),
        annotated=annotated(entry, alike, now, tick),
        silent=False,
        from_memory=True,
    )
    return said, chosen, others


def _one_matter(chosen: Found, other: Found, conflict: float) -> bool:
    """Whether two hits speak of the same matter: alike, or half as alike and in contradiction, for short texts have little in common."""
    alike = similarity(other.terms, chosen.terms)
    if 2 * alike < conflict:
        return False
    # Imported where two entries are alike: most answers do without.
    from earnest.core.agreement import opposed

    return alike >= conflict or (2 * alike >= conflict and opposed(chosen.stored.entry.text, other.stored.entry.text))


def annotated(entry: Entry, alike: Sequence[Entry], now: datetime, tick: int) -> str:
    """The text with its age line, and with the entries that say nearly the same or the opposite, newest first."""
    lines = [one_line(entry.text), f"({age_line(entry, now, tick)})"]
    if alike:
        everyone = sorted((entry, *alike), key=_recency, reverse=True)
        lines.append("Entries on the same matter, newest first:")
        for other in everyone:
            lines.append(f"- {_relation(entry, other)}: {one_line(other.text)} ({age_line(other, now, tick)})")
    return "\n".join(lines)


def _recency(entry: Entry) -> tuple[bool, datetime | None]:
    """By the time that an entry is about where that is known, else by when it was recorded; an unknown age is the oldest."""
    when = entry.valid_from or entry.created
    return when is not None, when


def _relation(entry: Entry, other: Entry) -> str:
    if other.id == entry.id:
        return "this answer"
    from earnest.core.agreement import disagreement

    difference = disagreement(entry.text, other.text)
    mark = "overlapping" if difference is None else f"conflicting ({difference})"
    return mark if other.standing == "active" else f"{mark}, {other.standing}"


def age_line(entry: Entry, now: datetime, tick: int) -> str:
    """When an entry was recorded, born and last settled, and where it comes from."""
    recorded = "age unknown" if entry.created is None else f"recorded {entry.created:%Y-%m-%d}, {_ago(entry.created, now)}"
    settled = "never settled" if entry.last_settled_tick is None else f"last settled at tick {entry.last_settled_tick}"
    sources = ", ".join(one_line(source, 60) for source in entry.sources[:5]) or "no source given"
    more = f" and {len(entry.sources) - 5} more" if len(entry.sources) > 5 else ""
    return f"{recorded}; born at tick {entry.born_tick} of {tick}, {settled}; from {sources}{more}"


def _ago(then: datetime, now: datetime) -> str:
    days = (now - then).days
    if days < 0:
        return "in the future"
    if days < 1:
        return "today"
    if days == 1:
        return "yesterday"
    if days < 60:
        return f"{days} days ago"
    return f"{days // 30} months ago" if days < 730 else f"{days // 365} years ago"


def one_line(text: str, limit: int = 2_000) -> str:
    """Text from memory as data: on one line, without control or direction characters, cut to a limit."""
    return cut(line(text), limit)
