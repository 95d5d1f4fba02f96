"""A memory that associates: recall that follows links, gists of what is dormant, and importance that only outcomes can earn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from earnest.core import check
from earnest.core.entry import Entry
from earnest.core.gist import gist
from earnest.core.reports import Hit, Related
from earnest.forgetting.curve import AWAKE, RESTS, activation


class Remembering(Protocol):
    """What an organic memory needs of a `Memory`."""

    def search(self, query: str | None, k: int = 5, *, scope: Any = "", links: bool | None = None) -> list[Hit]:
        """See `earnest.Memory.search`."""
        ...

    def get(self, id: str) -> Entry:
        """See `earnest.Memory.get`."""
        ...

    def related(self, id: str, k: int = 5, *, hops: int = 1) -> list[Related]:
        """See `earnest.Memory.related`."""
        ...

    def recalled(self, ids: Any) -> None:
        """See `earnest.Memory.recalled`."""
        ...

    def earned(self, id: str) -> float:
        """See `earnest.Memory.earned`."""
        ...

    def now(self) -> datetime:
        """See `earnest.Memory.now`."""
        ...


@dataclass(frozen=True, slots=True)
class Recollection:
    """One entry that came to mind: `shown` is its text, or its gist while it is dormant. `activation` and `importance` are 0 to 1; `why`
    says what it was found by, a link included."""

    entry: Entry
    score: float
    shown: str
    activation: float
    importance: float
    why: str


class OrganicMemory:
    """Associative recall over a `Memory`. It keeps nothing of its own: links, recalls and evidence are in the store, for every process.

    ```python
    organic = OrganicMemory(memory)
    for one in organic.recall("What did Dana say about the gateway?"):
        print(one.score, one.shown)
    ```
    """

    def __init__(self, memory: Remembering, *, rests: float = RESTS, awake: float = AWAKE, bias: float = 0.0) -> None:
        """Wraps a memory.

        Args:
            memory: An open `Memory`.
            rests: Days without a recall after which an entry has lost half of its activation, above zero.
            awake: Activation from which an entry is shown whole, 0 to 1; 0 shows every entry whole.
            bias: What earned importance adds to a score, in parts of it, 0 to 1; 0: nothing. See `importance`.

        Raises:
            InvalidInput: A value out of range.
        """
        self._memory = memory
        self._rests = check.number("rests", rests, low=0.001, high=1_000_000.0)
        self._awake = check.number("awake", awake, low=0.0, high=1.0)
        self._bias = check.number("bias", bias, low=0.0, high=1.0)

    def recall(self, query: str | None, k: int = 5, *, scope: Any = "") -> list[Recollection]:
        """What comes to mind: the hits of a search and what they are linked with, best first.

        What is found counts as recalled with the next write to the store (its strength grows, and that of the links on the way), and is
        awake from then on. Arguments and errors as `Memory.search`; suspended entries are left out.
        """
        hits = [hit for hit in self._memory.search(query, k, scope=scope, links=True) if hit.entry.standing == "active"]
        made = []
        for hit in hits:
            importance = self.importance(hit.entry.id) if self._bias else 0.0
            activation = self.activation(hit.entry)
            shown = hit.entry.text if activation >= self._awake else gist(hit.entry.text)
            score = hit.score * (1.0 + self._bias * importance)
            made.append(Recollection(hit.entry, score, shown, activation, importance, hit.why))
        made.sort(key=lambda one: -one.score)
        self._memory.recalled([one.entry.id for one in made])
        return made

    def activation(self, entry: Entry | str) -> float:
        """How present an entry is, 0 to 1: 1 when it was just recalled or written, half as much after each `rests` days of neglect."""
        known = self._memory.get(entry) if isinstance(entry, str) else entry
        return activation(known, self._memory.now(), self._rests)

    def shown(self, id: str) -> str:
        """An entry's text, or its gist while it is dormant. Looking does not wake it."""
        entry = self._memory.get(id)
        return entry.text if self.activation(entry) >= self._awake else gist(entry.text)

    def importance(self, id: str) -> float:
        """What an entry has earned, 0 to 1: how much more likely than not following it helps, by measured outcomes alone.

        Recalls and feedback do not count, so that no reader can talk an entry up. 0 where nothing was measured, or it did more harm.
        """
        return self._memory.earned(id)

    def neighbours(self, id: str, k: int = 5, *, hops: int = 1) -> list[Related]:
        """What an entry is linked with; see `Memory.related`."""
        return self._memory.related(id, k, hops=hops)
