"""Files of every format that was ever written open and hold what they held; newer ones and other programs' are left alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from earnest.embedders import HashingEmbedder
from earnest.errors import StoreCorrupt, StoreError, StoreReadOnly, StoreTooNew
from earnest.memory import Memory
from earnest.stores.sqlite import connection, schema
from tests.data.formats.make_format import NAME, known, make

FORMATS: Final = Path(__file__).resolve().parents[1] / "data" / "formats"


def copied(folder: Path, name: str) -> tuple[Path, dict[str, Any]]:
    said: dict[str, Any] = json.loads((FORMATS / f"{name}.json").read_text(encoding="utf-8"))
    return Path(shutil.copy(FORMATS / f"{name}.db", folder / "m.db")), said


def test_every_format_has_its_file() -> None:
    assert sorted(path.stem for path in FORMATS.glob("*.db")) == [f"format-{n}" for n in range(1, schema.FORMAT + 1)]


@pytest.mark.parametrize("name", [path.stem for path in sorted(FORMATS.glob("*.db"))])
def test_an_old_file_holds_what_it_held(name: str, tmp_path: Path) -> None:
    path, said = copied(tmp_path, name)
    with Memory.open(path) as memory:
        now = json.loads(json.dumps(known(memory)))
        # A later analyser makes the keyword index anew, which is an event of its own; nothing else is written by opening.
        again = now["events"].pop("repair", 0) - said["events"].pop("repair", 0)
        assert again in (0, 1) and (now["head"] == said["head"]) == (again == 0)
        for part in ("agent", "counts", "accounts", "causes", "entries", "events"):
            assert now[part] == said[part], part
        for question, found in said["found"].items():
            assert now["found"][question][:1] == found[:1], question
        checked = memory.check(head=said["head"])
        assert checked.ok, checked.problems
        ticket = memory.pending()[0].id
        assert memory.settle(ticket, delta=1.0, meter="disk").landed
        memory.add("Written by a later Earnest.")
        memory.tick()
        assert memory.check(head=said["head"]).ok
    copy = path.with_name(f"m.db.backup-{name}")
    assert copy.exists() is (name != NAME)
    if name != NAME:
        # The copy is the file as it was, and opens like it.
        assert not [*tmp_path.glob("*.part")]
        db = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
        assert db.execute("PRAGMA user_version").fetchone() == (int(name.removeprefix("format-")),)
        db.close()


@pytest.mark.parametrize("name", [path.stem for path in sorted(FORMATS.glob("*.db"))])
def test_an_old_file_answers_when_opened_for_reading(name: str, tmp_path: Path) -> None:
    path, said = copied(tmp_path, name)
    if name != NAME:
        # What has to be migrated has to be opened for writing once.
        with pytest.raises(StoreReadOnly, match="open it once for writing"):
            Memory.open(path, read_only=True)
        Memory.open(path).close()
    before = path.read_bytes()
    with Memory.open(path, read_only=True) as memory:
        assert memory.stats().alive == said["counts"]["alive"]
        with pytest.raises(StoreReadOnly):
            memory.tick()
    assert path.read_bytes() == before


@pytest.mark.parametrize("number", range(1, schema.FORMAT + 1))
def test_the_migrations_make_what_the_file_of_a_format_has(number: int) -> None:
    def tables(db: apsw.Connection) -> list[tuple[Any, ...]]:
        return db.execute("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name").fetchall()

    fresh, kept = apsw.Connection(":memory:"), apsw.Connection(str(FORMATS / f"format-{number}.db"), flags=apsw.SQLITE_OPEN_READONLY)
    for migration in schema.MIGRATIONS[:number]:
        fresh.execute(migration)
    # It differs while a format is being worked on: `python tests/data/formats/make_format.py`. Once released, it never may.
    assert tables(fresh) == tables(kept)


def test_the_file_is_made_by_one_command_and_always_the_same(tmp_path: Path) -> None:
    make(tmp_path)
    first = (tmp_path / f"{NAME}.json").read_text(encoding="utf-8")
    data = (tmp_path / f"{NAME}.db").read_bytes()
    make(tmp_path)
    assert (tmp_path / f"{NAME}.json").read_text(encoding="utf-8") == first
    assert (tmp_path / f"{NAME}.db").read_bytes() == data


def test_vectors_of_an_old_file_are_of_use(tmp_path: Path) -> None:
    path, _ = copied(tmp_path, "format-2")
    with Memory.open(path, embedder=HashingEmbedder(64)) as memory:
        assert memory.stats().vectors.missing == 0 and memory.stats().vectors.usable > 3
        assert memory.search("old log fiels", mode="dense", k=1)[0].entry.text.startswith("Old log files")


def test_any_sqlite_can_read_it() -> None:
    import sqlite3

    with sqlite3.connect(f"file:{FORMATS / 'format-1.db'}?mode=ro&immutable=1", uri=True) as db:
        living, dead = (db.execute(f"SELECT count(*) FROM {view}").fetchone()[0] for view in ("living", "graveyard"))  # noqa: S608
        assert (living, dead) == (5, 7)
        texts = db.execute("SELECT text, scope, energy, json_array_length(sources) FROM memory WHERE kind = 'rule'").fetchall()
        assert texts == [("Wenn die Platte voll ist, zuerst fragen.", "", 0.0, 0)]
        assert db.execute("SELECT count(*) FROM open_decisions").fetchone()[0] == 1
    db.close()


# files that are not ours


def newer(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("PRAGMA user_version = 99")
    db.close()


def newer_without_a_log(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("PRAGMA user_version = 99")
    db.close()


def another_program(path: Path, *, mode: str = "DELETE", mark: int = 0) -> None:
    path.unlink()
    db = apsw.Connection(str(path))
    db.execute(f"PRAGMA journal_mode = {mode}")
    db.execute(f"PRAGMA application_id = {mark:d}")
    db.execute("CREATE TABLE entries (id TEXT, text TEXT); INSERT INTO entries VALUES ('a', 'mine')")
    db.close()


def another_program_with_a_log(path: Path) -> None:
    """As it lies there after a crash: nothing but its log says what it is."""
    path.unlink()
    busy = path.with_name("busy.db")
    db = apsw.Connection(str(busy))
    db.execute("PRAGMA journal_mode = WAL; CREATE TABLE mine (x); INSERT INTO mine VALUES (1)").fetchall()
    for suffix in ("", "-wal"):
        shutil.copy(f"{busy}{suffix}", f"{path}{suffix}")
    db.close()


OTHERS: Final[dict[str, tuple[Callable[[Path], None], type[StoreError]]]] = {
    "format 99": (newer, StoreTooNew),
    "format 99, no log": (newer_without_a_log, StoreTooNew),
    "another program's": (another_program, StoreCorrupt),
    "another program's with a mark": (lambda path: another_program(path, mark=0x0F055112), StoreCorrupt),
    "another program's in WAL": (lambda path: another_program(path, mode="WAL"), StoreCorrupt),
    "another program's after a crash": (another_program_with_a_log, StoreCorrupt),
    "a text": (lambda path: _written(path, b"dear diary, " * 100), StoreCorrupt),
    "other bytes": (lambda path: _written(path, bytes(range(256)) * 40), StoreCorrupt),
}


def _written(path: Path, data: bytes) -> None:
    path.write_bytes(data)


@pytest.mark.parametrize("read_only", [False, True], ids=["for writing", "for reading"])
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_ours_is_refused_and_not_touched(name: str, read_only: bool, tmp_path: Path) -> None:
    path, _ = copied(tmp_path, "format-1")
    change, error = OTHERS[name]
    change(path)
    log = path.with_name("m.db-wal")
    before = path.read_bytes(), log.read_bytes() if log.exists() else b""
    for _ in range(2):
        with pytest.raises(error) as caught:
            Memory.open(path, read_only=read_only)
        assert type(caught.value) is error and str(path) in str(caught.value) and "\n" not in str(caught.value)
        assert (path.read_bytes(), log.read_bytes() if log.exists() else b"") == before


def test_a_store_that_was_killed_when_it_was_new_is_ours(tmp_path: Path) -> None:
    busy = tmp_path / "busy.db"
    with Memory.open(busy, "ops") as memory:
        memory.add("Nothing but the log knows of this.")
        for suffix in ("", "-wal"):
            shutil.copy(f"{busy}{suffix}", f"{tmp_path / 'm.db'}{suffix}")
    assert int.from_bytes((tmp_path / "m.db").read_bytes()[68:72]) == 0, "the file itself should not know yet whose it is"
    with Memory.open(tmp_path / "m.db") as memory:
        assert memory.agent == "ops" and len(memory.list()) == 1


def test_a_failed_migration_leaves_the_old_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, said = copied(tmp_path, "format-1")
    monkeypatch.setattr(connection, "MIGRATIONS", (*schema.MIGRATIONS, "ALTER TABLE entries ADD COLUMN mood TEXT; CREATE TABLE broken ("))
    monkeypatch.setattr(connection, "FORMAT", schema.FORMAT + 1)
    with pytest.raises(StoreError):
        Memory.open(path)
    monkeypatch.undo()
    with Memory.open(path) as memory:
        assert memory.check(head=said["head"]).ok
    db = apsw.Connection(str(path))
    assert "mood" not in [row[1] for row in db.execute("PRAGMA table_info(entries)").fetchall()]
    db.close()


def test_an_old_file_opened_for_reading_is_not_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = copied(tmp_path, "format-1")
    before = path.read_bytes()
    monkeypatch.setattr(connection, "MIGRATIONS", (*schema.MIGRATIONS, "ALTER TABLE entries ADD COLUMN mood TEXT"))
    monkeypatch.setattr(connection, "FORMAT", schema.FORMAT + 1)
    with pytest.raises(StoreReadOnly, match="open it once for writing"):
        Memory.open(path, read_only=True)
    assert path.read_bytes() == before
    with Memory.open(path) as memory:
        assert memory.check().ok
    monkeypatch.undo()
    with pytest.raises(StoreTooNew):
        Memory.open(path)
