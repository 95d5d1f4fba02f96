"""What became of an entry, told from the log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from earnest.core.amounts import shown_delta, shown_energy
from earnest.core.entry import DEATHS, Cause, Entry, StoredEntry
from earnest.core.events import Event
from earnest.core.evidence import sigmoid
from earnest.core.injection import MARKS
from earnest.core.opinions import VERDICTS
from earnest.core.rules import told as rule_told
from earnest.core.ticket import Meter, Role, StoredSettlement
from earnest.protocols import Reading

FIRST_EVENTS: Final = 50
LAST_EVENTS: Final = 450


def obituary(reading: Reading, stored: StoredEntry, fades: datetime | None = None) -> str:
    """The life story of an entry, for the living too: who it is, what happened, how it stands. O(its own events).

    `fades` is when it will have faded unless it is used; None if it does not fade.
    """
    entry = stored.entry
    says = _cut(entry.text) or "(its text was erased)"
    lines = [f"entry {entry.id} ({entry.kind}, {entry.origin}, {entry.retention})", f"  says     {says}"]
    if entry.cue:
        lines.append(f"  answers  {_cut(entry.cue)}")
    lines.append(f"  sources  {', '.join(entry.sources) or 'none given'}")
    if entry.scope:
        lines.append(f"  scope    {entry.scope}")
    lines.append(f"  standing {standing(entry)}")
    if entry.alive and stored.probation:
        waits = f"{stored.probation} good outcome{'s' if stored.probation > 1 else ''}"
        lines.append(f"  waits    for {waits} beside it before it may decide (`earnest vouch {entry.id}` ends the wait)")
    for mark in entry.marks:
        lines.append(f"  marked   {mark}: {MARKS[mark]}")
    lines.append(f"  used     {_use(reading, stored, fades)}")
    lines.append("")
    told, left_out = _story(reading, entry.id)
    settled = {s.event: (s, role, moved) for s, role, moved in reading.settlements_of(stored.row, FIRST_EVENTS + LAST_EVENTS)}
    meters = {meter.name: meter for meter in reading.meters()}
    ended = {event.ticket for event in told if event.kind in ("settle", "abandon", "expire")}
    for place, event in enumerate(told):
        if place == FIRST_EVENTS and left_out:
            lines.append(f"  … and so on; `earnest audit --entry {entry.id}` shows all of it …")
        # A decision whose end is told needs no line of its own.
        if event.kind == "decide" and event.ticket in ended:
            continue
        lines.append(f"  tick {event.tick:>5}  {_told(event, stored, settled.get(event.seq), meters)}")
    return "\n".join(lines)


def _story(reading: Reading, entry_id: str) -> tuple[list[Event], bool]:
    """The first and the last events of a life, and whether some between them were left out: an end is never cut off."""
    first = reading.events(entry=entry_id, kind=None, after=0, limit=FIRST_EVENTS, newest=False)
    if len(first) < FIRST_EVENTS:
        return first, False
    last = reading.events(entry=entry_id, kind=None, after=0, limit=LAST_EVENTS + 1, newest=True)
    rest = [event for event in reversed(last) if event.seq > first[-1].seq]
    return first + rest[-LAST_EVENTS:], len(rest) > LAST_EVENTS


def standing(entry: Entry) -> str:
    """How an entry stands, in a sentence."""
    if entry.cause is not None:
        heir = f"; its heir is {entry.heir}" if entry.heir else ""
        return f"dead, {entry.cause}: {DEATHS[entry.cause]}{heir}"
    held = f", holds {shown_energy(entry.balance)} energy" if entry.retention == "earned" else ", pays no rent"
    pinned = ", pinned" if entry.pinned else ""
    meaning = " (it may not decide until a verdict is in)" if entry.standing == "suspended" else ""
    return f"{entry.standing}{meaning}{held}{pinned}"


def _use(reading: Reading, stored: StoredEntry, fades: datetime | None) -> str:
    """How an entry was used and what was said of it, with the numbers that this moves."""
    entry = stored.entry
    last = f", last {entry.last_recalled:%Y-%m-%d}" if entry.recalls and entry.last_recalled else ""
    times = "time" if entry.recalls == 1 else "times"
    told = [f"recalled {entry.recalls:,} {times}{last}", f"importance {entry.importance:.3g}", f"strength {entry.strength:.3g}"]
    said = reading.opinions(stored.row)
    if said is not None:
        told += [f"{count} said {name}" for name in VERDICTS if (count := getattr(said, name))]
    if fades is not None:
        told.append(f"fades on {fades:%Y-%m-%d} unless it is used")
    return ", ".join(told)


def _cut(text: str, limit: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _told(event: Event, stored: StoredEntry, settlement: tuple[StoredSettlement, Role, int] | None, meters: Mapping[str, Meter]) -> str:
    data = event.data
    if event.kind == "settle" and settlement is not None:
        settled, role, moved = settlement
        mark = "" if settled.tier == "measured" else f" [{settled.tier}]"
        acted = {True: ", acted on", False: ", not acted on", None: ""}[settled.acted]
        if role == "withheld":
            return f"withheld at random: {_measured(event, settled.delta, settled.meter, meters)}{mark} without it"
        detail = f": {_cut(settled.detail, 200)}" if settled.detail else ""
        what = f"{_measured(event, settled.delta, settled.meter, meters)}{mark}{acted}"
        return f"settled {what}, moved {shown_energy(moved, signed=True)} energy{detail}"
    if event.kind in ("death", "forget"):
        by = f" ({_cut(event.note, 200)})" if event.note else ""
        if event.entries and event.entries[0] != stored.entry.id:
            return f"saw entry {event.entries[0]} end ({data.get('cause')})"
        cause: Cause = data["cause"]
        return f"died, {cause}: {DEATHS[cause]}{by}"
    if event.kind == "merge":
        heir = event.entries[0] if event.entries else "?"
        return "born of a merge" if heir == stored.entry.id else f"merged into entry {heir}"
    if event.kind in ("add", "encode", "supersede", "import"):
        return f"born ({data.get('origin')}), by {event.actor} over {event.channel}"
    if event.kind == "edit":
        return f"edited: {', '.join(data.get('fields', ()))}"
    if event.kind in ("suspend", "clear"):
        return _turned(event)
    if event.kind == "remeasure":
        mark = "" if data["tier"] == "measured" else f" [{data['tier']}]"
        note = f": {_cut(event.note, 200)}" if event.note else ""
        return f"measured again: {_measured(event, data['delta'], data['meter'], meters)}{mark}{note}"
    if event.kind == "feedback":
        return _opinion(event)
    if event.kind == "correct":
        return f"put right by that, moved {shown_energy(data['moved'], signed=True)} energy"
    if event.kind == "rule":
        return f"rule {data['status']}: {rule_told(event)}"
    told = _PLAIN.get(event.kind, event.kind)
    return f"{told}{f': {_cut(event.note, 200)}' if event.note else ''}"


def _measured(event: Event, delta: float, name: str, meters: Mapping[str, Meter]) -> str:
    """What a meter said, in its own unit if anybody gave it one, and whether its word was taken out of history since."""
    meter = meters.get(name)
    unit = f" {meter.unit}" if meter is not None and meter.unit else ""
    gone = meter is not None and meter.revoked is not None and event.seq >= meter.revoked
    return f"{shown_delta(delta)}{unit} by {name}{' [revoked: it does not count]' if gone else ''}"


def _turned(event: Event) -> str:
    """How a standing turned, with the odds that it turned on."""
    if "odds" not in event.data:
        return _PLAIN[event.kind]
    chance = sigmoid(float(event.data["odds"]))
    if event.kind == "suspend":
        return f"suspended: after what was measured, following it helps with a probability of {chance:.0%} only"
    return f"cleared: after what was measured, following it helps with a probability of {chance:.0%}"


def _opinion(event: Event) -> str:
    """An opinion and what it moved."""
    data = event.data
    if not data.get("counted"):
        return f"said to be {data['verdict']} once more that day, which changed nothing"
    moved = ", ".join(f"{name} {_number(was)} → {_number(now)}" for name, (was, now) in data["moved"].items())
    return f"said to be {data['verdict']}, by {event.actor} over {event.channel}" + (f": {moved}" if moved else "")


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "open" if value is None else str(value)[:10]


_PLAIN: Final = {
    "link": "linked by hand",
    "unlink": "unlinked by hand",
    "twin": "said again by another source",
    "decide": "named by a decision",
    "abandon": "its ticket was abandoned",
    "expire": "its ticket expired without an outcome",
    "suspend": "suspended: empty, while an open ticket waits for its verdict",
    "clear": "cleared: it earned again",
    "restore": "restored",
    "erase": "erased: nothing of what it said is left",
    "pin": "pinned",
    "unpin": "unpinned",
    "vouch": "somebody vouched for it: it may decide without waiting for outcomes",
    "graduate": "borne out by outcomes: it may decide",
    "undo": "an event was taken back",
    "appeal": "a second look at its outcomes was asked for",
}
