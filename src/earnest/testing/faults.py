"""A store that fails on command, so that what a program does about it can be tested."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, cast

from earnest.core import check
from earnest.errors import StoreError
from earnest.protocols import Author, Damage, Reading, Store, Writing

When = Literal["operation", "commit", "reply"]
WHENS: Final[tuple[When, ...]] = ("operation", "commit", "reply")


class InjectedFault(StoreError):
    """The failure that a `FaultyStore` was told to have."""


class FaultyStore:
    """Wraps any `Store` and fails where it is told to; everything else goes through unchanged.

    `fail("operation", 3)` lets the third call inside a transaction (a read or a write of anything) raise; `fail("commit")` loses
    the next write as a whole, just before it would be kept; `fail("reply")` keeps the next write and then raises all the same:
    the caller cannot know what happened, as when a connection breaks during a commit. Each order is carried out once.

    ```python
    store = FaultyStore(inner)
    store.fail("reply")
    with pytest.raises(StoreError):
        memory.settle(ticket, delta=1, key="k")     # it did happen
    memory.settle(ticket, delta=1, key="k")         # and does not happen twice
    ```
    """

    def __init__(self, store: Store) -> None:
        self.agent = store.agent
        self.read_only = store.read_only
        self.inner: Any = store
        """The store that does the work."""
        self._lock = threading.Lock()
        self._orders: dict[When, tuple[int, Callable[[str], BaseException]]] = {}
        self._counts: dict[str, int] = dict.fromkeys(WHENS, 0)

    def fail(self, when: When, nth: int = 1, *, error: Callable[[str], BaseException] = InjectedFault) -> None:
        """Fail once, at the n-th operation, commit or reply from now on.

        Args:
            when: "operation", "commit" (nothing is kept) or "reply" (all is kept).
            nth: Counted from 1.
            error: Makes the exception from a message.

        Raises:
            InvalidInput: Another word, or a number below 1.
        """
        chosen = check.choice("when", when, WHENS)
        with self._lock:
            self._orders[chosen] = (self._counts[chosen] + check.integer("nth", nth, low=1, high=2**62), error)

    def heal(self) -> None:
        """Forget every order that was not carried out yet."""
        with self._lock:
            self._orders.clear()

    @property
    def operations(self) -> int:
        """How many calls inside transactions there were so far."""
        return self._counts["operation"]

    @property
    def commits(self) -> int:
        """How many write transactions reached their commit so far."""
        return self._counts["commit"]

    def _reached(self, when: When, what: str) -> None:
        with self._lock:
            self._counts[when] += 1
            order = self._orders.get(when)
            if order is None or self._counts[when] < order[0]:
                return
            del self._orders[when]
        raise order[1](f"{self.agent}: {what} failed, as a test wanted")

    # the wrapped store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @property
    def closed(self) -> bool:
        """Whether the wrapped store was closed."""
        return cast(bool, self.inner.closed)

    @contextmanager
    def read(self) -> Iterator[Reading]:
        """See `earnest.protocols.Store.read`."""
        with self.inner.read() as reading:
            yield cast(Reading, _Counted(reading, self._reached))

    @contextmanager
    def write(self, author: Author, *, patience: float | None = None) -> Iterator[Writing]:
        """See `earnest.protocols.Store.write`."""
        with self.inner.write(author, patience=patience) as writing:
            yield cast(Writing, _Counted(writing, self._reached))
            self._reached("commit", "the commit")
        self._reached("reply", "the reply to a commit")

    def damage(self, head: str | None = None) -> Iterator[Damage]:
        """See `earnest.protocols.Store.damage`."""
        return cast(Iterator[Damage], self.inner.damage(head))

    def rebuild_index(self, terms: Callable[[str], Sequence[str]], author: Author) -> int:
        """See `earnest.protocols.Store.rebuild_index`."""
        return cast(int, self.inner.rebuild_index(terms, author))

    def repair_counters(self, author: Author) -> None:
        """See `earnest.protocols.Store.repair_counters`."""
        self.inner.repair_counters(author)

    def backup(self, path: Path) -> None:
        """See `earnest.protocols.Store.backup`."""
        self.inner.backup(path)

    def close(self) -> None:
        """See `earnest.protocols.Store.close`."""
        self.inner.close()


class _Counted:
    """A transaction that counts the calls that pass through it."""

    def __init__(self, inner: Any, reached: Callable[[When, str], None]) -> None:
        self._inner = inner
        self._reached = reached

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not callable(value):
            return value

        def call(*arguments: Any, **named: Any) -> Any:
            self._reached("operation", name)
            return value(*arguments, **named)

        return call
