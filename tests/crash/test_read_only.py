"""A store on a medium that cannot be written can be read, and says so when something would have to be written."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from earnest import Memory

_DROP_CAPABILITY, _OVERRIDE_PERMISSIONS = 24, 1

READ = """
import io, json, sys
from earnest import Memory
from earnest.errors import EarnestError
said = {}
try:
    with Memory.open(sys.argv[1], read_only=True) as memory:
        said["hits"] = [hit.entry.text for hit in memory.search("walrus")]
        said["alive"] = memory.stats().alive
        said["ok"] = memory.check().ok
        said["exported"] = memory.export(io.BytesIO()).counts["entries"]
        try:
            memory.add("x")
        except EarnestError as error:
            said["add"] = type(error).__name__
except EarnestError as error:
    said["error"] = [type(error).__name__, str(error)]
try:
    Memory.open(sys.argv[1]).close()
except EarnestError as error:
    said["open"] = type(error).__name__
print(json.dumps(said))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="earnest-read-only-"))
    made.chmod(0o755)
    yield made
    for item in (made, *made.iterdir()):
        item.chmod(0o755)
    shutil.rmtree(made)


def sealed(folder: Path) -> None:
    for item in folder.iterdir():
        item.chmod(0o444)
    folder.chmod(0o555)


def _obeying() -> None:
    """Lets the process that is about to start obey permissions, even if it is root's (Linux: without CAP_DAC_OVERRIDE)."""
    assert ctypes.CDLL(None).prctl(_DROP_CAPABILITY, _OVERRIDE_PERMISSIONS, 0, 0, 0) == 0


def started() -> dict[str, Any]:
    """How to start a process that obeys permissions."""
    root = os.name == "posix" and os.geteuid() == 0
    return {"preexec_fn": _obeying if root else None, "env": {**os.environ, "EARNEST_EMBEDDER": "none"}, "text": True}


def powerless(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs this Python as somebody who obeys permissions."""
    return subprocess.run([sys.executable, *words], capture_output=True, timeout=60, check=False, **started())


def read(file: Path) -> dict[str, Any]:
    done = powerless("-c", READ, str(file))
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def test_a_store_that_cannot_be_written_is_read_checked_and_exported(folder: Path) -> None:
    with Memory.open(folder / "m.db") as memory:
        memory.add("The walrus sleeps.")
    sealed(folder)
    said = read(folder / "m.db")
    assert said == {"hits": ["The walrus sleeps."], "alive": 1, "ok": True, "exported": 1, "add": "StoreReadOnly", "open": said["open"]}
    assert said["open"] in ("StoreReadOnly", "StoreError")
    assert [item.name for item in folder.iterdir()] == ["m.db"]


def test_a_log_that_cannot_be_read_is_named_and_not_ignored(folder: Path) -> None:
    memory = Memory.open(folder / "open.db")
    memory.add("The walrus sleeps.")
    for end in ("", "-wal"):
        shutil.copy(folder / f"open.db{end}", folder / f"m.db{end}")
    memory.close()
    (folder / "open.db").unlink()
    sealed(folder)
    said = read(folder / "m.db")
    assert said["error"][0] == "StoreError" and "-wal" in said["error"][1] and "copy" in said["error"][1]


def test_the_commands_read_it_and_say_that_it_cannot_be_written(folder: Path) -> None:
    with Memory.open(folder / "m.db") as memory:
        memory.add("The walrus sleeps.")
    sealed(folder)
    store = ["--store", str(folder / "m.db")]
    for words in (["search", "walrus"], ["stats"], ["check"], ["list"]):
        done = powerless("-m", "earnest", *words, *store)
        assert done.returncode == 0, (words, done.stderr)
    lines = powerless("-m", "earnest", "export", "-", *store)
    assert lines.returncode == 0 and '{"end":' in lines.stdout and "walrus" in lines.stdout
    done = powerless("-m", "earnest", "remember", "x", *store)
    assert done.returncode == 1 and str(folder) in done.stderr and len(done.stderr.splitlines()) == 1
    assert [item.name for item in folder.iterdir()] == ["m.db"]


def test_the_hooks_of_claude_code_recall_from_it_and_never_stop_the_agent(folder: Path) -> None:
    with Memory.open(folder / "m.db", embedder="none") as memory:
        memory.add("The walrus sleeps on Sundays.", cue="When does the walrus sleep?")
    sealed(folder)
    how = started()
    how["env"] = {**how["env"], "EARNEST_STORE": str(folder / "m.db")}
    shown = {}
    for name in ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"):
        event = {
            "hook_event_name": name,
            "session_id": "s",
            "cwd": str(folder),
            "prompt": "When does the walrus sleep?",
            "tool_name": "Edit",
        }
        command = [sys.executable, "-m", "earnest.integrations.claude_code"]
        done = subprocess.run(command, input=json.dumps(event), capture_output=True, timeout=60, check=False, **how)
        assert done.returncode == 0 and "Traceback" not in done.stderr, (name, done.stderr)
        shown[name] = done.stdout
    assert "on Sundays" in shown["UserPromptSubmit"], "no ticket can be opened, and what is known is shown all the same"
    assert [item.name for item in folder.iterdir()] == ["m.db"]


def test_somebody_who_begins_to_write_is_noticed(folder: Path) -> None:
    with Memory.open(folder / "m.db") as memory:
        memory.add("The walrus sleeps.")
    script = (
        "import sys\nfrom earnest import Memory\nfrom earnest.errors import StoreError\nmemory = Memory.open(sys.argv[1], read_only=True)\n"
        "print(memory.stats().alive, flush=True)\nsys.stdin.readline()\ntry:\n    print(memory.stats().alive)\n"
        "except StoreError as error:\n    print('again' if 'open it again' in str(error) else error)\n"
    )
    folder.chmod(0o555)
    reader = subprocess.Popen(
        [sys.executable, "-c", script, str(folder / "m.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **started()
    )
    assert reader.stdin is not None and reader.stdout is not None
    assert reader.stdout.readline().strip() == "1"
    folder.chmod(0o755)
    with Memory.open(folder / "m.db") as memory:
        memory.add("Another one.")
        said, _ = reader.communicate("\n", timeout=60)
    assert said.strip() == "again"
