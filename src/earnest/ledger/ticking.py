"""The economy's clock: age, rent and death, in proportion to what ends, not to what lives."""

from __future__ import annotations

from earnest.core.amounts import micro
from earnest.core.reports import TickReport
from earnest.core.settings import Settings
from earnest.ledger.book import Book
from earnest.ledger.decisions import end_without_outcome
from earnest.protocols import Writing

_BATCH = 500


def tick(tx: Writing, settings: Settings, expire_after: int) -> TickReport:
    """Moves the clock one step: old tickets expire, rent falls due, and who cannot pay it dies.

    Rent is only an index here; an account owes the distance that the index has moved since it was last touched.
    """
    tx.bump("tick", 1)
    now = tx.counter("tick")
    died: list[str] = []
    expired = 0
    while old := tx.pending(None, _BATCH, opened_before=now - expire_after):
        for ticket in old:
            died += end_without_outcome(tx, settings, ticket, "expired")
            expired += 1
    before = tx.totals()["energy"]
    tx.bump("rent_index", micro(settings.rent))
    totals = tx.totals()
    charged = before - totals["energy"]
    book = Book(tx, settings)
    rows = tx.due(tx.counter("rent_index"))
    for start in range(0, len(rows), _BATCH):
        for stored in tx.entries(rows[start : start + _BATCH]):
            if book.verdict(stored) == "buried":
                died.append(stored.entry.id)
    population = tx.counter("alive") + tx.counter("suspended")
    if rows:
        totals = tx.totals()
    tx.append(
        "tick",
        data={
            "population": population, "suspended": tx.counter("suspended"), "died": len(died), "expired": expired, "rent": charged,
            "energy": totals["energy"], "pending": totals["pending"], "rent_index": tx.counter("rent_index"),
        },
    )  # fmt: skip
    return TickReport(now, population, tuple(died), 0, expired, charged)
