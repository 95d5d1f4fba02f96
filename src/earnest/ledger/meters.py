"""Meters: who measures, how much a unit of it weighs, and on which channels its word is trusted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime

from earnest.core import check
from earnest.core.analysis import Analyser
from earnest.core.settings import Settings
from earnest.core.ticket import TIERS, Meter, Revocation, Tier
from earnest.errors import InvalidInput
from earnest.ledger import revocation
from earnest.protocols import Reading, Store, Writing

# Inside the class `list` is a verb.
_List = list


class Meters:
    """The meters of one agent; `memory.meters`."""

    def __init__(
        self,
        store: Store,
        writing: Callable[[], AbstractContextManager[Writing]],
        settings: Callable[[Reading], Settings],
        analyser: Callable[[], Analyser],
    ) -> None:
        self._store = store
        self._writing = writing
        self._settings = settings
        self._analyser = analyser

    def add(self, name: str, *, unit: str | None = None, scale: float | None = None, tier: str = "measured") -> Meter:
        """Make a meter, or change one of that name. A unit and a scale that are not given stay as they were.

        Args:
            name: At most 100 characters, compared exactly.
            unit: What it counts (`bytes`, `tests`, `USD`), for people.
            scale: The size of an ordinary effect in that unit, which moves 0.46 energy under `classic`; positive.
            tier: What its word weighs on the channels that it is bound to: `measured`, `operator` or `claimed`.

        Raises:
            InvalidInput: As named.

        Durable when it returns.
        """
        name = check.label("name", name, limit=100)
        counted = None if unit is None else check.label("unit", unit, limit=50, blank=True)
        chosen = None if scale is None else check.scale("scale", scale)
        trust: Tier = check.choice("tier", tier, TIERS)
        with self._writing() as tx:
            before = tx.meter(name)
            if before is not None:
                # Whoever names a unit, or takes trust away, does not mean to make every outcome weigh something else.
                counted = before.unit if counted is None else counted
                chosen = before.scale if chosen is None else chosen
            tx.put_meter(name, unit=counted or "", scale=chosen, tier=trust)
            tx.append("meter", data={"meter": name, "tier": trust, "scale": chosen})
            made = tx.meter(name)
        assert made is not None
        return made

    def bind(self, name: str, *, channel: str) -> Meter:
        """Let a meter's own tier hold for what it settles over a channel (`python`, `cli`, `mcp`, `http`, `settle-ci`, …).

        Raises:
            InvalidInput: No meter of that name.
        """
        name, channel = check.label("name", name, limit=100), check.label("channel", channel, limit=50)
        with self._writing() as tx:
            if tx.meter(name) is None:
                raise InvalidInput("name", name, "there is no such meter; `earnest meters add` makes one")
            tx.bind_meter(name, channel)
            tx.append("bind", data={"meter": name, "channel": channel})
            made = tx.meter(name)
        assert made is not None
        return made

    def revoke(self, name: str, *, since: int | datetime | str | None = None) -> Revocation:
        """Fold history again without a meter's words: it turned out to lie, or to measure something else.

        Entries that only it condemned are cleared; those that were executed on its word return with a fresh stake; those that only it spoke
        well of lose that. What it paid is not taken back: an entry that nobody pays any more starves by itself. Settlements by this
        meter are recorded from now on, and move nothing. `undo` of the event lets its words count again.

        Args:
            name: The meter.
            since: The tick, or the time, from which its words do not count; all of them unless given.

        Returns:
            Whose standing turned.

        Raises:
            InvalidInput: No meter of that name, or a value that is neither a tick nor a time.

        Durable when it returns. Cost: O(the entries that the meter spoke of), in one transaction.
        """
        name = check.label("name", name, limit=100)
        start: int | datetime | None
        if since is None or (isinstance(since, int) and not isinstance(since, bool)):
            start = None if since is None else check.integer("since", since, low=0, high=2**62)
        else:
            start = check.moment("since", since)
        with self._writing() as tx:
            if tx.meter(name) is None:
                raise InvalidInput("name", name, "there is no such meter; `earnest meters` lists those that there are")
            return revocation.revoke(tx, self._settings(tx), self._analyser(), name, revocation.first_event(tx, start))

    def list(self) -> _List[Meter]:
        """Every meter, by name, with how often and by how much it has settled, and what was learned of it."""
        with self._store.read() as reading:
            return reading.meters()
