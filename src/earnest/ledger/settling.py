"""What one measured outcome pays, and what it says of the entries that it was measured of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from earnest.core.amounts import micro
from earnest.core.credit import CreditRule, RuleCredit
from earnest.core.entry import StoredEntry
from earnest.core.evidence import RULE, Word, looks_wanted, sized, weigh
from earnest.core.ticket import Share, StoredTicket, Tier
from earnest.ledger.book import Book
from earnest.ledger.testimony import UNLEARNED, Turn
from earnest.protocols import Rng, Writing

UNMEASURED_CREDIT: Final = 0.5
"""Part of a stake that claimed and typed outcomes may pay an entry over its whole life under `evidence`: enough to be seen, too little
to live from."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured outcome of a decision; `shares` with what the answer cited marked."""

    ticket: StoredTicket
    delta: float
    scale: float
    meter: str
    tier: Tier
    acted: bool | None
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Turned:
    """Ids of the entries whose standing an outcome turned."""

    suspended: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()


def payments(book: Book, rule: CreditRule, outcome: Measured, by_row: Mapping[int, StoredEntry]) -> list[RuleCredit]:
    """What each living share earns or loses.

    Under `evidence` the meter's baseline is taken off what it measured; a revoked meter, and one whose words carry no information, pay
    nothing; and an outcome that nobody measured pays no entry more than a part of a stake over its life.
    """
    shares = [share for share in outcome.shares if by_row[share.entry_row].entry.alive]
    if not book.testimony.on:
        return rule.credits(outcome.delta, outcome.scale, shares)
    if outcome.tier != "measured":
        allowed = micro(UNMEASURED_CREDIT * book.settings.stake)
        made = rule.credits(outcome.delta, outcome.scale, shares)
        bounded = [
            replace(paid, amount=min(paid.amount, max(0, allowed - book.tx.unmeasured_credit(paid.share.entry_row)))) for paid in made
        ]
        return [paid for paid in bounded if paid.amount]
    if outcome.meter in book.testimony.revoked:
        return []
    belief = book.testimony.beliefs[outcome.meter]
    if belief.rate >= RULE.rate_high:
        return []
    by_itself = belief.baseline.at(book.tx.counter("tick"))
    return rule.credits(sized(outcome.delta, outcome.scale) - by_itself, 1.0, shares)


def parts(outcome: Measured) -> dict[int, float]:
    """Of which entries, by row, a measured outcome is evidence, and how much of it: all of it of the decider, a part of what was cited."""
    if outcome.tier != "measured":
        return {}
    cited = sum(1 for share in outcome.shares if share.role == "cited")
    decided = any(share.role == "deciding" for share in outcome.shares)
    shared = {"deciding": 1.0, "cited": 1.0 / max(1, decided + cited)}
    return {share.entry_row: shared[share.role] for share in outcome.shares if share.role in shared}


def heard(
    tx: Writing, book: Book, rng: Rng, outcome: Measured, event: int, words: Mapping[int, float], by_row: Mapping[int, StoredEntry]
) -> Turned:
    """Keeps what a measured outcome says of its entries, judges them by it, and asks for the second looks that it calls for."""
    if outcome.tier == "measured" and (words or outcome.ticket.holdout):
        tx.bump(UNLEARNED, 1)
    tick, size = tx.counter("tick"), sized(outcome.delta, outcome.scale)
    for row, part in words.items():
        tx.put_word(row, outcome.ticket.row, Word(outcome.ticket.row, event, tick, outcome.meter, size, part))
    if not book.testimony.on:
        return Turned()
    turned: dict[Turn, list[str]] = {"suspended": [], "cleared": []}
    for row, part in words.items():
        entry, said = by_row[row].entry, book.testimony.words(row)
        turn: Turn | None = None
        # Most outcomes turn nothing; the entry is read again only where one does.
        if entry.alive and weigh(said, book.testimony.beliefs).active != (entry.standing == "active"):
            turn = book.testimony.judge(tx, tx.entries([row])[0])
        if turn is not None:
            turned[turn].append(entry.id)
        if entry.alive and part == 1.0 and outcome.acted is not False:
            ask(tx, row, looks_wanted(said, outcome.ticket.row, turn is not None, rng.random))
    return Turned(tuple(turned["suspended"]), tuple(turned["cleared"]))


def ask(tx: Writing, row: int, wanted: Sequence[tuple[int, str]]) -> None:
    """Asks for second looks at an entry's outcomes, by the rows of their tickets. Appeals and draws are told in the log."""
    for ticket_row, why in wanted:
        tx.want(ticket_row, row, why)
    told = [[ticket_row, why] for ticket_row, why in wanted if why != "first"]
    if told:
        tx.append("appeal", entries=[row], data={"wanted": told})
