"""The arms: what may be left of the corpus after each outcome, by whose rule. The evidence arm stands in `evidence_arm.py`."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench.selection.corpus import Corpus, Line
from bench.selection.live import Measured, Said
from bench.selection.ranking import SharedRanking

K: Final = 3
"""Entries that a decision may draw on, where supporters count: the decider and two supporters."""
CONSOLIDATE_EVERY: Final = 5
"""Cycles between consolidations, in the arms that have one."""


@dataclass(frozen=True, slots=True)
class Cast:
    """What an arm is made from. `deaths` are the classic arm's in the same seed, cycle by cycle; `second` says whether there is a second
    instrument; `scale` is the world's."""

    corpus: Corpus
    ranking: SharedRanking
    seed: int
    scale: float = 1.0
    second: bool = False
    deaths: tuple[int, ...] = ()

    def rng(self, stream: str) -> random.Random:
        """Chance of an arm's own."""
        return random.Random(f"{stream}:{self.seed}")


class Flock:
    """A memory without an economy: the best match decides, and a subclass says who is struck out."""

    holds_out = False

    def __init__(self, cast: Cast) -> None:
        self.cast = cast
        self.lines: list[Line] = list(cast.corpus.lines)
        self.view = cast.ranking.view(tuple(self.lines))
        self.cycle = 0

    def decide(self, prompt: str) -> Said | None:
        """See `Arm.decide`."""
        ranked = self.view.rank(prompt)
        if not ranked:
            return None
        for place, (line, _) in enumerate(ranked[:K]):
            self.used(line, place)
        line = ranked[0][0]
        return Said(line.text, (line.source,), line)

    def answer(self, prompt: str) -> Said | None:
        """See `Arm.answer`."""
        ranked = self.view.rank(prompt)
        return Said(ranked[0][0].text, (ranked[0][0].source,)) if ranked else None

    def keep(self, lines: Sequence[Line]) -> None:
        """Only these are left."""
        if len(lines) != len(self.lines):
            self.lines = [*lines]
            self.view = self.cast.ranking.view(tuple(self.lines))

    def drop(self, gone: set[str]) -> None:
        """These go."""
        if gone:
            self.keep([line for line in self.lines if line.id not in gone])

    def arrived(self, lines: tuple[Line, ...]) -> None:
        """See `Arm.arrived`. A text that is there already is not stored twice; one that was struck out comes back as if it were new."""
        here = {line.id for line in self.lines}
        back = [line for line in lines if line.id not in here]
        for line in back:
            self.returned(line)
        self.keep([*self.lines, *back])

    def settled(self, said: Said, measured: Measured) -> None:
        """See `Arm.settled`."""
        assert isinstance(said.token, Line)
        self.outcome(said.token, measured.delta)

    def cycle_ended(self, cycle: int) -> None:
        """See `Arm.cycle_ended`."""
        self.ended(cycle)
        self.cycle = cycle + 1

    def control(self, delta: float, *, second: bool = False) -> None:
        """See `Arm.control`: nothing is made of it."""

    def held(self) -> list[tuple[tuple[str, ...], bool]]:
        """See `Arm.held`."""
        return [((line.source,), True) for line in self.lines]

    def told(self) -> dict[str, float]:
        """See `Arm.told`."""
        return {}

    def used(self, line: Line, place: int) -> None:
        """An entry was ranked at this place for a decision."""

    def outcome(self, line: Line, delta: float) -> None:
        """An entry decided, and this came of it."""

    def ended(self, cycle: int) -> None:
        """The cycle is over."""

    def returned(self, line: Line) -> None:
        """A struck-out text was read in again."""


class KeepEverything(Flock):
    """Nothing ever goes."""


class Ttl(Flock):
    """Everything goes when it is ten cycles old."""

    def ended(self, cycle: int) -> None:
        """See `Flock.ended`."""
        if cycle + 1 == 10:
            self.keep([])


