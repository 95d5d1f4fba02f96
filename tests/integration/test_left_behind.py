"""What can record nothing where there is no store makes none, and what fails leaves no lock and no state beside the one that is there.

What writes into a store that is not there yet makes it first, and leaves it empty if it fails: a file that another process may have opened
by then is never removed, since SQLite would lose what both write.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from earnest.ci.locking import locked
from earnest.cli.main import main
from earnest.errors import StoreBusy


def run(words: Sequence[str]) -> tuple[int, str]:
    """A command's exit status, and what it said of what went wrong."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        return main([*words]), said.getvalue()


FAILING: list[list[str]] = [
    ["encode", "../files/missing"],
    ["encode", "../files/binary.md", "../files/missing"],
    ["encode", "../files/note.md", "--model", "nobody:nothing"],
    ["meters", "bind", "disk", "cli"],
    ["meters", "revoke", "disk"],
    ["settle-ci", "--base-xml", "../files/missing", "--head-xml", "../files/missing", "--tickets", "abc"],
    ["settle", "abc", "1", "--meter", "disk"],
    ["control", "1", "--meter", "disk"],
    ["tick"],
    ["check"],
    ["restore", "abc"],
    ["compact"],
    ["reembed"],
]
STORES = ["new.db", "folder/", "deep/er/folder/"]


def files(folder: Path) -> None:
    folder.mkdir()
    (folder / "junk").write_text("neither this nor that\n")
    (folder / "note.md").write_text("The canteen opens at noon.\n")
    (folder / "binary.md").write_bytes(b"\x00\x01\x02")


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("words", FAILING, ids=lambda words: " ".join(words)[:60])
def test_a_command_that_needs_a_store_makes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], store: str) -> None:
    files(tmp_path / "files")
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    status, said = run([*words, "--store", store])
    assert status != 0, said
    assert [*place.iterdir()] == []


@pytest.mark.parametrize("words", [words for words in FAILING if words[0] == "settle-ci"] + [["import", "../files/junk"]])
def test_a_command_that_fails_leaves_nothing_beside_a_store_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    files(tmp_path / "files")
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    assert run(["remember", "The canteen opens at noon.", "--store", "there.db"])[0] == 0
    assert run([*words, "--store", "there.db"])[0] != 0
    assert [path.name for path in place.iterdir()] == ["there.db"]


def test_a_lock_is_gone_when_it_is_released_and_held_by_one_at_a_time(tmp_path: Path) -> None:
    path, inside, most = tmp_path / "state.lock", 0, 0
    with locked(path, 1.0):
        assert path.exists()
        with pytest.raises(StoreBusy), locked(path, 0.0):
            raise AssertionError("two hold it")
        assert path.exists()
    assert not path.exists()

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with locked(path, 60.0):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1 and not path.exists()
