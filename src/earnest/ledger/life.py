"""What became of an entry, told from the log."""

from __future__ import annotations

from typing import Final

from earnest.core.amounts import shown_delta, shown_energy
from earnest.core.entry import Entry, StoredEntry
from earnest.core.events import Event
from earnest.core.ticket import StoredSettlement
from earnest.protocols import Reading

MAX_EVENTS: Final = 500

DEATHS: Final = {
    "executed": "its advice did measured harm, and it ran out of energy",
    "starved": "nobody earned anything with it, and rent used up its stake",
    "faded": "it was not recalled for so long that it faded",
    "merged": "it was joined with near-duplicates into one entry",
    "superseded": "a newer version took its place",
    "forgotten": "somebody asked for it to be forgotten",
    "erased": "somebody asked for it to be erased",
}
"""What each cause of death means, in words."""


def obituary(reading: Reading, stored: StoredEntry) -> str:
    """The life story of an entry, for the living too: who it is, what happened, how it stands. O(its own events)."""
    entry = stored.entry
    lines = [f"entry {entry.id} ({entry.kind}, {entry.origin}, {entry.retention})", f"  says     {_cut(entry.text)}"]
    if entry.cue:
        lines.append(f"  answers  {_cut(entry.cue)}")
    lines.append(f"  sources  {', '.join(entry.sources) or 'none given'}")
    if entry.scope:
        lines.append(f"  scope    {entry.scope}")
    lines.append(f"  standing {standing(entry)}")
    lines.append("")
    events = reading.events(entry=entry.id, kind=None, after=0, limit=MAX_EVENTS, newest=False)
    settled = {s.event: (s, moved) for s, _, moved in reading.settlements_of(stored.row, MAX_EVENTS)}
    for event in events:
        lines.append(f"  tick {event.tick:>5}  {_told(event, stored, settled.get(event.seq))}")
    if len(events) == MAX_EVENTS:
        lines.append(f"  … the first {MAX_EVENTS} events; `earnest audit --entry {entry.id}` shows the rest")
    return "\n".join(lines)


def standing(entry: Entry) -> str:
    """How an entry stands, in a sentence."""
    if entry.standing == "dead":
        heir = f"; its heir is {entry.heir}" if entry.heir else ""
        return f"dead, {entry.cause}: {DEATHS[str(entry.cause)]}{heir}"
    held = f", holds {shown_energy(entry.balance)} energy" if entry.retention == "earned" else ", pays no rent"
    pinned = ", pinned" if entry.pinned else ""
    meaning = " (it may not decide until a verdict is in)" if entry.standing == "suspended" else ""
    return f"{entry.standing}{meaning}{held}{pinned}"


def _cut(text: str, limit: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _told(event: Event, stored: StoredEntry, settlement: tuple[StoredSettlement, int] | None) -> str:
    data = event.data
    if event.kind == "settle" and settlement is not None:
        settled, moved = settlement
        mark = "" if settled.tier == "measured" else f" [{settled.tier}]"
        acted = {True: ", acted on", False: ", not acted on", None: ""}[settled.acted]
        detail = f": {_cut(settled.detail, 200)}" if settled.detail else ""
        return f"settled {shown_delta(settled.delta)} by {settled.meter}{mark}{acted}, moved {shown_energy(moved, signed=True)}{detail}"
    if event.kind in ("death", "forget"):
        by = f" ({_cut(event.note, 200)})" if event.note else ""
        if event.entries and event.entries[0] != stored.entry.id:
            return f"saw entry {event.entries[0]} end ({data.get('cause')})"
        return f"died, {data.get('cause')}: {DEATHS[str(data.get('cause'))]}{by}"
    if event.kind == "merge":
        heir = event.entries[0] if event.entries else "?"
        return "born of a merge" if heir == stored.entry.id else f"merged into entry {heir}"
    if event.kind in ("add", "encode", "supersede"):
        return f"born ({data.get('origin')}), by {event.actor} over {event.channel}"
    if event.kind == "edit":
        return f"edited: {', '.join(data.get('fields', ()))}"
    told = _PLAIN.get(event.kind, event.kind)
    return f"{told}{f': {_cut(event.note, 200)}' if event.note else ''}"


_PLAIN: Final = {
    "twin": "said again by another source",
    "decide": "named by a decision",
    "abandon": "its ticket was abandoned",
    "expire": "its ticket expired without an outcome",
    "suspend": "suspended: empty, while an open ticket waits for its verdict",
    "clear": "cleared: it earned again",
    "restore": "restored",
    "pin": "pinned",
    "unpin": "unpinned",
    "undo": "an event was taken back",
}
