"""`python -m tests.cases FILE [--surface python|cli|all] [--case ID]`."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .files import SURFACES, results_of
from .model import Result


def main() -> int:
    """Play a file, print a line for every case and surface, and a summary."""
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description="Play a file of cases, or a table of rows that are cases.")
    parser.add_argument("file", type=Path, help="JSON Lines; see tests/cases/README.md")
    parser.add_argument("--surface", choices=(*SURFACES, "all"), default="all")
    parser.add_argument("--case", action="append", metavar="ID", help="only this case; repeat for several")
    args = parser.parse_args()
    if not args.file.is_file():
        parser.error(f"{args.file}: there is no such file")
    surfaces = SURFACES if args.surface == "all" else (args.surface,)
    played = [*_told(results_of(args.file, surfaces, args.case))]
    if not played:
        print("no such case in this file" if args.case else "this file holds no cases")
        return 1
    absent = sorted({(result.id, str(left)) for result in played for left in result.left})
    if absent:
        print("\nleft out:")
        for case, why in absent:
            print(f"  {case:<24} {why}")
    counts = Counter("failed" if r.failures else "ok" if r.applied else "not applicable" for r in played)
    print("\n" + ", ".join(f"{counts[name]} {name}" for name in ("ok", "failed", "not applicable")))
    return 1 if counts["failed"] else 0


def _told(results: Iterator[Result]) -> Iterator[Result]:
    for result in results:
        print(result.line(), flush=True)
        yield result


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        # Whoever read has seen enough; what is left must not be flushed at exit, which would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
