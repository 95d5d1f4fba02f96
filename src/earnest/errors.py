"""Every error that Earnest raises on purpose.

    EarnestError
    ├── InvalidInput (ValueError)          a value that cannot be used; nothing was written
    ├── UnknownEntry (KeyError)            no entry of this agent has that id
    ├── UnknownEvent (KeyError)            no event of this agent has that number
    ├── NotAllowed (ValueError)            the entry is in a state that forbids the call
    ├── NotUndoable (NotAllowed)           the event cannot be taken back, and why
    ├── KeyReused (ValueError)             an idempotency key came again with another request
    ├── StoreError (OSError)               the store cannot be used as asked
    │   ├── StoreBusy (TimeoutError)       another writer held the store for longer than the wait
    │   ├── StoreCorrupt                   the file is not a whole Earnest store
    │   ├── StoreTooNew                    written by a later Earnest; nothing was touched
    │   ├── StoreReadOnly (PermissionError)
    │   ├── StoreFull                      the disk refused the write; nothing was recorded
    │   ├── WrongAgent                     the file belongs to another agent
    │   └── IndexDamaged                   the keyword index cannot be trusted; the entries are whole
    ├── EmbedderFailed (RuntimeError)       an embedder gave no usable vectors; texts are whole and found by words
    ├── ModelFailed (RuntimeError)          a language model gave no usable reply; nothing was written because of it
    │   └── BudgetSpent                     asking it would go over the day's budget; it was not asked
    ├── NothingMeasured (RuntimeError)      an instrument read no evidence: nothing was settled, which is not zero
    └── NotAvailable (RuntimeError)        a part that needs an extra or a service that is not there

Each message says what was wrong, why, and the way out, in one line. Each class also inherits the closest builtin, so that
callers may catch either.
"""

from __future__ import annotations

from typing import Any, Literal


class EarnestError(Exception):
    """The root of every error that Earnest raises on purpose."""


def shown(value: Any, limit: int = 60) -> str:
    """A value as it appears in a message: its repr, on one line, cut, and printable everywhere."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        # Nested deeper than Python follows, or a number of more digits than it writes out.
        text = f"({type(value).__name__}, too large to be shown)"
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\n", " ")


class InvalidInput(EarnestError, ValueError):
    """A value that cannot be used. Nothing was written; call again with a value of the form that the message names."""

    def __init__(self, name: str, value: Any, reason: str) -> None:
        self.name, self.value, self.reason = name, value, reason
        super().__init__(f"{name} = {shown(value)}: {reason}")


class UnknownEntry(EarnestError, KeyError):
    """No entry of this agent has that id. Ids come from `add`, `search` or `list`."""

    def __init__(self, entry_id: str, what: Literal["entry", "rule"] = "entry") -> None:
        self.entry_id = entry_id
        shows = "rules" if what == "rule" else "list"
        super().__init__(f"no {what} {shown(entry_id)} in this store; `earnest {shows}` shows the ids there are")

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownEvent(EarnestError, KeyError):
    """No event of this agent has that number. Numbers come from `events` or `audit`."""

    def __init__(self, event: int) -> None:
        self.event = event
        super().__init__(f"no event {shown(event)} in this store; `earnest audit` shows the numbers there are")

    def __str__(self) -> str:
        return str(self.args[0])


class NotAllowed(EarnestError, ValueError):
    """The entry or ticket is in a state that forbids the call; the message names the state and the way out."""


class NotUndoable(NotAllowed):
    """The event cannot be taken back; the message says why, and which later event stands in the way if one does."""


class KeyReused(EarnestError, ValueError):
    """An idempotency key came again with another request. Use a fresh key for a new request."""

    def __init__(self, key: str, verb: str) -> None:
        self.key, self.verb = key, verb
        super().__init__(f"key {shown(key)} was already used for another {verb} request; give a new request a new key")


class StoreError(EarnestError, OSError):
    """The store cannot be used as asked. Nothing was recorded."""


class StoreBusy(StoreError, TimeoutError):
    """Another writer held the store for longer than the wait. Nothing was recorded; call again with the same key."""


class StoreCorrupt(StoreError):
    """The file is not a whole Earnest store. The message names what was found and how to recover."""


class StoreTooNew(StoreError):
    """The file was written by a later version of Earnest. It was not touched; upgrade Earnest to open it."""


class StoreReadOnly(StoreError, PermissionError):
    """The store was opened for reading, or the file or folder may not be written."""


class StoreFull(StoreError):
    """The disk refused the write. Nothing was recorded; make room and call again with the same key."""


class WrongAgent(StoreError):
    """The file belongs to another agent. One file, one agent: open another file, or leave the name out."""


class IndexDamaged(StoreError):
    """The keyword index cannot be trusted. The entries are whole; `earnest check --repair` rebuilds the index from them."""


class EmbedderFailed(EarnestError, RuntimeError):
    """An embedder gave no usable vectors. Texts are whole and found by their words; `earnest reembed` tries again.

    `passing` says that the failure is the service's and not the text's: another text would have failed as well.
    """

    def __init__(self, reason: str, *, passing: bool = True) -> None:
        self.passing = passing
        super().__init__(reason)


class ModelFailed(EarnestError, RuntimeError):
    """A language model gave no usable reply: it refused, was not reached, took too long or answered something else. Nothing is lost.

    `passing` says that the failure is the service's and not the prompt's: it may work later, and another prompt would have failed as well.
    """

    def __init__(self, reason: str, *, passing: bool = True) -> None:
        self.passing = passing
        super().__init__(reason)


class BudgetSpent(ModelFailed):
    """Asking the model could go over the budget of the day, so it was not asked. Tomorrow it will be; or raise `llm_daily_budget`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


class NothingMeasured(EarnestError, RuntimeError):
    """An instrument read no evidence: a report that is broken, a run that was cut short, two endpoints that disagree. No ticket was settled
    by it; measure again."""


class NotAvailable(EarnestError, RuntimeError):
    """A part was asked for that needs an extra or a service that is not there; the message names the install."""
