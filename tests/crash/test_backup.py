"""A backup is made while two processes write: it is whole, it is of one moment, and it opens and lives on."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from earnest.errors import StoreError
from earnest.memory import Memory
from tests.crash.test_kill import killed, started


@pytest.mark.timeout(3_600)
def test_a_backup_while_two_processes_write(tmp_path: Path, full: bool) -> None:
    path, rng = tmp_path / "m.db", random.Random(9)
    with Memory.open(path) as memory:
        memory.add("Written before.")
        writers = [started("verbs", path, f"writer{n}") for n in range(2)]
        try:
            heads = []
            for drill in range(50 if full else 4):
                time.sleep(rng.uniform(0.05, 0.15))
                before = memory.check().head
                copy = memory.backup(tmp_path / f"copy-{drill}.db")
                heads.append(before)
                with Memory.open(copy) as restored:
                    checked = restored.check(head=before)
                    assert checked.ok, checked.problems
                    head = checked.head
                    assert restored.agent == memory.agent
                    restored.add("It lives on.")
                    assert restored.check(head=head).ok
                # The copy's log is a beginning of the store's own log: it was cut at the end of a transaction.
                assert memory.check(head=head).ok
        finally:
            acknowledged = [line["done"] for writer in writers for line in killed(writer, 20) if "done" in line]
        assert len(acknowledged) >= 20
        assert not [*tmp_path.glob("*.part")]
        with pytest.raises(StoreError, match="never overwrites"):
            memory.backup(tmp_path / "copy-0.db")
        with pytest.raises(StoreError, match="does not exist"):
            memory.backup(tmp_path / "nowhere" / "copy.db")
        assert memory.check().ok
