"""Tickets: opened by a decision, ended once by a settlement, by giving up, or by age."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final, NamedTuple

from earnest.core import check
from earnest.core.credit import RULES, CreditRule
from earnest.core.entry import StoredEntry
from earnest.core.events import Posting
from earnest.core.settings import Settings
from earnest.core.ticket import Credit, Role, Settlement, Share, StoredTicket, Tier, tier_of
from earnest.core.uplift import Draw
from earnest.errors import InvalidInput
from earnest.ledger import admission, holdout, settling
from earnest.ledger.book import Book, Moved
from earnest.ledger.settling import Measured, Turned
from earnest.protocols import Rng, Writing

_TICKET_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")

ALREADY: Final = {
    "settled": "was settled already; a ticket lands once",
    "abandoned": "was abandoned; open a new decision",
    "expired": "expired before the outcome came; settle sooner, or raise expire_after",
}


def new_id(rng: Rng, size: int) -> str:
    """A random name of letters and digits: `size` bytes of chance."""
    return base64.b32encode(rng.token(size)).decode("ascii").rstrip("=").lower()


def ticket_id(value: Any) -> str:
    """A ticket id as it may come from outside."""
    if not isinstance(value, str) or not _TICKET_ID.fullmatch(value):
        raise InvalidInput("ticket", value, "must be a ticket's id: letters, digits, - and _; it comes from decide")
    return value


def request_digest(verb: str, request: Any) -> bytes:
    """What a request asks for, in 16 bytes: the same for the same request."""
    said = json.dumps([verb, request], sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(said.encode("utf-8", "backslashreplace")).digest()[:16]


def open_ticket(
    tx: Writing,
    rng: Rng,
    *,
    query: str,
    answer: str,
    deciding: StoredEntry | None,
    supporting: Sequence[StoredEntry],
    withheld: Sequence[StoredEntry] = (),
    exposure: float = 1.0,
    draw: Draw | None = None,
    retrial: bool = False,
    cited: Sequence[StoredEntry] = (),
    rules: Sequence[StoredEntry] = (),
    trials: Sequence[Draw] = (),
    name: str | None = None,
) -> StoredTicket:
    """Records a decision and puts the entries that shaped it into escrow. The caller has checked that they may be named.

    `withheld` are entries that were kept back at random by `draw`; without a decider, all of memory was. `exposure` is how probable
    it was that these entries were shown (or kept back), the draw included. A `retrial` lets a suspended entry decide once more.
    `cited` are entries that an answer was made of where no single one decided: they share what comes of it evenly.
    `rules` stand beside the answer, or are all of it; `trials` are the coins that were thrown for rules on trial, each for one of
    `rules` or `withheld`.
    `name` is the ticket's id if it has one already, from another store.
    """
    shares: list[tuple[int, Role]] = [] if deciding is None else [(deciding.row, "deciding")]
    shares += [(stored.row, "supporting") for stored in (*supporting, *rules)]
    shares += [(stored.row, "cited") for stored in cited]
    shares += [(stored.row, "withheld") for stored in withheld]
    name = name or new_id(rng, 16)
    all_withheld = not (deciding or cited or rules or trials)
    ticket = tx.insert_ticket(name, query=query, answer=answer, exposure=exposure, holdout=all_withheld, shares=shares)
    tx.move_escrow([row for row, _ in shares], 1)
    data: dict[str, Any] = {"shares": [[row, role] for row, role in shares], "exposure": exposure}
    if retrial:
        data["retrial"] = True
    draws = sorted((*([] if draw is None else [draw]), *trials), key=lambda one: one.entry_row)
    for one in draws:
        tx.insert_draw(ticket, one)
    if draws:
        data["draws"] = [holdout.said(one) for one in draws]
    tx.append("decide", entries=[row for row, _ in shares], ticket=ticket.id, data=data)
    return ticket


def settle(
    tx: Writing,
    settings: Settings,
    rng: Rng,
    channel: str,
    name: str,
    *,
    delta: float,
    meter: str,
    scale: float | None,
    acted: bool | None,
    detail: str,
    cited: Sequence[str] = (),
) -> Settlement:
    """Ends a ticket by a measured delta and moves credit along its provenance. All arguments have been checked."""
    ticket = tx.ticket(name)
    if ticket is None or ticket.state != "pending":
        reason = f"ticket {name} " + ("is not known here" if ticket is None else ALREADY[ticket.state])
        tx.bump("dropped", 1)
        tx.append("settle_refused", ticket=ticket.id if ticket else None, data={"state": ticket.state if ticket else "unknown"})
        return Settlement(False, reason, name)
    tier, scale = metered(tx, channel, meter, scale)
    outcome = Measured(ticket, delta, scale, meter, tier, acted, _cited(ticket.shares, cited))
    rule = RULES[settings.rule](settings.gain, settings.supporting_share)
    book = Book(tx, settings)
    by_row = {stored.row: stored for stored in tx.entries([share.entry_row for share in ticket.shares])}
    paid = _pay(book, rule, outcome, by_row)
    moved = {row: change.amount for row, change in paid.moved.items()}
    words = settling.parts(outcome)
    event = tx.append(
        "settle",
        entries=[share.entry_row for share in ticket.shares],
        ticket=ticket.id,
        data={
            "delta": delta, "scale": scale, "meter": meter, "tier": tier, "acted": acted,
            "rule": [rule.name, rule.version, dict(rule.parameters())],
            "moved": [[row, amount] for row, amount in moved.items()],
            **({"words": [[row, part] for row, part in words.items()]} if words else {}),
        },
        postings=paid.postings,
        note=detail,
    )  # fmt: skip
    tx.insert_settlement(ticket, event=event, delta=delta, scale=scale, meter=meter, tier=tier, acted=acted, detail=detail, moved=moved)
    tx.cite(ticket.row, [share.entry_row for share in outcome.shares if share.role == "cited"])
    _count_outcome(tx, tier, delta, moved)
    turned = settling.heard(tx, book, rng, outcome, event, words, by_row)
    admission.borne_out(tx, book, outcome, by_row)
    holds = {row: change.holds for row, change in paid.moved.items()}
    calm = {row for row, stored in by_row.items() if _calm(stored, holds.get(row, stored.entry.balance), turned)}
    suspended, buried = _released(tx, book, ticket, "settled", event, calm)
    buried += admission.denied(tx, book, [share.entry_row for share in ticket.shares if share.entry_id in turned.suspended])
    return Settlement(
        True, "settled", ticket.id, delta, meter, tier, paid.credits, turned.suspended + suspended, buried, tx.counter("tick"),
        turned.cleared,
    )  # fmt: skip


class _Paid(NamedTuple):
    """What an outcome paid: to whom, as its settlement tells it; the postings; and what each account holds now, by row."""

    credits: tuple[Credit, ...]
    postings: list[Posting]
    moved: dict[int, Moved]


def _pay(book: Book, rule: CreditRule, outcome: Measured, by_row: Mapping[int, StoredEntry]) -> _Paid:
    """Moves the credit of an outcome, and notes of whom it was measured that nothing was paid."""
    tick = book.tx.counter("tick")
    credits: list[Credit] = []
    postings: list[Posting] = []
    moved: dict[int, Moved] = {}
    for made in settling.payments(book, rule, outcome, by_row):
        stored = by_row[made.share.entry_row]
        change = moved[stored.row] = book.credit(stored, made.amount)
        postings += change.postings
        credits.append(Credit(stored.entry.id, change.amount, made.share.role))
        # A supporter pays its part of a harm, but the advice that was followed was another's.
        harmed = stored.harmed or (made.amount < 0 and made.share.role != "supporting")
        book.touch(stored, change, last_settled_tick=tick, harmed=harmed)
    for share in outcome.shares:
        stored = by_row[share.entry_row]
        if share.role in ("deciding", "cited") and stored.row not in moved and stored.entry.alive:
            bad = book.testimony.on and outcome.delta < 0 and outcome.tier == "measured" and share.role == "deciding"
            book.tx.change_entry(stored.row, last_settled_tick=tick, harmed=stored.harmed or bad)
    return _Paid(tuple(credits), postings, moved)


def _cited(shares: Sequence[Share], cited: Sequence[str]) -> tuple[Share, ...]:
    """The shares of a decision, with those that its answer cited marked. Raises InvalidInput for an id that the ticket does not name."""
    if not cited:
        return (*shares,)
    named = {share.entry_id: share for share in shares if share.role in ("supporting", "cited")}
    for entry_id in cited:
        if entry_id not in named:
            raise InvalidInput("cited", entry_id, "is not one of the supporting entries of this ticket")
    return tuple(replace(share, role="cited") if share.entry_id in cited else share for share in shares)


def metered(tx: Writing, channel: str, meter: str, scale: float | None) -> tuple[Tier, float]:
    """The trust and the scale of a measurement; a meter that nobody made is made now, with the channel's own trust."""
    known = tx.meter(meter)
    if known is None:
        tier = tier_of("claimed", channel, False)
        tx.put_meter(meter, unit="", scale=scale, tier=tier)
        tx.append("meter", data={"meter": meter, "tier": tier, "scale": scale, "made": "by its first word"})
        return tier, scale or 1.0
    return tier_of(known.tier, channel, channel in known.channels), scale or known.scale or 1.0


