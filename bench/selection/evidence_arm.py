"""The evidence rule: the product's own core, with sparse worlds around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from bench.selection.arms import CONSOLIDATE_EVERY, Cast, passes_filter
from bench.selection.corpus import Line
from bench.selection.live import Measured, Said
from earnest.core.agreement import disagreement
from earnest.core.evidence import RULE, EvidenceRule, alarmed
from earnest.core.evidence_state import EvidenceState
from earnest.core.settings import Settings

METER: Final = "report"
SECOND: Final = "second"


class EvidenceArm:
    """`EvidenceState` over the shared ranking. `filtered` keeps what a write filter lets through."""

    holds_out = True

    def __init__(self, cast: Cast, rule: EvidenceRule = RULE, *, waive: bool = True, filtered: bool = False) -> None:
        self.cast, self.scale, self.waive, self.filtered = cast, cast.scale, waive, filtered
        self.state: EvidenceState[str] = EvidenceState(cast.rng("evidence").random, rule=rule, second=cast.second)
        self.rule = rule
        self.meter = METER
        """Whose reports these are."""
        self.lines: dict[str, Line] = {}
        self.sources: dict[str, tuple[str, ...]] = {}
        self._looks: dict[int, Callable[[], float]] = {}
        self._owner: dict[int, str] = {}
        self._heirs: dict[str, str] = {}
        self._alarms = self._cycles = self._merged = 0
        self._view = cast.ranking.view(())
        for line in cast.corpus.lines:
            if not filtered or passes_filter(line.text):
                self._enter(line, (line.source,))
        self._seen()

    def _enter(self, line: Line, sources: tuple[str, ...]) -> None:
        self.lines[line.id], self.sources[line.id] = line, sources
        self.state.add(line.id)

    def _seen(self) -> None:
        """Whom a question can find: the living, and those that were executed."""
        found = tuple(line for line in self.lines.values() if self.state.entries[line.id].ending in (None, "executed"))
        self._view = self.cast.ranking.view(found)

    def decide(self, prompt: str) -> Said | None:
        """See `Arm.decide`."""
        made = self.state.decide([(line.id, score) for line, score in self._view.rank(prompt)])
        if made is None:
            return None
        return Said(self.lines[made.entry].text, self.sources[made.entry], (made.place, made.entry))

    def settled(self, said: Said, measured: Measured) -> None:
        """See `Arm.settled`."""
        assert isinstance(said.token, tuple)
        place, name = said.token
        acted = measured.acted if self.waive else True
        delta = measured.delta if self.waive or measured.delta else 1e-12
        if measured.look is not None:
            self._looks[place], self._owner[place] = measured.look, name
        change = self.state.settle(place, delta, self.meter, scale=self.scale, acted=acted)
        self._look(change.wanted)

    def _look(self, wanted: tuple[tuple[int, str], ...]) -> None:
        """Every second look that is wanted is taken at once, and those that it makes wanted in turn."""
        for place, _ in wanted:
            look = self._looks.pop(place, None)
            if look is not None:
                self.state.remeasure(self._heir(self._owner[place]), place, look(), SECOND, scale=self.scale)

    def _heir(self, name: str) -> str:
        while self.state.entries[name].ending == "merged":
            name = self._heirs[name]
        return name

    def control(self, delta: float, *, second: bool = False) -> None:
        """See `Arm.control`."""
        self.state.control(delta, SECOND if second else self.meter, scale=self.scale)

    def revoke(self) -> None:
        """Its meter turned out to lie: history is folded again without a word of it."""
        self.state.revoke(self.meter)
        self._seen()

    def cycle_ended(self, cycle: int) -> None:
        """See `Arm.cycle_ended`."""
        ticked = self.state.tick()
        self._look(ticked.wanted)
        self._cycles += 1
        self._alarms += self.meter in self.state.beliefs and alarmed(self.state.beliefs[self.meter], self.rule)
        merged = (cycle + 1) % CONSOLIDATE_EVERY == 0 and self._consolidate()
        if ticked.died or merged:
            self._seen()

    def _consolidate(self) -> bool:
        living = [line for line in self.lines.values() if self.state.entries[line.id].alive]
        living.sort(key=lambda line: -self.state.entries[line.id].held)
        taken: set[str] = set()
        for lead in living:
            if lead.id in taken:
                continue
            group = [lead] + [other for other in living if other.id != lead.id and other.id not in taken and self._alike(lead, other)]
            if len(group) > 1:
                taken |= {line.id for line in group}
                self._merge(group)
        return bool(taken)

    def _alike(self, lead: Line, other: Line) -> bool:
        one, two = self.state.entries[lead.id], self.state.entries[other.id]
        if one.suspended != two.suspended or (len(self.sources[lead.id]) > 1) != (len(self.sources[other.id]) > 1):
            return False
        return (
            self.cast.ranking.similarity(lead.text, other.text) >= Settings().merge_threshold
            and disagreement(lead.text, other.text) is None
        )

    def _merge(self, group: list[Line]) -> None:
        self._merged += 1
        name = f"heir-{self._merged}"
        self.state.merge([line.id for line in group], name)
        for line in group:
            self._heirs[line.id] = name
        texts = list(dict.fromkeys(line.text for line in group))
        self.lines[name] = Line(name, "\n".join(texts), group[0].source)
        self.sources[name] = tuple(dict.fromkeys(source for line in group for source in self.sources[line.id]))

    def arrived(self, lines: tuple[Line, ...]) -> None:
        """See `Arm.arrived`. An exact twin of a living, suspended or executed text joins it; one that starved or faded comes back."""
        for line in lines:
            if line.id in self.lines and self.state.entries[line.id].ending == "starved":
                again = replace(line, id=f"{line.id}+")
                if again.id not in self.lines:
                    self._enter(again, (line.source,))
        self._seen()

    def answer(self, prompt: str) -> Said | None:
        """See `Arm.answer`. As `decide`, without trying a suspended one again."""
        bar = 0.0
        for line, score in self._view.rank(prompt):
            account = self.state.entries[line.id]
            if score < bar:
                return None
            if account.alive and not account.suspended and account.held > 0:
                return Said(line.text, self.sources[line.id])
            bar = max(bar, self.state.economy.pass_over * score)
        return None

    def held(self) -> list[tuple[tuple[str, ...], bool]]:
        """See `Arm.held`."""
        return [(self.sources[name], not a.suspended) for name, a in self.state.entries.items() if a.alive]

    def told(self) -> dict[str, float]:
        """See `Arm.told`."""
        rate = self.state.beliefs[METER].rate if METER in self.state.beliefs else 0.0
        return {"rate": min(rate, 0.5), "alarm": self._alarms / max(1, self._cycles)}
