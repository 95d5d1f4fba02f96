"""The SQLite driver keeps the contract of a store, on a file and in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, cast

import apsw
import pytest

from earnest.protocols import Author, Store, Writing
from earnest.stores.sqlite import SqliteStore
from earnest.testing import store_conformance
from earnest.testing.store_conformance import AUTHOR, Break, Feature, Law

_BREAKS: Final[dict[Break, str]] = {
    "event": "UPDATE events SET data = '{\"delta\":2.0}' WHERE kind = 'settle'",
    "posting": "UPDATE postings SET amount = amount + 1 WHERE event = (SELECT min(event) FROM postings)",
    "balance": "UPDATE entries SET balance = balance + 1 WHERE standing <> 'dead'",
    "counter": "UPDATE counters SET value = value + 1 WHERE name = 'alive'",
    "index": "DELETE FROM terms",
}

_IN_MEMORY: Final[tuple[Feature, ...]] = ("breakable",)


class Files:
    """Stores that are files in a folder."""

    features: Collection[Feature] = store_conformance.FEATURES

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, name: str, *, agent: str | None = None, read_only: bool = False, timeout: float = 10.0) -> Store:
        return SqliteStore(self.copy(name), agent=agent, author=AUTHOR, read_only=read_only, timeout=timeout)

    def damage(self, store: Store, what: Break) -> None:
        assert isinstance(store, SqliteStore)
        connection = apsw.Connection(store.path)
        connection.execute(_BREAKS[what])
        connection.close()

    def copy(self, name: str) -> Path:
        return self.folder / f"{name}.db"


class InMemory(Files):
    """Stores that last as long as they are open."""

    features: Collection[Feature] = _IN_MEMORY

    def open(self, name: str, **how: Any) -> Store:
        return SqliteStore(":memory:", agent=how.get("agent"), author=AUTHOR, timeout=how.get("timeout", 10.0))

    def damage(self, store: Store, what: Break) -> None:
        assert isinstance(store, SqliteStore)
        store._writing_connection().execute(_BREAKS[what])


@pytest.mark.parametrize("law", store_conformance.laws(), ids=str)
def test_on_a_file(law: Law, tmp_path: Path) -> None:
    law.run(Files(tmp_path))


@pytest.mark.parametrize("law", store_conformance.laws(_IN_MEMORY), ids=str)
def test_in_memory(law: Law, tmp_path: Path) -> None:
    law.run(InMemory(tmp_path))


def test_the_suite_without_a_test_runner(tmp_path: Path) -> None:
    report = store_conformance.check_store(InMemory(tmp_path))
    assert report, str(report)
    assert len(report.held) == len(store_conformance.laws(_IN_MEMORY)) > 25


class _Forgetful(Files):
    """A driver with a fault: it says that it wrote, and did not."""

    def open(self, name: str, **how: Any) -> Store:
        return cast(Store, _Lossy(super().open(name, **how)))


class _Lossy:
    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def write(self, author: Author, *, patience: float | None = None) -> Iterator[Writing]:
        with suppress(_Lost), self._store.write(author) as tx:
            yield tx
            raise _Lost


class _Lost(Exception):
    pass


def test_a_driver_that_loses_writes_is_found_out(tmp_path: Path) -> None:
    report = store_conformance.check_store(_Forgetful(tmp_path))
    assert not report
    assert {"durable", "values_come_back", "backup"} <= {law.name for law, _ in report.broken}
    assert "durable: What a block wrote is there" in str(report)


def test_every_law_has_a_name_and_a_sentence() -> None:
    laws = store_conformance.laws()
    assert len({law.name for law in laws}) == len(laws) > 35
    assert all(law.text.endswith(".") and str(law) == law.name for law in laws)
