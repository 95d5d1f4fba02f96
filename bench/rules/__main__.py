"""`python -m bench.rules`: rules whose effect is known stand trial; prints which were let in, wrongly and rightly, and how long it took.

    python -m bench.rules --out bench/results/rules.json
    python -m bench.rules --report bench/results/rules.json

Lives that the file has already are not lived again; `--fresh` starts anew.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import sys
from pathlib import Path
from typing import Any, Final

import earnest
from bench.ending import ended
from bench.rules.report import lines
from bench.rules.worlds import SHIFTS, WORLDS, live, watch
from earnest.core.gate import ALPHA, EVERY

DEFAULT_OUT: Final = Path(__file__).resolve().parents[1] / "results" / "rules.json"
FORMAT: Final = 1
_CHUNK: Final = 20


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m bench.rules", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=200, help="lives in each world")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--fresh", action="store_true", help="forget the lives that the file has")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    return parser.parse_args(argv)


def opened(wanted: argparse.Namespace) -> dict[str, Any]:
    """The results to go on with: those of the file if they were made under this configuration."""
    config = {"alpha": ALPHA, "every": EVERY, "seed": "rules:WORLD:LIFE"}
    made: dict[str, Any] = {
        "bench": "rules", "format": FORMAT, "command": "", "config": config,
        "versions": {"earnest": earnest.__version__, "python": platform.python_version()}, "worlds": {}, "shifts": {},
    }  # fmt: skip
    if wanted.fresh or not wanted.out.is_file():
        return made
    kept = load(wanted.out)
    if kept["config"] != config:
        raise SystemExit(f"{wanted.out} was made under another configuration; name another --out, or give --fresh to start anew")
    return kept


def load(path: Path) -> dict[str, Any]:
    """What a file holds. Raises `ValueError` when it is none of this format."""
    said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if said.get("bench") != "rules" or said.get("format") != FORMAT:
        raise ValueError(f"{path}: no results of bench.rules in format {FORMAT}")
    return said


def save(path: Path, results: dict[str, Any]) -> None:
    """Write the file whole or not at all, one life a line."""
    head = {name: value for name, value in results.items() if name not in ("worlds", "shifts")}
    text = json.dumps(head, indent=1)[:-2]
    for part in ("worlds", "shifts"):
        worlds = []
        for name, lives in results[part].items():
            rows = ",\n".join(f"   {json.dumps(life, separators=(',', ':'))}" for life in lives)
            worlds.append(f"  {json.dumps(name)}: [\n{rows}\n  ]")
        joined = ",\n".join(worlds)
        text += f',\n "{part}": {{\n{joined}\n }}'
    path.parent.mkdir(parents=True, exist_ok=True)
    part_file = path.with_name(path.name + ".tmp")
    part_file.write_text(text + "\n}\n", encoding="utf-8", newline="\n")
    part_file.replace(path)


def run(results: dict[str, Any], wanted: argparse.Namespace) -> None:
    """Lives what is missing; the file is written every few lives. A life is its verdicts, by initial, and the outcomes each needed."""
    for name, world in WORLDS.items():
        lives = results["worlds"].setdefault(name, [])
        while len(lives) < wanted.seeds:
            for seed in range(len(lives), min(len(lives) + _CHUNK, wanted.seeds)):
                lived = live(world, f"rules:{name}:{seed}")
                lives.append(["".join(verdict[0] for verdict in lived.verdicts), lived.needed])
            save(wanted.out, results)
        print(f"{name}: {len(lives)} lives", file=sys.stderr, flush=True)
    for name, shift in SHIFTS.items():
        results["shifts"][name] = [[watch(shift, f"rules:{name}:{seed}")] for seed in range(wanted.seeds)]
    save(wanted.out, results)


def main(argv: list[str] | None = None) -> int:
    """Run or report."""
    wanted = parsed(argv)
    if wanted.report is not None:
        results = load(wanted.report)
    else:
        results = opened(wanted)
        results["command"] = shlex.join(["python", "-m", "bench.rules", *(argv if argv is not None else sys.argv[1:])])
        run(results, wanted)
    print("\n".join(lines(results)))
    return 0


if __name__ == "__main__":
    ended(main)
