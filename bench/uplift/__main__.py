"""`python -m bench.uplift`: live in worlds whose effect is known, print how often the interval held and how soon the effect was found.

    python -m bench.uplift --out bench/results/uplift.json
    python -m bench.uplift --report bench/results/uplift.json

Lives that the file has already are not lived again; `--fresh` starts anew.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from bench.ending import ended
from bench.lived import Form, on_one_line
from bench.uplift.report import lines
from bench.uplift.trials import ALPHA, coverage, found
from bench.uplift.worlds import COVERAGE, LIFE, POWER

DEFAULT_OUT: Final = Path(__file__).resolve().parents[1] / "results" / "uplift.json"
RESULTS: Final = Form("uplift", 1, ("coverage", "power"), on_one_line)
_CHUNK: Final = 50


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m bench.uplift", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--lives", type=int, default=500, help="lives in each world in which the interval must hold")
    parser.add_argument("--searches", type=int, default=200, help="lives in each world in which the effect must be found")
    parser.add_argument("--most", type=int, default=60_000, help="decisions after which a search is given up")
    parser.add_argument("--every", type=int, default=10, help="decisions between two looks of a search")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--fresh", action="store_true", help="forget the lives that the file has")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    return parser.parse_args(argv)


def load(path: Path) -> dict[str, Any]:
    """What a file holds, for other reports. Raises `ValueError` when it is none of this form."""
    return RESULTS.load(path)


def live(results: dict[str, Any], wanted: argparse.Namespace) -> None:
    """Lives what is missing; the file is written every few lives."""
    for name, world in COVERAGE.items():
        lives = results["coverage"].setdefault(name, [])
        while len(lives) < wanted.lives:
            more = range(len(lives), min(len(lives) + _CHUNK, wanted.lives))
            lives += [coverage(world, f"uplift:{name}:{life}") for life in more]
            RESULTS.save(wanted.out, results)
        print(f"{name}: held in {sum(not life[0] for life in lives)} of {len(lives)}", file=sys.stderr, flush=True)
    for name, world in POWER.items():
        searches = results["power"].setdefault(name, [])
        while len(searches) < wanted.searches:
            more = range(len(searches), min(len(searches) + _CHUNK, wanted.searches))
            searches += [found(world, f"uplift:{name}:{life}", wanted.most, wanted.every) for life in more]
            RESULTS.save(wanted.out, results)
        print(f"{name}: found in {sum(at > 0 for at in searches)} of {len(searches)}", file=sys.stderr, flush=True)


def main(argv: list[str] | None = None) -> int:
    """Run or report."""
    wanted = parsed(argv)
    if wanted.report is not None:
        results = RESULTS.load(wanted.report)
    else:
        config = {"alpha": ALPHA, "life": LIFE, "most": wanted.most, "every": wanted.every, "seed": "uplift:WORLD:LIFE"}
        results = RESULTS.opened(wanted.out, config, fresh=wanted.fresh)
        results["command"] = shlex.join(["python", "-m", "bench.uplift", *(argv if argv is not None else sys.argv[1:])])
        live(results, wanted)
    print("\n".join(lines(results)))
    return 0


if __name__ == "__main__":
    ended(main)
