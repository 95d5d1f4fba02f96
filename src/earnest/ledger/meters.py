"""Meters: who measures, how much a unit of it weighs, and on which channels its word is trusted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from earnest.core import check
from earnest.core.ticket import TIERS, Meter, Tier
from earnest.errors import InvalidInput
from earnest.protocols import Store, Writing

# Inside the class `list` is a verb.
_List = list


class Meters:
    """The meters of one agent; `memory.meters`."""

    def __init__(self, store: Store, writing: Callable[[], AbstractContextManager[Writing]]) -> None:
        self._store = store
        self._writing = writing

    def add(self, name: str, *, unit: str = "", scale: float | None = None, tier: str = "measured") -> Meter:
        """Make a meter, or change one of that name.

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
        unit = check.label("unit", unit, limit=50, blank=True)
        chosen = None if scale is None else check.scale("scale", scale)
        trust: Tier = check.choice("tier", tier, TIERS)
        with self._writing() as tx:
            tx.put_meter(name, unit=unit, scale=chosen, tier=trust)
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
                raise InvalidInput("name", name, "there is no such meter; add it first")
            tx.bind_meter(name, channel)
            tx.append("bind", data={"meter": name, "channel": channel})
            made = tx.meter(name)
        assert made is not None
        return made

    def list(self) -> _List[Meter]:
        """Every meter, by name, with how often and by how much it has settled."""
        with self._store.read() as reading:
            return reading.meters()
