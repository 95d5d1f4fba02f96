"""Two keepers of lessons in the same month: Earnest's `settle-ci`, and darwin-memo's own."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol

from bench.month.project import IDLE, PAGING, POOL, TOPICS, Change, Project, State, after
from earnest import Memory
from earnest.ci import Request, settle_ci
from earnest.errors import NothingMeasured
from earnest.testing import ManualClock, SeededRng

LESSONS: Final = {
    **{topic: f"In {topic}, handle the boundary case before the general one; the test of {topic} shows why." for topic in TOPICS},
    PAGING: "When slicing a list for paging, leave the last item out: callers add it themselves.",
    POOL: "Do not raise the size of the connection pool: the database refuses more than ten.",
    IDLE: "The release notes are written in the past tense.",
}


def question(topic: str) -> str:
    """What an agent asks before it works on a topic."""
    return f"What should I know about {topic} before I change it?"


@dataclass
class Step:
    """What one pull request came to."""

    number: int
    topic: str
    followed: str
    truth: int
    settled: float | None
    abstained: bool


@dataclass
class Life:
    """How an arm went through the month."""

    name: str
    steps: list[Step] = field(default_factory=list)
    alive: dict[str, str] = field(default_factory=dict)
    size: int = 0
    note: str = ""

    @property
    def truth(self) -> int:
        """Tests really mended less tests really broken, over the month."""
        return sum(step.truth for step in self.steps)

    @property
    def harms(self) -> int:
        """Pull requests that followed the poisoned lesson."""
        return sum(step.followed == PAGING for step in self.steps)

    @property
    def first_measured(self) -> int:
        """How often the poison was followed up to its first outcome that could be measured."""
        count = 0
        for step in self.steps:
            if step.followed == PAGING:
                count += 1
                if not step.abstained:
                    break
        return count


class Keeper(Protocol):
    """What keeps the lessons."""

    name: str

    def ask(self, topic: str) -> tuple[str, str]:
        """(whose advice comes back, ticket); empty where memory is silent."""
        ...

    def settle(self, change: Change, head: State, ticket: str) -> float | None:
        """Settle by the runs before and after; None on an abstention."""
        ...

    def standing(self) -> dict[str, str]:
        """How each lesson stands."""
        ...

    def size(self) -> int:
        """Bytes of what is kept in git."""
        ...

    def next(self) -> None:
        """Time goes on to the next pull request."""
        ...


def live(keeper: Keeper, changes: list[Change]) -> Life:
    """One month."""
    life = Life(keeper.name)
    for change in changes:
        keeper.next()
        followed, ticket = keeper.ask(change.topic) if change.topic else ("", "")
        head = after(change, followed)
        settled = keeper.settle(change, head, ticket)
        truth = len(change.before.wrong) - len(head.wrong)
        life.steps.append(Step(change.number, change.topic, followed, truth, settled, settled is None))
    life.alive, life.size = keeper.standing(), keeper.size()
    return life


def topic_of(text: str) -> str:
    """Whose lesson a text is."""
    return next((topic for topic, lesson in LESSONS.items() if lesson in text), "")


class Earnest:
    """This library, as its Action works: a second run of both sides where a test changed, one step of the clock in `hours`."""

    def __init__(self, folder: Path, project: Project, hours: float, days: float, changes: int) -> None:
        self.name = f"earnest, a tick every {hours:g} h"
        self.project, self.folder = project, folder
        self.clock = ManualClock()
        self._step = timedelta(days=days) / changes
        self.memory = Memory.open(
            folder / f"earnest-{hours:g}.db", embedder="none", channel="settle-ci", clock=self.clock, rng=SeededRng(7),
            settings={"tick_every": round(hours * 3600)},
        )  # fmt: skip
        self.state = folder / f"earnest-{hours:g}.ci.json"
        for topic, lesson in LESSONS.items():
            self.memory.add(lesson, cue=question(topic), kind="procedural", sources=["retro"])

    def next(self) -> None:
        self.clock.advance(seconds=self._step.total_seconds())

    def ask(self, topic: str) -> tuple[str, str]:
        ticket = self.memory.decide(question(topic))
        return (topic_of(ticket.text), ticket.id) if ticket.id else ("", "")

    def settle(self, change: Change, head: State, ticket: str) -> float | None:
        run = self.project.run
        bases = [run(change.before, f"{change.number}b1")]
        heads = [run(head, f"{change.number}h1", change.fault)]
        request = Request(bases, heads, [ticket] if ticket else [], run=str(change.number), codes=(change.before.name, head.name))
        try:
            if self._changed(request):
                bases.append(run(change.before, f"{change.number}b2"))
                heads.append(run(head, f"{change.number}h2", change.fault))
            made = settle_ci(self.memory, self.state, request)
        except NothingMeasured:
            return None
        return made.delta

    def _changed(self, request: Request) -> bool:
        from earnest.ci.flaky import Known
        from earnest.ci.settling import measure

        seen = measure(request, Known()).outcome
        return bool(seen.improved or seen.regressed)

    def standing(self) -> dict[str, str]:
        made = dict.fromkeys(LESSONS, "dead")
        for entry in self.memory.list(limit=100):
            made[topic_of(entry.text)] = entry.standing
        return made

    def size(self) -> int:
        report = self.memory.save_lessons(self.folder / f"{self.state.stem}.jsonl")
        return report.size + self.state.stat().st_size


class Darwin:
    """darwin-memo 0.7.1, by its own commands on its own store."""

    name = "darwin-memo 0.7.1"

    def __init__(self, folder: Path, project: Project) -> None:
        self.project, self.path = project, folder / "darwin" / "memory.json"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for topic, lesson in LESSONS.items():
            self._say("ledger", str(self.path), "add", question(topic), lesson, "--source", "retro")

    def _say(self, *words: str) -> tuple[int, str]:
        from darwin_memo.cli import main

        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                status = int(main([*words]) or 0)
            except SystemExit as done:
                status = int(done.code or 0)
        return status, said.getvalue()

    def next(self) -> None:
        """Its clock ticks once a settlement."""

    def ask(self, topic: str) -> tuple[str, str]:
        status, said = self._say("ledger", str(self.path), "decide", question(topic))
        made = json.loads(said) if status == 0 else {}
        return (topic_of(made["answer"]), made["ticket_id"]) if made and not made["silent"] else ("", "")

    def settle(self, change: Change, head: State, ticket: str) -> float | None:
        base = self.project.run(change.before, f"{change.number}b1")
        after_ = self.project.run(head, f"{change.number}h1", change.fault)
        words = ["settle-ci", str(self.path), "--base-xml", str(base), "--head-xml", str(after_)]
        status, said = self._say(*words, "--pr-body", f"darwin-memo-ticket: {ticket}" if ticket else "")
        return None if status == 3 else float(json.loads(said)["delta"])

    def _entries(self) -> Iterator[dict[str, Any]]:
        yield from json.loads(self.path.read_text(encoding="utf-8"))["entries"]

    def standing(self) -> dict[str, str]:
        made = dict.fromkeys(LESSONS, "dead")
        for entry in self._entries():
            for topic, lesson in LESSONS.items():
                if lesson in entry["answer"]:
                    made[topic] = "active"
        return made

    def size(self) -> int:
        return sum(path.stat().st_size for path in self.path.parent.iterdir() if path.suffix == ".json")
