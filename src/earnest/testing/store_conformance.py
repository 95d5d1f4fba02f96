"""The contract of `earnest.protocols.Store` as something that can be run: one named law after the other.

A driver's own test needs a `Driver`, which says how to open its stores and how to break them, and one parametrized test:

```python
@pytest.mark.parametrize("law", store_conformance.laws(), ids=str)
def test_law(law: store_conformance.Law, tmp_path: Path) -> None:
    law.run(MyDriver(tmp_path))
```

`check_store(driver)` runs all of them and reports, for use without a test runner. An engine that cannot do something at all (a
store in memory is gone when it is closed) says so in `Driver.features`, and `laws(driver.features)` leaves out what needs it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Protocol

from earnest.core.amounts import FORFEIT, MINT, RENT
from earnest.core.analysis import Analyser, Question, Wanted
from earnest.core.entry import NewEntry, StoredEntry
from earnest.core.events import GENESIS, Posting, canonical, chained, micros, twin_digest
from earnest.core.filters import Filter
from earnest.core.ticket import Role
from earnest.errors import IndexDamaged, StoreBusy, StoreError, StoreReadOnly, WrongAgent
from earnest.protocols import Author, Store, Writing

Feature = Literal["reopen", "concurrent", "breakable"]
FEATURES: Final[tuple[Feature, ...]] = ("reopen", "concurrent", "breakable")
"""`reopen`: a store outlives its closing and can be opened twice; `concurrent`: reads and a write go on side by side; `breakable`:
the driver can damage its stores."""

Break = Literal["event", "posting", "balance", "counter", "index"]

NOW: Final = datetime(2026, 3, 4, 5, 6, 7, 890123, tzinfo=UTC)
AUTHOR: Final = Author(NOW, "conformance", "python")

_ANALYSER: Final = Analyser()


class Driver(Protocol):
    """How the laws reach a driver."""

    features: Collection[Feature]

    def open(self, name: str, *, agent: str | None = None, read_only: bool = False, timeout: float = 10.0) -> Store:
        """The store of that name, made on first use and opened again afterwards."""
        ...

    def damage(self, store: Store, what: Break) -> None:
        """Behind the driver's back: change what an event or a posting says, an entry's balance, the counter `alive`, or empty the index."""
        ...

    def copy(self, name: str) -> Path:
        """Where a backup goes that `open(name)` can then open."""
        ...


class Broken(AssertionError):
    """A law does not hold."""


@dataclass(frozen=True, slots=True)
class Law:
    """One sentence of the contract and how to test it. `run` raises if it does not hold."""

    name: str
    text: str
    needs: frozenset[Feature]
    run: Callable[[Driver], None] = field(repr=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Report:
    """What became of each law; falsy if one does not hold."""

    held: tuple[Law, ...]
    broken: tuple[tuple[Law, Exception], ...]

    def __bool__(self) -> bool:
        return not self.broken

    def __str__(self) -> str:
        lines = [f"{len(self.held)} laws hold, {len(self.broken)} are broken"]
        lines += [f"  {law.name}: {law.text}\n    {type(error).__name__}: {error}" for law, error in self.broken]
        return "\n".join(lines)


_LAWS: list[Law] = []


def laws(features: Collection[Feature] = FEATURES) -> list[Law]:
    """The laws that an engine with these features has to keep, in order."""
    return [law for law in _LAWS if law.needs <= set(features)]


def check_store(driver: Driver) -> Report:
    """Tries every law that the driver's features allow; none stops the others."""
    held, broken = [], []
    for law in laws(driver.features):
        with _Trial() as trial:
            law.run(driver)
        if trial.error is None:
            held.append(law)
        else:
            broken.append((law, trial.error))
    return Report(tuple(held), tuple(broken))


class _Trial:
    """Keeps whatever error its block raised: a driver may fail with anything."""

    error: Exception | None = None

    def __enter__(self) -> _Trial:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        if isinstance(error, Exception):
            self.error = error
            return True
        return False


def _law(text: str, *needs: Feature) -> Callable[[Callable[[Driver], None]], Callable[[Driver], None]]:
    def keep(run: Callable[[Driver], None]) -> Callable[[Driver], None]:
        _LAWS.append(Law(run.__name__.strip("_"), text, frozenset(needs), run))
        return run

    return keep


# what the laws are written in


def _must(condition: object, otherwise: str) -> None:
    if not condition:
        raise Broken(otherwise)


def _same(got: object, wanted: object, what: str) -> None:
    if got != wanted:
        raise Broken(f"{what}: {got!r}, not {wanted!r}")


@contextmanager
def _refused(kind: type[BaseException] | tuple[type[BaseException], ...], what: str) -> Iterator[None]:
    try:
        yield
    except kind:
        return
    raise Broken(f"{what} was not refused")


@contextmanager
def _opened(driver: Driver, name: str, **how: Any) -> Iterator[Store]:
    store = driver.open(name, **how)
    try:
        yield store
    finally:
        store.close()


_numbers = itertools.count(1)


def _new(text: str, entry_id: str | None = None, **fields: Any) -> NewEntry:
    standard: dict[str, Any] = {
        "cue": None, "kind": "semantic", "origin": "explicit", "sources": (), "scope": "", "importance": 0.5, "confidence": 1.0,
        "retention": "earned",
    }  # fmt: skip
    return NewEntry(id=entry_id or f"e{next(_numbers)}", text=text, **{**standard, **fields})


def _insert(tx: Writing, new: NewEntry) -> StoredEntry:
    return tx.insert_entry(
        new,
        salt=b"s" * 16,
        digest=twin_digest(new.text, new.cue),
        text_terms=_ANALYSER.terms(new.text),
        cue_terms=_ANALYSER.terms(new.cue or ""),
    )


def _give(tx: Writing, stored: StoredEntry, amount: int) -> int:
    tx.change_entry(stored.row, balance=amount, rent_mark=tx.counter("rent_index"))
    return tx.append("add", entries=[stored.row], postings=[Posting(MINT, stored.row, amount)])


