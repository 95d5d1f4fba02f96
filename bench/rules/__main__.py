"""`python -m bench.rules`: rules whose effect is known stand trial; prints which were let in, wrongly and rightly, and how long it took.

    python -m bench.rules --out bench/results/rules.json
    python -m bench.rules --report bench/results/rules.json

Lives that the file has already are not lived again; `--fresh` starts anew.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from bench.ending import ended
from bench.lived import Form, a_life_a_line
from bench.rules.report import lines
from bench.rules.worlds import SHIFTS, WORLDS, live, watch
from earnest.core.gate import ALPHA, EVERY

DEFAULT_OUT: Final = Path(__file__).resolve().parents[1] / "results" / "rules.json"
RESULTS: Final = Form("rules", 1, ("worlds", "shifts"), a_life_a_line)
_CHUNK: Final = 20


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m bench.rules", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=200, help="lives in each world")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--fresh", action="store_true", help="forget the lives that the file has")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    return parser.parse_args(argv)


def run(results: dict[str, Any], wanted: argparse.Namespace) -> None:
    """Lives what is missing; the file is written every few lives. A life is its verdicts, by initial, and the outcomes each needed."""
    for name, world in WORLDS.items():
        lives = results["worlds"].setdefault(name, [])
        while len(lives) < wanted.seeds:
            for seed in range(len(lives), min(len(lives) + _CHUNK, wanted.seeds)):
                lived = live(world, f"rules:{name}:{seed}")
                lives.append(["".join(verdict[0] for verdict in lived.verdicts), lived.needed])
            RESULTS.save(wanted.out, results)
        print(f"{name}: {len(lives)} lives", file=sys.stderr, flush=True)
    for name, shift in SHIFTS.items():
        results["shifts"][name] = [[watch(shift, f"rules:{name}:{seed}")] for seed in range(wanted.seeds)]
    RESULTS.save(wanted.out, results)


def main(argv: list[str] | None = None) -> int:
    """Run or report."""
    wanted = parsed(argv)
    if wanted.report is not None:
        results = RESULTS.load(wanted.report)
    else:
        config = {"alpha": ALPHA, "every": EVERY, "seed": "rules:WORLD:LIFE"}
        results = RESULTS.opened(wanted.out, config, fresh=wanted.fresh)
        results["command"] = shlex.join(["python", "-m", "bench.rules", *(argv if argv is not None else sys.argv[1:])])
        run(results, wanted)
    print("\n".join(lines(results)))
    return 0


if __name__ == "__main__":
    ended(main)
