"""Fresh processes: how long until the first answer, what `import earnest` and `earnest --help` cost, what stays resident."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from bench.speed.timing import Stopwatch

ROOT: Final = Path(__file__).resolve().parents[2]
AS_INSTALLED: Final = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""A process finds its modules compiled, as after any installation: the first one of each kind compiles them, and is thrown away."""


def _run(watch: Stopwatch, name: str, *arguments: str) -> None:
    """Time a process from start to end; its processor time is not this one's, and is not taken."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=ROOT, env=AS_INSTALLED)
    watch.note(name, 1e3 * (time.perf_counter() - start))


def startup(count: int) -> dict[str, Any]:
    """Bare Python, `import earnest` and `earnest --help`, in turn."""
    watch = Stopwatch()
    for number in range(-1, count):
        timed = watch if number >= 0 else Stopwatch()
        _run(timed, "bare python", "-c", "pass")
        _run(timed, "import earnest", "-c", "import earnest")
        _run(timed, "earnest --help", "-m", "earnest", "--help")
    return watch.summaries()


def first_answer(path: Path, questions: list[str]) -> dict[str, Any]:
    """From the start of a process to its first answer, beside bare Python; the pages of the file are in the system's cache."""
    watch = Stopwatch()
    subprocess.run(
        [sys.executable, "-m", "bench.speed.child", str(path), questions[0], "answer"],
        check=True,
        capture_output=True,
        cwd=ROOT,
        env=AS_INSTALLED,
    )
    for question in questions:
        _run(watch, "bare python", "-c", "pass")
        start = time.perf_counter()
        command = [sys.executable, "-m", "bench.speed.child", str(path), question, "answer"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=AS_INSTALLED) as child:
            assert child.stdout is not None
            said = json.loads(child.stdout.readline())
            watch.note("start + open + first answer", 1e3 * (time.perf_counter() - start))
        for part in ("import", "open", "answer"):
            watch.note(f"of it {part}", said[f"{part}_ms"])
    return watch.summaries()


def resident(path: Path, question: str) -> dict[str, float]:
    """Peak resident MB after the first answer, and after fifty rounds of use. Changes the store."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.speed.child", str(path), question, "work"],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=AS_INSTALLED,
    )
    first, used = (json.loads(line)["rss_mb"] for line in done.stdout.splitlines())
    return {"first_answer": first, "in_use": used}
