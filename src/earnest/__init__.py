"""Earnest: long-term memory for LLM agents in which every memory has to earn its keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from earnest._version import __version__

if TYPE_CHECKING:
    from earnest.aio import AsyncMemory
    from earnest.core.entry import Entry
    from earnest.core.filters import ALL
    from earnest.core.outcome import Outcome, Task
    from earnest.core.reports import Hit
    from earnest.core.ticket import Answer, Settlement, Ticket
    from earnest.memory import Memory
    from earnest.survival import SurvivalConfig, SurvivalLoop

_HOMES = {
    "ALL": "earnest.core.filters",
    "Answer": "earnest.core.ticket",
    "AsyncMemory": "earnest.aio",
    "Entry": "earnest.core.entry",
    "Hit": "earnest.core.reports",
    "Memory": "earnest.memory",
    "Outcome": "earnest.core.outcome",
    "Settlement": "earnest.core.ticket",
    "SurvivalConfig": "earnest.survival",
    "SurvivalLoop": "earnest.survival",
    "Task": "earnest.core.outcome",
    "Ticket": "earnest.core.ticket",
}

__all__ = [
    "ALL", "Answer", "AsyncMemory", "Entry", "Hit", "Memory", "Outcome", "Settlement", "SurvivalConfig", "SurvivalLoop", "Task", "Ticket",
    "__version__",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Names are looked up when first used, so that `import earnest` stays cheap for hooks and command lines.
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'earnest' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