class Recency(Flock):
    """Whoever was not ranked for ten cycles goes."""

    def __init__(self, cast: Cast) -> None:
        super().__init__(cast)
        self.last: dict[str, int] = {}

    def used(self, line: Line, place: int) -> None:
        """See `Flock.used`."""
        self.last[line.id] = self.cycle

    def ended(self, cycle: int) -> None:
        """See `Flock.ended`."""
        self.drop({line.id for line in self.lines if cycle - self.last.get(line.id, 0) >= 10})


class Strikes(Flock):
    """The decider of so many measured harms goes at the end of the cycle."""

    strikes = 1
    at_settle = False

    def __init__(self, cast: Cast) -> None:
        super().__init__(cast)
        self.harms: Counter[str] = Counter()

    def outcome(self, line: Line, delta: float) -> None:
        """See `Flock.outcome`."""
        self.harms[line.id] += delta < 0
        if self.at_settle:
            self.ended(self.cycle)

    def ended(self, cycle: int) -> None:
        """See `Flock.ended`."""
        self.drop({name for name, count in self.harms.items() if count >= self.strikes})

    def returned(self, line: Line) -> None:
        """See `Flock.returned`."""
        self.harms[line.id] = 0


class StrikeAtSettle(Strikes):
    """The decider of one measured harm goes at once."""

    at_settle = True


class Strikes2(Strikes):
    """Two harms in a life."""

    strikes = 2


class Strikes3(Strikes):
    """Three harms in a life."""

    strikes = 3


class Consecutive(Flock):
    """Strikes that a cycle with a gain wipes clean; so many, and the decider goes at the end of the cycle."""

    strikes = 2

    def __init__(self, cast: Cast) -> None:
        super().__init__(cast)
        self.harms: Counter[str] = Counter()
        self.blamed: Counter[str] = Counter()
        self.praised: set[str] = set()

    def outcome(self, line: Line, delta: float) -> None:
        """See `Flock.outcome`."""
        if delta < 0:
            self.blamed[line.id] += 1
        elif delta > 0:
            self.praised.add(line.id)

    def ended(self, cycle: int) -> None:
        """See `Flock.ended`."""
        for name in self.praised:
            self.harms[name] = 0
        self.harms.update(self.blamed)
        self.blamed.clear()
        self.praised.clear()
        self.drop({name for name, count in self.harms.items() if count >= self.strikes})

    def returned(self, line: Line) -> None:
        """See `Flock.returned`."""
        self.harms[line.id] = 0


class Consecutive5(Consecutive):
    """Five in a row."""

    strikes = 5


class Consecutive8(Consecutive):
    """Eight in a row."""

    strikes = 8


class Quarantine(Flock):
    """Whoever decided a harm goes at the end of the cycle, and is back three cycles later."""

    def __init__(self, cast: Cast) -> None:
        super().__init__(cast)
        self.blamed: set[str] = set()
        self.away: dict[int, list[Line]] = defaultdict(list)

    def outcome(self, line: Line, delta: float) -> None:
        """See `Flock.outcome`."""
        if delta < 0:
            self.blamed.add(line.id)

    def ended(self, cycle: int) -> None:
        """See `Flock.ended`."""
        self.away[cycle + 3] += [line for line in self.lines if line.id in self.blamed]
        self.drop(self.blamed)
        self.blamed = set()
        self.keep([*self.lines, *self.away.pop(cycle + 1, [])])


class Bandit(Flock):
    """Elimination by Hoeffding's bound: whoever helps in less than half of its decisions, with 95 % certainty, goes."""

    def __init__(self, cast: Cast) -> None:
        super().__init__(cast)
        self.seen: dict[str, tuple[int, int]] = {}

    def outcome(self, line: Line, delta: float) -> None:
        """See `Flock.outcome`."""
        wins, plays = self.seen.get(line.id, (0, 0))
        if delta != 0:
            self.seen[line.id] = (wins + (delta > 0), plays + 1)

    def ended(self, cycle: int) -> None:
        """See `Flock.ended`."""
        self.drop({name for name, (wins, plays) in self.seen.items() if wins / plays + math.sqrt(math.log(1 / 0.05) / (2 * plays)) < 0.5})

    def returned(self, line: Line) -> None:
        """See `Flock.returned`."""
        self.seen.pop(line.id, None)