def _add(store: Store, text: str, amount: int = 1_000_000, **fields: Any) -> StoredEntry:
    """An entry with its birth event, and a balance if it is an earned one."""
    with store.write(AUTHOR) as tx:
        stored = _insert(tx, _new(text, **fields))
        if stored.entry.retention == "earned":
            _give(tx, stored, amount)
        else:
            tx.append("add", entries=[stored.row])
        [made] = tx.entries([stored.row])
    return made


def _decide(store: Store, ticket_id: str, shares: Sequence[tuple[StoredEntry, Role]]) -> None:
    with store.write(AUTHOR) as tx:
        tx.insert_ticket(
            ticket_id, query="q", answer="a", exposure=1.0, holdout=False, shares=[(stored.row, role) for stored, role in shares]
        )
        tx.move_escrow([stored.row for stored, _ in shares], 1)
        tx.append("decide", entries=[stored.row for stored, _ in shares], ticket=ticket_id)


def _settle(store: Store, ticket_id: str, moved: dict[int, int], *, meter: str = "m", delta: float = 1.0) -> int:
    with store.write(AUTHOR) as tx:
        ticket = tx.ticket(ticket_id)
        _must(ticket is not None and ticket.state == "pending", f"ticket {ticket_id} is not open")
        assert ticket is not None
        tx.put_meter(meter, unit="u", scale=2.0, tier="measured")
        rows = [share.entry_row for share in ticket.shares]
        event = tx.append("settle", entries=rows, ticket=ticket_id, data={"delta": delta})
        tx.insert_settlement(
            ticket, event=event, delta=delta, scale=2.0, meter=meter, tier="measured", acted=True, detail="seen", moved=moved
        )
        tx.resolve_ticket(ticket.row, "settled", event)
        tx.move_escrow(rows, -1)
    return event


def _die(tx: Writing, stored: StoredEntry) -> None:
    held = stored.entry.balance
    tx.change_entry(stored.row, standing="dead", cause="forgotten", balance=0, rent_mark=tx.counter("rent_index"), died_tick=0)
    tx.append("forget", entries=[stored.row], postings=[Posting(stored.row, FORFEIT, held)] if held > 0 else [])


def _found(store: Store, question: Question | str, limit: int = 100, **where: Any) -> list[str]:
    asked = _ANALYSER.question(question) if isinstance(question, str) else question
    with store.read() as reading:
        candidates, _ = reading.candidates(asked, Filter(**where), limit)
        return [stored.entry.text for stored in reading.entries([candidate.row for candidate in candidates])]


def _paged(store: Store, **where: Any) -> list[str]:
    with store.read() as reading:
        return [stored.entry.text for stored in reading.page(Filter(**where), None, 100_000)]


def _clean(store: Store) -> None:
    found = [f"{damage.code}: {damage.text}" for damage in store.damage()]
    _must(not found, f"a full look finds {found}")


EVERY_SCOPE: Final[dict[str, Any]] = {"scopes": None, "rules": True, "standings": ("active", "suspended", "dead")}


def _filled(driver: Driver, name: str) -> Store:
    """A store with something of every kind in it."""
    store = driver.open(name)
    first = _add(store, "old log files may be deleted", sources=("runbook",), tags=("disk",), metadata={"n": 1})
    second = _add(store, "log files are rotated nightly", scope="alice", cue="when are logs rotated")
    _decide(store, f"{name}-t1", [(first, "deciding"), (second, "supporting")])
    _settle(store, f"{name}-t1", {first.row: 5})
    _decide(store, f"{name}-t2", [(first, "deciding")])
    third = _add(store, "tape drives eat tapes")
    with store.write(AUTHOR) as tx:
        _die(tx, third)
        tx.bump("tick", 3)
        tx.append("tick", data={"rent_index": tx.counter("rent_index")})
        tx.set_setting("floor", 0.25)
        tx.remember("key", "add", b"r", {"id": "e"})
    return store


# the laws


@_law("A block that raises leaves nothing behind: no entry, event, counter, setting, key or index row.")
def _atomic(driver: Driver) -> None:
    with _opened(driver, "atomic") as store:
        kept = _add(store, "kept words")
        with store.read() as reading:
            events, alive = len(reading.events(entry=None, kind=None, after=0, limit=100, newest=False)), reading.counter("alive")
        with _refused(ZeroDivisionError, "an error in the block"), store.write(AUTHOR) as tx:
            _give(tx, _insert(tx, _new("half words", "half", scope="new scope", sources=("nowhere",))), 7)
            tx.change_entry(kept.row, balance=0, standing="dead", cause="forgotten")
            tx.insert_ticket("t", query="q", answer="a", exposure=1.0, holdout=False, shares=[(kept.row, "deciding")])
            tx.move_escrow([kept.row], 1)
            tx.bump("tick", 1)
            tx.set_setting("floor", 1)
            tx.remember("k", "add", b"r", {})
            tx.put_meter("m", unit="", scale=None, tier="claimed")
            raise ZeroDivisionError
        with store.read() as reading:
            _same(reading.entry("half"), None, "the entry of a failed block")
            _same(reading.entry(kept.entry.id), kept, "an entry that a failed block changed")
            _same(len(reading.events(entry=None, kind=None, after=0, limit=100, newest=False)), events, "events")
            _same((reading.counter("alive"), reading.counter("tick")), (alive, 0), "running numbers")
            _must("floor" not in reading.settings(), "a setting of a failed block was kept")
            _same((reading.remembered("k"), reading.ticket("t"), reading.meter("m")), (None, None, None), "key, ticket and meter")
        _same(_found(store, "words", scopes=None), ["kept words"], "the index")
        _clean(store)


