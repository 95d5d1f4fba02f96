"""What a fresh process does, as `python -m bench.speed.child`: it says in one JSON line what that took. Imports nothing early."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def peak_mb() -> float:
    """The most memory that this process ever had resident, in MB; not a number where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return float("nan")
    [line] = [line for line in status.read_text(encoding="ascii", errors="replace").splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024 / 1e6


def main() -> None:
    """Open a store, answer a question, say how long that took; with `work`, go on to use it, and say what it held."""
    path, question, what = sys.argv[1:4]
    start = time.perf_counter()
    from earnest import Memory

    imported = time.perf_counter()
    embedder: Any = "none"
    if "hybrid" in Path(path).name:
        from bench.speed.given import Given

        embedder = Given()
    memory = Memory.open(path, embedder=embedder)
    opened = time.perf_counter()
    answer = memory.answer(question)
    answered = time.perf_counter()
    said = {
        "import_ms": 1e3 * (imported - start), "open_ms": 1e3 * (opened - imported), "answer_ms": 1e3 * (answered - opened),
        "silent": answer.silent, "rss_mb": peak_mb(),
    }  # fmt: skip
    print(json.dumps(said), flush=True)
    if what == "work":
        for number in range(50):
            memory.search(question, k=10)
            memory.add(f"{answer.text} {number}")
            ticket = memory.decide(question)
            if ticket.id is not None:
                memory.settle(ticket.id, delta=1.0, meter="bench", scale=2.0)
        memory.tick()
        print(json.dumps({"rss_mb": peak_mb()}), flush=True)
    memory.close()


if __name__ == "__main__":
    main()
