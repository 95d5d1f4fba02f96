"""`python -m bench.month`: live through a scripted month of a repository with real test runs, beside darwin-memo's own `settle-ci`.

    nice python -m bench.month --out bench/results/month.json
    python -m bench.month --report bench/results/month.json

Needs the `bench` dependency group, and a system that can fork.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import earnest
from bench.ending import ended
from bench.month.arms import Darwin, Earnest, Keeper, live
from bench.month.project import Project, script
from bench.month.report import lines, row

DEFAULT_OUT: Final = Path(__file__).resolve().parents[1] / "results" / "month.json"
DAYS: Final = 30.0


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m bench.month", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--changes", type=int, default=200, help="pull requests in the month")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--folder", type=Path, help="where the reports of the runs are kept, so that a later month makes them no more")
    parser.add_argument("--without-darwin", action="store_true", help="only this library")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    return parser.parse_args(argv)


def measured(changes: int, seed: int, folder: Path, kept: Path | None = None, *, darwin: bool = True) -> dict[str, Any]:
    """The month by every arm, on the same runs."""
    project = Project(kept or folder)
    month = script(changes, seed)
    keepers: list[Keeper] = [Earnest(folder, project, hours, DAYS, changes) for hours in (168.0, 24.0)]
    if darwin:
        keepers.append(Darwin(folder, project))
    rows = []
    for keeper in keepers:
        print(f"{keeper.name} …", file=sys.stderr)
        rows.append(row(live(keeper, month)))
    return {
        "bench": "month", "format": 1, "config": {"changes": changes, "days": DAYS, "seed": seed}, "runs": project.count(),
        "versions": {"earnest": earnest.__version__, "python": platform.python_version()}, "arms": rows,
    }  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Run, or report."""
    wanted = parsed(argv)
    if wanted.report:
        result = json.loads(wanted.report.read_text(encoding="utf-8"))
    else:
        with tempfile.TemporaryDirectory() as folder:
            result = measured(wanted.changes, wanted.seed, Path(folder), wanted.folder, darwin=not wanted.without_darwin)
        result["command"] = shlex.join(["python", "-m", "bench.month", *(sys.argv[1:] if argv is None else argv)])
        wanted.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines(result)))
    return 0


if __name__ == "__main__":
    ended(main)