@_law("What a block wrote is there for everyone who opens the store when the block has ended, and after it is closed.", "reopen")
def _durable(driver: Driver) -> None:
    store = _filled(driver, "durable")
    before = _paged(store, **EVERY_SCOPE)
    with _opened(driver, "durable") as second:
        _same(_paged(second, **EVERY_SCOPE), before, "entries seen by a second opening")
    store.close()
    with _opened(driver, "durable") as again:
        _same(_paged(again, **EVERY_SCOPE), before, "entries after closing and opening")
        with again.read() as reading:
            _same(reading.counter("tick"), 3, "a running number")
            _same(reading.settings().get("floor"), 0.25, "a setting")
            _same(reading.remembered("key"), ("add", b"r", {"id": "e"}), "a key")
            settlement = reading.settlement("durable-t1")
            _must(settlement is not None and settlement.delta == 1.0, "the settlement is gone")
        _clean(again)


@_law("A read sees one moment of the store, however many writes land while it lasts.", "concurrent")
def _snapshot(driver: Driver) -> None:
    with _opened(driver, "snapshot") as store:
        _add(store, "first words")
        with store.read() as reading:
            before = (reading.counter("alive"), len(reading.page(Filter(), None, 10)))
            _add(store, "second words")
            candidates, statistics = reading.candidates(_ANALYSER.question("words"), Filter(), 10)
            _same((reading.counter("alive"), len(reading.page(Filter(), None, 10))), before, "an old snapshot")
            _same((len(candidates), statistics.entries), (1, 1), "candidates of an old snapshot")
        _same(sorted(_found(store, "words")), ["first words", "second words"], "a new snapshot")


@_law("A read does not wait for a writer, and sees nothing that is not committed.", "concurrent")
def _readers_never_wait(driver: Driver) -> None:
    with _opened(driver, "readers_never_wait") as store:
        _add(store, "committed words")
        seen: list[list[str]] = []
        with store.write(AUTHOR) as tx:
            _insert(tx, _new("uncommitted words"))
            reader = threading.Thread(target=lambda: seen.append(_paged(store)))
            reader.start()
            reader.join(20)
        _same(seen, [["committed words"]], "what a reader saw beside an open write")


@_law("One writer at a time; another gets StoreBusy after the bounded wait, in this process and in others, and wrote nothing.", "reopen")
def _writers_exclude(driver: Driver) -> None:
    with _opened(driver, "writers_exclude", timeout=0.2) as store, _opened(driver, "writers_exclude", timeout=0.2) as other:
        outcome: list[type[BaseException] | None] = []

        def attempt(which: Store) -> None:
            with _Trial() as trial, which.write(AUTHOR) as tx:
                tx.bump("tick", 1)
            outcome.append(type(trial.error) if trial.error else None)

        with store.write(AUTHOR) as tx:
            tx.bump("tick", 100)
            for which in (other, store):
                thread = threading.Thread(target=attempt, args=(which,))
                thread.start()
                thread.join(20)
                _must(not thread.is_alive(), "a second writer waits for ever")
        _same(outcome, [StoreBusy, StoreBusy], "what a second writer got")
        attempt(other)
        with store.read() as reading:
            _same(reading.counter("tick"), 101, "what was written")


@_law("Threads may share a store: every write lands once, and the log stays one chain.")
def _threads_share(driver: Driver) -> None:
    with _opened(driver, "threads_share") as store:
        trials: list[_Trial] = []

        def work(me: int) -> None:
            with _Trial() as trial:
                for i in range(8):
                    _add(store, f"words {me} {i}", entry_id=f"w{me}-{i}")
                    _paged(store)
            trials.append(trial)

        threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        _same([trial.error for trial in trials], [None] * 4, "errors of threads")
        _same(len(_paged(store)), 32, "entries")
        _clean(store)


@_law("Events are numbered without a gap, stamped with author and time, and each carries the hash over itself and the one before.")
def _ordered_chain(driver: Driver) -> None:
    with _opened(driver, "ordered_chain") as store:
        stored = _add(store, "words")
        with store.write(Author(NOW + timedelta(days=1), "someone", "cli")) as tx:
            posted = [Posting(MINT, stored.row, 3), Posting(stored.row, RENT, 2)]
            said = {"b": [1, None], "a": "é"}
            seq = tx.append("edit", entries=[stored.row, stored.row], ticket="t", data=said, postings=posted, note="why")
            tx.change_entry(stored.row, balance=1_000_001)
        with store.read() as reading:
            events = reading.events(entry=None, kind=None, after=0, limit=100, newest=False)
            _same([event.seq for event in events], list(range(1, len(events) + 1)), "event numbers")
            before = GENESIS
            for event in events:
                rows = [found.row for name in event.entries if (found := reading.entry(name)) is not None]
                made = chained(
                    before, event.seq, event.kind, event.tick, micros(event.at), event.actor, event.channel, rows, event.ticket,
                    canonical(event.data), reading.postings(event.seq),
                )  # fmt: skip
                _same(event.hash, made.hex(), f"the hash of event {event.seq}")
                before = made
            last = reading.event(seq)
            _must(last is not None, "an event is not found by its number")
            assert last is not None
            _same((last.actor, last.channel, last.at), ("someone", "cli", NOW + timedelta(days=1)), "who wrote it, how, when")
            _same((last.entries, last.ticket, last.data, last.note), ((stored.entry.id,), "t", said, "why"), "event")
            _same(reading.postings(seq), posted, "postings in order")
            _same(reading.event(seq + 1), None, "an event that is not there")


