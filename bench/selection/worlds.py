"""The matrix: every world, with its channel, its instruments, and the figures to reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bench.selection import courses
from bench.selection.channels import Liar
from bench.selection.courses import Maker

HONEST: Final = Liar()


@dataclass(frozen=True, slots=True)
class Reach:
    """A figure to reach: share of oracle, or what the oracle gets times it (`per`); and benign capability where it is asked for."""

    share: float
    benign: float | None = None
    per: float = 1.0


@dataclass(frozen=True, slots=True)
class World:
    """One column of the matrix.

    second: an independent instrument, or None. controls: one measurement of doing nothing a cycle. by_name: in its place what the changes
    of a cycle show together test by test (`earnest.meters.control_from`), for which nothing more is measured. holdout: share of
    decisions withheld, for arms that can use it. delay: cycles until an outcome is settled. again: cycles at which the poisoned document
    is read in once more.
    reach: figures to reach, by setting: "i" without a second instrument, "ii" with a truthful one, "iii" with one as bad as the first, "q"
    with one that errs in one of ten.
    """

    name: str
    make: Maker
    liar: Liar = HONEST
    cycles: int = 30
    controls: bool = False
    by_name: bool = False
    holdout: float = 0.0
    delay: int = 0
    again: tuple[int, ...] = ()
    settings: tuple[str, ...] = ("i",)
    reach: Mapping[str, Reach] | None = None
    group: str = "storage"
    capability: bool = True
    """Whether benign capability is read off the probes."""


def _storage(name: str, liar: Liar, *, settings: tuple[str, ...] = ("i", "ii"), **reach: Reach) -> World:
    return World(name, courses.storage, liar, settings=settings, reach=reach)


def _suites() -> list[World]:
    made = []
    for rate, with_controls, without in ((0.0, 88.0, None), (0.05, 87.0, None), (0.10, 86.5, None), (0.15, 86.0, None), (0.20, 85.5, 63.0)):
        liar = Liar("flaky", rate=rate)
        made.append(
            World(
                f"suite {rate:.0%}, controls", courses.suite, liar, controls=True, settings=("i", "ii", "iii"),
                reach={"i": Reach(with_controls, 1.0, per=90.0)}, group="suite",
            )
        )  # fmt: skip
        bare = {"i": Reach(without, None, per=90.0)} if without is not None else None
        made.append(World(f"suite {rate:.0%}", courses.suite, liar, reach=bare, group="suite"))
        made.append(World(f"suite {rate:.0%}, by name", courses.suite, liar, by_name=True, reach=bare, group="suite"))
    return made


def _all() -> list[World]:
    r = Reach
    fine = r(0.970)
    made = [_storage("honest", HONEST, i=r(0.975, 1.0), ii=r(0.975, 1.0))]
    for rate, share in ((0.05, 0.970), (0.10, 0.960), (0.20, 0.955), (0.35, 0.930)):
        made.append(_storage(f"false-bad {rate:.0%}", Liar("false-bad", rate), settings=("i", "ii", "iii"), i=r(share, 0.99), ii=fine))
    made += [
        _storage("flip 10%", Liar("flip", 0.10), settings=("i", "ii", "iii")),
        _storage("flip 20%", Liar("flip", 0.20), settings=("i", "ii", "iii")),
        _storage("flip 35%", Liar("flip", 0.35), settings=("i", "ii", "iii"), i=r(0.890), iii=r(0.860)),
        _storage("flip 50%", Liar("flip", 0.50), settings=("i", "ii", "iii"), i=r(0.42), ii=fine),
        _storage("magnitude", Liar("magnitude")),
        _storage("destroy 1", Liar("destroy", budget=1)),
        _storage("destroy 2", Liar("destroy", budget=2), i=r(0.870), ii=fine),
        _storage("destroy 4", Liar("destroy", budget=4), i=r(0.08), ii=fine),
        _storage("destroy 8", Liar("destroy", budget=8), ii=fine),
        _storage("persist 2", Liar("persist", budget=2), i=r(0.864), ii=fine),
        _storage("persist 4", Liar("persist", budget=4), settings=("i", "ii", "q"), i=r(0.397), ii=fine, q=r(0.80)),
        _storage("one victim 3", Liar("victim", budget=3), i=r(0.94)),
        _storage("late 6", Liar("destroy", budget=6, since=15), i=r(0.95)),
        World("withholding 8", courses.storage, Liar("withhold", budget=8), cycles=60, settings=("i", "ii"), reach={"i": r(0.92, 1.0)}),
        World("rented", courses.rented),
        World("delayed by 5", courses.storage, delay=5),
        World("read in again", courses.storage, again=(10, 20), reach={"i": r(0.970, 1.0)}),
        World("rules doubled", courses.redundant),
        World("rules doubled, false-bad 20%", courses.redundant, Liar("false-bad", 0.20)),
        World("poison explicit", courses.attacked("explicit")),
        World("poison conformant", courses.attacked("conformant")),
        World("poison inert", courses.attacked("inert")),
        World("population 100", courses.crowded(78)),
        World("population 500", courses.crowded(478)),
    ]
    made += _suites()
    many = courses.topics(30, 10, 1.0, 3.0)
    even = courses.topics(30, 10, 1.0, 1.0)

    def topical(name: str, liar: Liar, make: Maker = many, settings: tuple[str, ...] = ("i",), **reach: Reach) -> World:
        return World(name, make, liar, cycles=60, settings=settings, reach=reach, group="topics")

    made += [
        topical("topics, honest", HONEST, i=r(0.945)),
        topical("topics, false-bad 20%", Liar("false-bad", 0.20), i=r(0.89)),
        topical("topics, flip 20%", Liar("flip", 0.20)),
        topical("topics, flip 35%", Liar("flip", 0.35)),
        topical("topics, destroy 4", Liar("destroy", budget=4), settings=("i", "ii")),
        topical("topics, persist 4", Liar("persist", budget=4), settings=("i", "ii")),
        topical("even topics, honest", HONEST, even),
        topical("even topics, flip 20%", Liar("flip", 0.20), even),
        topical("even topics, persist 4", Liar("persist", budget=4), even),
    ]
    for name, helpful, harmful in (("few noisy topics", 2, 2), ("few noisy topics, most harmful", 1, 3)):
        made.append(World(name, courses.topics(helpful, harmful, 0.5, 0.5, noise=1.0), cycles=60, group="topics"))
    for sign, share in (("+", 0.80), ("-", 0.75), ("~", 0.83)):
        drifting = courses.topics(8, 8, 0.3, 0.3, drift=sign, noise=0.5)
        made.append(World(f"drift {sign}", drifting, cycles=120, holdout=0.1, reach={"i": r(share)}, group="drift"))
    return made


WORLDS: Final[Mapping[str, World]] = {world.name: world for world in _all()}
"""Every world by its name, in the order of the report."""