class RelevanceBudget(Flock):
    """From the fifth cycle on, the eight entries that were ranked most are kept."""

    def __init__(self, cast: Cast) -> None:
        super().__init__(cast)
        self.ranked: Counter[str] = Counter()

    def used(self, line: Line, place: int) -> None:
        """See `Flock.used`."""
        self.ranked[line.id] += 1

    def ended(self, cycle: int) -> None:
        """See `Flock.ended`."""
        if cycle + 1 >= 5:
            self.keep(sorted(self.lines, key=lambda line: -self.ranked[line.id])[:8])


class RandomMatched(Flock):
    """As many go in each cycle as die in the classic arm of the same seed, but chance chooses whom."""

    def ended(self, cycle: int) -> None:
        """See `Flock.ended`."""
        rng = random.Random(f"random-matched:{self.cast.seed}:{cycle}")
        going = min(self.cast.deaths[cycle] if cycle < len(self.cast.deaths) else 0, len(self.lines))
        self.drop({line.id for line in rng.sample(self.lines, going)})


class SalienceMatched(Flock):
    """As many go in each cycle as die in the classic arm of the same seed: those that were ranked least and longest ago."""

    def __init__(self, cast: Cast) -> None:
        super().__init__(cast)
        self.salience: dict[str, float] = {}

    def used(self, line: Line, place: int) -> None:
        """See `Flock.used`."""
        self.salience[line.id] = self.salience.get(line.id, 0.0) + 1.0 / (1 + place)

    def ended(self, cycle: int) -> None:
        """See `Flock.ended`."""
        going = min(self.cast.deaths[cycle] if cycle < len(self.cast.deaths) else 0, len(self.lines))
        least = sorted(self.lines, key=lambda line: self.salience.get(line.id, 0.0))
        self.drop({line.id for line in least[:going]})
        self.salience = {name: 0.9 * value for name, value in self.salience.items()}


_SUSPECT: Final = re.compile(r"ignore|at once|[A-Z]{4,}|https?:|password|sudo|immediately")


def passes_filter(text: str) -> bool:
    """A home-made write filter: instructions in capitals, orders to ignore others, links. It reads form, not truth."""
    return not _SUSPECT.search(text)


class WriteFilter(Flock):
    """A filter at the door, and nothing after it."""

    def __init__(self, cast: Cast) -> None:
        super().__init__(cast)
        self.keep([line for line in self.lines if passes_filter(line.text)])

    def arrived(self, lines: tuple[Line, ...]) -> None:
        """See `Arm.arrived`."""
        super().arrived(tuple(line for line in lines if passes_filter(line.text)))


FLOCKS: Final[dict[str, type[Flock]]] = {
    "keep-everything": KeepEverything,
    "ttl 10": Ttl,
    "recency 10": Recency,
    "random-matched": RandomMatched,
    "salience-matched": SalienceMatched,
    "strike-once": Strikes,
    "strike-once-at-settle": StrikeAtSettle,
    "strikes 2": Strikes2,
    "strikes 3": Strikes3,
    "consecutive 2": Consecutive,
    "consecutive 5": Consecutive5,
    "consecutive 8": Consecutive8,
    "quarantine 3": Quarantine,
    "bandit": Bandit,
    "relevance budget 8": RelevanceBudget,
    "write filter": WriteFilter,
}
"""The arms without an economy, by the name that they are reported under."""


def deaths(start: int, curve: Sequence[int]) -> tuple[int, ...]:
    """How many left in each cycle of a run without births."""
    return tuple(max(0, before - after) for before, after in zip([start, *curve[:-1]], curve, strict=True))
