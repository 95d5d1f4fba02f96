"""Clients that generators make of the service's description: they type-check, and do the main job against the running service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from earnest import Memory
from earnest.http.openapi import described
from earnest.http.service import OPERATIONS

PROGRAMS: Final = Path(__file__).with_name("clients")
TOKEN: Final = "0123456789abcdef0123"
PYTHON: Final = ("openapi-python-client==0.29.1", "mypy==2.4.1")
NODE: Final = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3")


def _run(*words: object, cwd: Path) -> str:
    told = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=900, check=False)
    assert told.returncode == 0, f"{words}\n{told.stdout}{told.stderr}"
    return told.stdout


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    """The address of a service on an empty folder."""
    environment = {**os.environ, "EARNEST_TOKEN": TOKEN, "EARNEST_EMBEDDER": "none"}
    words = [sys.executable, "-m", "earnest", "serve", "--root", str(tmp_path / "memories"), "--port", "0", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    said = ""
    while not said.rstrip().endswith("}"):
        line = process.stdout.readline()
        assert line, f"the service ended: {said}"
        said += line
    yield str(json.loads(said)["address"])
    process.terminate()
    process.wait(30)
    process.stdout.close()


def _did_the_job(said: str, agent: str, tmp_path: Path) -> None:
    """What the program tells is what the store holds."""
    told = json.loads(said.splitlines()[-1])
    assert (told["landed"], told["again"], told["why"]) == (True, 409, "The present state forbids it")
    with Memory.open(tmp_path / "memories", agent=agent) as memory:
        [settled] = memory.events(kind="settle")
        assert told["first"] == memory.get(told["id"]).text
        assert settled.data["delta"] == 3.0 and memory.pending() == []
    assert sum(told["moved"]) > 0


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_a_client_in_typescript_is_typed_strictly_and_does_the_main_job(service: str, tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(described(OPERATIONS)), encoding="utf-8")
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    _run("npm", "install", "--no-audit", "--no-fund", *NODE, cwd=tmp_path)
    shutil.copy(PROGRAMS / "use.ts", tmp_path)
    tools = tmp_path / "node_modules" / ".bin"
    _run(tools / "openapi-typescript", "openapi.json", "-o", "schema.d.ts", cwd=tmp_path)
    strictly = ("--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext")
    _run(tools / "tsc", *strictly, "use.ts", cwd=tmp_path)
    _did_the_job(_run("node", "use.js", service, TOKEN, cwd=tmp_path), "typescript", tmp_path)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_a_client_in_python_is_typed_strictly_and_does_the_main_job(service: str, tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(described(OPERATIONS)), encoding="utf-8")
    venv.create(tmp_path / "env", with_pip=True)
    tools = tmp_path / "env" / "bin"
    _run(tools / "python", "-m", "pip", "install", "-q", *PYTHON, cwd=tmp_path)
    told = _run(
        tools / "openapi-python-client",
        "generate",
        "--path",
        "openapi.json",
        "--meta",
        "none",
        "--output-path",
        "earnest_client",
        cwd=tmp_path,
    )
    assert "WARNING parsing" not in told and "Unable to" not in told, told
    shutil.copy(PROGRAMS / "use.txt", tmp_path / "use.py")
    _run(tools / "python", "-m", "mypy", "--strict", "use.py", cwd=tmp_path)
    _did_the_job(_run(tools / "python", "use.py", service, TOKEN, cwd=tmp_path), "python", tmp_path)