@_law("Events are read forwards after a number or backwards before it, by entry and kind, up to the limit.")
def _events_both_ways(driver: Driver) -> None:
    with _opened(driver, "events_both_ways") as store:
        one, two = _add(store, "one"), _add(store, "two")
        with store.write(AUTHOR) as tx:
            made = [tx.append("pin" if i % 2 else "unpin", entries=[one.row if i < 4 else two.row]) for i in range(6)]
        with store.read() as reading:

            def seqs(
                entry: str | None = None, kind: str | None = None, after: int = 0, limit: int = 100, newest: bool = False
            ) -> list[int]:
                return [e.seq for e in reading.events(entry=entry, kind=kind, after=after, limit=limit, newest=newest)]

            everything = seqs()
            _same(seqs(newest=True), everything[::-1], "newest first")
            _same(seqs(newest=True, limit=2), made[:-3:-1], "the two newest")
            _same(seqs(newest=True, after=made[3], limit=2), [made[2], made[1]], "before a number, newest first")
            _same(seqs(after=made[3]), made[4:], "after a number")
            _same(seqs(limit=3), everything[:3], "a limit")
            _same(seqs(kind="pin"), [made[1], made[3], made[5]], "of one kind")
            _same(seqs(entry=two.entry.id, kind="pin"), [made[5]], "of one entry and kind")
            _same(seqs(entry=one.entry.id, newest=True)[:4], made[3::-1], "of one entry, newest first")
            _same(seqs(entry="nobody"), [], "of an entry that is not there")


