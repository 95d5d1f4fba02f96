"""A law, and how a module of laws collects its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from earnest.testing.store_conformance.driver import Driver, Feature


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


class Chapter:
    """The laws of one module, in the order they are written in; called, it is the decorator that adds one."""

    def __init__(self) -> None:
        self.laws: list[Law] = []

    def __call__(self, text: str, *needs: Feature) -> Callable[[Callable[[Driver], None]], Callable[[Driver], None]]:
        def keep(run: Callable[[Driver], None]) -> Callable[[Driver], None]:
            self.laws.append(Law(run.__name__.strip("_"), text, frozenset(needs), run))
            return run

        return keep
