"""Fields, labels, settings and remarks that nothing else vouches for are sealed: one that changes in silence is found."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import apsw
import pytest

from earnest import Memory

CHANGES: Final = {
    "importance": ("UPDATE entries SET importance = 0.25 WHERE entry = 1", "entry"),
    "confidence": ("UPDATE entries SET confidence = 0.5 WHERE entry = 1", "entry"),
    "metadata": ("UPDATE entries SET metadata = replace(metadata, 'blue', 'blud')", "entry"),
    "pin": ("UPDATE entries SET pinned = 1 WHERE entry = 1", "entry"),
    "when it holds": ("UPDATE entries SET valid_from = valid_from + 1", "entry"),
    "when it was recorded": ("UPDATE entries SET created = created + 1 WHERE entry = 1", "entry"),
    "origin": ("UPDATE entries SET origin = 'inferred' WHERE entry = 1", "entry"),
    "a source": ("UPDATE sources SET name = 'wika' WHERE name = 'wiki'", "entry"),
    "a source lost": ("DELETE FROM entry_sources", "entry"),
    "a tag": ("UPDATE entry_tags SET tag = 'culour'", "entry"),
    "a setting": ("UPDATE settings SET value = '0.3' WHERE name = 'floor'", "setting"),
    "a remark": ("UPDATE event_notes SET note = 'no reasom' WHERE note <> ''", "remark"),
    "what an edit overwrote": ("UPDATE event_notes SET before = replace(before, 'red', 'rad') WHERE before IS NOT NULL", "remark"),
}


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sealed") / "m.db"
    with Memory.open(path, settings={"floor": 0.1}) as memory:
        entry = memory.add(
            "The door is painted.", sources=["wiki"], tags=["colour"], metadata={"colour": "red"}, valid_from="2026-01-01T00:00:00+00:00"
        )
        memory.update(entry.id, metadata={"colour": "blue"})
        memory.forget(memory.add("Nobody needs this.").id, reason="no reason")
        memory.add("The door is painted.", sources=["another"])
        memory.feedback(entry.id, "unhelpful")
        assert memory.check().ok
    return path


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_that_nobody_made_is_found(sealed: Path, tmp_path: Path, what: str) -> None:
    sql, word = CHANGES[what]
    shutil.copy(sealed, tmp_path / "m.db")
    db = apsw.Connection(str(tmp_path / "m.db"))
    db.execute(sql)
    assert db.total_changes() > 0
    db.close()
    with Memory.open(tmp_path / "m.db", read_only=True) as memory:
        checked = memory.check()
    assert not checked.ok and any(problem.startswith(f"{word} differs") for problem in checked.problems), checked.problems


def test_every_way_of_changing_an_entry_keeps_its_seal(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        a, b = memory.add("Red wine stains."), memory.add("Red wine stains linen.", sources=["x"])
        memory.pin(a.id)
        memory.unpin(a.id)
        memory.update(a.id, tags=["t"], importance=0.9, retention="fading")
        memory.update(a.id, retention="earned")
        heir = memory.merge([a.id, b.id])
        memory.undo(memory.events(kind="merge", limit=1)[0].seq)
        memory.erase(source="x")
        memory.configure(rent=0.01)
        memory.tick()
        assert memory.get(heir.id).cause == "erased" and memory.check().ok


def test_what_an_earlier_format_wrote_is_sealed_when_the_file_is_compacted(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parents[1] / "data" / "formats" / "format-2.db", tmp_path / "m.db")
    with Memory.open(tmp_path / "m.db") as memory:
        assert memory.check().ok
        memory.compact()
        assert memory.check().ok
    db = apsw.Connection(str(tmp_path / "m.db"))
    assert db.execute("SELECT count(*) FROM entries WHERE seal IS NULL").fetchone() == (0,)
    db.execute("UPDATE entries SET importance = 0.123 WHERE entry = 1")
    db.close()
    with Memory.open(tmp_path / "m.db") as memory:
        assert not memory.check().ok
