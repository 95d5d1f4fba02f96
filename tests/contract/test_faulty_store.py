"""`FaultyStore` changes nothing until it is told to, and then fails where it was told."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from earnest.errors import InvalidInput, StoreError
from earnest.protocols import Store
from earnest.stores.sqlite import SqliteStore
from earnest.testing import FaultyStore, InjectedFault, store_conformance
from earnest.testing.store_conformance import AUTHOR, Break, Feature, Law
from tests.contract.test_sqlite_store import Files


class Wrapped(Files):
    """Files behind a faulty store that was given no order."""

    features: Collection[Feature] = store_conformance.FEATURES

    def open(self, name: str, **how: Any) -> Store:
        return FaultyStore(super().open(name, **how))

    def damage(self, store: Store, what: Break) -> None:
        assert isinstance(store, FaultyStore)
        super().damage(store.inner, what)


@pytest.mark.parametrize("law", store_conformance.laws(), ids=str)
def test_without_orders_it_keeps_the_contract(law: Law, tmp_path: Path) -> None:
    law.run(Wrapped(tmp_path))


def made() -> FaultyStore:
    return FaultyStore(SqliteStore(":memory:", author=AUTHOR))


def ticks(store: FaultyStore) -> int:
    with store.read() as reading:
        return reading.counter("tick")


def bump(store: FaultyStore) -> None:
    with store.write(AUTHOR) as tx:
        tx.bump("tick", 1)


def test_the_nth_operation_fails_once() -> None:
    store = made()
    store.fail("operation", 3)
    bump(store)
    bump(store)
    with pytest.raises(InjectedFault, match="bump"):
        bump(store)
    bump(store)
    assert ticks(store) == 3
    assert (store.operations, store.commits) == (5, 3)


def test_a_commit_that_fails_keeps_nothing_and_a_lost_reply_keeps_all() -> None:
    store = made()
    store.fail("commit", 2)
    bump(store)
    with pytest.raises(StoreError):
        bump(store)
    assert ticks(store) == 1
    store.fail("reply")
    with pytest.raises(StoreError):
        bump(store)
    assert ticks(store) == 2


def test_orders_can_name_the_error_and_be_taken_back() -> None:
    store = made()
    store.fail("commit", error=TimeoutError)
    with pytest.raises(TimeoutError, match="the commit failed"):
        bump(store)
    store.fail("commit")
    store.heal()
    bump(store)
    assert ticks(store) == 1


@pytest.mark.parametrize("order", [("never", 1), ("commit", 0), ("commit", True), ("reply", 1.5)])
def test_nonsense_orders_are_refused(order: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidInput):
        made().fail(*order)