def _count_outcome(tx: Writing, tier: str, delta: float, moved: dict[int, int]) -> None:
    tx.bump(f"tier:{tier}", 1)
    tx.bump("outcomes:zero" if delta == 0 else "outcomes:good" if delta > 0 else "outcomes:bad", 1)
    if any(amount > 0 for amount in moved.values()):
        tx.bump("paid", 1)
        tx.bump("last_paid_tick", tx.counter("tick") - tx.counter("last_paid_tick"))


def _calm(stored: StoredEntry, holds: int, turned: Turned) -> bool:
    """Whether an outcome left an entry active and able to pay: nothing becomes of it, and it need not be read again."""
    entry = stored.entry
    pays = entry.retention == "earned" and not entry.pinned
    return entry.standing == "active" and entry.id not in turned.suspended and (holds > 0 or not pays)


def _released(
    tx: Writing, book: Book, ticket: StoredTicket, state: str, event: int, calm: Set[int] = frozenset()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ends the ticket, takes its entries out of escrow, and lets what was only kept alive by it go: none of the `calm` rows."""
    rows = [share.entry_row for share in ticket.shares]
    tx.resolve_ticket(ticket.row, state, event)
    tx.move_escrow(rows, -1)
    suspended: list[str] = []
    buried: list[str] = []
    held = [row for row in rows if row not in calm]
    for stored in tx.entries(held) if held else ():
        verdict = book.verdict(stored)
        if verdict is not None:
            (buried if verdict == "buried" else suspended).append(stored.entry.id)
    return tuple(suspended), tuple(buried)


def end_without_outcome(tx: Writing, settings: Settings, ticket: StoredTicket, state: str, note: str = "") -> tuple[str, ...]:
    """Abandons or expires an open ticket: no information, which is not an outcome of zero. Returns the ids it buried."""
    kind = {"abandoned": "abandon", "expired": "expire"}[state]
    holdout.count_lost(tx, ticket)
    event = tx.append(kind, entries=[share.entry_row for share in ticket.shares], ticket=ticket.id, note=note)
    return _released(tx, Book(tx, settings), ticket, state, event)[1]


def checked_outcome(delta: Any, meter: Any, scale: Any, acted: Any, detail: Any, cited: Any = None) -> dict[str, Any]:
    """The arguments of a settlement, each checked at the door."""
    return {
        "delta": check.delta("delta", delta),
        "meter": check.label("meter", meter, limit=100),
        "scale": None if scale is None else check.scale("scale", scale),
        "acted": None if acted is None else check.flag("acted", acted),
        "detail": check.note("detail", detail),
        "cited": check.labels("cited", cited),
    }
