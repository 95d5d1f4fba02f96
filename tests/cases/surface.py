"""A surface: one way of asking the product for what it can do. Every verb takes and gives plain JSON values."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).parents[2]
"""The checkout: where `python -m tests.cases…` is run."""


@functools.cache
def environment() -> dict[str, str]:
    """What child processes run under: a compile cache for this run, since hundreds of them would each compile the library anew."""
    folder = tempfile.mkdtemp(prefix="earnest-cases-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": folder, "PYTHONIOENCODING": "utf-8"}


Agent = Any
"""The name of an agent, None for the default, or whatever else a case tries."""


class Surface(Protocol):
    """Verbs, by the names of `earnest.Memory`, on a folder that holds one store for each agent."""

    name: str
    folder: Path
    timeout: float | None
    """Seconds that calls from now on wait for another writer; the product's own unless given."""

    def call(self, agent: Agent, verb: str, **arguments: Any) -> Any:
        """Ask for one thing.

        Raises:
            Refused: The product refused it.
            Left: This surface cannot say it, or the product has no such verb.
        """
        ...

    def reopen(self) -> None:
        """Let go of every store, so that the next call opens it from the disk."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


def plain(value: Any) -> Any:
    """A value of the library as plain JSON: records as objects, times in ISO 8601. Numbers that JSON lacks stay as they are."""
    if isinstance(value, datetime):
        return value.isoformat()
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is not None and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in fields}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)
