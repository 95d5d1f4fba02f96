"""In what order a store lives through the facts of a text form: by tick and time, and nothing before what it is about. Pure.

A clock may be set back between two verbs, and two stores whose facts were joined went by two clocks: whoever decided was there, whatever
the clock said of its birth. What is written keeps the time that is told of it; only its turn is later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from earnest.core.calendar import LAST
from earnest.core.events import micros
from earnest.core.lessons import Lessons

Turn = tuple[int, int]
"""A tick, and a moment in it in microseconds."""

LATER: Final = "turn"
"""In a step of a rule the moment of its turn, where its own is no later than that of the step before it."""
_NAMING: Final = ("cited", "beside", "withheld")
_NEVER: Final[Turn] = (-1, 0)
"""Before everything."""


class Turns:
    """When each fact of a text comes to its turn. O(the text), once."""

    def __init__(self, lessons: Lessons) -> None:
        self._births = {name: (said.get("born", 0), said.get("created") or 0) for name, said in lessons.entries.items()}
        self._trials: dict[tuple[str, int], Turn] = {}
        for each in lessons.rules:
            _, name, tick, at, _, _, said = json.loads(each)
            self._trials[name, at] = self.step(name, tick, at, said)
        self._decisions = {
            name: max((tick, at), *self._relied(more, (decider, *others)))
            for name, (_, tick, at, decider, others, _, more) in lessons.open.items()
        }
        for name, (_, decider, tick, at, *_, more) in (*lessons.ended.items(), *lessons.settled.items()):
            self._decisions[name] = max((tick, at), *self._relied(more, (decider,)))
        self._ends = {name: max((fact[4], fact[5]), self._decisions[name]) for name, fact in lessons.settled.items()}

    def birth(self, entry: str) -> Turn:
        """Of an entry's birth."""
        return self._births[entry]

    def step(self, rule: str, tick: int, at: int, said: Mapping[str, Any]) -> Turn:
        """Of a step of a rule."""
        later = said.get(LATER)
        moment = later if isinstance(later, int) and at < later <= micros(LAST) else at
        return max((tick, moment), self._births.get(rule, _NEVER))

    def decision(self, ticket: str) -> Turn:
        """Of a decision: whoever it names was born, and what it was drawn for had begun."""
        return self._decisions[ticket]

    def end(self, ticket: str, tick: int, at: int) -> Turn:
        """Of an outcome, or an end without one."""
        return max((tick, at), self._decisions[ticket])

    def look(self, ticket: str, tick: int, at: int) -> Turn:
        """Of a second look at an outcome."""
        return max((tick, at), self._ends.get(ticket, _NEVER))

    def _relied(self, more: Mapping[str, Any], names: Iterable[Any]) -> Iterator[Turn]:
        """The turns of what a decision relies on; whether it is told of at all is looked at where it is made."""
        yield _NEVER
        draws = [draw for draw in _listed(more.get("draws")) if isinstance(draw, list) and len(draw) == 7]
        for draw in draws:
            if isinstance(draw[0], str) and isinstance(draw[6], int) and (draw[0], draw[6]) in self._trials:
                yield self._trials[draw[0], draw[6]]
        beside = (each for role in _NAMING for each in _listed(more.get(role)))
        for name in (*names, *beside, *(each for draw in draws for each in draw[::5])):
            if isinstance(name, str) and name in self._births:
                yield self._births[name]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def strictly_later(turns: dict[str, Turn], rule: str, tick: int, at: int) -> int | None:
    """The moment of the turn of a step of a rule, the next one in `turns`, where its own is no later than that of the one before it."""
    before = turns.get(rule, _NEVER)
    turns[rule] = max((tick, at), (tick, before[1] + 1) if before[0] == tick else _NEVER)
    return None if turns[rule][1] == at else turns[rule][1]
