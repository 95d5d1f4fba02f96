"""The economy's clock: age, rent and death, in proportion to what ends, not to what lives."""

from __future__ import annotations

from collections.abc import Sequence

from earnest.core.amounts import RENT, micro
from earnest.core.events import Posting
from earnest.core.evidence import alarmed, appeal
from earnest.core.reports import TickReport
from earnest.core.settings import Settings
from earnest.core.ticket import SettledShare
from earnest.ledger import settling
from earnest.ledger.book import Book
from earnest.ledger.decisions import end_without_outcome
from earnest.ledger.testimony import Testimony, relearn
from earnest.protocols import Writing

_BATCH = 500


def tick(tx: Writing, settings: Settings, expire_after: int) -> TickReport:
    """Moves the clock one step: old tickets expire, rent falls due, and who cannot pay it dies.

    Rent is only an index here; an account owes the distance that the index has moved since it was last touched. Under `evidence` the meters
    are learned anew first; a tick in which no entry was measured charges nobody; and deciders whose decision changed nothing, or was
    judged by a meter in alarm, get back what they paid since their account last moved.
    """
    tx.bump("tick", 1)
    now = tx.counter("tick")
    died: list[str] = []
    expired = 0
    while old := tx.pending(None, _BATCH, opened_before=now - expire_after):
        for ticket in old:
            died += end_without_outcome(tx, settings, ticket, "expired")
            expired += 1
    learned = relearn(tx, settings)
    testimony = Testimony(tx, settings)
    for row in (*learned.suspended, *learned.cleared):
        settling.ask(tx, row, appeal(testimony.words(row)))
    before = tx.energy()
    settled = tx.settled_in(now - 1) if settings.rule == "evidence" else None
    index = tx.counter("rent_index")
    if settled is None or any(share.tier == "measured" and share.entry_row is not None for share in settled):
        tx.bump("rent_index", micro(settings.rent))
    energy = tx.energy()
    book = Book(tx, settings)
    postings = _waived(book, settled) if settled and tx.counter("rent_index") > index else []
    charged = before - energy - sum(posting.amount for posting in postings if posting.debit == RENT)
    rows = tx.due(tx.counter("rent_index"))
    for start in range(0, len(rows), _BATCH):
        with book.together():
            for stored in tx.entries(rows[start : start + _BATCH]):
                if book.verdict(stored) == "buried":
                    died.append(stored.entry.id)
    tx.drop_appeals(now - expire_after)
    population = tx.counter("alive") + tx.counter("suspended")
    if rows or postings:
        energy = tx.energy()
    pending = tx.counter("decisions") - sum(map(tx.counter, ("settled", "abandoned", "expired")))
    tx.append(
        "tick",
        data={
            "population": population, "suspended": tx.counter("suspended"), "died": len(died), "expired": expired, "rent": charged,
            "energy": energy, "pending": pending, "rent_index": tx.counter("rent_index"),
        },
        postings=postings,
    )  # fmt: skip
    return TickReport(now, population, tuple(died), 0, expired, charged)


def _waived(book: Book, settled: Sequence[SettledShare]) -> list[Posting]:
    """Gives rent back to the deciders that could earn nothing in the last tick: nothing was done on their advice or nothing came of it,
    by the word of a meter above `claimed`; or the meter tells hardly anything. Once each.

    All rent since their account last moved comes back, not this tick's alone: in the time that passed until it was asked, such an entry
    could earn no more than now, and one that is asked seldom would starve between two questions that it answers well.
    """
    spared = {
        share.entry_row
        for share in settled
        if share.entry_row is not None
        and share.tier != "claimed"
        and (share.acted is False or share.delta == 0 or alarmed(book.testimony.beliefs[share.meter]))
    }
    postings: list[Posting] = []
    for stored in book.tx.entries(sorted(spared)):
        entry = stored.entry
        if entry.alive and entry.retention == "earned":
            postings += book.waive(stored)
    return postings
