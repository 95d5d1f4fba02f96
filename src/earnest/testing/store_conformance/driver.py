"""What a driver has to offer for the laws to reach it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final, Literal, Protocol

from earnest.protocols import Store

Feature = Literal["reopen", "concurrent", "breakable"]
FEATURES: Final[tuple[Feature, ...]] = ("reopen", "concurrent", "breakable")
"""`reopen`: a store outlives its closing and can be opened twice; `concurrent`: reads and a write go on side by side; `breakable`:
the driver can damage its stores."""

Break = Literal["event", "posting", "balance", "counter", "index"]


class Driver(Protocol):
    """How the laws reach a driver."""

    features: Collection[Feature]

    def open(self, name: str, *, agent: str | None = None, read_only: bool = False, timeout: float = 10.0) -> Store:
        """The store of that name, made on first use and opened again afterwards."""
        ...

    def damage(self, store: Store, what: Break) -> None:
        """Behind the driver's back: change what an event or a posting says, an entry's balance, the counter `alive`, or empty the index."""
        ...

    def copy(self, name: str) -> Path:
        """Where a backup goes that `open(name)` can then open."""
        ...
