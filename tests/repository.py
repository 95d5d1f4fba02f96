"""A generated repository with its origin, a small project and its lessons, and a clone to work in: what tests of CI settle."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from earnest import Memory
from earnest.core.lessons import parsed

TEXT: Final = ".earnest/lessons.jsonl"
QUESTION: Final = "How should clamp treat its upper bound?"
PYTEST: Final = f'"{sys.executable}" -m pytest -q -p no:cacheprovider --junitxml=report.xml'
COMMAND: Final = f'"{sys.executable}" -S run.py'
RUNNER: Final = """
import glob, os, sys
from xml.sax.saxutils import quoteattr
cases = []
for path in sorted(glob.glob("test_*.py")):
    name = path[:-3]
    try:
        module = __import__(name)
    except Exception as error:
        cases.append(f'<testcase classname="" name="{name}"><error message="collection failure"/></testcase>')
        continue
    for test in [each for each in dir(module) if each.startswith("test_")]:
        try:
            getattr(module, test)()
            said = ""
        except Exception:
            said = '<failure message="assert"/>'
        cases.append(f'<testcase classname="{name}" name={quoteattr(test)}>{said}</testcase>')
with open("report.xml", "w") as file:
    file.write(f'<testsuites><testsuite name="quick" hostname="{os.getpid()}">{"".join(cases)}</testsuite></testsuites>')
"""
"""A runner that is quick; the first test and the one about tokens go by pytest itself."""


def git(folder: Path, *words: str) -> str:
    """What git says in a folder."""
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Repository:
    """An origin with a small project and its lessons, and a clone to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.origin = folder, folder / "origin.git"
        subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(self.origin)], check=True, timeout=60)
        self.clone = self.cloned("clone")
        self.write("app.py", "def clamp(x, low, high):\n    return max(low, min(x, high - 1))\n")
        self.write(
            "test_app.py",
            "from app import clamp\n\n\ndef test_low():\n    assert clamp(-1, 0, 5) == 0\n\n\n"
            "def test_high():\n    assert clamp(9, 0, 5) == 5\n",
        )
        self.write("run.py", RUNNER)
        self.store = folder / "work.db"
        with Memory.open(self.store, embedder="none") as memory:
            memory.add("Use an inclusive upper bound in clamp.", cue=QUESTION, kind="procedural", sources=["retro"])
            memory.save_lessons(self.place(TEXT))
        self.commit("a project")
        git(self.clone, "push", "--quiet", "origin", "HEAD:main")

    def cloned(self, name: str) -> Path:
        subprocess.run(["git", "clone", "--quiet", str(self.origin), str(self.folder / name)], check=True, timeout=60, capture_output=True)
        git(self.folder / name, "checkout", "-q", "-B", "main")
        return self.folder / name

    def place(self, name: str) -> Path:
        path = self.clone / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name: str, text: str) -> None:
        self.place(name).write_text(text, encoding="utf-8")

    def commit(self, message: str) -> str:
        git(self.clone, "add", "-A")
        git(self.clone, "commit", "--quiet", "-m", message)
        return git(self.clone, "rev-parse", "HEAD")

    def decide(self, count: int = 1) -> list[str]:
        """Open tickets in the text, as an agent at work in the clone does."""
        path = self.folder / f"{os.urandom(4).hex()}.db"
        with Memory.open(path, embedder="none", channel="settle-ci") as memory:
            memory.load_lessons(self.place(TEXT))
            made = [memory.decide(QUESTION).id or "" for _ in range(count)]
            memory.save_lessons(self.place(TEXT))
        return made

    def lessons(self) -> Any:
        """The text on the origin's main branch."""
        return parsed(git(self.origin, "show", f"main:{TEXT}") + "\n")


def mended(repo: Repository, ticket: str) -> tuple[str, str]:
    """A merge that mends a test and names a ticket; the commits before and after it."""
    before = git(repo.clone, "rev-parse", "HEAD")
    repo.write("app.py", "def clamp(x, low, high):\n    return max(low, min(x, high))\n")
    return before, repo.commit(f"Mend clamp\n\nearnest-ticket: {ticket}\n")
