"""Who is let in, and on what terms: the memory of death, probation, and the gate for newcomers.

**Memory of death.** A text that did harm does not come back as if nothing had been: written down again (exactly, or nearly, with the same
numbers, names and negation), it starts suspended, without a stake, judged by what was measured of the one that died. It is cleared as
that one would be: when the meter is revoked whose word it was, or when a second measurement says otherwise. A correction is no twin.

**Probation.** What was imported decides nothing until outcomes here have borne it out: those of decisions that it was recalled beside and
agreed with. Where there is a second instrument, the last of them is measured again first.

**The gate** (setting `admission_window`, off by default): the first measured harm of an entry within its first outcomes ends it at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from earnest.core.agreement import difference, disagreement
from earnest.core.analysis import Analyser
from earnest.core.entry import KINDS, NewEntry, StoredEntry
from earnest.core.evidence import APPEAL_WAIT, sized
from earnest.core.filters import Filter
from earnest.core.ranking import similarity
from earnest.core.settings import Settings
from earnest.core.ticket import StoredTicket
from earnest.core.twins import exact_digest, twin_digest
from earnest.ledger.book import Book
from earnest.ledger.settling import Measured
from earnest.ledger.testimony import Testimony, borrow
from earnest.protocols import Reading, Writing

NEAR_TWIN: Final = 0.8
"""Similarity from which a text that agrees with an executed one is taken for it. Consolidation asks for less, for it can be undone at no
cost; here a false twin silences somebody's new entry until it is measured."""

NEAR_READ: Final = 16
"""Executed texts that a new one is compared with, the most alike first."""

SUSPENDED_READ: Final = 64
"""Suspended entries of the scope that a new one is compared with, the oldest first; each is there for some tens of ticks."""

LENGTHS: Final = 0.6
"""Ratio of lengths, in characters, beyond which two texts cannot be near twins."""

_SHARE: Final = 0.5
"""Part of a text's information that an executed one must hold to be compared at all; a near twin holds more."""

SAME_ADVICE: Final = frozenset({None, "mood", "tense", "order"})
"""In what an executed text may differ from a new one that is still taken for it; all else is a correction, or another text."""


def condemned(
    tx: Writing,
    settings: Settings,
    analyser: Analyser,
    new: NewEntry,
    terms: tuple[Sequence[str], Sequence[str]],
    besides: Sequence[StoredEntry] = (),
    *,
    again: bool = True,
) -> StoredEntry | None:
    """The entry whose harm a new text inherits because it says the same; None if it may start afresh.

    Looked at: dead exact twins of any kind in its scope that harm is the better bet of, executed and suspended texts that it hardly
    differs from, and `besides`, the entries that it takes the place of. `again` is false where it is known that nobody said it before.
    O(1) until something did harm, then one look into the index.
    """
    testimony = Testimony(tx, settings)
    if not testimony.on:
        return None
    dead_twins: Sequence[StoredEntry] = _dead_twins(tx, new) if again else ()
    for stored in (*besides, *dead_twins, *_suspended(tx, new)):
        exact = twin_digest(stored.entry.text, None) == twin_digest(new.text, None)
        if (exact or _nearly(new.text, terms[0], stored.entry.text, analyser.terms(stored.entry.text))) and not testimony.active(stored):
            return stored
    if not tx.counter("dead:executed"):
        return None
    question = analyser.question(new.text)
    if not question.words:
        return None
    found, _ = tx.guards(question, Filter(scopes=(new.scope,), rules=True), NEAR_READ, _SHARE)
    held = {candidate.row: candidate.text_terms for candidate in found}
    for stored in tx.entries([*held]):
        if _nearly(new.text, terms[0], stored.entry.text, held[stored.row]) and not testimony.active(stored):
            return stored
    return None


def _dead_twins(tx: Reading, new: NewEntry) -> list[StoredEntry]:
    if not tx.counter("dead"):
        return []
    digests = dict.fromkeys((twin_digest(new.text, new.cue), exact_digest(new.text, new.cue)))
    found = [stored for kind in KINDS for digest in digests for stored in tx.twins(digest, new.scope, kind)]
    return [stored for stored in found if not stored.entry.alive]


def _suspended(tx: Reading, new: NewEntry) -> list[StoredEntry]:
    """Suspended entries of its scope that are about as long as a new one."""
    if not tx.counter("suspended"):
        return []
    found = tx.page(Filter(scopes=(new.scope,), standings=("suspended",), rules=True), None, SUSPENDED_READ)
    return [stored for stored in found if LENGTHS * len(stored.entry.text) < len(new.text) < len(stored.entry.text) / LENGTHS]


