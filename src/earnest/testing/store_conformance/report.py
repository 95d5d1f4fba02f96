"""All laws in order, and the function that tries them on a driver."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from earnest.testing.store_conformance import (
    accounts,
    aging,
    damage,
    draws,
    entries,
    evidence,
    log,
    moving,
    opening,
    places,
    recall,
    ruling,
    settings,
    surveys,
    tickets,
    transactions,
    vectors,
)
from earnest.testing.store_conformance.driver import FEATURES, Driver, Feature
from earnest.testing.store_conformance.law import Law
from earnest.testing.store_conformance.steps import Trial


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


_CHAPTERS: Final = (
    transactions.law,
    log.law,
    entries.law,
    tickets.law,
    draws.law,
    ruling.law,
    evidence.law,
    settings.law,
    recall.law,
    places.law,
    surveys.law,
    vectors.law,
    accounts.law,
    aging.law,
    moving.law,
    opening.law,
    damage.law,
)
"""In the order in which the laws are tried."""

_LAWS: Final = [law for chapter in _CHAPTERS for law in chapter.laws]


def laws(features: Collection[Feature] = FEATURES) -> list[Law]:
    """The laws that an engine with these features has to keep, in order."""
    return [law for law in _LAWS if law.needs <= set(features)]


def check_store(driver: Driver) -> Report:
    """Tries every law that the driver's features allow; none stops the others."""
    held, broken = [], []
    for law in laws(driver.features):
        with Trial() as trial:
            law.run(driver)
        if trial.error is None:
            held.append(law)
        else:
            broken.append((law, trial.error))
    return Report(tuple(held), tuple(broken))
