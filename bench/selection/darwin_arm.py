"""`python -m bench.selection.darwin_arm`: darwin-memo 0.7.1 as it is on PyPI, against the two arms that stand for it in the matrix.

Its own `SurvivalLoop` must earn what `darwin-memo loop` earns, and its event-driven `Ledger` what `classic` earns, seed by seed: the
arms of the matrix are replays of its rule by the product's own formula, and this is what shows that they are fair. Needs the `bench`
dependency group.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

from darwin_memo.ledger import Ledger
from darwin_memo.protocol import QueryProtocol
from darwin_memo.store import MemoryStore
from darwin_memo.survival import SurvivalConfig, SurvivalLoop
from darwin_memo.types import MemoryEntry, Outcome

from bench.selection import matrix
from bench.selection.arms import CONSOLIDATE_EVERY, K
from bench.selection.channels import Channel
from bench.selection.courses import Course, Step
from bench.selection.live import SHARED, polarity
from bench.selection.worlds import WORLDS
from earnest import Task

PINNED: Final = "0.7.1"
CELLS: Final = ("honest", "false-bad 20%", "flip 35%", "destroy 2", "persist 2", "suite 0%", "suite 20%", "topics, honest")
SEEDS: Final = range(3)


class _Retriever:
    """The shared ranking in the shape of darwin-memo's `Retriever`."""

    def rank(self, query: str, entries: Sequence[Any]) -> list[tuple[Any, float]]:
        """Relevance only. Its store breaks ties by energy; scores are set apart by a hair, so that there are none."""
        ranked = SHARED.rank(query, [entry.answer for entry in entries])
        return [(entries[row], score - 1e-9 * place) for place, (row, score) in enumerate(ranked)]

    def similarity(self, a: Any, b: Any) -> float:
        """What its consolidation merges by."""
        return SHARED.similarity(a.answer, b.answer)

    def forget(self, entry_id: str) -> None:
        """Nothing is kept for an entry."""

    def dump_state(self) -> dict[str, Any]:
        """Nothing to save."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Nothing to load."""


class _World:
    """A course in the shape of darwin-memo's `Environment`. It writes the truth down."""

    def __init__(self, course: Course, channel: Channel) -> None:
        self.course, self.channel, self.value = course, channel, 0.0
        self.resource_scale = course.scale

    def tasks(self, cycle: int) -> list[Task]:
        """The tasks of a cycle."""
        return [Task(step.prompt, {"step": step}) for step in self.course.cycles[cycle]]

    def measured(self, step: Step, text: str) -> float:
        """Acts as the answer says, and tells what the channel makes of it."""
        acted = bool(text) and polarity(text) is True
        true = step.gain if acted else step.idle
        self.value += true
        return self.channel.report(step, true, acted)

    def verify(self, task: Task, answer_text: str) -> Any:
        """The reported outcome, as its type."""
        return Outcome(delta=self.measured(task.context["step"], answer_text), detail="")


def _store(course: Course) -> Any:
    store: Any = MemoryStore(retriever=_Retriever())
    for line in course.corpus.lines:
        store.add(MemoryEntry(question="", answer=line.text, sources=[line.source]))
    return store


def loop(world: str, seed: int) -> float:
    """The share of oracle that its loop earns."""
    course = matrix.course(world, seed)
    store, env = _store(course), _World(course, Channel(course, WORLDS[world].liar))
    config = SurvivalConfig(cycles=len(course.cycles), consolidate_every=CONSOLIDATE_EVERY, write_experience=False)
    protocol: Any = QueryProtocol(store)
    there: Any = env
    SurvivalLoop(store, there, protocol, config).run()
    return env.value / course.oracle


def ledger(world: str, seed: int) -> float:
    """The share of oracle that its ledger earns."""
    course = matrix.course(world, seed)
    store, env = _store(course), _World(course, Channel(course, WORLDS[world].liar))
    config = SurvivalConfig(consolidate_every=CONSOLIDATE_EVERY, resource_scale=course.scale)
    made: Any = Ledger(store, protocol=QueryProtocol(store), config=config)
    for cycle in course.cycles:
        for step in cycle:
            ticket = made.decide(step.prompt, k=K)
            text = store.get(ticket.deciding_entry).answer if ticket.deciding_entry else ""
            delta = env.measured(step, text)
            if ticket.provenance:
                made.settle(ticket.id, delta, "")
        made.tick()
    return env.value / course.oracle


def main() -> int:
    """Prints each cell; 1 if one differs."""
    if version("darwin-memo") != PINNED:
        raise SystemExit(f"this compares with darwin-memo {PINNED}, and {version('darwin-memo')} is installed")
    wrong = 0
    for world in CELLS:
        for seed in SEEDS:
            pairs = {
                "loop": (loop(world, seed), matrix.run(world, "i", matrix.PUBLISHED, seed).share),
                "ledger": (ledger(world, seed), matrix.run(world, "i", matrix.CLASSIC, seed).share),
            }
            for name, (theirs, ours) in pairs.items():
                same = abs(theirs - ours) < 1e-9
                wrong += not same
                print(
                    f"{world:16} seed {seed}  {name:6}  darwin-memo {theirs:+.6f}  replay {ours:+.6f}  {'the same' if same else 'DIFFERS'}"
                )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
