"""What memories ask of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw


@contextmanager
def listening() -> Iterator[list[str]]:
    """Every statement that is carried out for a memory which is opened inside of the block, in order."""
    said: list[str] = []

    def listen(connection: apsw.Connection) -> None:
        def note(cursor: Any, statement: str, bindings: Any) -> bool:
            said.append(statement)
            return True

        connection.exec_trace = note

    apsw.connection_hooks.append(listen)
    try:
        yield said
    finally:
        apsw.connection_hooks.remove(listen)
