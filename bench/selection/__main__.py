"""`python -m bench.selection`: live every arm in every world and seed, keep the rows, and print what came of them.

python -m bench.selection                                   the whole matrix; what the files have is not lived again
python -m bench.selection --worlds "persist 4,late 6"       some of it
python -m bench.selection --rule                            live again what the evidence rule has a part in
python -m bench.selection --report                          only print, from the committed rows
python -m bench.selection --trials                          hold the trials beside the matrix (revocation, the free rider)
python -m bench.selection --docs                            write the report's tables and plots into docs/
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path

from bench.ending import ended
from bench.selection import matrix, report, results, trials
from bench.selection.live import Row
from bench.selection.worlds import WORLDS

Job = tuple[str, str, str, int]


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments, checked."""
    parser = argparse.ArgumentParser(prog="python -m bench.selection", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--worlds", default=",".join(name.replace(",", ";") for name in WORLDS), help="all by default; ';' for a comma in a name"
    )
    parser.add_argument("--arms", default="", help="comma-separated; all by default")
    parser.add_argument("--seeds", type=results.unfolded, default=[*matrix.TUNING, *matrix.HELD_OUT], metavar="0-29,100-129")
    parser.add_argument("--no-ablations", action="store_true", help="leave the ablations out (seeds 200-211)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", type=Path, default=results.FOLDER)
    parser.add_argument("--fresh", action="store_true", help="forget the rows that the files have")
    parser.add_argument("--rule", action="store_true", help="forget the rows that the evidence rule had a part in, after it was changed")
    parser.add_argument("--trials", action="store_true", help="hold the trials beside the matrix instead")
    parser.add_argument("--report", action="store_true", help="only print the report of the rows that there are")
    parser.add_argument("--docs", action="store_true", help="write the tables and plots of docs/benchmark.md")
    wanted = parser.parse_args(argv)
    wanted.worlds = [name.strip().replace(";", ",") for name in wanted.worlds.split(",")]
    wanted.arms = [name for name in wanted.arms.split(",") if name]
    unknown = [name for name in wanted.worlds if name not in WORLDS]
    if unknown:
        parser.error(f"no such worlds: {', '.join(unknown)}; there are {', '.join(WORLDS)}")
    return wanted


def missing(world: str, have: results.Results, wanted: argparse.Namespace) -> Iterator[Job]:
    """The cells of a world that were not lived yet."""
    for setting in WORLDS[world].settings:
        for arm in matrix.arms_in(WORLDS[world], setting):
            if not wanted.arms or arm in wanted.arms:
                for seed in wanted.seeds:
                    if not have.has(setting, arm, seed) and (seed not in matrix.TUNING or matrix.tuned(world, setting, arm)):
                        yield world, setting, arm, seed
        if (world, setting) in matrix.ABLATION_WORLDS and not wanted.no_ablations and not wanted.arms:
            for arm in matrix.ablations_in(world, setting):
                for seed in matrix.ABLATED:
                    if not have.has(setting, arm, seed):
                        yield world, setting, arm, seed


def lived(job: Job) -> tuple[Job, Row]:
    """One cell, in a worker."""
    return job, matrix.run(*job)


def live(wanted: argparse.Namespace) -> None:
    """Lives the cells that are missing; a world's file is written when all of its cells are there."""
    sources = results.sources()
    with Pool(wanted.jobs) as pool:
        for world in wanted.worlds:
            have = results.Results(world) if wanted.fresh else results.load(world, wanted.folder)
            if wanted.rule:
                have = results.Results(world, sources, {key: rows for key, rows in have.rows.items() if not matrix.by_rule(key[1])})
            if have.rows and have.made != sources:
                print(f"note: the rows of {world} are of other sources, and are kept; --fresh lives them again", file=sys.stderr)
            jobs = sorted(missing(world, have, wanted), key=lambda job: (job[3], job[1], job[2]))
            if not jobs:
                continue
            begun = time.perf_counter()
            have.made = have.made if have.rows else sources
            for (_, setting, arm, seed), row in pool.imap_unordered(lived, jobs, chunksize=12):
                have.add(setting, arm, seed, row)
            results.save(have, wanted.folder)
            print(f"{world}: {len(jobs)} cells in {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)


def main(argv: list[str] | None = None) -> int:
    """Run or report. 1 if the corpus is not what it must be."""
    wanted = parsed(argv)
    if wanted.trials:
        trials.held(fresh=wanted.fresh or wanted.rule)
    elif not wanted.report and not wanted.docs:
        live(wanted)
    found = report.read(wanted.folder)
    if wanted.docs:
        for path in report.write_docs(found):
            print(path)
    else:
        print(report.page(found))
    broken = report.broken_premises(found)
    for wrong in broken:
        print(f"BROKEN: {wrong}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    ended(main)
