"""Names of files that are no UTF-8, hold control characters, or are no names at all: one such file stops no other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory
from earnest.core import check
from earnest.errors import EarnestError, InvalidInput, StoreError, UnknownEntry

ODD = {b"bad\xff.md": r"bad\xff.md", b"bad\xfe.md": r"bad\xfe.md", b"two\nlines.md": r"two\nlines.md", b"esc\x1b[31m.md": r"esc\x1b[31m.md"}


def odd_files(folder: Path) -> dict[str, str]:
    """Files of such names, as many as this file system takes: what each is called, and what it says."""
    made = {}
    for number, (name, called) in enumerate(ODD.items()):
        try:
            (folder / os.fsdecode(name)).write_text(f"- The pump number {number} runs at noon.\n", encoding="utf-8")
        except OSError:
            continue  # a file system that has no such names cannot hold one that is read
        made[called] = f"The pump number {number} runs at noon."
    return made


def test_files_of_odd_names_are_encoded_each_under_a_name_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "plain.md").write_text("- The crane lifts containers.\n")
    wanted = {"plain.md": "The crane lifts containers.", **odd_files(folder)}
    with Memory.open(tmp_path / "m.db", embedder="none") as memory:
        report = memory.encode_files([folder])
        assert not report.failed
        held = {Path(entry.sources[0]).name: entry.text for entry in memory.list()}
        assert held == wanted
        assert [file.state for file in memory.encode_files([folder]).files] == ["unchanged"] * len(wanted), "they are known again"
        for item in folder.iterdir():
            item.unlink()
        memory.encode_files([folder], prune=True)
        assert memory.list() == [] and memory.check().ok


def test_files_of_odd_names_are_imported_too(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    wanted = odd_files(folder)
    (folder / "plain.md").write_text("- The crane lifts containers.\n")
    with Memory.open(tmp_path / "m.db", embedder="none") as memory:
        report = memory.import_(folder)
        assert report.added == len(wanted) + 1 and not report.skipped
        for path in folder.iterdir():
            assert memory.import_(path).already == 1, path


def test_names_are_spelt_so_that_no_two_are_one() -> None:
    assert check.spelt("notes/über 日.md") == "notes/über 日.md"
    odd = ["bad\udcff", "bad\udcfe", "bad\ud800", "a\nb", "a\x1bb", "a\x00b"]
    spelt = [check.spelt(name) for name in odd]
    assert len(set(spelt)) == len(odd)
    for name in spelt:
        assert name.encode("utf-8") and check.label("source", name) == name


@pytest.mark.parametrize("name", ["\ud800", "x" * 5_000, "", " ", "a\x00b", 5, None, object()], ids=lambda value: repr(value)[:12])
def test_where_no_file_can_be_nothing_is_exported_and_it_is_said(name: Any, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", embedder="none") as memory:
        memory.add("The crane lifts containers.")
        for verb in (memory.export, memory.backup, memory.import_):
            with pytest.raises(EarnestError) as caught:
                verb(name)
            assert isinstance(caught.value, InvalidInput | StoreError) and str(caught.value).isprintable()


def test_an_id_that_is_no_text_anybody_can_store_is_an_unknown_one() -> None:
    with Memory.open(embedder="none") as memory:
        with pytest.raises(UnknownEntry):
            memory.erase(entry="\ud800")
        with pytest.raises(UnknownEntry):
            memory.get("日")
