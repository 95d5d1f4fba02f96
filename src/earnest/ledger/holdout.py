"""Holdouts: decisions in which memory, or one entry, is withheld at random, so that what it changes can be measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from earnest.core.entry import StoredEntry
from earnest.core.settings import Settings
from earnest.core.ticket import StoredTicket
from earnest.core.uplift import ARMS, Arm, Draw
from earnest.protocols import Rng, Writing


@dataclass(frozen=True, slots=True)
class Odds:
    """How probable each arm of a draw is; they sum to 1. `rival` is who answers where the decider alone is withheld."""

    decider: StoredEntry
    rival: StoredEntry | None
    shown: float
    alone: float
    all: float


def odds(settings: Settings, decider: StoredEntry, supporters: Sequence[StoredEntry], rival: StoredEntry | None) -> Odds | None:
    """What to draw a decision with; None if it is not to be randomised: holdout is 0, or an exempt entry shapes the answer.

    Where nobody answers in the decider's place, withholding it alone would be withholding all, so that is what it counts as.
    """
    if settings.holdout == 0 or exempt(settings, (decider, *supporters)):
        return None
    alone = settings.holdout * settings.holdout_entry if rival is not None else 0.0
    return Odds(decider, rival, 1.0 - settings.holdout, alone, settings.holdout - alone)


def exempt(settings: Settings, entries: Sequence[StoredEntry]) -> bool:
    """Whether one of the entries has a tag that keeps it from being withheld."""
    tags = frozenset(settings.holdout_exempt.split(",")) if settings.holdout_exempt else frozenset()
    return any(not tags.isdisjoint(stored.entry.tags) for stored in entries)


def drawn(odds: Odds, rng: Rng) -> Draw:
    """Throws the coin. Call it in the transaction that opens the ticket, after everything that may still stop it."""
    chance = rng.random()
    arm: Arm = "all" if chance < odds.all else "alone" if chance < odds.all + odds.alone else "shown"
    rival = None if odds.rival is None else odds.rival.row
    return Draw(odds.decider.row, arm, odds.shown, odds.alone, odds.all, rival)


def said(draw: Draw) -> list[object]:
    """A draw as the event of its decision tells it."""
    plain: list[object] = [draw.entry_row, draw.arm, draw.shown, draw.alone, draw.all, draw.rival_row]
    return plain if draw.trial is None else [*plain, draw.trial]


def count_lost(tx: Writing, ticket: StoredTicket) -> None:
    """Counts a randomised decision that ends without an outcome, by its arm."""
    if any(tx.counter(f"drawn:{arm}") for arm in ARMS):
        for draw in tx.draws_of(ticket.row):
            if draw.trial is None:
                tx.bump(f"drawn_lost:{draw.arm}", 1)
