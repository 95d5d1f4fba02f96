"""A script of every kind of verb, run step by step over a store, and what a store says when it is asked for everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from earnest.encoding import Document
from earnest.errors import NotAllowed, StoreError
from earnest.memory import Memory
from earnest.protocols import Author
from earnest.stores.sqlite import SqliteStore
from earnest.testing.clock import ManualClock, SeededRng
from tests.crash.disk import Disk, mounted

FILE: Final = "memory.db"


@dataclass
class Stage:
    """An open store that the script plays on. Chance and time depend on the step alone, so that every run makes the same store."""

    store: Any
    memory: Memory
    clock: ManualClock

    def close(self) -> None:
        try:
            self.memory.close()
        except StoreError:
            self.store.close()


def staged(store: Any, clock: ManualClock, rng: SeededRng) -> Stage:
    """A memory on any store."""
    return Stage(store, Memory(store, clock=clock, rng=rng, actor="t", channel="python"), clock)


@contextmanager
def opened(
    disk: Disk, *, seed: int = 0, timeout: float = 0.05, prepare: Callable[[SqliteStore], None] | None = None, checkpoint: int = 60
) -> Iterator[Stage]:
    """The store on that disk. `checkpoint` is small, so that moving pages home from the log happens often enough to be hit."""
    clock = ManualClock()
    with mounted(disk) as vfs:
        store = SqliteStore(FILE, author=Author(clock.now(), "t", "python"), vfs=vfs, exclusive=True, timeout=timeout)
        try:
            store._writing_connection().execute(f"PRAGMA wal_autocheckpoint = {checkpoint:d}")
            if prepare:
                prepare(store)
            stage = staged(store, clock, SeededRng(seed))
        except BaseException:
            store.close()
            raise
        try:
            yield stage
        finally:
            stage.close()


# the script


def _named(m: Memory, text: str) -> list[str]:
    found = [e for standing in (None, "dead") for e in m.list(standing=standing) if e.text.startswith(text) and e.origin != "consolidated"]
    return [e.id for e in sorted(found, key=lambda e: (e.version, e.id))]


def _id(m: Memory, text: str) -> str:
    """The newest version of the entry that begins with these words, dead or alive."""
    return _named(m, text)[-1]


def _first(m: Memory, text: str) -> str:
    """Its first version."""
    return _named(m, text)[0]


def _open(m: Memory, query: str) -> str:
    """The newest ticket of that question, open or not."""
    with m._store.read() as reading:
        for event in reading.events(entry=None, kind="decide", after=0, limit=1_000, newest=True):
            ticket = reading.ticket(event.ticket or "")
            if ticket is not None and ticket.query == query:
                return ticket.id
    raise AssertionError(f"nothing was decided about {query!r}")


def _event(m: Memory, kind: str) -> int:
    return m.events(kind=kind, limit=1, newest=True)[0].seq


LOGS: Final = "May old log files be deleted?"
TAPES: Final = "Should tapes be rewound?"
CACHE: Final = "Is it safe to clear the build cache?"
NIGHT: Final = "The build cache is safe to clear at night."
ALWAYS: Final = "The build cache is safe to clear at night, always."

STEPS: Final[tuple[tuple[str, Callable[[Memory], object]], ...]] = (
    ("add", lambda m: m.add("Old log files may be deleted after seven days.", sources=["runbook"], tags=["disk"], key="add-1")),
    ("add another", lambda m: m.add("Tapes should be rewound before storage.", cue=TAPES, key="add-2")),
    ("add a twin", lambda m: m.add("Old log files may be deleted after seven days.", sources=["wiki"], key="add-3")),
    ("add_many", lambda m: m.add_many([{"text": f"Server {n} stands in rack {n % 3}.", "scope": "rack"} for n in range(9)], key="many")),
    ("add near-duplicates", lambda m: m.add_many([{"text": NIGHT}, {"text": ALWAYS}], key="near")),
    ("decide", lambda m: m.decide(LOGS, key="decide-1")),
    ("settle", lambda m: m.settle(_open(m, LOGS), delta=2.5, meter="disk", detail="freed", key="settle-1")),
    ("decide for harm", lambda m: m.decide(TAPES, key="decide-2")),
    ("settle harm", lambda m: m.settle(_open(m, TAPES), delta=-9.0, meter="disk", acted=True, key="settle-2")),
    ("measure doing nothing", lambda m: m.control(delta=0.5, meter="disk", key="control-1")),
    ("look again", lambda m: m.remeasure(_open(m, TAPES), delta=4.0, meter="disk-2", detail="by hand", key="look-1")),
    ("decide in vain", lambda m: m.decide(TAPES, key="decide-3")),
    ("abandon", lambda m: m.abandon(_open(m, TAPES), reason="nobody looked", key="abandon-1")),
    ("tick", lambda m: m.tick(slot="one")),
    ("pin", lambda m: m.pin(_id(m, "Tapes"), key="pin-1")),
    ("configure", lambda m: m.configure(rent=0.2)),
    ("merge", lambda m: m.merge([_id(m, NIGHT), _id(m, ALWAYS)], key="merge-1")),
    ("update", lambda m: m.update(_first(m, "Old log"), text="Old log files may be deleted after nine days.", key="update-1")),
    ("edit", lambda m: m.update(_id(m, "Tapes"), importance=0.9, tags=["tape"], key="update-2")),
    ("undo the edit", lambda m: m.undo(m.events(kind="edit", limit=1)[0].seq)),
    ("make a meter", lambda m: m.meters.add("ci", unit="tests", scale=2.0)),
    ("bind it", lambda m: m.meters.bind("ci", channel="settle-ci")),
    ("decide on a merge", lambda m: m.decide(CACHE, key="decide-4")),
    ("settle on a merge", lambda m: m.settle(_open(m, CACHE), delta=1.0, meter="ci", key="settle-4")),
    ("settle too late", lambda m: m.settle(_open(m, CACHE), delta=1.0, meter="ci", key="settle-5")),
    ("undo the merge", lambda m: m.undo(_event(m, "merge"), key="undo-2")),
    ("unpin", lambda m: m.unpin(_id(m, "Tapes"), key="unpin-1")),
    ("encode", lambda m: m.encode([Document("notes", "Backups run at night. Never restart the queue by hand.")], key="encode")),
    ("forget", lambda m: m.forget(_id(m, "Backups run"), "not now", key="forget-1")),
    ("restore", lambda m: m.restore(_id(m, "Backups run"))),
    ("leave a ticket open", lambda m: m.decide(LOGS, key="decide-5")),
    ("revoke a meter", lambda m: m.meters.revoke("disk")),
    ("tick on", lambda m: m.tick(slot="two", expire_after=2)),
    ("tick until it expires", lambda m: m.tick(slot="three", expire_after=1)),
    ("note what fades", lambda m: m.add("Visitors park in lot four.", retention="fading", importance=0.05, key="add-9")),
    ("say that it helped", lambda m: m.feedback(_id(m, "Tapes"), "helpful", key="opinion-1")),
    ("say that it did not", lambda m: m.feedback(_id(m, "Tapes"), "unhelpful", key="opinion-2")),
    ("undo the opinion", lambda m: m.undo(_event(m, "feedback"), key="undo-3")),
    ("link", lambda m: m.link(_id(m, "Tapes"), _id(m, "Visitors"), reason="both are in lot four", key="link-1")),
    ("cut the link", lambda m: m.unlink(_id(m, "Tapes"), _id(m, "Visitors"), key="link-2")),
    ("undo the cut", lambda m: m.undo(_event(m, "unlink"), key="undo-4")),
    # A cleanup is several transactions, each of which is whole: first the dates follow the settings, then batches fall.
    ("look the dates over", lambda m: m._redate()),
    ("let fade", lambda m: m.decay_cleanup()),
    ("rebuild the index", lambda m: m._store.rebuild_index(m._analyser.terms, m._author())),
    ("repair the counters", lambda m: m._store.repair_counters(m._author())),
)


def play(stage: Stage, step: int) -> object:
    """One step of the script, at its own moment."""
    stage.clock.set(datetime.fromisoformat("2026-01-01T00:00:00+00:00") + timedelta(hours=step + 1))
    return STEPS[step][1](stage.memory)


def again(stage: Stage, step: int) -> None:
    """The same request once more. A refusal because it is done already is an answer."""
    with suppress(NotAllowed):
        play(stage, step)


# what a store holds


def everything(store: SqliteStore) -> dict[str, list[Any]]:
    """Every row of every table, the index as its own rows."""
    with store.read() as reading:
        db = reading._db
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()]
        plain = [name for name in names if not name.startswith(("terms", "guards", "past", "sqlite_"))]
        made = {name: sorted(db.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in plain}  # noqa: S608 (names from the schema)
        made["terms"] = db.execute("SELECT rowid, facets, text, cue FROM terms ORDER BY rowid").fetchall()
        made["past"] = db.execute("SELECT rowid, facets, text, cue FROM past ORDER BY rowid").fetchall()
        made["guards"] = db.execute("SELECT rowid, facets, text, cue FROM guards ORDER BY rowid").fetchall()
    return made


def shape(memory: Memory) -> dict[str, Any]:
    """What can be compared between stores whose ids differ: counts, sums, texts, balances, what happened how often."""
    entries = [*memory.list(scope=["", "rack"]), *memory.list(scope=["", "rack"], standing="dead")]
    stats = memory.stats()
    return {
        "entries": sorted(
            ((e.text, e.scope, e.standing, e.cause, e.balance, e.pinned, e.sources, e.tags, e.importance) for e in entries), key=repr
        ),
        "tickets": (stats.pending, stats.settled, stats.abandoned, stats.expired, stats.dropped, stats.decisions),
        "numbers": (stats.alive, stats.suspended, stats.dead, stats.tick, stats.energy, dict(stats.accounts)),
        # These take no key, so that a repeated request is in the log twice; it changes nothing else.
        "events": {kind: n for kind, n in memory.audit().by_kind.items() if kind not in ("meter", "bind", "repair", "revoke")},
        "meters": sorted((m.name, m.settlements, m.total, m.channels) for m in memory.meters.list()),
        "settings": memory.settings,
    }
