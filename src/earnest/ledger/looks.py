"""Measuring what settlements cannot say of themselves: doing nothing (controls), and the same decision once more (second looks)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from earnest.core import check
from earnest.core.amounts import micro
from earnest.core.evidence import Word, runway, sized
from earnest.core.settings import Settings
from earnest.core.ticket import SecondLook, StoredSettlement, StoredTicket, Tier
from earnest.errors import NotAllowed
from earnest.ledger import admission
from earnest.ledger.book import Book
from earnest.ledger.decisions import metered
from earnest.ledger.testimony import UNLEARNED
from earnest.protocols import Writing

_Reading = tuple[str, float, int]
"""The meter, the size and the tick of a measurement."""


def control(tx: Writing, channel: str, *, delta: float, meter: str, scale: float | None, detail: str) -> int:
    """Records what a meter showed when nothing was done; returns the number of the event. All arguments have been checked."""
    tier, scale = metered(tx, channel, meter, scale)
    event = tx.append("control", data={"delta": delta, "scale": scale, "meter": meter, "tier": tier}, note=detail)
    tx.insert_control(event=event, meter=meter, delta=delta, scale=scale, tier=tier)
    tx.bump("controls", 1)
    if tier == "measured":
        tx.bump(UNLEARNED, 1)
    return event


def remeasure(
    tx: Writing, settings: Settings, channel: str, name: str, *, delta: float, meter: str, scale: float | None, detail: str
) -> SecondLook:
    """Records a second measurement of a settled ticket; it counts beside the report, each as far as its meter is believed.

    All arguments have been checked.

    Raises:
        NotAllowed: It is not independent: the same meter over the same channel settled the ticket, or has looked at it again already.
    """
    ticket = tx.ticket(name)
    settled = tx.settlement(name)
    if ticket is None or settled is None:
        what = "is not known here" if ticket is None else f"was not settled, it is {ticket.state}"
        return SecondLook(False, f"ticket {name} {what}; there is nothing to look at again", name)
    _independent(tx, ticket, settled, meter, channel)
    tier, scale = metered(tx, channel, meter, scale)
    if ticket.holdout:
        return SecondLook(False, f"ticket {name} was a holdout: no entry decided it, so that a second look would judge none", name)
    words, stood = _words(tx, ticket, settled, tier), _standing_word(tx, ticket, settled)
    event = tx.append(
        "remeasure",
        entries=[share.entry_row for share in ticket.shares if share.role in ("deciding", "cited")],
        ticket=name,
        data={"delta": delta, "scale": scale, "meter": meter, "tier": tier, **({"words": words} if words else {})},
        note=detail,
    )
    tx.insert_look(ticket.row, event=event, meter=meter, delta=delta, scale=scale, tier=tier)
    if tier != "measured":
        reason = f"recorded, but {tier}, not measured: the report stands; bind the meter to this channel if its word is to count"
        return SecondLook(True, reason, name, delta, meter, tier, tick=tx.counter("tick"))
    tx.bump("looks", 1)
    tx.bump(UNLEARNED, 1)
    tx.unwant(ticket.row)
    size = sized(delta, scale)
    for row, part in words:
        tx.put_word(row, ticket.row, Word(ticket.row, event, settled.tick, meter, size, part))
    if not words:
        tx.second_word(ticket.row, size=size, meter=meter, event=event)
    return replace(
        _put_right(tx, settings, ticket, stood, (meter, size, settled.tick), event),
        delta=delta, meter=meter, tier=tier, tick=tx.counter("tick"),
    )  # fmt: skip


def _independent(tx: Writing, ticket: StoredTicket, settled: StoredSettlement, meter: str, channel: str) -> None:
    before = [(settled.meter, settled.channel), *((look.meter, look.channel) for look in tx.looks_at(ticket.row))]
    if (meter, channel) in before:
        raise NotAllowed(
            f"ticket {ticket.id} was measured by {meter!r} over {channel!r} already: that is no second look; "
            "use another instrument, under a name of its own"
        )


def _words(tx: Writing, ticket: StoredTicket, settled: StoredSettlement, tier: Tier) -> list[tuple[int, float]]:
    """Of whom a second look is the first word that counts: a measured look at what was only claimed or typed."""
    if tier != "measured" or settled.tier == "measured" or tx.witnesses(ticket.row):
        return []
    return [(share.entry_row, 1.0) for share in ticket.shares if share.role == "deciding"]


def _put_right(tx: Writing, settings: Settings, ticket: StoredTicket, stood: _Reading | None, stands: _Reading, event: int) -> SecondLook:
    """Judges the entries by the corrected word, and puts their accounts right: what a wrong report paid is taken back as far as it is
    still there, what it withheld is paid."""
    book = Book(tx, settings)
    made = SecondLook(True, "measured again; it counts beside the report", ticket.id)
    if not book.testimony.on:
        return replace(made, reason="recorded; under the rule classic it moves nothing")
    rows = tx.witnesses(ticket.row)
    owners = [row for row, borrowed in rows if not borrowed]
    moved = 0
    postings = []
    for stored in tx.entries(owners):
        right = _owed(book, settings, stands) - (0 if stood is None else _owed(book, settings, stood))
        if stored.entry.alive and stored.entry.retention == "earned" and right:
            change = book.credit(stored, max(right, -max(stored.entry.balance, 0)))
            book.touch(stored, change)
            postings += change.postings
            moved += change.amount
    if postings:
        tx.append("correct", entries=owners, ticket=ticket.id, data={"event": event, "moved": moved}, postings=postings)
    suspended: list[str] = []
    cleared: list[str] = []
    buried: list[str] = []
    for row, _ in rows:
        [stored] = tx.entries([row])
        if admission.acquit(tx, book, stored):
            cleared.append(stored.entry.id)
            continue
        turn = book.testimony.judge(tx, stored, look=event)
        if turn is not None:
            (suspended if turn == "suspended" else cleared).append(stored.entry.id)
        if book.verdict(tx.entries([row])[0]) == "buried":
            buried.append(stored.entry.id)
    admission.confirmed(tx, book, ticket, stands[0], stands[1])
    return replace(made, moved=moved, suspended=tuple(suspended), cleared=tuple(cleared), buried=tuple(buried))


def _owed(book: Book, settings: Settings, reading: _Reading) -> int:
    """What a measured outcome of this size pays its decider, in micro-units."""
    meter, size, tick = reading
    if meter in book.testimony.revoked:
        return 0
    belief = book.testimony.beliefs[meter]
    return micro(runway(size - belief.baseline.at(tick), settings.gain, belief.rate))


def _standing_word(tx: Writing, ticket: StoredTicket, settled: StoredSettlement) -> _Reading | None:
    """The measurement of a ticket that counts so far: the last measured second look, else the report if it was measured."""
    readings = [(look.meter, sized(look.delta, look.scale), settled.tick) for look in tx.looks_at(ticket.row) if look.tier == "measured"]
    if not readings and settled.tier == "measured":
        return settled.meter, sized(settled.delta, settled.scale), settled.tick
    return readings[-1] if readings else None


def checked_reading(delta: Any, meter: Any, scale: Any, detail: Any) -> dict[str, Any]:
    """The arguments of a control or a second look, each checked at the door."""
    return {
        "delta": check.delta("delta", delta),
        "meter": check.label("meter", meter, limit=100),
        "scale": None if scale is None else check.scale("scale", scale),
        "detail": check.note("detail", detail),
    }
