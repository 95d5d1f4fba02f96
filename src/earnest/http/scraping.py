"""The numbers of all agents for `/metrics`: read anew only where a store has changed."""

from __future__ import annotations

import os
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from earnest import __version__
from earnest.errors import EarnestError
from earnest.http.memories import Memories
from earnest.http.metrics import Labels, family
from earnest.http.tokens import Grant
from earnest.memory import Memory

if TYPE_CHECKING:
    from earnest.http.service import Service

MOST: Final = 1_000
"""Agents that one scrape looks at; how many more there are is told."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What one agent's store holds, as far as it is told to a monitor."""

    entries: Mapping[str, int]
    tickets: int
    tick: int
    findings: Mapping[str, int]
    settled: Mapping[tuple[str, str], float]
    settlements: Mapping[str, int]


class Scraper:
    """Remembers each agent's numbers until its store changes. Safe for threads."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, ...], Numbers]] = {}
        self._lock = threading.Lock()

    def numbers(self, memories: Memories, agent: str) -> Numbers | None:
        """The numbers of an agent; None for a store that cannot be read, which `earnest_agents_unread` counts."""
        mark = changed_at(memories, agent)
        with self._lock:
            known = self._known.get(agent)
        if known is not None and known[0] == mark:
            return known[1]
        try:
            with memories.lent(agent) as memory:
                made = _numbers(memory)
        except EarnestError:
            return None
        with self._lock:
            self._known[agent] = (mark, made)
        return made


def changed_at(memories: Memories, agent: str) -> tuple[int, ...]:
    """A mark that is another one after each write to an agent's store. Costs two looks at the file system."""
    made: list[int] = []
    file = memories.file(agent)
    for path in (file, file.with_name(file.name + "-wal")):
        try:
            seen = os.stat(path)  # noqa: PTH116 (for every agent at every scrape)
        except OSError:
            made += [0, 0]
        else:
            made += [seen.st_mtime_ns, seen.st_size]
    return tuple(made)


def _numbers(memory: Memory) -> Numbers:
    stats = memory.stats()
    meters = memory.meters.list()
    return Numbers(
        {"active": stats.alive, "suspended": stats.suspended, "dead": stats.dead},
        stats.pending,
        stats.tick,
        Counter(finding.severity for finding in memory.doctor().findings),
        {(meter.name, meter.unit): meter.total for meter in meters},
        stats.by_tier,
    )


def scraped(service: Service, grant: Grant) -> str:
    """All that a monitor is told: requests for everyone, and the numbers of the agents that the token may speak for.

    An operator's token is told them by agent; others get no agent's name but sums.
    """
    lines = service.requests.text()
    agents = [agent for agent in service.memories.agents() if grant.allows(agent)]
    sums: dict[str, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
    unread = max(0, len(agents) - MOST)
    for agent in agents[:MOST]:
        numbers = service.scraper.numbers(service.memories, agent)
        if numbers is None:
            unread += 1
            continue
        who: Labels = (("agent", agent),) if grant.operator else ()
        for standing, count in numbers.entries.items():
            sums["earnest_entries"][(*who, ("standing", standing))] += count
        sums["earnest_tickets_open"][who] += numbers.tickets
        if grant.operator:
            sums["earnest_tick"][who] = numbers.tick
        for severity in ("error", "warning", "info"):
            sums["earnest_doctor_findings"][(*who, ("severity", severity))] += numbers.findings.get(severity, 0)
        for (meter, unit), total in numbers.settled.items():
            sums["earnest_settled_value"][(*who, ("meter", meter), ("unit", unit))] += total
        for tier, count in numbers.settlements.items():
            sums["earnest_settlements_total"][(*who, ("tier", tier))] += count
    lines += family("earnest_build_info", "gauge", "Which Earnest this is.", {(("version", __version__),): 1})
    lines += family("earnest_agents", "gauge", "Agents that have a memory here.", {(): len(agents)})
    lines += family("earnest_agents_unread", "gauge", "Agents whose numbers could not be read, or were too many.", {(): unread})
    lines += family("earnest_memories_open", "gauge", "Memories that are open.", {(): service.memories.open})
    for name, (kind, help) in _ABOUT.items():
        lines += family(name, kind, help, sums.get(name, {}))
    return "\n".join(lines) + "\n"


_ABOUT: Final[Mapping[str, tuple[str, str]]] = {
    "earnest_entries": ("gauge", "Entries by standing."),
    "earnest_tickets_open": ("gauge", "Decisions that wait for their outcome."),
    "earnest_tick": ("gauge", "Steps of the economy's clock."),
    "earnest_doctor_findings": ("gauge", "What doctor finds, by severity."),
    "earnest_settled_value": ("gauge", "The sum of all measured changes, in the meter's unit."),
    "earnest_settlements_total": ("counter", "Settlements by the trust that they were made with."),
}
