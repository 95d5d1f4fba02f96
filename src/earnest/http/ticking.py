"""The clock of a service: it ticks each agent's economy by that store's own setting, and closes memories that nobody asks."""

from __future__ import annotations

import threading
from typing import Final

from earnest.core.acting import acting
from earnest.core.slots import NEVER, slot_of
from earnest.errors import EarnestError
from earnest.http.memories import Memories
from earnest.http.problems import LOG
from earnest.http.scraping import changed_at
from earnest.protocols import Clock

PERIOD: Final = 5.0
"""Seconds between two looks at the clock."""
ACTOR: Final = "earnest serve"
CHANNEL: Final = "schedule"


class Ticker:
    """Looks at every agent of a service now and then, and ticks those whose slot has come.

    A slot ticks once whoever else ticks it, so that several services, a schedule and a CI share one clock. Slots that went by while
    nothing ran are not made up for: nothing could be earned in them either.
    """

    def __init__(self, memories: Memories, clock: Clock, *, period: float = PERIOD) -> None:
        self._memories, self._clock, self._period = memories, clock, period
        self._settings: dict[str, tuple[tuple[int, ...], str]] = {}
        self._ticked: dict[str, str] = {}
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look, in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="earnest-ticker", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop looking; a tick that has begun comes to its end. Idempotent."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            self.round()
            self._memories.sweep()
            if self._ending.wait(self._period):
                return

    def round(self) -> list[str]:
        """One look at all agents; returns those whose clock was moved. A store that was not changed is not opened for it."""
        moved: list[str] = []
        try:
            agents = self._memories.agents()
        except EarnestError as error:
            LOG.warning("the clock cannot be looked after: %s", error)
            return moved
        for agent in agents:
            if self._ending.is_set():
                break
            try:
                if self._look(agent):
                    moved.append(agent)
            except EarnestError as error:
                LOG.warning("agent %r could not be ticked: %s", agent, error)
        return moved

    def _look(self, agent: str) -> bool:
        mark = changed_at(self._memories, agent)
        known = self._settings.get(agent)
        if known is None or known[0] != mark:
            with self._memories.lent(agent) as memory:
                known = self._settings[agent] = (mark, memory.settings.tick_every)
        if known[1] == NEVER:
            return False
        slot = slot_of(known[1], self._clock.now())
        if slot is None or self._ticked.get(agent) == slot:
            return False
        with self._memories.lent(agent) as memory, acting(ACTOR, CHANNEL):
            before = memory.stats().tick
            after = memory.tick(slot=slot).tick
        self._ticked[agent] = slot
        return after > before
