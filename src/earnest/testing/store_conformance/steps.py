"""What the laws are written in: the sentences of a test, and the short ways to fill a store."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final

from earnest.core.amounts import FORFEIT, MINT
from earnest.core.analysis import Analyser, Question
from earnest.core.entry import NewEntry, StoredEntry
from earnest.core.events import Posting, twin_digest
from earnest.core.filters import Filter
from earnest.core.ticket import Role
from earnest.protocols import Author, Store, Writing
from earnest.testing.store_conformance.driver import Driver
from earnest.testing.store_conformance.law import Broken

NOW: Final = datetime(2026, 3, 4, 5, 6, 7, 890123, tzinfo=UTC)
AUTHOR: Final = Author(NOW, "conformance", "python")

ANALYSER: Final = Analyser()


class Trial:
    """Keeps whatever error its block raised: a driver may fail with anything."""

    error: Exception | None = None

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        if isinstance(error, Exception):
            self.error = error
            return True
        return False


def must(condition: object, otherwise: str) -> None:
    """Breaks the law, in these words, unless the condition holds."""
    if not condition:
        raise Broken(otherwise)


def same(got: object, wanted: object, what: str) -> None:
    """Breaks the law unless the two are equal."""
    if got != wanted:
        raise Broken(f"{what}: {got!r}, not {wanted!r}")


@contextmanager
def refused(kind: type[BaseException] | tuple[type[BaseException], ...], what: str) -> Iterator[None]:
    """Breaks the law unless its block raises an error of this kind."""
    try:
        yield
    except kind:
        return
    raise Broken(f"{what} was not refused")


@contextmanager
def opened(driver: Driver, name: str, **how: Any) -> Iterator[Store]:
    """A store of the driver, closed after the block."""
    store = driver.open(name, **how)
    try:
        yield store
    finally:
        store.close()


_numbers = itertools.count(1)


def new_entry(text: str, entry_id: str | None = None, **fields: Any) -> NewEntry:
    """An entry to insert, ordinary but for these fields."""
    standard: dict[str, Any] = {
        "cue": None, "kind": "semantic", "origin": "explicit", "sources": (), "scope": "", "importance": 0.5, "confidence": 1.0,
        "retention": "earned",
    }  # fmt: skip
    return NewEntry(id=entry_id or f"e{next(_numbers)}", text=text, **{**standard, **fields})


def insert(tx: Writing, new: NewEntry) -> StoredEntry:
    """Inserts the entry, indexed, without an event."""
    return tx.insert_entry(
        new,
        salt=b"s" * 16,
        digest=twin_digest(new.text, new.cue),
        text_terms=ANALYSER.terms(new.text),
        cue_terms=ANALYSER.terms(new.cue or ""),
    )


def give(tx: Writing, stored: StoredEntry, amount: int) -> int:
    """Gives the entry its first balance, with the birth event."""
    tx.change_entry(stored.row, balance=amount, rent_mark=tx.counter("rent_index"))
    return tx.append("add", entries=[stored.row], postings=[Posting(MINT, stored.row, amount)])


def add(store: Store, text: str, amount: int = 1_000_000, **fields: Any) -> StoredEntry:
    """An entry with its birth event, and a balance if it is an earned one."""
    with store.write(AUTHOR) as tx:
        stored = insert(tx, new_entry(text, **fields))
        if stored.entry.retention == "earned":
            give(tx, stored, amount)
        else:
            tx.append("add", entries=[stored.row])
        [made] = tx.entries([stored.row])
    return made


def decide(store: Store, ticket_id: str, shares: Sequence[tuple[StoredEntry, Role]]) -> None:
    """Opens a ticket on these entries."""
    with store.write(AUTHOR) as tx:
        tx.insert_ticket(
            ticket_id, query="q", answer="a", exposure=1.0, holdout=False, shares=[(stored.row, role) for stored, role in shares]
        )
        tx.move_escrow([stored.row for stored, _ in shares], 1)
        tx.append("decide", entries=[stored.row for stored, _ in shares], ticket=ticket_id)


def settle(store: Store, ticket_id: str, moved: dict[int, int], *, meter: str = "m", delta: float = 1.0) -> int:
    """Settles the open ticket with these amounts; the event's number."""
    with store.write(AUTHOR) as tx:
        ticket = tx.ticket(ticket_id)
        must(ticket is not None and ticket.state == "pending", f"ticket {ticket_id} is not open")
        assert ticket is not None
        tx.put_meter(meter, unit="u", scale=2.0, tier="measured")
        rows = [share.entry_row for share in ticket.shares]
        event = tx.append("settle", entries=rows, ticket=ticket_id, data={"delta": delta, "scale": 2.0})
        tx.insert_settlement(
            ticket, event=event, delta=delta, scale=2.0, meter=meter, tier="measured", acted=True, detail="seen", moved=moved
        )
        tx.resolve_ticket(ticket.row, "settled", event)
        tx.move_escrow(rows, -1)
    return event


def die(tx: Writing, stored: StoredEntry) -> None:
    """Lets the entry die, what it held forfeited."""
    held = stored.entry.balance
    tx.change_entry(stored.row, standing="dead", cause="forgotten", balance=0, rent_mark=tx.counter("rent_index"), died_tick=0)
    tx.append("forget", entries=[stored.row], postings=[Posting(stored.row, FORFEIT, held)] if held > 0 else [])


def found_texts(store: Store, question: Question | str, limit: int = 100, **where: Any) -> list[str]:
    """The texts of the candidates for a question."""
    asked = ANALYSER.question(question) if isinstance(question, str) else question
    with store.read() as reading:
        candidates, _ = reading.candidates(asked, Filter(**where), limit)
        return [stored.entry.text for stored in reading.entries([candidate.row for candidate in candidates])]


def paged_texts(store: Store, **where: Any) -> list[str]:
    """The texts of everything listed."""
    with store.read() as reading:
        return [stored.entry.text for stored in reading.page(Filter(**where), None, 100_000)]


def clean(store: Store) -> None:
    """Breaks the law if a full look finds damage."""
    found = [f"{damage.code}: {damage.text}" for damage in store.damage()]
    must(not found, f"a full look finds {found}")


EVERY_SCOPE: Final[dict[str, Any]] = {"scopes": None, "rules": True, "standings": ("active", "suspended", "dead")}


def filled(driver: Driver, name: str) -> Store:
    """A store with something of every kind in it."""
    store = driver.open(name)
    first = add(store, "old log files may be deleted", sources=("runbook",), tags=("disk",), metadata={"n": 1})
    second = add(store, "log files are rotated nightly", scope="alice", cue="when are logs rotated")
    decide(store, f"{name}-t1", [(first, "deciding"), (second, "supporting")])
    settle(store, f"{name}-t1", {first.row: 5})
    decide(store, f"{name}-t2", [(first, "deciding")])
    third = add(store, "tape drives eat tapes")
    with store.write(AUTHOR) as tx:
        die(tx, third)
        tx.bump("tick", 3)
        tx.append("tick", data={"rent_index": tx.counter("rent_index")})
        tx.set_setting("floor", 0.25)
        tx.remember("key", "add", b"r", {"id": "e"})
    return store
