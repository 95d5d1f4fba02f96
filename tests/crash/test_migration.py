"""The power goes while a file is brought to a later format: it is in the old one or in the new one, whole, never between."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from earnest.errors import EarnestError, StoreTooNew
from earnest.memory import Memory
from earnest.stores.sqlite import connection, schema
from tests.crash.disk import Disk
from tests.crash.script import STEPS, opened, play, shape

LATER = """
CREATE TABLE moods (entry INTEGER PRIMARY KEY REFERENCES entries, mood TEXT NOT NULL) STRICT;
INSERT INTO moods SELECT entry, kind FROM entries;
ALTER TABLE entries ADD COLUMN mood TEXT;
UPDATE entries SET mood = 'calm';
DROP VIEW graveyard;
CREATE VIEW graveyard AS SELECT * FROM memory WHERE standing = 'dead' AND entry > 0;
"""


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """As if the next Earnest had one more format."""
    monkeypatch.setattr(connection, "MIGRATIONS", (*schema.MIGRATIONS, LATER))
    monkeypatch.setattr(connection, "FORMAT", schema.FORMAT + 1)
    yield monkeypatch


def old() -> tuple[dict[str, bytes], dict[str, object]]:
    disk = Disk()
    with opened(disk) as stage:
        for step in range(len(STEPS) // 2):
            play(stage, step)
        said = shape(stage.memory)
    return {name: bytes(file.now) for name, file in disk.files.items()}, said


def version(memory: Memory) -> tuple[int, bool]:
    with memory._store.read() as reading:
        db = reading._db  # type: ignore[attr-defined]
        moods = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'moods'").fetchall()
        return db.execute("PRAGMA user_version").fetchone()[0], bool(moods)


def test_power_cut_while_migrating(full: bool, later: pytest.MonkeyPatch) -> None:
    later.undo()
    files, said = old()
    point, met = 1, set()
    while True:
        disk = Disk(files)
        disk.cut_after = point
        later.setattr(connection, "MIGRATIONS", (*schema.MIGRATIONS, LATER))
        later.setattr(connection, "FORMAT", schema.FORMAT + 1)
        done = False
        try:
            with opened(disk) as stage:
                done = version(stage.memory) == (schema.FORMAT + 1, True) and not disk.dead
        except EarnestError:
            pass
        if not disk.dead:
            break
        for seed in range(4 if full else 1):
            survivor = disk.surviving(random.Random(point * 10 + seed))
            image = {name: bytes(file.now) for name, file in survivor.files.items()}
            later.undo()
            # The Earnest of before: the old file, or a clear refusal.
            try:
                with opened(Disk(image), seed=3) as stage:
                    assert version(stage.memory) == (schema.FORMAT, False)
                    found = schema.FORMAT
                    assert shape(stage.memory) == said and stage.memory.check().ok
            except StoreTooNew:
                found = schema.FORMAT + 1
            assert not done or found == schema.FORMAT + 1, f"point {point}: the store had been opened in the new format"
            met.add(found)
            later.setattr(connection, "MIGRATIONS", (*schema.MIGRATIONS, LATER))
            later.setattr(connection, "FORMAT", schema.FORMAT + 1)
            with opened(Disk(image), seed=3) as stage:
                assert version(stage.memory) == (schema.FORMAT + 1, True)
                assert shape(stage.memory) == said and stage.memory.check().ok
        later.undo()
        point += 1
    assert met == {schema.FORMAT, schema.FORMAT + 1}
    assert point > 20
