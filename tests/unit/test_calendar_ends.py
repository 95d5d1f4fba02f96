"""Every verb with the clock in the first and in the last moment that a calendar holds: nothing overflows, and what is written is read back.

A machine whose clock was never set, or a file from one, is no reason to lose a memory.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from earnest import Memory
from earnest.core.calendar import FIRST, LAST
from earnest.embedders import HashingEmbedder
from earnest.encoding import Document, ReflectionEncoder
from earnest.ledger.meters import Meters
from earnest.llms import ScriptedLLM
from earnest.testing import ManualClock, SeededRng
from earnest.verbs.ruling import Rules

TODAY: Final = datetime(2026, 5, 4, 12, tzinfo=UTC)
NO_VERBS: Final = {"agent", "settings", "open", "close"}
SAID: Final = "The Bor server was moved to Oslo on 3 May. It runs on port 5."
LONG: Final = (
    "Old logs under logs/ may be deleted after 7 days. It was a long and rather pleasant morning, and everybody agreed on most things. "
    "Everybody had coffee and the weather was fine. Some people told stories of earlier mornings and laughed a lot. "
    "Never delete billing logs, which Anna keeps for 10 years."
)


class Place:
    """A memory with something of everything in it, and a folder for files."""

    def __init__(self, folder: Path, begun: datetime) -> None:
        self.folder, self.files = folder, 0
        self.clock = ManualClock(begun)
        settings = {"links": 4, "compress_over": 300, "tick_every": "3600", "holdout": 0.0}
        self.memory = Memory.open(folder / "memory.db", embedder=HashingEmbedder(), clock=self.clock, rng=SeededRng(3), settings=settings)
        self.memory.meters.add("disk", unit="bytes", scale=10.0)
        self.memory.meters.add("disk-2", unit="bytes", scale=10.0)
        kept = (("Kalar", "fading"), ("Lomi", "fading"), ("Pen", "earned"), ("Tur", "kept"))
        self.ids = [self.memory.add(f"The {name} server runs on port {n}.", retention=how).id for n, (name, how) in enumerate(kept)]
        self.long = self.memory.add(LONG, retention="fading").id
        rule = self.memory.rules.add("avoid", trigger="deploying the Lomi server", action="Do not skip the tests.")
        self.rule = self.memory.rules.verify(rule.id).id
        self.waiting = self.memory.rules.add("workflow", trigger="restarting the Tur server", action="Tell the others first.").id

    def path(self, end: str = "") -> Path:
        self.files += 1
        return self.folder / f"file-{self.files}{end}"

    def written(self, text: str, end: str) -> Path:
        path = self.path(end)
        path.write_text(text, encoding="utf-8")
        return path

    def grown(self) -> Path:
        """A path for an archive, once there are events enough to put into it."""
        self.memory.tick()
        for n in range(110):
            self.memory.control(delta=float(n), meter="disk")
        self.memory.tick()
        return self.path()

    def ticket(self) -> str:
        made = self.memory.decide("On which port does the Pen server run?")
        assert made.id is not None
        return made.id

    def settled(self) -> str:
        ticket = self.ticket()
        assert self.memory.settle(ticket, delta=4.0, meter="disk").landed
        return ticket


def _look_again(p: Place) -> Any:
    class Second:
        name = "disk-2"

        def remeasure(self, ticket: Any) -> None:
            """Nothing to be seen any more."""

    p.settled()
    return p.memory.look_again(Second())


def _recalled(p: Place) -> Any:
    p.memory.recalled(p.ids)
    return p.memory.add("What was recalled is written with this.")


def _restore_backup(p: Place) -> Any:
    copy = p.memory.backup(p.path(".db"))
    Memory.restore_backup(copy, p.path(".db"))


def _load_lessons(p: Place) -> Any:
    path = p.path()
    p.memory.save_lessons(path)
    with Memory.open(clock=p.clock, embedder="none") as other:
        return other.load_lessons(path)


VERBS: Final[dict[str, Callable[[Place], Any]]] = {
    "abandon": lambda p: p.memory.abandon(p.ticket()),
    "add": lambda p: p.memory.add("The gate is open on day 1.", valid_from=FIRST, valid_to=LAST),
    "add_many": lambda p: p.memory.add_many(
        [{"text": "One.", "kind": "episodic", "valid_from": LAST}, {"text": "Two.", "valid_from": FIRST}]
    ),
    "answer": lambda p: p.memory.answer("On which port did the Pen server run last week?", half_life=2.0, weigh=["recency", "importance"]),
    "appeals": lambda p: p.memory.appeals(),
    "archive": lambda p: p.memory.archive(p.grown(), keep=100),
    "audit": lambda p: p.memory.audit(),
    "backup": lambda p: p.memory.backup(p.path(".db")),
    "balances": lambda p: p.memory.balances(),
    "calibrate": lambda p: p.memory.calibrate(),
    "card": lambda p: p.memory.card(p.ids[0]),
    "cards": lambda p: p.memory.cards(p.ids),
    "check": lambda p: p.memory.check(repair=True).ok,
    "check_archive": lambda p: (path := p.grown(), p.memory.archive(path, keep=100), p.memory.check_archive(path)),
    "compact": lambda p: p.memory.compact(),
    "compress": lambda p: p.memory.compress(p.long),
    "compress_long": lambda p: p.memory.compress_long(over=300, older=90.0),
    "configure": lambda p: p.memory.configure(decay_half_life=36_500.0, decay_threshold=0.01),
    "consolidate": lambda p: p.memory.consolidate(),
    "control": lambda p: p.memory.control(delta=0.0, meter="disk"),
    "decay_cleanup": lambda p: p.memory.decay_cleanup(),
    "decide": lambda p: p.memory.decide("On which port did the Pen server run yesterday?", as_of=p.memory.now()),
    "doctor": lambda p: p.memory.doctor(),
    "earned": lambda p: p.memory.earned(p.ids[0]),
    "embed_pending": lambda p: p.memory.embed_pending(),
    "encode": lambda p: [
        p.memory.encode([Document(source, SAID)], encoder=encoder)
        for source, encoder in (("notes", None), ("read", ReflectionEncoder(ScriptedLLM(["[]"] * 20))))
    ],
    "encode_files": lambda p: p.memory.encode_files([p.written("The Bor server runs on port 5 in Oslo.", ".md")]),
    "erase": lambda p: p.memory.erase(entry=p.ids[3]),
    "events": lambda p: p.memory.events(),
    "export": lambda p: p.memory.export(p.path(".jsonl")),
    "feedback": lambda p: [p.memory.feedback(p.ids[n], verdict) for n, verdict in enumerate(("helpful", "unhelpful", "outdated"))],
    "forget": lambda p: p.memory.forget(p.ids[0]),
    "get": lambda p: p.memory.get(p.ids[0]),
    "graph": lambda p: (p.memory.graph().json(), p.memory.graph().graphml()),
    "history": lambda p: p.memory.history(),
    "import_": lambda p: (path := p.path(".jsonl"), p.memory.export(path), p.memory.import_(path, scope="copy")),
    "life": lambda p: p.memory.life(p.ids[0]),
    "link": lambda p: p.memory.link(p.ids[0], p.ids[1]),
    "list": lambda p: p.memory.list(),
    "load_lessons": lambda p: _load_lessons(p),
    "look_again": _look_again,
    "maintain": lambda p: p.memory.maintain(),
    "merge": lambda p: p.memory.merge(p.ids[:2], text="The Kalar server and the Lomi server run on the ports 1 and 2."),
    "now": lambda p: p.memory.now(),
    "obituary": lambda p: p.memory.obituary(p.ids[0]),
    "pending": lambda p: (p.ticket(), p.memory.pending()),
    "pin": lambda p: p.memory.pin(p.ids[0]),
    "prefetch": lambda p: str(p.memory.prefetch("I deploy the Lomi server. Which port is it on?", links=True)),
    "recalled": _recalled,
    "reembed": lambda p: p.memory.reembed(every=True),
    "related": lambda p: p.memory.related(p.ids[0], hops=3),
    "remeasure": lambda p: p.memory.remeasure(p.settled(), delta=4.0, meter="disk-2"),
    "render": lambda p: p.memory.render("AGENTS.md", p.path(".md")),
    "restore": lambda p: (p.memory.forget(p.ids[0]), p.memory.restore(p.ids[0])),
    "restore_backup": _restore_backup,
    "save_lessons": lambda p: p.memory.save_lessons(p.path()),
    "search": lambda p: p.memory.search(
        "Which server ran on a port in the last 30 years?", since=FIRST, until=LAST, links=True, weigh=["recency"]
    ),
    "settle": lambda p: p.settled(),
    "shown": lambda p: p.memory.shown(p.memory.decide("On which port does the Pen server run?")),
    "stats": lambda p: p.memory.stats(),
    "survey": lambda p: p.memory.survey(),
    "sync_turn": lambda p: p.memory.sync_turn("The Tur server was moved to port 9 yesterday.", "I've set the deadline to 3 May."),
    "tick": lambda p: p.memory.tick(),
    "tick_due": lambda p: p.memory.tick_due(),
    "ticket": lambda p: p.memory.ticket(p.ticket()),
    "top": lambda p: p.memory.top(),
    "undo": lambda p: (p.memory.forget(p.ids[0]), p.memory.undo(p.memory.events(kind="forget")[-1].seq)),
    "unlink": lambda p: p.memory.unlink(p.ids[0], p.ids[1]),
    "unpin": lambda p: p.memory.unpin(p.ids[0]),
    "update": lambda p: p.memory.update(p.ids[0], text="The Kalar server runs on port 8."),
    "uplift": lambda p: p.memory.uplift("disk"),
    "uplift_meters": lambda p: p.memory.uplift_meters(),
    "uplifts": lambda p: p.memory.uplifts("disk"),
    "vouch": lambda p: p.memory.vouch(p.memory.add("A claim.", sources=["web"]).id),
    "rules.add": lambda p: p.memory.rules.add("avoid", trigger="sending mail at night", action="Wait for the morning."),
    "rules.adopt": lambda p: (path := p.path(), p.memory.rules.export(path), p.memory.rules.adopt(path, scope="copy")),
    "rules.analyze": lambda p: p.memory.rules.analyze(ScriptedLLM(["[]"] * 9)),
    "rules.export": lambda p: p.memory.rules.export(p.path()),
    "rules.get": lambda p: p.memory.rules.get(p.rule),
    "rules.list": lambda p: p.memory.rules.list(),
    "rules.match": lambda p: p.memory.rules.match("I am deploying the Lomi server."),
    "rules.trial": lambda p: p.memory.rules.trial(p.waiting, decisions=100),
    "rules.verify": lambda p: p.memory.rules.verify(p.waiting, accept=False),
    "meters.add": lambda p: p.memory.meters.add("wallet", unit="wei", scale=1.0),
    "meters.bind": lambda p: p.memory.meters.bind("disk", channel="cli"),
    "meters.list": lambda p: p.memory.meters.list(),
    "meters.revoke": lambda p: (p.settled(), p.memory.meters.revoke("disk", since=p.memory.now())),
}


def _names(kind: type, before: str = "") -> set[str]:
    return {before + name for name in dir(kind) if not name.startswith("_")}


def test_the_table_has_every_verb() -> None:
    assert VERBS.keys() == (_names(Memory) - NO_VERBS - {"meters", "rules"}) | _names(Meters, "meters.") | _names(Rules, "rules.")


@pytest.mark.parametrize(("begun", "now"), [(FIRST, LAST), (LAST, FIRST)], ids=["from the first to the last", "from the last to the first"])
@pytest.mark.parametrize("verb", sorted(VERBS))
def test_a_verb_does_its_work_at_either_end_of_the_calendar(tmp_path: Path, verb: str, begun: datetime, now: datetime) -> None:
    place = Place(tmp_path, begun)
    with place.memory as memory:
        place.clock.set(now)
        VERBS[verb](place)
        assert memory.check().ok and memory.stats().alive
        place.clock.set(TODAY)
        memory.maintain()
        assert memory.check().ok and memory.stats().alive, "and once the clock is right again"
