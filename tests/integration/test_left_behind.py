"""What fails before anything was recorded leaves nothing behind: no store, no folder for one, no log, no lock, no state."""

from __future__ import annotations

import io
import threading
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from earnest import Memory
from earnest.ci.locking import locked
from earnest.cli.main import main
from earnest.errors import EarnestError, StoreBusy, StoreError
from tests.rest import client


def run(words: Sequence[str]) -> tuple[int, str]:
    """A command's exit status, and what it said of what went wrong."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        return main([*words]), said.getvalue()


FAILING: list[list[str]] = [
    ["import", "../files/missing"],
    ["import", "../files/junk"],
    ["import", "../files/junk", "--dry-run"],
    ["import", "../files/other.json"],
    ["import", "../files/half.jsonl"],
    ["encode", "../files/missing"],
    ["encode", "../files/empty.md"],
    ["encode", "../files/binary.md"],
    ["encode", "../files/binary.md", "../files/missing"],
    ["encode", "../files/note.md", "--model", "nobody:nothing"],
    ["remember", ""],
    ["remember", "Something.", "--valid-from", "yesterday or so"],
    ["rules", "adopt", "../files/missing"],
    ["rules", "adopt", "../files/junk"],
    ["rules", "add", "avoid", "--trigger", "", "--action", ""],
    ["meters", "add", ""],
    ["meters", "bind", "disk", "cli"],
    ["meters", "revoke", "disk"],
    ["config", "floor", "7"],
    ["config", "no_such_setting", "1"],
    ["lessons", "load", "../files/missing"],
    ["lessons", "load", "../files/junk"],
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
    (folder / "other.json").write_text('{"some": "thing"}')
    (folder / "half.jsonl").write_text('{"earnest": 1}\n')
    (folder / "empty.md").write_text("")
    (folder / "note.md").write_text("The canteen opens at noon.\n")
    (folder / "binary.md").write_bytes(b"\x00\x01\x02")


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("words", FAILING, ids=lambda words: " ".join(words)[:60])
def test_a_command_that_records_nothing_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], store: str
) -> None:
    files(tmp_path / "files")
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    status, said = run([*words, "--store", store])
    assert status != 0 or "empty.md" in words[1], said
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


def test_what_a_command_recorded_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["remember", "The canteen opens at noon."], ["config", "floor", "0.3"], ["meters", "add", "disk"]):
        assert run([*words, "--store", f"{words[0]}.db"])[0] == 0
        with Memory.open(tmp_path / f"{words[0]}.db", keep_empty=False) as memory:
            assert memory.check().ok
        assert (tmp_path / f"{words[0]}.db").exists()


def test_a_file_that_was_there_stays_though_it_was_empty(tmp_path: Path) -> None:
    path = tmp_path / "there.db"
    path.touch()
    Memory.open(path, keep_empty=False).close()
    assert path.exists()
    Memory.open(tmp_path / "kept.db").close()
    assert (tmp_path / "kept.db").exists(), "unless it is asked for, what was opened stays"


def test_what_another_process_recorded_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    first = Memory.open(path, keep_empty=False)
    with Memory.open(path) as second:
        second.add("The canteen opens at noon.")
    first.close()
    with Memory.open(path) as again:
        assert again.stats().alive == 1 and again.check().ok


def test_who_has_an_empty_store_open_records_nothing_in_a_file_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    first, second = Memory.open(path, keep_empty=False), Memory.open(path)
    first.close()
    assert not path.exists()
    with pytest.raises(StoreError, match="removed"):
        second.add("The canteen opens at noon.")
    second.close()
    assert [*tmp_path.iterdir()] == []


def test_of_many_who_open_and_leave_at_once_no_acknowledged_entry_is_lost(tmp_path: Path) -> None:
    path, said, lock = tmp_path / "new.db", set[str](), threading.Lock()

    def work(number: int) -> None:
        for turn in range(6):
            try:
                with Memory.open(path, embedder="none", keep_empty=False) as memory:
                    if (number + turn) % 2:
                        text = f"Server {number} runs on port {turn}."
                        memory.add(text)
                        with lock:
                            said.add(text)
            except EarnestError as error:
                assert "removed" in str(error) or isinstance(error, StoreBusy | StoreError)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Memory.open(path) as memory:
        assert {entry.text for entry in memory.list()} == said and said
        assert memory.check().ok


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


REFUSED: list[tuple[str, str, object]] = [
    ("POST", "entries", {"text": ""}),
    ("POST", "entries", {"text": "Something.", "valid_from": "yesterday or so"}),
    ("POST", "entries", {"text": "Something.", "kind": "nothing"}),
    ("POST", "decisions/abc/settlement", {"delta": 1, "meter": "disk"}),
    ("POST", "decisions", {"query": "who?"}),
    ("POST", "rules", {"type": "avoid", "trigger": "x", "action": " "}),
    ("POST", "meters", {"name": " "}),
    ("PATCH", "settings", {"floor": 9}),
    ("PATCH", "settings", {"no_such_setting": 1}),
    ("GET", "entries", None),
    ("POST", "search", {"query": "who?"}),
]


@pytest.mark.parametrize("method, path, body", REFUSED, ids=lambda value: str(value)[:40])
def test_a_request_that_records_nothing_makes_no_agent(tmp_path: Path, method: str, path: str, body: object) -> None:
    with client(tmp_path / "root") as service:
        told = service.request(method, f"/v1/agents/somebody/{path}", json=body)
        assert told.status_code < 500
        assert [name for name in (tmp_path / "root").iterdir() if name.name.startswith("somebody")] == []
        assert service.post("/v1/agents/somebody/entries", json={"text": "The canteen opens at noon."}).status_code == 201
        assert service.request(method, f"/v1/agents/somebody/{path}", json=body).status_code == told.status_code
        assert len(service.get("/v1/agents/somebody/entries").json()["items"]) == 1
    with Memory.open(tmp_path / "root", "somebody") as memory:
        assert memory.stats().alive == 1 and memory.check().ok


def test_an_agent_of_whom_nothing_was_kept_is_gone_when_the_service_ends(tmp_path: Path) -> None:
    with client(tmp_path / "root") as service:
        assert service.post("/v1/agents/somebody/turns", json={"user": "thanks", "assistant": "ok"}).status_code == 200
    assert [name for name in (tmp_path / "root").iterdir() if name.name.startswith("somebody")] == []
