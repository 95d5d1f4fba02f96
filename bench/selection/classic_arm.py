"""The energy rule published with darwin-memo 0.7.1, by the product's own formula, in memory."""

from __future__ import annotations

from typing import Final

from bench.selection.arms import CONSOLIDATE_EVERY, Cast, K
from bench.selection.corpus import Line
from bench.selection.live import Measured, Said
from earnest.core.agreement import disagreement
from earnest.core.amounts import micro
from earnest.core.credit import Classic
from earnest.core.settings import Settings
from earnest.core.ticket import Share

_SETTINGS: Final = Settings()


class ClassicArm:
    """Stake 1, rent 0.05 a tick, cap 5; the decider earns or loses 0.6 tanh(delta / scale), supporters a quarter of that. `late` buries at
    the end of a cycle, as the published loop does; else at the settlement, as Earnest and the published ledger do."""

    holds_out = False
    late = False

    def __init__(self, cast: Cast) -> None:
        self.cast = cast
        self.rule = Classic(_SETTINGS.gain, _SETTINGS.supporting_share)
        self.lines: dict[str, Line] = {}
        self.sources: dict[str, tuple[str, ...]] = {}
        self.held_by: dict[str, int] = {}
        self._heir: dict[str, str] = {}
        self._open: dict[str, int] = {}
        self._merged = self._again = 0
        for line in cast.corpus.lines:
            self._enter(line, (line.source,), micro(_SETTINGS.stake))
        self._view = cast.ranking.view(tuple(self.lines.values()))

    def _enter(self, line: Line, sources: tuple[str, ...], held: int) -> None:
        self.lines[line.id], self.sources[line.id], self.held_by[line.id] = line, sources, held

    def _bury(self) -> None:
        gone = [name for name, held in self.held_by.items() if held <= 0 and not self._open.get(name)]
        for name in gone:
            del self.lines[name], self.sources[name], self.held_by[name]
        if gone:
            self._view = self.cast.ranking.view(tuple(self.lines.values()))

    def decide(self, prompt: str) -> Said | None:
        """See `Arm.decide`. An empty entry that an open ticket keeps in the store does not decide."""
        ranked = [line for line, _ in self._view.rank(prompt) if self.late or self.held_by[line.id] > 0]
        if not ranked:
            return None
        named = tuple(line.id for line in ranked[:K])
        for name in named:
            self._open[name] = self._open.get(name, 0) + 1
        return Said(ranked[0].text, self.sources[named[0]], named)

    def settled(self, said: Said, measured: Measured) -> None:
        """See `Arm.settled`."""
        assert isinstance(said.token, tuple)
        named = [self._now(name) for name in said.token]
        shares = [Share(place, name, "supporting" if place else "deciding") for place, name in enumerate(named)]
        for name in said.token:
            self._open[name] -= 1
        for made in self.rule.credits(measured.delta, self.cast.scale, shares):
            name = named[made.share.entry_row]
            if name in self.held_by:
                self.held_by[name] = min(self.held_by[name] + made.amount, micro(_SETTINGS.cap))
        if not self.late:
            self._bury()

    def _now(self, name: str) -> str:
        while name in self._heir:
            name = self._heir[name]
        return name

    def cycle_ended(self, cycle: int) -> None:
        """See `Arm.cycle_ended`."""
        for name in self.held_by:
            self.held_by[name] -= micro(_SETTINGS.rent)
        self._bury()
        if (cycle + 1) % CONSOLIDATE_EVERY == 0:
            self._consolidate()

    def _consolidate(self) -> None:
        taken: set[str] = set()
        for lead in sorted(self.lines.values(), key=lambda line: -self.held_by[line.id]):
            if lead.id in taken:
                continue
            group = [lead] + [o for o in self.lines.values() if o.id != lead.id and self._alike(lead, o)]
            if len(group) == 1:
                continue
            taken |= {line.id for line in group}
            self._merged += 1
            name = f"heir-{self._merged}"
            texts = "\n".join(dict.fromkeys(line.text for line in group))
            sources = tuple(dict.fromkeys(source for line in group for source in self.sources[line.id]))
            pooled = min(sum(max(0, self.held_by[line.id]) for line in group), micro(_SETTINGS.cap))
            for line in group:
                self._heir[line.id] = name
                del self.lines[line.id], self.sources[line.id], self.held_by[line.id]
            self._enter(Line(name, texts, lead.source), sources, pooled)
        if taken:
            self._view = self.cast.ranking.view(tuple(self.lines.values()))

    def _alike(self, lead: Line, other: Line) -> bool:
        if self._open.get(lead.id) or self._open.get(other.id):
            return False
        if (len(self.sources[lead.id]) > 1) != (len(self.sources[other.id]) > 1):
            return False
        return (
            self.cast.ranking.similarity(lead.text, other.text) >= _SETTINGS.merge_threshold and disagreement(lead.text, other.text) is None
        )

    def arrived(self, lines: tuple[Line, ...]) -> None:
        """See `Arm.arrived`. A dead text that is read in again is a new entry with a new stake."""
        living = {line.text for line in self.lines.values()}
        for line in lines:
            if line.text not in living:
                self._again += 1
                self._enter(Line(f"{line.id}+{self._again}", line.text, line.source), (line.source,), micro(_SETTINGS.stake))
        self._view = self.cast.ranking.view(tuple(self.lines.values()))

    def control(self, delta: float, *, second: bool = False) -> None:
        """See `Arm.control`: nothing is made of it."""

    def answer(self, prompt: str) -> Said | None:
        """See `Arm.answer`."""
        ranked = self._view.rank(prompt)
        return Said(ranked[0][0].text, self.sources[ranked[0][0].id]) if ranked else None

    def held(self) -> list[tuple[tuple[str, ...], bool]]:
        """See `Arm.held`."""
        return [(sources, True) for sources in self.sources.values()]

    def told(self) -> dict[str, float]:
        """See `Arm.told`."""
        return {}


class PublishedLoop(ClassicArm):
    """As darwin-memo's `SurvivalLoop`: who is empty goes at the end of the cycle, and decides until then."""

    late = True