@_law("Texts, times and metadata come back exactly as they were written.")
def _values_come_back(driver: Driver) -> None:
    texts = ["Grüße 日本語 👩‍👩‍👧 \u202ertl\u202c", "line\nbreak\ttab", "' OR 1=1; --", "x" * 100_000, "%_\\*?[a-z]"]
    times = [datetime(1, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
    metadata = {"deep": {"list": [1, 2.5, None, True, "é"]}, "": "", "big": 2**63 - 1, "small": -(2**63) + 1}
    with _opened(driver, "values_come_back") as store:
        for i, text in enumerate(texts):
            new = _new(
                text, cue=text[:50], scope=text[:20], sources=(text[:30], "b", "a"), tags=("z", text[:9]), metadata=metadata,
                importance=0.1, confidence=0.9, valid_from=times[i % 3], valid_to=times[2], version=3, strength=2.5, probation=4,
                retention="kept",
            )  # fmt: skip
            with store.write(AUTHOR) as tx:
                stored = _insert(tx, new)
            entry = stored.entry
            for name in ("id", "text", "cue", "scope", "sources", "tags", "importance", "confidence", "valid_from", "valid_to", "version"):
                _same(getattr(entry, name), getattr(new, name), name)
            _same((entry.strength, stored.probation, entry.created, entry.metadata), (2.5, 4, NOW, metadata), "the rest")
            _same((entry.balance, entry.standing, entry.cause, entry.recalls, entry.lineage), (0, "active", None, 0, ()), "a fresh entry")
            with store.read() as reading:
                _same(reading.entry(new.id), stored, "the entry read again")


@_law("Entries come in the order asked; rows that are not there are left out; an unknown id is None.")
def _entries_in_order(driver: Driver) -> None:
    with _opened(driver, "entries_in_order") as store:
        rows = [_add(store, f"words {i}").row for i in range(5)]
        asked = [rows[3], rows[0], 10**9, rows[4]]
        with store.read() as reading:
            _same([stored.row for stored in reading.entries(asked)], [rows[3], rows[0], rows[4]], "rows")
            _same((reading.entries([]), reading.entries([10**9]), reading.entry("nobody")), ([], [], None), "nothing")


@_law("Provenance is added once and keeps its order; tags are replaced.")
def _sources_and_tags(driver: Driver) -> None:
    with _opened(driver, "sources_and_tags") as store:
        stored = _add(store, "words", sources=("b",), tags=("x", "y"))
        with store.write(AUTHOR) as tx:
            tx.add_sources(stored.row, ["a", "b", "a", "c"])
            tx.set_tags(stored.row, ["y", "w"])
            [after] = tx.entries([stored.row])
        _same((after.entry.sources, after.entry.tags), (("b", "a", "c"), ("y", "w")), "sources and tags")
        _same(_paged(store, tags=("x",)), [], "by a tag that was taken away")
        _same(_paged(store, sources=("c",)), ["words"], "by a source that was added")


@_law("Twins are the entries of that digest in that scope and kind, of any standing, newest first.")
def _twins(driver: Driver) -> None:
    with _opened(driver, "twins") as store:
        first = _add(store, "same words")
        second = _add(store, "same words")
        _add(store, "same words", scope="other")
        _add(store, "same words", kind="procedural")
        _add(store, "other words")
        with store.write(AUTHOR) as tx:
            _die(tx, first)
        with store.read() as reading:
            found = reading.twins(twin_digest("same words", None), "", "semantic")
            _same([stored.row for stored in found], [second.row, first.row], "twins")


@_law("The number of open tickets is kept for each entry, up and down.")
def _escrow(driver: Driver) -> None:
    with _opened(driver, "escrow") as store:
        one, two = _add(store, "one"), _add(store, "two")
        _decide(store, "t1", [(one, "deciding"), (two, "supporting")])
        _decide(store, "t2", [(one, "deciding")])
        with store.read() as reading:
            _same([stored.open_tickets for stored in reading.entries([one.row, two.row])], [2, 1], "open tickets")
        _settle(store, "t1", {one.row: 1})
        with store.read() as reading:
            _same([stored.open_tickets for stored in reading.entries([one.row, two.row])], [1, 0], "open tickets after a settlement")
        _clean(store)


@_law("Open tickets are listed oldest first, in pages, and by age; an ended one is not.")
def _pending(driver: Driver) -> None:
    with _opened(driver, "pending") as store:
        stored = _add(store, "words")
        for tick in range(3):
            _decide(store, f"a{tick}", [(stored, "deciding")])
            _decide(store, f"b{tick}", [(stored, "deciding")])
            with store.write(AUTHOR) as tx:
                tx.bump("tick", 1)
        _settle(store, "b1", {})
        with store.read() as reading:

            def ids(after: str | None = None, limit: int = 100, opened_before: int | None = None) -> list[str]:
                return [ticket.id for ticket in reading.pending(after, limit, opened_before=opened_before)]

            _same(ids(), ["a0", "b0", "a1", "a2", "b2"], "open tickets")
            _same(ids(limit=2), ["a0", "b0"], "the first page")
            _same(ids("b0", 2), ["a1", "a2"], "the second page")
            _same(ids(opened_before=1), ["a0", "b0"], "opened before tick 1")
            ended = reading.ticket("b1")
            _same((ended.state, ended.opened_tick, ended.shares[0].role) if ended else None, ("settled", 1, "deciding"), "the ended one")
            _same(reading.ticket("nobody"), None, "a ticket that is not there")


@_law("A settlement is kept with its meter, channel and tier; an entry's are read newest first, with role and amount.")
def _settlements(driver: Driver) -> None:
    with _opened(driver, "settlements") as store:
        one, two = _add(store, "one"), _add(store, "two")
        for i in range(3):
            _decide(store, f"t{i}", [(one, "deciding"), (two, "supporting")])
            _settle(store, f"t{i}", {one.row: i + 1, two.row: -i}, delta=float(i), meter=f"m{i % 2}")
        with store.read() as reading:
            kept = reading.settlement("t2")
            _must(kept is not None, "the settlement is not there")
            assert kept is not None
            _same(
                (kept.delta, kept.scale, kept.meter, kept.channel, kept.tier, kept.acted, kept.detail, kept.at),
                (2.0, 2.0, "m0", "python", "measured", True, "seen", NOW),
                "a settlement",
            )
            mine = [(s.ticket_id, role, moved) for s, role, moved in reading.settlements_of(two.row, 2)]
            _same(mine, [("t2", "supporting", -2), ("t1", "supporting", -1)], "settlements of an entry")
            _same(reading.settlement("t9"), None, "no settlement")
            _same([(m.name, m.settlements, m.total) for m in reading.meters()], [("m0", 2, 2.0), ("m1", 1, 1.0)], "meters")


@_law("Meters are made, changed and bound; they are listed by name.")
def _meters(driver: Driver) -> None:
    with _opened(driver, "meters") as store:
        with store.write(AUTHOR) as tx:
            tx.put_meter("z", unit="", scale=None, tier="claimed")
            tx.put_meter("a", unit="bytes", scale=1.5, tier="measured")
            tx.put_meter("z", unit="usd", scale=9.0, tier="operator")
            for channel in ("cli", "ci", "cli"):
                tx.bind_meter("z", channel)
        with store.read() as reading:
            made = [(m.name, m.unit, m.scale, m.tier, m.channels) for m in reading.meters()]
            _same(made, [("a", "bytes", 1.5, "measured", ()), ("z", "usd", 9.0, "operator", ("ci", "cli"))], "meters")
            _same(reading.meter("nobody"), None, "a meter that is not there")


@_law("What a request with a key did is kept with its digest and result, together with the request's own effects.")
def _keys(driver: Driver) -> None:
    with _opened(driver, "keys") as store:
        with store.write(AUTHOR) as tx:
            _same(tx.remembered("k"), None, "a key that nobody used")
            tx.remember("k", "settle", bytes(range(16)), {"landed": True, "credits": [{"a": 1}]})
            _same(tx.remembered("k"), ("settle", bytes(range(16)), {"landed": True, "credits": [{"a": 1}]}), "in its own transaction")
        with _refused(Exception, "a second request with the same key"), store.write(AUTHOR) as tx:
            tx.bump("tick", 1)
            tx.remember("k", "add", b"x", {})
        with store.read() as reading:
            _same((reading.remembered("k") or ("",))[0], "settle", "the key")
            _same(reading.counter("tick"), 0, "what the second request did")
            _same((reading.remembered("K"), reading.remembered("k ")), (None, None), "keys are compared exactly")


@_law("Settings keep their values; a running number that was never set is 0.")
def _settings_and_counters(driver: Driver) -> None:
    with _opened(driver, "settings_and_counters") as store:
        values = {"a": 1, "b": 0.1, "c": "é", "d": None, "e": [1, {"x": True}]}
        with store.write(AUTHOR) as tx:
            for name, value in values.items():
                tx.set_setting(name, "before")
                tx.set_setting(name, value)
            tx.bump("n", 5)
            tx.bump("n", -7)
            _same(tx.counter("n"), -2, "a running number in its own transaction")
        with store.read() as reading:
            kept = reading.settings()
            _same({name: kept[name] for name in values}, values, "settings")
            _same((reading.counter("n"), reading.counter("never")), (-2, 0), "running numbers")


@_law("A page holds as many entries as were asked for; going on after the last one meets each entry once, oldest first.")
def _page_has_no_hidden_cap(driver: Driver) -> None:
    with _opened(driver, "page_has_no_hidden_cap") as store:
        with store.write(AUTHOR) as tx:
            for i in range(2_500):
                _insert(tx, _new(f"words {i}", retention="kept"))
        wanted = [f"words {i}" for i in range(2_500)]
        _same(_paged(store), wanted, "one large page")
        met: list[str] = []
        after = None
        with store.read() as reading:
            while page := reading.page(Filter(), after, 701):
                met += [stored.entry.text for stored in page]
                after = page[-1].entry.id
        _same(met, wanted, "page after page")


@_law("Five entries in one scope are found beside thousands in another, and ranked as if they were alone.")
def _filters_find_the_few(driver: Driver) -> None:
    with _opened(driver, "filters_find_the_few") as store:
        few = [f"backup runs {word}" for word in ("nightly", "weekly", "monthly", "hourly", "yearly")]
        with store.write(AUTHOR) as tx:
            for i in range(3_000):
                # Shorter, newer and denser in the terms: whatever order an engine has, these come first.
                _insert(
                    tx, _new("backup backup runs", scope="crowd", sources=("crowd",), kind="procedural", tags=("crowd",), retention="kept")
                )
                if i % 600 == 300:
                    _insert(tx, _new(few[i // 600], scope="few", sources=("few",), tags=("few",), retention="kept"))
        for where in ({"scopes": ("few",)}, {"scopes": None, "sources": ("few",)}, {"scopes": None, "tags": ("few",)},
                      {"scopes": None, "kinds": ("semantic",)}):  # fmt: skip
            _same(sorted(_found(store, "when does the backup run", 5, **where)), sorted(few), f"candidates with {where}")
        with store.read() as reading:
            question = _ANALYSER.question("backup")
            _, statistics = reading.candidates(question, Filter(scopes=("few",)), 5)
            _same((statistics.entries, statistics.holding["backup"]), (5, 5), "statistics of the small scope")
            _, statistics = reading.candidates(question, Filter(scopes=None), 5)
            _same((statistics.entries, statistics.holding["backup"]), (3_005, 3_005), "statistics of every scope")


@_law("Scopes, sources and tags are compared exactly: never as a pattern, never folded.")
def _names_are_no_patterns(driver: Driver) -> None:
    names = [
        "a",
        "A",
        "a ",
        "ab",
        "a%",
        "%",
        "_",
        "a_",
        "*",
        "a*",
        "?",
        "[a]",
        "a'",
        'a"',
        "a\\",
        "á",
        "a\u0301",
        "ａ",
        "(a OR b)",
        "s1",
        "1",
        "NULL",
    ]
    with _opened(driver, "names_are_no_patterns") as store:
        for i, name in enumerate(names):
            _add(store, f"words {i}", scope=name, sources=(name,), tags=(name,))
        for i, name in enumerate(names):
            mine = [f"words {i}"]
            _same(_paged(store, scopes=(name,)), mine, f"listed in scope {name!r}")
            _same(_found(store, "words", scopes=(name,)), mine, f"found in scope {name!r}")
            for where in ({"sources": (name,)}, {"tags": (name,)}):
                _same(_paged(store, **{**EVERY_SCOPE, **where}), mine, f"listed by {where}")
                _same(_found(store, "words", **{**EVERY_SCOPE, **where}), mine, f"found by {where}")
        _same(_paged(store, scopes=("a", "%")), ["words 0", "words 5"], "two scopes")
        _same(_paged(store, scopes=("nobody's",)), [], "a scope that nobody used")
        _same(_found(store, "words", scopes=("nobody's",)), [], "candidates in a scope that nobody used")


@_law("Kinds, times and standings are conditions of a page and of candidates alike; rules are only there when asked for.")
def _other_filters(driver: Driver) -> None:
    def day(n: int) -> datetime:
        return NOW + timedelta(days=n)

    with _opened(driver, "other_filters") as store:
        _add(store, "words plain")
        _add(store, "words rule", kind="rule")
        _add(store, "words early", kind="episodic", valid_from=day(-10), valid_to=day(-5))
        _add(store, "words late", kind="episodic", valid_from=day(10))
        suspended, dead = _add(store, "words suspended", kind="procedural"), _add(store, "words dead")
        with store.write(AUTHOR) as tx:
            tx.change_entry(suspended.row, standing="suspended")
            _die(tx, dead)
        alive = {"plain", "early", "late", "suspended"}
        cases: list[tuple[dict[str, Any], set[str]]] = [
            ({}, alive),
            ({"rules": True}, alive | {"rule"}),
            ({"kinds": ("rule",)}, {"rule"}),
            ({"kinds": ("rule", "episodic")}, {"rule", "early", "late"}),
            ({"since": day(1)}, {"late"}),
            ({"until": day(-1)}, {"early"}),
            ({"since": day(-1), "until": day(1)}, {"plain", "suspended"}),
            ({"as_of": day(1)}, {"plain", "suspended"}),
            ({"as_of": day(-7)}, set()),
            ({"as_of": day(20)}, {"plain", "suspended", "late"}),
            ({"standings": ("active",)}, {"plain", "early", "late"}),
            ({"standings": ("suspended",)}, {"suspended"}),
        ]
        for where, wanted in cases:
            said = {f"words {name}" for name in wanted}
            _same(set(_paged(store, **where)), said, f"a page with {where}")
            _same(set(_found(store, "words", **where)), said, f"candidates with {where}")
        _same(_paged(store, standings=("dead",)), ["words dead"], "the dead")


@_law("Terms are only ever text: no character of one is part of the index's query language.")
def _terms_are_literal(driver: Driver) -> None:
    hostile = ['"', "'", "*", "a*", "NEAR(a", "OR", "NOT", "col:", "text:words", "-x", "^a", "(", ")", "a AND b", "words*"]
    hostile += ["\\", "--", ";", "{text}", "§s1"]
    with _opened(driver, "terms_are_literal") as store:
        _add(store, "plain words")
        for term in hostile:
            _same(_found(store, Question((Wanted((term,), 1.0),))), [], f"what holds the term {term!r}")
            _same(_found(store, Question((Wanted((term, "words"), 1.0),))), ["plain words"], f"what holds {term!r} or a word")


@_law("Candidates hold a term of the question, with their own terms and the statistics; no question, no candidates.")
def _candidates(driver: Driver) -> None:
    with _opened(driver, "candidates") as store:
        with store.read() as reading:
            found, statistics = reading.candidates(_ANALYSER.question("words"), Filter(), 10)
            _same((found, statistics.entries), ([], 0), "an empty store")
        _add(store, "red apples", cue="what fruit")
        _add(store, "green pears")
        with store.read() as reading:
            found, statistics = reading.candidates(_ANALYSER.question("fruit of green colour"), Filter(), 10)
            terms = {tuple(c.text_terms[:1]): list(c.cue_terms) for c in found}
            _same(set(terms), {("red",), ("green",)}, "candidates")
            _must("fruit" in terms[("red",)], "the terms of a cue are not told apart")
            _same(statistics.entries, 2, "entries")
            _same(statistics.mean_length, sum(len(c.text_terms) + len(c.cue_terms) for c in found) / 2, "the mean length")
            _same(reading.candidates(Question(()), Filter(), 10)[0], [], "no question")
            _same(len(reading.candidates(_ANALYSER.question("green fruit"), Filter(), 1)[0]), 1, "a limit")


@_law("An entry that dies leaves the index in the same transaction; `index` puts it back.")
def _the_dead_leave_the_index(driver: Driver) -> None:
    with _opened(driver, "the_dead_leave_the_index") as store:
        stored = _add(store, "some words")
        with store.write(AUTHOR) as tx:
            _die(tx, stored)
        everyone = ("active", "suspended", "dead")
        _same(_found(store, "words", standings=everyone), [], "candidates after a death")
        with store.write(AUTHOR) as tx:
            tx.change_entry(stored.row, standing="active", cause=None, died_tick=None)
            tx.index(stored.row, _ANALYSER.terms("some words"), [])
        _same(_found(store, "words"), ["some words"], "candidates after a return")
        with store.read() as reading:
            _same(reading.index_problem(), None, "the index")
        _clean(store)


@_law("Due are exactly the living, unpinned, earned entries that are empty at that rent index.")
def _due(driver: Driver) -> None:
    with _opened(driver, "due") as store:
        poor, rich = _add(store, "poor", 50), _add(store, "rich", 500)
        pinned, dead = _add(store, "pinned", 50), _add(store, "dead", 50)
        _add(store, "kept", retention="kept")
        with store.write(AUTHOR) as tx:
            tx.change_entry(pinned.row, pinned=True)
            _die(tx, dead)
            tx.bump("rent_index", 100)
        late = _add(store, "late", 50)
        with store.read() as reading:
            _same(reading.due(49), [], "at 49")
            _same(reading.due(50), [poor.row], "at 50")
            _same(reading.due(149), [poor.row], "at 149")
            _same(sorted(reading.due(150)), sorted([poor.row, late.row]), "at 150")
            _same(sorted(reading.due(10**9)), sorted([poor.row, rich.row, late.row]), "at the end of time")
            held = [stored.entry.balance for stored in reading.entries([poor.row, rich.row, pinned.row, late.row])]
            _same(held, [-50, 400, 0, 50], "what they hold, net of rent")


@_law("The richest living earned entries come first, by what they hold now.")
def _richest(driver: Driver) -> None:
    with _opened(driver, "richest") as store:
        _add(store, "early", 300)
        pinned = _add(store, "pinned", 260)
        with store.write(AUTHOR) as tx:
            tx.change_entry(pinned.row, pinned=True)
            tx.bump("rent_index", 100)
        _add(store, "late", 250)
        _add(store, "kept", retention="kept")
        dead = _add(store, "dead", 900)
        with store.write(AUTHOR) as tx:
            _die(tx, dead)
        with store.read() as reading:
            made = [(stored.entry.text, stored.entry.balance) for stored in reading.richest(10)]
            _same(made, [("late", 250), ("early", 200), ("pinned", 160)], "the richest")
            _same([stored.entry.text for stored in reading.richest(1)], ["late"], "the richest one")


@_law("What an entry was made of, and what an edit overwrote, are kept.")
def _lineage_and_undo(driver: Driver) -> None:
    with _opened(driver, "lineage_and_undo") as store:
        rows = [_add(store, f"words {i}").row for i in range(3)]
        with store.write(AUTHOR) as tx:
            tx.add_lineage(rows[2], [(rows[1], "merge", 7), (rows[0], "version", 0)])
            edit = tx.append("edit", entries=[rows[2]], before={"importance": 0.5, "tags": ["é"]})
            plain = tx.append("pin", entries=[rows[2]])
        with store.read() as reading:
            _same(reading.lineage(rows[2]), [(rows[0], "version", 0), (rows[1], "merge", 7)], "lineage")
            _same(reading.lineage(rows[0]), [], "no lineage")
            _same((reading.before_edit(edit), reading.before_edit(plain)), ({"importance": 0.5, "tags": ["é"]}, None), "before")
            _same(len(reading.entries([rows[2]])[0].entry.lineage), 2, "the entry's own lineage")


@_law("The totals agree with a count of the rows, at every moment.")
def _totals_agree(driver: Driver) -> None:
    with _opened(driver, "totals_agree") as store:

        def compare(when: str) -> None:
            with store.read() as reading:
                totals, everyone = reading.totals(), reading.page(Filter(**EVERY_SCOPE), None, 100)
            count = {name: sum(s.entry.standing == name for s in everyone) for name in ("active", "suspended", "dead")}
            _same([totals.get(n, 0) for n in ("alive", "suspended", "dead")], [count[n] for n in ("active", "suspended", "dead")], when)
            living = [s.entry for s in everyone if s.entry.alive]
            for kind in ("semantic", "episodic"):
                _same(totals.get(f"kind:{kind}", 0), sum(e.kind == kind for e in living), f"{when}: {kind}")
            _same(totals["energy"], sum(e.balance for e in living if e.retention == "earned"), f"{when}: energy")
            _same(totals["pinned"], sum(e.pinned for e in living), f"{when}: pinned")
            _same(-sum(totals["accounts"].values()), sum(s.recorded_balance for s in everyone), f"{when}: all accounts together")

        compare("empty")
        one, two = _add(store, "one", 300), _add(store, "two", 400, scope="b", kind="episodic")
        _add(store, "three", retention="fading")
        compare("three entries")
        with store.write(AUTHOR) as tx:
            tx.bump("rent_index", 100)
        compare("after rent")
        with store.write(AUTHOR) as tx:
            tx.change_entry(one.row, pinned=True)
            tx.change_entry(two.row, standing="suspended")
        _decide(store, "t", [(one, "deciding")])
        compare("pinned and suspended")
        with store.write(AUTHOR) as tx:
            [two] = tx.entries([two.row])
            tx.append("edit", entries=[two.row], postings=[Posting(two.row, RENT, 100)])
            _die(tx, two)
        compare("after a death")
        with store.read() as reading:
            _same((reading.totals()["pending"], reading.totals()["decisions"]), (1, 1), "tickets")


@_law("A store opened for reading answers, refuses to write with StoreReadOnly, and is not made if it is not there.", "reopen")
def _read_only(driver: Driver) -> None:
    _filled(driver, "read_only").close()
    with _opened(driver, "read_only", read_only=True) as store:
        _must(len(_paged(store, **EVERY_SCOPE)) == 3, "it does not answer")
        with _refused(StoreReadOnly, "a write"), store.write(AUTHOR) as tx:
            tx.bump("tick", 1)
        with _refused(StoreReadOnly, "a rebuild"):
            store.rebuild_index(_ANALYSER.terms, AUTHOR)
        with store.read() as reading:
            _same(reading.counter("tick"), 3, "a running number")
    with _refused(StoreError, "a store that is not there"):
        driver.open("read_only_missing", read_only=True)


@_law("A store belongs to one agent: without a name it takes that one, with another it is refused.", "reopen")
def _one_agent(driver: Driver) -> None:
    with _opened(driver, "one_agent", agent="ops") as store:
        _same(store.agent, "ops", "the agent of a new store")
    with _opened(driver, "one_agent") as store:
        _same(store.agent, "ops", "the agent when none is named")
    with _refused(WrongAgent, "another agent"):
        driver.open("one_agent", agent="Ops")
    with _opened(driver, "one_agent", agent="ops") as store:
        _clean(store)


@_law("A closed store refuses to be used, and may be closed again.")
def _closing(driver: Driver) -> None:
    store = driver.open("closing")
    _add(store, "words")
    store.close()
    store.close()
    with _refused(StoreError, "a read"), store.read() as reading:
        reading.counter("tick")
    with _refused(StoreError, "a write"), store.write(AUTHOR) as tx:
        tx.bump("tick", 1)


@_law("A backup is a whole store, of one moment, and overwrites nothing.", "reopen")
def _backup(driver: Driver) -> None:
    store = _filled(driver, "backup")
    with store.read() as reading:
        wanted = [event.hash for event in reading.events(entry=None, kind=None, after=0, limit=1_000, newest=False)]
    target = driver.copy("backup_copy")
    store.backup(target)
    _add(store, "written afterwards")
    with _refused(StoreError, "a backup onto a file that is there"):
        store.backup(target)
    with _opened(driver, "backup_copy") as copy:
        with copy.read() as reading:
            made = [event.hash for event in reading.events(entry=None, kind=None, after=0, limit=1_000, newest=False)]
        _same(made, wanted, "the log of the copy")
        _same(_found(copy, "log files", scopes=None), _found(store, "log files", scopes=None), "what the copy finds")
        _clean(copy)
        _add(copy, "a life of its own")
        _clean(copy)
    store.close()


@_law("A full look finds nothing in a sound store.")
def _sound_store(driver: Driver) -> None:
    store = _filled(driver, "sound_store")
    _clean(store)
    with store.read() as reading:
        _same(reading.index_problem(), None, "the index")
    store.close()


def _finds(driver: Driver, what: Break, repairable: bool) -> Store:
    store = _filled(driver, f"check_finds_{what}")
    driver.damage(store, what)
    found = [*store.damage()]
    _must(found, f"a changed {what} is not found")
    _must(all(damage.code and damage.text for damage in found), "damage without words")
    if repairable:
        _must(any(damage.repairable for damage in found), f"a changed {what} is not called repairable")
    else:
        _must(any(not damage.repairable for damage in found), f"a changed {what} is called repairable")
    return store


@_law("A head that the log once had is found again; one that it never had means that the log was rewritten.")
def _head_kept_elsewhere(driver: Driver) -> None:
    store = _filled(driver, "head_kept_elsewhere")
    with store.read() as reading:
        heads = [event.hash for event in reading.events(entry=None, kind=None, after=0, limit=1_000, newest=True)]
    for head in (heads[0], heads[len(heads) // 2], heads[-1]):
        _same([damage.text for damage in store.damage(head)], [], "damage with a head that the log has")
    _must([*store.damage("ab" * 32)], "a head that the log never had is not found out")
    store.close()


@_law("A full look finds an event that was changed after it was written.", "breakable")
def _check_finds_event(driver: Driver) -> None:
    _finds(driver, "event", False).close()


@_law("A full look finds a posting that was changed after it was written.", "breakable")
def _check_finds_posting(driver: Driver) -> None:
    _finds(driver, "posting", False).close()


@_law("A full look finds a balance that its postings do not make.", "breakable")
def _check_finds_balance(driver: Driver) -> None:
    _finds(driver, "balance", False).close()


@_law("A full look finds a running number that is off, and the repair makes it anew from the rows.", "breakable")
def _repair_of_counters(driver: Driver) -> None:
    store = _finds(driver, "counter", True)
    store.repair_counters(AUTHOR)
    _clean(store)
    with store.read() as reading:
        _same(reading.counter("alive"), 2, "the counter")
    store.close()


@_law("A damaged index is noticed by a quick look and never answered from; the repair makes it anew from the entries.", "breakable")
def _repair_of_index(driver: Driver) -> None:
    with _opened(driver, "repair_of_index_sound") as sound:
        _same(_found(sound, "words"), [], "an empty store is sound")
    store = _finds(driver, "index", True)
    with store.read() as reading:
        _must(reading.index_problem(), "a quick look sees nothing")
    with _refused(IndexDamaged, "a search in a damaged index"):
        _found(store, "log files", scopes=None)
    _same(store.rebuild_index(_ANALYSER.terms, AUTHOR), 2, "how many entries were indexed")
    _clean(store)
    with store.read() as reading:
        _same(reading.index_problem(), None, "the index after a repair")
        _, statistics = reading.candidates(_ANALYSER.question("log"), Filter(scopes=None), 5)
        _same(statistics.entries, 2, "statistics after a repair")
    _same(len(_found(store, "log files", scopes=None)), 2, "candidates after a repair")
    store.close()


__all__ = ["AUTHOR", "FEATURES", "Break", "Broken", "Driver", "Feature", "Law", "Report", "check_store", "laws"]
