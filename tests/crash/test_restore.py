"""A backup comes back whole into a store that nobody uses; what was there before is kept; a damaged one changes nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from earnest import Memory
from earnest.errors import StoreBusy, StoreCorrupt, StoreError, WrongAgent


def lived(path: Path, agent: str | None = None) -> None:
    with Memory.open(path, agent) as memory:
        memory.add("Before the backup.")
        memory.backup(path.with_name("copy.db"))
        memory.add("After the backup.")


def texts(path: Path) -> list[str]:
    with Memory.open(path) as memory:
        assert memory.check().ok
        return [entry.text for entry in memory.list()]


def test_a_backup_takes_the_place_of_a_store_and_the_store_is_kept(tmp_path: Path) -> None:
    lived(tmp_path / "m.db")
    kept = Memory.restore_backup(tmp_path / "copy.db", tmp_path / "m.db")
    assert kept == tmp_path / "m.db.before-restore-1"
    assert texts(tmp_path / "m.db") == ["Before the backup."] and texts(kept) == ["Before the backup.", "After the backup."]
    assert Memory.restore_backup(kept, tmp_path / "m.db") == tmp_path / "m.db.before-restore-2"
    assert texts(tmp_path / "m.db") == ["Before the backup.", "After the backup."]


def test_a_store_that_is_gone_is_made_anew(tmp_path: Path) -> None:
    lived(tmp_path / "m.db")
    assert Memory.restore_backup(tmp_path / "copy.db", tmp_path / "new.db") is None
    assert texts(tmp_path / "new.db") == ["Before the backup."]


def test_a_store_in_use_is_refused_and_unchanged(tmp_path: Path) -> None:
    lived(tmp_path / "m.db")
    script = "import sys\nfrom earnest import Memory\nm = Memory.open(sys.argv[1])\nprint('open', flush=True)\nsys.stdin.readline()\n"
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "m.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None and other.stdout.readline() == "open\n"
    with pytest.raises(StoreBusy, match="somebody has it open"):
        Memory.restore_backup(tmp_path / "copy.db", tmp_path / "m.db", timeout=0.2)
    other.communicate("\n", timeout=60)
    assert texts(tmp_path / "m.db") == ["Before the backup.", "After the backup."]
    assert not [*tmp_path.glob("*.before-restore-*")]


def test_a_damaged_backup_changes_nothing(tmp_path: Path) -> None:
    lived(tmp_path / "m.db")
    data = bytearray((tmp_path / "copy.db").read_bytes())
    at = data.index(b"Before the backup.")
    data[at] ^= 1
    (tmp_path / "copy.db").write_bytes(data)
    (tmp_path / "cut.db").write_bytes(data[: len(data) // 2])
    (tmp_path / "no.db").write_text("no store", encoding="utf-8")
    for name in ("copy.db", "cut.db", "no.db"):
        with pytest.raises(StoreCorrupt):
            Memory.restore_backup(tmp_path / name, tmp_path / "m.db")
    with pytest.raises(StoreError):
        Memory.restore_backup(tmp_path / "nothing.db", tmp_path / "m.db")
    with pytest.raises(StoreError, match="the store itself"):
        Memory.restore_backup(tmp_path / "m.db", tmp_path / "m.db")
    assert texts(tmp_path / "m.db") == ["Before the backup.", "After the backup."]


@pytest.mark.parametrize("how", ["header", "middle"])
def test_a_store_that_is_damaged_is_put_aside(tmp_path: Path, how: str) -> None:
    lived(tmp_path / "m.db")
    data = bytearray((tmp_path / "m.db").read_bytes())
    start = 0 if how == "header" else 4096
    data[start : start + 4096] = bytes(range(256)) * 16
    (tmp_path / "m.db").write_bytes(data)
    kept = Memory.restore_backup(tmp_path / "copy.db", tmp_path / "m.db")
    assert kept is not None and kept.read_bytes() == data
    assert texts(tmp_path / "m.db") == ["Before the backup."]


def test_another_agents_backup_is_refused(tmp_path: Path) -> None:
    lived(tmp_path / "m.db", "alice")
    with Memory.open(tmp_path / "b.db", "bob") as memory:
        memory.add("Bob's.")
    with pytest.raises(WrongAgent):
        Memory.restore_backup(tmp_path / "copy.db", tmp_path / "b.db")


def test_a_backup_of_an_earlier_format_comes_back_and_is_brought_forward(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "data" / "formats" / "format-1.db"
    (tmp_path / "old.db").write_bytes(source.read_bytes())
    assert Memory.restore_backup(tmp_path / "old.db", tmp_path / "m.db") is None
    with Memory.open(tmp_path / "m.db") as memory:
        assert memory.check().ok and memory.stats().alive == 5


def test_on_the_command_line(tmp_path: Path) -> None:
    lived(tmp_path / "m.db")
    words = [sys.executable, "-m", "earnest", "backup", str(tmp_path / "copy.db"), "--restore", "--store", str(tmp_path / "m.db")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "before-restore-1" in done.stdout
    assert texts(tmp_path / "m.db") == ["Before the backup."]
