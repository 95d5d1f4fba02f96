"""What the library gives back, as a tool shows it: plain JSON inside a bound, without invisible characters, and nothing cut unsaid.

A client puts a tool's reply into its model's context, and refuses one that is too long. So texts are shown as previews beside whole ids,
lists stop where the reply is full, and either says so and how to get the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from earnest.core import cutting
from earnest.core.amounts import MICRO
from earnest.core.entry import Entry
from earnest.core.events import Event
from earnest.core.rules import Rule
from earnest.core.ticket import PendingTicket

MAX_PAGE: Final = 30_000
"""Characters of the list in a reply as JSON, beside which a few thousand stand. A reply goes over the wire twice, as text and as structure,
and clients begin to cut at some 100,000."""
PREVIEW: Final = 600
"""Characters of a text where several entries are shown."""
WHOLE: Final = 12_000
"""Characters of a text where one entry is shown."""
_SOURCES: Final = 5
_TAGS: Final = 20


def entry(one: Entry, *, length: int = PREVIEW, **more: Any) -> dict[str, Any]:
    """An entry as JSON, its text cut to a length; `more` are fields beside it."""
    said = cutting.visible(one.text)
    made: dict[str, Any] = {
        "id": one.id,
        "text": cutting.cut(said, length),
        "kind": one.kind,
        "standing": one.standing,
        "sources": [cutting.cut(cutting.line(source), 200) for source in one.sources[:_SOURCES]],
        "born_tick": one.born_tick,
    }
    if len(said) > length:
        made["text_truncated"] = True
    if one.cue:
        made["cue"] = cutting.cut(cutting.line(one.cue), 200)
    if one.retention == "earned":
        made["energy"] = round(one.balance / MICRO, 6)
    if one.pinned:
        made["pinned"] = True
    if one.marks:
        made["marked"] = list(one.marks)
    if one.tags:
        made["tags"] = [cutting.cut(cutting.line(tag), 100) for tag in one.tags[:_TAGS]]
    optional = {
        "scope": cutting.line(one.scope) or None,
        "recorded": moment(one.created),
        "valid_from": moment(one.valid_from),
        "valid_to": moment(one.valid_to),
        "last_settled_tick": one.last_settled_tick,
        "cause": one.cause,
    }
    return made | {name: value for name, value in (optional | more).items() if value is not None}


def moment(value: datetime | None) -> str | None:
    """A time in ISO 8601, without fractions of a second."""
    return None if value is None else value.isoformat(timespec="seconds").replace("+00:00", "Z")


def event(one: Event) -> dict[str, Any]:
    """An event of the log as JSON."""
    made: dict[str, Any] = {
        "number": one.seq,
        "kind": one.kind,
        "tick": one.tick,
        "at": moment(one.at),
        "by": cutting.cut(cutting.line(f"{one.actor} over {one.channel}"), 200),
        "entries": list(one.entries[:10]),
    }
    data = json.dumps(dict(one.data), ensure_ascii=False)
    if one.ticket is not None:
        made["ticket_id"] = one.ticket
    if one.data and len(data) <= PREVIEW:
        made["data"] = dict(one.data)
    if one.note:
        made["note"] = cutting.cut(cutting.line(one.note), 300)
    return made


def ticket(one: PendingTicket) -> dict[str, Any]:
    """An open ticket as JSON."""
    made: dict[str, Any] = {
        "ticket_id": one.id,
        "query": cutting.cut(cutting.line(one.query), 300),
        "age_ticks": one.age_ticks,
        "opened": moment(one.opened),
        "holdout": one.holdout,
    }
    if one.answer:
        made["answer"] = cutting.cut(cutting.line(one.answer), 300)
    if one.deciding is not None:
        made["deciding"] = one.deciding
    return made


def rule(one: Rule) -> dict[str, Any]:
    """A rule as JSON."""
    made: dict[str, Any] = {
        "id": one.id,
        "type": one.type,
        "trigger": cutting.line(one.trigger),
        "action": cutting.visible(one.action),
        "status": one.status,
        "hits": one.hits,
    }
    if one.evidence:
        made["evidence"] = list(one.evidence[:10])
    if one.by:
        made["by"] = cutting.cut(cutting.line(one.by), 200)
    if one.sources:
        made["sources"] = [cutting.cut(cutting.line(source), 200) for source in one.sources[:_SOURCES]]
    return made


def fitting(rows: Iterable[Mapping[str, Any]], room: int = MAX_PAGE) -> list[dict[str, Any]]:
    """The first rows that fit into a reply, at least one."""
    made: list[dict[str, Any]] = []
    for row in rows:
        room -= size(row)
        if room < 0 and made:
            break
        made.append(dict(row))
    return made


def size(value: Any) -> int:
    """How many characters a value takes as JSON."""
    return len(json.dumps(value, ensure_ascii=False)) + 2


def page(name: str, rows: Sequence[Mapping[str, Any]], wanted: int, rest: Callable[[int], tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """A list as it fits into a reply. `rows` holds one more than `wanted` if there are more; `rest` is asked, with how many are shown,
    how to get the others."""
    made = fitting(rows[:wanted])
    if len(made) == len(rows):
        return {name: made, "truncated": False}
    said, how = rest(len(made))
    return {name: made, "truncated": True, "rest": said, **how}
