"""Feedback: what a reader says of an entry, kept in bounds, with an event and an undo. It never moves evidence or balance."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from earnest.core import fading, opinions
from earnest.core.analysis import Analyser
from earnest.core.entry import StoredEntry
from earnest.core.events import Event, micros
from earnest.core.opinions import Opinions, Verdict
from earnest.core.reports import Feedback
from earnest.core.settings import Settings
from earnest.core.ticket import CHANNEL_TIERS
from earnest.errors import NotAllowed
from earnest.forgetting.curve import left
from earnest.ledger import lifecycle
from earnest.protocols import Writing

_DAY: Final = 86_400_000_000


def feedback(tx: Writing, settings: Settings, stored: StoredEntry, verdict: Verdict, now: datetime, channel: str) -> Feedback:
    """Takes one opinion about a living entry down, and changes what it may change.

    Helpful: strength grows and the clock begins anew. Unhelpful: importance goes down. Outdated: where the channel's word weighs more than
    a claim and the entry is not pinned, it ceases to be valid now; in any case it asks for a replacement, which `doctor` shows.
    """
    entry = stored.entry
    if not entry.alive:
        raise NotAllowed(f"entry {entry.id} is dead ({entry.cause}) and takes no feedback; restore it first")
    known = opinions.heard(tx.opinions(stored.row), entry.importance, micros(now) // _DAY)
    if not opinions.counts(known):
        why = f"entry {entry.id} had {opinions.DAILY} opinions today; more of them change nothing before tomorrow"
        tx.append("feedback", entries=[stored.row], data={"verdict": verdict, "counted": False})
        return Feedback(entry, verdict, False, {}, why)
    after = opinions.said(known, verdict)
    columns: dict[str, Any] = {} if after.made == entry.importance else {"importance": after.made}
    if verdict == "helpful":
        columns |= {"strength": fading.helped(entry.strength, left(entry, settings, now)), "last_recalled": micros(now)}
    ends = verdict == "outdated" and _ends(stored, now, channel)
    if ends:
        columns["valid_to"] = micros(now)
    if columns:
        tx.change_entry(stored.row, **columns)
    tx.put_opinions(stored.row, after)
    [changed] = tx.entries([stored.row])
    moved = {
        name: (getattr(entry, name), getattr(changed.entry, name))
        for name in ("strength", "importance", "valid_to")
        if getattr(entry, name) != getattr(changed.entry, name)
    }
    tx.append(
        "feedback", entries=[stored.row],
        data={"verdict": verdict, "counted": True, "moved": {name: [_plain(a), _plain(b)] for name, (a, b) in moved.items()}},
        before={"last_recalled": _plain(entry.last_recalled), **{name: _plain(a) for name, (a, _) in moved.items()}},
    )  # fmt: skip
    return Feedback(changed.entry, verdict, True, moved, "" if verdict != "outdated" or ends else _asked(stored, now, channel))


def _ends(stored: StoredEntry, now: datetime, channel: str) -> bool:
    entry = stored.entry
    holds = (entry.valid_from is None or entry.valid_from <= now) and (entry.valid_to is None or entry.valid_to > now)
    return holds and not entry.pinned and CHANNEL_TIERS.get(channel, "claimed") != "claimed"


def _asked(stored: StoredEntry, now: datetime, channel: str) -> str:
    entry = stored.entry
    if entry.pinned:
        return "it is pinned: it asks for a replacement, and stays as it is"
    if CHANNEL_TIERS.get(channel, "claimed") == "claimed":
        return f"what comes over {channel} is a claim: it asks for a replacement, and stays as it is"
    return "its validity had an end already, or has yet to begin"


def taken_back(tx: Writing, settings: Settings, analyser: Analyser, event: Event) -> tuple[str, ...]:
    """Undoes one opinion: the numbers that it moved go back. A handler for `ledger.undo`.

    Raises:
        NotAllowed: It counted for nothing, or later feedback or an edit built on it.
    """
    stored = lifecycle.found(tx, event.entries[0])
    entry, data, before = stored.entry, event.data, tx.before_edit(event.seq)
    if not data.get("counted") or before is None:
        raise NotAllowed("it was one opinion too many that day, and changed nothing")
    for name, (_, made) in data["moved"].items():
        if _plain(getattr(entry, name)) != made and (name != "strength" or entry.strength < made):
            raise NotAllowed(f"the {name} of entry {entry.id} was changed again since; undo that first")
    columns: dict[str, Any] = {}
    for name, (was, made) in data["moved"].items():
        if name == "strength":
            columns["strength"] = max(1.0, entry.strength - (made - was))
        else:
            columns[name] = None if was is None else micros(datetime.fromisoformat(was)) if name == "valid_to" else was
    if data["verdict"] == "helpful":
        columns["last_recalled"] = None if before["last_recalled"] is None else micros(datetime.fromisoformat(before["last_recalled"]))
    if columns:
        tx.change_entry(stored.row, **columns)
    known = tx.opinions(stored.row)
    if known is not None:
        tx.put_opinions(stored.row, _without(known, data["verdict"], tx.entries([stored.row])[0].entry.importance))
    return (entry.id,)


def _without(known: Opinions, verdict: str, importance: float) -> Opinions:
    """One opinion fewer; a day's bound is not given back, or it could be talked round."""
    counts = {name: getattr(known, name) - (name == verdict) for name in opinions.VERDICTS}
    return Opinions(known.given, importance, **counts, day=known.day, today=known.today, asks=counts["outdated"] > 0)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
