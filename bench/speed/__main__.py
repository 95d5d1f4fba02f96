"""`python -m bench.speed`: Earnest's verbs on real files, beside a bare durable commit and darwin-memo, in one run.

    python -m bench.speed --out bench/results/speed.json
    python -m bench.speed --quick --sizes 1000,10000
    python -m bench.speed --report bench/results/speed.json

Run it when nothing else runs. The folder (`--folder`) must lie on the disk that is meant, not in memory.
"""

from __future__ import annotations

import argparse
import gc
import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from bench.ending import ended
from bench.speed.earnest_side import EarnestSide
from bench.speed.hybrid_side import hybrid_at
from bench.speed.machine import described, load
from bench.speed.processes import first_answer, resident, startup
from bench.speed.report import lines
from bench.speed.timing import Stopwatch

DEFAULT_OUT: Final = Path(__file__).resolve().parents[1] / "results" / "speed.json"
FORMAT: Final = 1


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000", help="memories in a store, comma-separated")
    parser.add_argument("--rounds", type=int, default=None, help="repetitions of every verb (200; 20 with --quick)")
    parser.add_argument("--quick", action="store_true", help="few repetitions: to see that it works, not how fast")
    parser.add_argument("--bound", type=float, default=None, help="seconds that darwin-memo gets at each size (300; 20 with --quick)")
    parser.add_argument("--folder", type=Path, default=None, help="where the files are made; the system's temporary folder by default")
    parser.add_argument("--out", type=Path, default=None, help="results file (bench/results/speed.json; with --quick none by default)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    wanted = parser.parse_args(argv)
    wanted.sizes = [int(size) for size in wanted.sizes.split(",")]
    wanted.rounds = wanted.rounds or (20 if wanted.quick else 200)
    wanted.bound = wanted.bound or (20.0 if wanted.quick else 300.0)
    wanted.few = 3 if wanted.quick else 15
    if wanted.out is None and not wanted.quick:
        wanted.out = DEFAULT_OUT
    return wanted


def said(what: str) -> None:
    """Tell how far it is."""
    print(what, file=sys.stderr, flush=True)


def earnest_at(side: EarnestSide, wanted: argparse.Namespace) -> dict[str, Any]:
    """Everything about Earnest at one size; the store stays open."""
    said(f"{side.size:,}: bulk")
    bulk = side.fill()
    side.reopen()
    disk = side.disk()
    said(f"{side.size:,}: verbs")
    operations = side.rounds(wanted.rounds).summaries()
    said(f"{side.size:,}: a thousand dying")
    operations |= {"tick, 1,000 dying": side.dying(max(2, wanted.few // 3)).summaries()["tick, 1,000 dying"]}
    said(f"{side.size:,}: fresh processes")
    cold = first_answer(side.path, [side.question() for _ in range(wanted.few)])
    return {"bulk": bulk, "disk": disk, "operations": operations, "first_answer": cold}


def fresh_processes(path: Path, questions: list[str]) -> tuple[dict[str, Any], dict[str, float]]:
    """How long a fresh process takes to its first answer, and what it keeps resident."""
    return first_answer(path, questions), resident(path, questions[0])


def darwin_at(folder: Path, size: int, wanted: argparse.Namespace) -> dict[str, Any]:
    """darwin-memo at one size, as far as it comes within the bound."""
    try:
        from bench.speed.darwin_side import DarwinSide
    except ImportError:
        return {}
    said(f"{size:,}: darwin-memo")
    side = DarwinSide(folder, size, wanted.bound)
    bulk = side.fill()
    watch, left_out = side.rounds(wanted.rounds)
    side.close()
    return {"bulk": bulk, "operations": watch.summaries(), "left_out": left_out, "bound_s": wanted.bound}


def ticks(sides: list[EarnestSide], count: int) -> dict[str, Any]:
    """Ticks at every size, in turn, so that whatever the machine does hits all sizes."""
    watches = {side.size: Stopwatch() for side in sides}
    for _ in range(count):
        for side in sides:
            side.tick_alone(watches[side.size])
    made: dict[str, Any] = {}
    for size, watch in watches.items():
        figures = watch.summaries()
        made[f"bare commit at {size:,}"], made[f"tick at {size:,}"] = figures["bare commit"], figures["tick"]
    return made


def measured(folder: Path, wanted: argparse.Namespace) -> dict[str, Any]:
    """The whole run. Earnest first, while the process is small; darwin-memo's objects would slow the collector down for it."""
    results: dict[str, Any] = {
        "bench": "speed", "format": FORMAT, "command": wanted.command,
        "config": {"sizes": wanted.sizes, "rounds": wanted.rounds, "bound_s": wanted.bound, "quick": wanted.quick},
        "machine": described(folder), "sizes": {},
    }  # fmt: skip
    said("processes")
    results["startup"] = startup(wanted.few)
    sides = [EarnestSide(folder, size) for size in wanted.sizes]
    for side in sides:
        results["sizes"][str(side.size)] = earnest_at(side, wanted)
        said(f"{side.size:,}: with vectors")
        results["sizes"][str(side.size)]["hybrid"] = hybrid_at(folder, side.size, wanted.rounds, fresh_processes)
    said("ticks at every size")
    results["ticks"] = ticks(sides, wanted.rounds)
    for side in sides:
        question = side.question()
        side.close()
        results["sizes"][str(side.size)]["resident"] = resident(side.path, question)
    del sides
    for size in wanted.sizes:
        gc.collect()
        results["sizes"][str(size)]["darwin-memo"] = darwin_at(folder, size, wanted)
    results["load_after"] = load()
    return results


def main(argv: list[str] | None = None) -> int:
    """Measure or report."""
    wanted = parsed(argv)
    if wanted.report is not None:
        print("\n".join(lines(json.loads(wanted.report.read_text(encoding="utf-8")))))
        return 0
    wanted.command = shlex.join(["python", "-m", "bench.speed", *(sys.argv[1:] if argv is None else argv)])
    with tempfile.TemporaryDirectory(prefix="earnest-speed-", dir=wanted.folder) as folder:
        results = measured(Path(folder), wanted)
    if wanted.out is not None:
        wanted.out.parent.mkdir(parents=True, exist_ok=True)
        wanted.out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    print("\n".join(lines(results)))
    return 0


if __name__ == "__main__":
    ended(main)
