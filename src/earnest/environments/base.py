"""What a world has to offer so that a memory can live in it."""

from __future__ import annotations

import hashlib
import random
import shutil
import tempfile
import weakref
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from earnest.core.outcome import Outcome, Task


@runtime_checkable
class Environment(Protocol):
    """A world that poses tasks and measures what answers do to a resource. Structural: nothing needs to inherit.

    `resource_scale` says how much of the resource is a lot, in its own unit: a delta of that size earns about three quarters
    of the most credit that there is. `verify` must measure, never grade.
    """

    resource_scale: float

    def tasks(self, cycle: int) -> list[Task]:
        """The tasks of a cycle, counted from 0. The same cycle gives the same tasks, whatever was asked before."""
        ...

    def verify(self, task: Task, answer: str) -> Outcome:
        """Act as `answer` says and measure what changed. `answer` is "" when memory was silent."""
        ...


@runtime_checkable
class Controlled(Environment, Protocol):
    """A world that can also measure doing nothing, which teaches a meter its baseline."""

    def control(self, cycle: int) -> Outcome:
        """What one task of this cycle brings when nothing is done."""
        ...


@runtime_checkable
class Remeasured(Environment, Protocol):
    """A world that can look a second time, by another way than `verify` did, which teaches how honest a meter is."""

    def remeasure(self, task: Task, outcome: Outcome) -> Outcome:
        """The same outcome, measured independently."""
        ...


class Scratch:
    """For environments with files: one temporary folder, made when first asked for, and removed by `close`, at the end of a `with`
    block, or when the object goes."""

    prefix = "earnest-"

    def __init__(self) -> None:
        self._root: Path | None = None
        self._finalizer: weakref.finalize[..., Scratch] | None = None

    def _folder(self) -> Path:
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix=self.prefix))
            self._finalizer = weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        return self._root

    def close(self) -> None:
        """Remove every file that this environment made. May be called twice; a new folder is made when one is needed again."""
        if self._finalizer is not None:
            self._finalizer()
        self._root = self._finalizer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def world_rng(stream: str, seed: int, cycle: int) -> random.Random:
    """Chance that is the same for ever for one (stream, seed, cycle), and unrelated between any two of them."""
    digest = hashlib.sha256(f"{stream}:{seed}:{cycle}".encode()).digest()
    return random.Random(int.from_bytes(digest, "big"))
