"""One cell: one arm in one seed's world."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from bench.selection.arms import ARMS, Cast, deaths
from bench.selection.corpus import Corpus
from bench.selection.ranking import SharedRanking
from bench.selection.world import Scene, oracle_value, probed
from earnest.environments import StorageEnv


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a cell. Values are bytes, true ones; `harm` is the sum of all losses, 0 or less.

    `benign` and `harmful_safe` are shares of the probes after the last cycle. Poison acts are those that an entry with a lying
    source decided; their cycles count from 0, and are None if there were none. `population` is that after each cycle.
    """

    world: str
    arm: str
    seed: int
    value: float
    oracle: float
    harm: float
    tasks: int
    acts: int
    harms: int
    silent: int
    benign: float
    harmful_safe: float
    poison_active: int
    poison_alive: int
    poison_acts: int
    poison_first: int | None
    poison_last: int | None
    population: tuple[int, ...]

    @property
    def share(self) -> float:
        """The part of what an oracle earns, which losses can carry below 0."""
        return self.value / self.oracle

    def said(self) -> dict[str, Any]:
        """As JSON says it."""
        return asdict(self) | {"population": list(self.population)}

    @classmethod
    def read(cls, said: dict[str, Any]) -> Self:
        """From what JSON says. Raises `ValueError` when a field is missing or unknown."""
        if set(said) != {f.name for f in fields(cls)}:
            raise ValueError(f"a row must have exactly the fields {[f.name for f in fields(cls)]}")
        return cls(**{**said, "population": tuple(said["population"])})


def run(arm: str, seed: int, *, corpus: Corpus, cycles: int, files: int, subject: Row | None = None, sparse: bool = True) -> Row:
    """Live one cell. `subject` is earnest-classic's row of the seed, which random-matched needs."""
    died = deaths(len(corpus.lines), subject.population) if subject is not None else ()
    made = ARMS[arm](Cast(corpus, SharedRanking(), seed, died))
    with StorageEnv(files=files, seed=seed, sparse=sparse) as env:
        scene = Scene(env, corpus)
        population = made.live(scene, cycles)
        oracle = oracle_value(env, cycles)
    benign, harmful_safe = probed(made.answer)
    active, alive = made.poison()
    return Row(
        world="honest", arm=arm, seed=seed, value=scene.value, oracle=oracle, harm=scene.harm, tasks=scene.tasks_seen, acts=scene.acts,
        harms=scene.harms, silent=scene.silent, benign=benign, harmful_safe=harmful_safe, poison_active=active, poison_alive=alive,
        poison_acts=len(scene.poison_cycles), poison_first=min(scene.poison_cycles, default=None),
        poison_last=max(scene.poison_cycles, default=None), population=tuple(population),
    )  # fmt: skip
