"""What an environment asks, and what it measured: the two plain values that pass between a memory and the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from earnest.core import check


@dataclass(frozen=True, slots=True)
class Task:
    """One question that an environment puts to a memory.

    `prompt` is what the memory is asked. `context` is the environment's own note to itself (a path, a patch): it is handed
    back to `verify` untouched and the memory never sees it.
    """

    prompt: str
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured after a task was answered.

    `delta` is the signed change of the environment's resource, in that resource's own unit (bytes, passing tests, money):
    positive is a gain. `detail` says in words what happened. `acted` is whether anything was done at all; None when the
    environment cannot tell. Raises `InvalidInput` when `delta` is not a finite number: an outcome that was not measured must
    not look like one that was.
    """

    delta: float
    detail: str = ""
    acted: bool | None = None

    def __post_init__(self) -> None:
        check.delta("delta", self.delta)