def _nearly(text: str, terms: Sequence[str], executed: str, its_terms: Sequence[str]) -> bool:
    return similarity(terms, its_terms) >= NEAR_TWIN and difference(text, executed) in SAME_ADVICE


def convict(tx: Writing, settings: Settings, stored: StoredEntry, by: StoredEntry) -> StoredEntry:
    """Suspends a living entry for the harm of another that said the same; returns it as it stands now."""
    if stored.row != by.row:
        borrow(tx, settings, stored.row, by.row)
    Testimony(tx, settings).judge(tx, stored, of=by.row)
    return tx.entries([stored.row])[0]


def acquit(tx: Writing, book: Book, stored: StoredEntry) -> bool:
    """Clears an empty entry that its evidence does not condemn any more, with a fresh stake; says whether it did.

    It was suspended without one, or lost what it had while it was suspended: like an executed entry that returns, it begins anew.
    """
    entry = stored.entry
    empty = entry.retention == "earned" and not entry.pinned and entry.balance <= 0
    if entry.standing != "suspended" or not empty or not book.testimony.active(stored):
        return False
    postings = [*book.close(stored), *book.stake(stored)]
    tx.change_entry(stored.row, standing="active", harmed=False)
    tx.append("clear", entries=[stored.row], data={"reason": "acquitted", "balance": entry.balance}, postings=postings)
    return True


def borne_out(tx: Writing, book: Book, outcome: Measured, by_row: Mapping[int, StoredEntry]) -> None:
    """Counts a measured gain for those on probation that the decision was made beside, and that agree with what decided it.

    The last one that is needed is measured again first where a second instrument was ever heard: the appeal is asked for, and waited for
    as long as a burial waits. O(entries named).
    """
    waiting = [by_row[share.entry_row] for share in outcome.shares if share.role in ("supporting", "cited")]
    waiting = [stored for stored in waiting if stored.probation and stored.entry.alive]
    if not waiting or outcome.tier != "measured" or outcome.acted is False:
        return
    by_itself = book.testimony.beliefs[outcome.meter].baseline.at(tx.counter("tick")) if book.testimony.on else 0.0
    decider = next((by_row[share.entry_row] for share in outcome.shares if share.role == "deciding"), None)
    if decider is None or sized(outcome.delta, outcome.scale) - by_itself <= 0:
        return
    for stored in waiting:
        if disagreement(stored.entry.text, decider.entry.text) is None:
            _advance(tx, book, outcome.ticket, stored)


def confirmed(tx: Writing, book: Book, ticket: StoredTicket, meter: str, size: float) -> None:
    """Lets those graduate that wait for nothing but a second measurement of this decision, if it says that the gain was real."""
    stored = {one.row: one for one in tx.entries([share.entry_row for share in ticket.shares])}
    decider = next((stored[share.entry_row] for share in ticket.shares if share.role == "deciding"), None)
    if decider is None or size - book.testimony.beliefs[meter].baseline.at(tx.counter("tick")) <= 0:
        return
    for one in stored.values():
        if one.probation == 1 and one.entry.alive and disagreement(one.entry.text, decider.entry.text) is None:
            _graduate(tx, ticket, one)


def _graduate(tx: Writing, ticket: StoredTicket, one: StoredEntry) -> None:
    tx.change_entry(one.row, probation=0)
    tx.append("graduate", entries=[one.row], ticket=ticket.id)


def _advance(tx: Writing, book: Book, ticket: StoredTicket, one: StoredEntry) -> None:
    if one.probation > 1:
        tx.change_entry(one.row, probation=one.probation - 1)
        return
    if book.testimony.on and tx.counter("looks") and not tx.looks_at(ticket.row):
        asked = tx.events(entry=one.entry.id, kind="appeal", after=0, limit=1, newest=False)
        tx.want(ticket.row, one.row, "appeal")
        if not asked:
            tx.append("appeal", entries=[one.row], data={"wanted": [[ticket.row, "graduation"]]})
            return
        if tx.counter("tick") - asked[0].tick <= APPEAL_WAIT:
            return
    _graduate(tx, ticket, one)


def denied(tx: Writing, book: Book, suspended: Sequence[int]) -> tuple[str, ...]:
    """Ends newcomers whose harm came within the gate's window; returns their ids. Those that open tickets still name wait for them."""
    window = book.settings.admission_window
    ended: list[str] = []
    if not window or not book.testimony.on:
        return ()
    for stored in tx.entries(suspended):
        entry = stored.entry
        if not entry.alive or entry.pinned or entry.retention != "earned" or stored.open_tickets:
            continue
        if len(book.testimony.words(stored.row)) <= window:
            book.bury(stored, "executed", gate=window)
            ended.append(entry.id)
    return tuple(ended)
