"""The batch loop: a memory lives in an environment for some cycles, and only what measured outcomes pay for stays."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from earnest.core import check
from earnest.core.amounts import MICRO
from earnest.core.analysis import folded
from earnest.core.outcome import Outcome, Task
from earnest.core.ranking import similarity
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from earnest.core.ticket import Ticket
    from earnest.environments.base import Environment
    from earnest.memory import Memory

TWIN: Final = 0.8
"""Share of common words from which two texts say the same, so that an experience is not written again."""
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_WORDS = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
_KEPT: Final = 1_000
"""Settled tasks that are kept in memory, so that they can be looked at a second time."""
_SUFFIX: Final = "Acted upon, this was measured as a gain."


@dataclass(frozen=True, slots=True)
class SurvivalConfig:
    """How a run goes. Raises `InvalidInput`, naming the field, for a value that cannot be used.

    cycles: cycles to live through. k: entries that a decision may draw on. consolidate_every: cycles between consolidations
    (0: never). write_experience: whether the best answer of a cycle that gained something is written back as an entry. scale: how
    much of the resource is a lot, in its unit (None: what the environment says). meter: the name under which outcomes are
    settled. expire_after: ticks after which an open ticket expires. second_meter: the name under which an environment that can look a
    second time does so; only looks that the memory asks for are made.
    """

    cycles: int = 30
    k: int = 3
    consolidate_every: int = 5
    write_experience: bool = True
    scale: float | None = None
    meter: str = "environment"
    expire_after: int = 50
    second_meter: str = "environment, second look"

    def __post_init__(self) -> None:
        check.integer("cycles", self.cycles, low=1, high=1_000_000)
        check.integer("k", self.k, low=1, high=1_000)
        check.integer("consolidate_every", self.consolidate_every, low=0, high=1_000_000)
        check.flag("write_experience", self.write_experience)
        if self.scale is not None:
            check.scale("scale", self.scale)
        check.label("meter", self.meter)
        check.integer("expire_after", self.expire_after, low=1, high=1_000_000)
        check.label("second_meter", self.second_meter, limit=100)
        if self.second_meter == self.meter:
            raise InvalidInput("second_meter", self.second_meter, "must be another name than the meter's: a second look is independent")


@dataclass(frozen=True, slots=True)
class CycleStats:
    """One cycle. `cycle` counts from 0; `population` is the active entries at its end; `births` the experiences written;
    `energy` what the living hold together, in units of energy; `resource_delta` the sum of the outcomes, in the environment's
    unit; `silent` how many of the `tasks` memory had nothing to say to."""

    cycle: int
    population: int
    births: int
    deaths: int
    merges: int
    energy: float
    resource_delta: float
    tasks: int
    silent: int


@dataclass(frozen=True, slots=True)
class SurvivalReport:
    """A run: its cycles, and in plain words what makes it say nothing (empty when nothing does)."""

    stats: tuple[CycleStats, ...]
    warnings: tuple[str, ...] = ()

    def summary(self) -> str:
        """The table, a row a cycle, then each warning on a line that begins with WARNING."""
        head = ("cycle", "population", "births", "deaths", "merges", "energy", "resource Δ", "silent/tasks")
        rows = [head]
        for s in self.stats:
            rows.append((
                f"{s.cycle:,}", f"{s.population:,}", f"{s.births:,}", f"{s.deaths:,}", f"{s.merges:,}",
                f"{s.energy:,.2f}", _amount(s.resource_delta), f"{s.silent:,}/{s.tasks:,}",
            ))  # fmt: skip
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*lines, *self.warnings])


class SurvivalLoop:
    """Runs a memory through an environment's cycles.

    Each cycle: the environment measures doing nothing, if it can (`control`); every task is put to the memory, the environment acts
    and measures, the ticket is settled, and looked at once more (`remeasure`) where the memory asks for that and the environment can;
    the best gain may be written back; the clock ticks; now and then the entries are consolidated. `on_cycle` is called with each
    `CycleStats`.
    """

    def __init__(
        self,
        memory: Memory,
        env: Environment,
        config: SurvivalConfig | None = None,
        on_cycle: Callable[[CycleStats], Any] | None = None,
    ) -> None:
        for verb in ("tasks", "verify"):
            if not callable(getattr(env, verb, None)):
                raise InvalidInput("env", env, f"an environment has resource_scale, tasks and verify; this one has no {verb}()")
        self.memory = memory
        self.env = env
        self.config = SurvivalConfig() if config is None else config
        self.on_cycle = on_cycle
        self._done: dict[str, tuple[Task, Outcome]] = {}
        self.scale = check.scale(
            "resource_scale" if self.config.scale is None else "scale",
            getattr(env, "resource_scale", None) if self.config.scale is None else self.config.scale,
        )

    def run(self) -> SurvivalReport:
        """Live through the cycles and report. Changes the memory: settlements, experiences, ticks, deaths.

        What the environment raises passes through; the ticket in hand is abandoned first, and all that was settled before
        stays settled. Raises `InvalidInput` when `verify` gives back something other than an `Outcome`. Cost: for each task one
        decision, one `verify` and one settlement.
        """
        stats: list[CycleStats] = []
        nonzero = 0
        for cycle in range(self.config.cycles):
            done = self._cycle(cycle)
            stats.append(done.stats)
            nonzero += done.nonzero
            if self.on_cycle is not None:
                self.on_cycle(done.stats)
        return SurvivalReport(tuple(stats), degenerate(stats, nonzero))

    def _cycle(self, cycle: int) -> _Done:
        config, memory = self.config, self.memory
        total, silent, nonzero = 0.0, 0, 0
        buried: set[str] = set()
        best: tuple[float, Ticket] | None = None
        self._control(cycle)
        tasks = list(self.env.tasks(cycle))
        for task in tasks:
            ticket = memory.decide(task.prompt, k=config.k)
            outcome = self._verified(task, ticket)
            total += outcome.delta
            nonzero += outcome.delta != 0
            if ticket.id is None:
                silent += 1
                continue
            settled = memory.settle(
                ticket.id, delta=outcome.delta, meter=config.meter, scale=self.scale,
                acted=outcome.acted, detail=outcome.detail[: check.MAX_DETAIL],
            )  # fmt: skip
            buried.update(settled.buried)
            self._done[ticket.id] = task, outcome
            buried.update(self._look_again())
            if ticket.text and outcome.delta > 0 and (best is None or outcome.delta > best[0]):
                best = (outcome.delta, ticket)
        births = self._write_back(cycle, best[1]) if best is not None and config.write_experience else 0
        ticked = memory.tick(expire_after=config.expire_after)
        buried.update(ticked.died)
        buried.update(self._look_again())
        merges = ticked.merged
        if config.consolidate_every and (cycle + 1) % config.consolidate_every == 0:
            merges += memory.consolidate().merged
        now = memory.stats()
        energy = now.energy / MICRO
        return _Done(CycleStats(cycle, now.alive, births, len(buried), merges, energy, total, len(tasks), silent), nonzero)

    def _control(self, cycle: int) -> None:
        """Let the environment measure doing nothing, where it can and the rule has a use for it."""
        measure = getattr(self.env, "control", None)
        if not callable(measure) or self.memory.settings.rule != "evidence":
            return
        outcome = measure(cycle)
        if not isinstance(outcome, Outcome):
            raise InvalidInput("outcome", outcome, "control gives back an earnest.Outcome(delta=…)")
        self.memory.control(delta=outcome.delta, meter=self.config.meter, scale=self.scale, detail=outcome.detail[: check.MAX_DETAIL])

    def _look_again(self) -> tuple[str, ...]:
        """Answer what the memory asks to be measured again, as far as the environment can; returns the entries that were buried then.

        What happened in the last cycles can be looked at; older tickets are let go.
        """
        measure = getattr(self.env, "remeasure", None)
        while len(self._done) > _KEPT:
            self._done.pop(next(iter(self._done)))
        if not callable(measure):
            return ()
        buried: list[str] = []
        for appeal in self.memory.appeals():
            if appeal.ticket not in self._done:
                continue
            again = measure(*self._done.pop(appeal.ticket))
            if not isinstance(again, Outcome):
                raise InvalidInput("outcome", again, "remeasure gives back an earnest.Outcome(delta=…)")
            look = self.memory.remeasure(
                appeal.ticket, delta=again.delta, meter=self.config.second_meter, scale=self.scale, detail=again.detail[: check.MAX_DETAIL]
            )
            buried += look.buried
        return tuple(buried)

    def _verified(self, task: Task, ticket: Ticket) -> Outcome:
        """The environment's outcome. Whatever goes wrong, the ticket does not stay open."""
        try:
            outcome = self.env.verify(task, ticket.text)
            if not isinstance(outcome, Outcome):
                raise InvalidInput("outcome", outcome, "verify gives back an earnest.Outcome(delta=…)")
        except BaseException:
            if ticket.id is not None:
                self.memory.abandon(ticket.id)
            raise
        return outcome

    def _write_back(self, cycle: int, ticket: Ticket) -> int:
        """Write the answer that gained most as an entry under the same question, unless one like it is alive. 1 if written."""
        text = experience(ticket.text)
        hits = self.memory.search(text[: check.MAX_QUERY], k=1)
        if hits and alike(hits[0].entry.text, text) >= TWIN:
            return 0
        cue = ticket.deciding.cue if ticket.deciding is not None else None
        self.memory.add(text, cue=cue, kind="procedural", origin="experience", sources=[f"cycle-{cycle}"])
        return 1


