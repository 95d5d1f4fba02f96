"""A meter that turned out to lie: history is folded again without it, and whom it condemned comes back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from earnest.core.analysis import Analyser
from earnest.core.entry import StoredEntry
from earnest.core.settings import Settings
from earnest.core.ticket import Revocation
from earnest.errors import NotAllowed
from earnest.ledger import admission, walks
from earnest.ledger.book import Book
from earnest.ledger.lifecycle import refuse_living_twin, revive
from earnest.ledger.testimony import UNLEARNED, judge_again, relearn
from earnest.protocols import Reading, Writing

_BATCH = 500


def revoke(tx: Writing, settings: Settings, analyser: Analyser, meter: str, since: int) -> Revocation:
    """Takes back the trust in a meter's words from event `since` on. The caller has checked that there is such a meter."""
    before = tx.revoked().get(meter)
    rows = tx.spoken_of(meter, since if before is None else min(since, before))
    tx.revoke_meter(meter, since)
    event = tx.append("revoke", data={"meter": meter, "since": since}, before={"revoked": before})
    suspended, cleared, returned = refold(tx, settings, analyser, rows)
    return Revocation(meter, event, since, suspended, cleared, returned)


def trust_again(tx: Writing, settings: Settings, analyser: Analyser, meter: str, revoked: int | None) -> tuple[str, ...]:
    """Lets a meter's words count as they did before it was revoked; returns the ids of the entries whose standing turned."""
    rows = tx.spoken_of(meter, 0)
    tx.revoke_meter(meter, revoked)
    suspended, cleared, returned = refold(tx, settings, analyser, rows)
    return (*suspended, *cleared, *returned)


def refold(
    tx: Writing, settings: Settings, analyser: Analyser, rows: Sequence[int]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Learns the meters anew and judges these entries, dead ones too: ids that were suspended, cleared, and brought back.

    An executed entry that its evidence does not condemn any more returns with a fresh stake, unless one that says the same lives.
    """
    if settings.rule != "evidence":
        return (), (), ()
    tx.bump(UNLEARNED, 1)
    learned = relearn(tx, settings)
    suspended, cleared = judge_again(tx, settings, rows)
    returned: list[str] = []
    # What is believed of the meters is read once: nothing below changes it.
    book = Book(tx, settings)
    for start in range(0, len(rows), _BATCH):
        for stored in tx.entries(rows[start : start + _BATCH]):
            if admission.acquit(tx, book, stored):
                cleared = (*cleared, stored.row)
            elif stored.entry.cause == "executed" and book.testimony.active(stored) and _returned(tx, book, analyser, stored):
                returned.append(stored.entry.id)
    return _ids(tx, (*learned.suspended, *suspended)), _ids(tx, (*learned.cleared, *cleared)), tuple(returned)


def _returned(tx: Writing, book: Book, analyser: Analyser, stored: StoredEntry) -> bool:
    try:
        refuse_living_twin(tx, stored)
    except NotAllowed:
        return False
    revive(tx, stored, analyser)
    postings = book.stake(stored)
    tx.change_entry(stored.row, harmed=False)
    tx.append("restore", entries=[stored.row], data={"cause": "executed", "by": "revoke"}, postings=postings)
    return True


def _ids(tx: Reading, rows: Sequence[int]) -> tuple[str, ...]:
    return tuple(stored.entry.id for stored in tx.entries([*dict.fromkeys(rows)])) if rows else ()


def first_event(reading: Reading, since: int | datetime | None) -> int:
    """The number of the first event of a tick, or from a moment on; 0 for None, and one past the last if nothing happened since.

    O(log events) for a tick: ticks only grow. Time does only as far as nobody sets a clock, so that a moment costs O(events before it).
    """
    if since is None:
        return 0
    last = walks.latest(reading)
    low, high = 1, (last.seq if last else 0) + 1
    if isinstance(since, datetime):
        found = reading.event_from(since)
        return high if found is None else found
    while low < high:
        middle = (low + high) // 2
        event = reading.event(middle)
        low, high = (low, middle) if event is not None and event.tick >= since else (middle + 1, high)
    return low
