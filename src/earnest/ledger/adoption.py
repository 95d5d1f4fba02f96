"""Changing the rule of selection: every standing is made anew by the one that is in force."""

from __future__ import annotations

from earnest.core.filters import Filter
from earnest.core.settings import Settings
from earnest.ledger import walks
from earnest.ledger.book import Book
from earnest.ledger.testimony import UNLEARNED, judge_again, relearn
from earnest.protocols import Writing


def adopt(tx: Writing, settings: Settings) -> None:
    """Puts every entry into the standing that this rule gives it, by all that was measured so far. O(entries with an outcome).

    Words are kept under every rule, so that `evidence` starts from the whole history. Back under `classic`, who was suspended for harm
    may decide again: that rule only knows the balance.
    """
    if settings.rule == "evidence":
        tx.bump(UNLEARNED, 1)
        relearn(tx, settings)
        rows = {row for meter in tx.meters() for row in tx.spoken_of(meter.name, 0)}
        judge_again(tx, settings, sorted(rows))
        return
    book = Book(tx, settings)
    for stored in walks.entries(tx, Filter(scopes=None, standings=("suspended",), rules=True)):
        book.verdict(stored)
