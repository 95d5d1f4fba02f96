"""darwin-memo 0.7.1 as it is on PyPI: its store, protocol, credit rule and loop (or ledger), with the shared retriever."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from darwin_memo.ledger import Ledger
from darwin_memo.protocol import QueryProtocol
from darwin_memo.store import MemoryStore
from darwin_memo.survival import SurvivalConfig, SurvivalLoop
from darwin_memo.types import MemoryEntry, Outcome

from bench.selection.arms import CONSOLIDATE_EVERY, Cast, K
from bench.selection.ranking import SharedRanking
from bench.selection.world import Scene
from earnest.core.outcome import Task

PINNED = "0.7.1"


class _Retriever:
    """The shared ranking in the shape of darwin-memo's `Retriever`."""

    def __init__(self, ranking: SharedRanking) -> None:
        self._ranking = ranking

    def rank(self, query: str, entries: Sequence[Any]) -> list[tuple[Any, float]]:
        """Relevance only. Its store breaks ties by energy; scores are set apart by a hair, so that there are none."""
        ranked = self._ranking.rank(query, [entry.answer for entry in entries])
        return [(entries[row], score - 1e-9 * place) for place, (row, score) in enumerate(ranked)]

    def similarity(self, a: Any, b: Any) -> float:
        """What its consolidation merges by."""
        return self._ranking.similarity(a.answer, b.answer)

    def forget(self, entry_id: str) -> None:
        """Nothing is kept for an entry."""

    def dump_state(self) -> dict[str, Any]:
        """Nothing to save."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Nothing to load."""


class _Watched:
    """Its query protocol, which tells the scene whose advice is about to be followed."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._protocol = QueryProtocol(store)
        self.scene: Scene | None = None
        self.text = ""
        """What was last said, without the lines on its age that a ledger adds."""

    def answer(self, query: str, **how: Any) -> Any:
        """As `QueryProtocol.answer`, with the same k as every arm."""
        said = self._protocol.answer(query, **{"k": K, **how})
        self.text = str(said.text)
        decider = self._store.get(said.deciding_entry) if said.deciding_entry else None
        if self.scene is not None:
            self.scene.deciding = tuple(decider.sources) if decider else ()
        return said


class _World:
    """The scene in the shape of darwin-memo's `Environment`; answers are read by Earnest's reader, as for every arm."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.resource_scale = scene.resource_scale

    def tasks(self, cycle: int) -> list[Task]:
        """The tasks of a cycle."""
        return self._scene.tasks(cycle)

    def verify(self, task: Task, answer_text: str) -> Any:
        """The measured outcome, as its type."""
        outcome = self._scene.verify(task, answer_text)
        return Outcome(delta=outcome.delta, detail=outcome.detail)


class DarwinArm:
    """Its `SurvivalLoop`, which buries at the end of a cycle, over its store with the whole corpus in it."""

    def __init__(self, cast: Cast) -> None:
        if version("darwin-memo") != PINNED:
            raise SystemExit(f"the darwin-memo arm is version {PINNED}, and {version('darwin-memo')} is installed")
        self.cast = cast
        self.store: Any = MemoryStore(retriever=_Retriever(cast.ranking))
        for line in cast.corpus.lines:
            self.store.add(MemoryEntry(question="", answer=line.text, sources=[line.source]))
        self.protocol = _Watched(self.store)

    def live(self, scene: Scene, cycles: int) -> list[int]:
        """See `Arm.live`."""
        self.protocol.scene = scene
        config = SurvivalConfig(cycles=cycles, consolidate_every=CONSOLIDATE_EVERY, write_experience=False)
        world: Any = _World(scene)
        protocol: Any = self.protocol
        report = SurvivalLoop(self.store, world, protocol, config).run()
        self.protocol.scene = None
        return [cycle.population for cycle in report.stats]

    def answer(self, prompt: str) -> str:
        """See `Arm.answer`."""
        return str(self.protocol.answer(prompt).text)

    def poison(self) -> tuple[int, int]:
        """See `Arm.poison`."""
        held = [entry for entry in self.store.alive() if self.cast.corpus.is_poisoned(entry.sources)]
        return sum(entry.may_decide for entry in held), len(held)


class DarwinLedgerArm(DarwinArm):
    """Its event-driven `Ledger`, which buries at the settlement, over the same store."""

    def live(self, scene: Scene, cycles: int) -> list[int]:
        """See `Arm.live`."""
        config = SurvivalConfig(consolidate_every=CONSOLIDATE_EVERY, resource_scale=scene.resource_scale)
        protocol: Any = self.protocol
        ledger: Any = Ledger(self.store, protocol=protocol, config=config)
        self.protocol.scene = scene
        population: list[int] = []
        for cycle in range(cycles):
            for task in scene.tasks(cycle):
                ticket = ledger.decide(task.prompt, k=K)
                outcome = scene.verify(task, self.protocol.text)
                if ticket.provenance:
                    ledger.settle(ticket.id, outcome.delta, outcome.detail)
            ledger.tick()
            population.append(len(self.store))
        self.protocol.scene = None
        return population