@dataclass(frozen=True, slots=True)
class _Done:
    stats: CycleStats
    nonzero: int


def experience(answer: str) -> str:
    """What is remembered of an answer that was acted on and measured as a gain."""
    answer = answer.strip()
    return answer if answer.endswith(_SUFFIX) else f"{answer} {_SUFFIX}"


def alike(one: str, other: str) -> float:
    """The share of words that two texts have in common (Jaccard), 0 to 1, without regard to case and accents."""
    a, b = _WORDS.findall(folded(one)), _WORDS.findall(folded(other))
    return similarity(a, b) if a or b else 1.0


def degenerate(stats: list[CycleStats], nonzero: int) -> tuple[str, ...]:
    """What makes a run say nothing about its memory, each with the likely cause and the way out. `nonzero`: outcomes not 0."""
    tasks, silent = sum(s.tasks for s in stats), sum(s.silent for s in stats)
    found: list[str] = []
    if tasks >= 10 and silent > 0.8 * tasks:
        found.append(
            f"WARNING: memory was silent on {silent:,} of {tasks:,} tasks, so it could neither earn nor lose. Likely its entries are"
            " about other things than the tasks ask. Add entries in the words of the tasks, or ask about what it knows."
        )
    if tasks >= 5 and nonzero == 0:
        found.append(
            f"WARNING: every one of {tasks:,} outcomes was 0, so nothing was learned. Likely the answers were not read as acting:"
            " look at them with decision_polarity and give it extra_positive phrases, or see whether verify measures at all."
        )
    if stats and stats[-1].population == 0:
        found.append(
            "WARNING: no entry is active any more. Likely the rent is higher than what the tasks let entries earn, or every entry did"
            " harm. Lower the setting 'rent', raise the scale's fit to the deltas, or give the memory better entries."
        )
    return tuple(found)


def _amount(value: float) -> str:
    return f"{value:+,.0f}" if value == int(value) else f"{value:+,.2f}"
