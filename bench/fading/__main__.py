"""`python -m bench.fading`: what a cleanup costs by how many entries fall, and what links cost as entries are written.

python -m bench.fading                         # 10,000 fading entries
python -m bench.fading --entries 100000
python -m bench.fading --report bench/results/fading.json

Wall and processor time: on a machine that others use too, the processor's is the one to look at.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from bench.ending import ended
from bench.speed.bare import Bare
from bench.speed.machine import described
from bench.speed.timing import Stopwatch
from earnest import Memory
from earnest.testing import ManualClock, SeededRng

DEFAULT_OUT: Final = Path(__file__).resolve().parents[1] / "results" / "fading.json"
FALLS: Final = (0, 10, 100, 1_000)
"""How many entries fall in a cleanup, one after the other; the last one lets all of the rest fall."""
COMMITS: Final = 200
WRITTEN: Final = 300


def text(number: int) -> str:
    """About twenty words; every tenth names one of a hundred hosts."""
    host = f" on Host{number // 10 % 100}" if number % 10 == 0 else ""
    about = f"topic {number % 97} of project {number % 13}"
    return f"Note {number}{host} about {about}: the value was {number * 7919 % 1000} when we looked at it last"


def cleanups(folder: Path, entries: int, watch: Stopwatch) -> dict[str, int]:
    """Cleanups of a store in which as many fall as wanted: the importance decides the day. How many fell, by name."""
    clock = ManualClock()
    fell: dict[str, int] = {}
    with Memory.open(folder / "fading.db", clock=clock, rng=SeededRng(7), embedder="none") as memory:
        days = iter(sorted(day for day, count in enumerate(FALLS[1:], 1) for _ in range(count)))
        # An entry of importance 0.1 × 2^(d / 90) falls after d days.
        made = [{"text": text(n), "retention": "fading", "importance": 0.1 * 2 ** (next(days, 90) / 90)} for n in range(entries)]
        with watch.timing("fill"):
            memory.add_many(made)
        watch.time("cleanup, the first: dates are looked over", memory.decay_cleanup)
        for day, wanted in enumerate(FALLS):
            name = f"cleanup, {wanted:,} fall"
            if day:
                clock.advance(days=1, seconds=1)
            watch.time(f"{name} (dry run)", lambda: memory.decay_cleanup(dry_run=True))
            fell[name] = len(watch.time(name, memory.decay_cleanup).entries)
        clock.advance(days=100)
        rest = entries - sum(FALLS)
        fell[f"cleanup, all {rest:,} fall"] = len(watch.time(f"cleanup, all {rest:,} fall", memory.decay_cleanup).entries)
    return fell


def writing(folder: Path, entries: int, watch: Stopwatch) -> None:
    """Single durable adds with links and without, beside a bare commit of the same text."""
    bare = Bare(folder / "bare.db")
    bare.fill([text(n) for n in range(entries)])
    stores = {"without links": 0, "with links": 12}
    memories = {
        name: Memory.open(folder / f"{most}.db", clock=ManualClock(), rng=SeededRng(7), embedder="none", settings={"links": most})
        for name, most in stores.items()
    }
    for memory in memories.values():
        memory.add_many([{"text": text(n)} for n in range(entries)])
    for number in range(entries, entries + WRITTEN):
        watch.time("a bare commit", lambda n=number: bare.commit(text(n)))  # type: ignore[misc]
        for name, memory in memories.items():
            watch.time(f"add {name}", lambda m=memory, n=number: m.add(text(n)))  # type: ignore[misc]
    for memory in memories.values():
        memory.close()
    bare.close()


def lines(results: Mapping[str, Any]) -> Iterator[str]:
    """The report, line by line."""
    yield f"forgetting, {results['command']}, {results['entries']:,} entries"
    yield f"{'':48} {'min ms':>10} {'p50 ms':>10} {'processor':>10} {'per entry':>10}"
    for name, summary in results["times"].items():
        fell = results["fell"].get(name)
        each = f"{1000 * summary['cpu_p50'] / fell:8.0f}µs" if fell else ""
        yield f"{name:48} {summary['min']:10.2f} {summary['p50']:10.2f} {summary['cpu_p50']:10.2f} {each:>10}"


def main(argv: list[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.fading", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--entries", type=int, default=10_000, help="fading entries (10000, at least 2000)")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, help="results file (bench/results/fading.json)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    wanted = parser.parse_args(argv)
    if wanted.report is not None:
        print("\n".join(lines(json.loads(wanted.report.read_text(encoding="utf-8")))))
        return 0
    entries = max(2_000, wanted.entries)
    folder, watch = Path(tempfile.mkdtemp(prefix="earnest-fading-")), Stopwatch()
    about = described(folder)
    try:
        fell = cleanups(folder, entries, watch)
        writing(folder, entries, watch)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    command = "python -m bench.fading" + f" --entries {entries}" * (entries != 10_000)
    results = {"command": command, "entries": entries, "fell": fell, "times": watch.summaries(), "machine": about}
    print("\n".join(lines(results)))
    wanted.out.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    ended(main)
