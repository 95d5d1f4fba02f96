"""`python -m bench.moving`: seconds of export, restore, import, erasing and archiving, at some sizes, with what each must come to.

    python -m bench.moving --sizes 1000,10000 --rounds 3

Each figure is the least of some rounds. A restore whose digest differs, or an erasure that leaves a byte, ends the run with an error.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bench.ending import ended
from earnest import Memory

_SERVICES: Final = ("gateway", "cache", "queue", "index", "mailer", "billing", "search", "login")


def entries(count: int) -> list[dict[str, Any]]:
    """Entries of about twenty words, each of one of fifty sources."""
    return [
        {
            "text": f"The {_SERVICES[n % 8]} of service {n // 8} listens on port {1_000 + n} since release {n % 97}, and restarts on "
            f"{('Monday', 'Tuesday', 'Friday')[n % 3]} at {n % 24}:30.",
            "sources": [f"doc-{n % 50}"],
            "tags": [f"tag-{n % 9}"],
        }
        for n in range(count)
    ]


def timed(rounds: int, work: Callable[[int], object]) -> float:
    """The least seconds of some rounds, each with its number."""
    least = float("inf")
    for number in range(rounds):
        start = time.perf_counter()
        work(number)
        least = min(least, time.perf_counter() - start)
    return least


def measured(folder: Path, count: int, rounds: int) -> dict[str, float]:
    """The figures at one size."""
    made: dict[str, float] = {}
    with Memory.open(folder / "source.db", embedder="none") as memory:
        memory.add_many(entries(count))
        for n in range(200):
            ticket = memory.decide(f"Which port does the gateway of service {n} listen on?")
            if ticket.id is not None:
                memory.settle(ticket.id, delta=1.0, meter="bench")
        made["export s"] = timed(rounds, lambda n: memory.export(folder / "x.jsonl", overwrite=True))
        made["export MB"] = (folder / "x.jsonl").stat().st_size / 1e6
        digest = memory.export(io.BytesIO()).sha256
        made["backup s"] = timed(rounds, lambda n: memory.backup(folder / f"copy-{n}.db"))

        def restore(number: int) -> None:
            with Memory.open(folder / f"restored-{number}.db", embedder="none") as other:
                other.import_(folder / "x.jsonl")

        made["restore s"] = timed(rounds, restore)
        with Memory.open(folder / "restored-0.db", embedder="none") as other:
            assert other.export(io.BytesIO()).sha256 == digest and other.check().ok
        with Memory.open(folder / "used.db", embedder="none") as other:
            other.add("Something of its own.")
            made["import into a store in use s"] = timed(1, lambda n: other.import_(folder / "x.jsonl"))
            made["import again s"] = timed(1, lambda n: other.import_(folder / "x.jsonl"))
        made["erase one source s"] = timed(rounds, lambda n: _erased(memory, source=f"doc-{n}"))
        made["erase one entry s"] = timed(rounds, lambda n: _erased(memory, entry=memory.list(limit=1)[0].id))
        made["archive s"] = timed(1, lambda n: memory.archive(folder / "log.jsonl", keep=100))
        made["compact s"] = timed(rounds, lambda n: memory.compact())
        assert memory.check().ok
    return made


def _erased(memory: Memory, **subject: Any) -> None:
    receipt = memory.erase(**subject)
    assert receipt.complete, receipt.left


def main(argv: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.moving", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000", help="entries in a store, comma-separated")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions, of which the least counts")
    parser.add_argument("--out", type=Path, help="write the figures to this file as JSON")
    wanted = parser.parse_args(argv)
    found = {}
    for size in map(int, wanted.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            found[size] = measured(Path(folder), size, wanted.rounds)
        print(f"{size:,} entries: " + ", ".join(f"{name} {value:.2f}" for name, value in found[size].items()), flush=True)
    if wanted.out is not None:
        wanted.out.write_text(json.dumps({"sizes": found, "rounds": wanted.rounds}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    ended(main)
