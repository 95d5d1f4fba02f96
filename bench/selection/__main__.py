"""`python -m bench.selection`: live every arm in every seed, print what came of it, and keep the rows.

    python -m bench.selection --seeds 0-9 --out bench/results/selection.json
    python -m bench.selection --report bench/results/selection.json

Cells that the file has already are not lived again; `--fresh` starts anew.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from bench.selection import results as files
from bench.selection.arms import ARMS, CONSOLIDATE_EVERY, SUBJECT, Cast, K
from bench.selection.cell import Row, run
from bench.selection.corpus import Corpus
from bench.selection.corpus import load as load_corpus
from bench.selection.earnest_arm import EarnestArm
from bench.selection.ranking import SharedRanking
from bench.selection.report import broken_premises, lines
from bench.selection.results import Results
from bench.selection.world import probes

DEFAULT_OUT = Path(__file__).resolve().parents[1] / "results" / "selection.json"


def seeds(text: str) -> list[int]:
    """Seeds from "0-9" or "3,5,100-129"."""
    made: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        made += range(int(first), int(last if dash else first) + 1)
    return list(dict.fromkeys(made))


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments, checked."""
    parser = argparse.ArgumentParser(prog="python -m bench.selection", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=seeds, default=seeds("0-9"), metavar="0-9", help="worlds to live in; a range, a list, or both")
    parser.add_argument("--cycles", type=int, default=30)
    parser.add_argument("--files", type=int, default=12, help="files, and so decisions, in a cycle")
    parser.add_argument("--arms", default=",".join(ARMS), help="comma-separated; all by default")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--fresh", action="store_true", help="forget the rows that the file has")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    wanted = parser.parse_args(argv)
    wanted.arms = [name for name in wanted.arms.split(",") if name]
    unknown = [name for name in wanted.arms if name not in ARMS]
    if unknown:
        parser.error(f"no such arms: {', '.join(unknown)}; there are {', '.join(ARMS)}")
    return wanted


def configured(wanted: argparse.Namespace, corpus: Corpus) -> dict[str, Any]:
    """Everything that makes two rows comparable."""
    return {
        "cycles": wanted.cycles, "files": wanted.files, "k": K, "consolidate_every": CONSOLIDATE_EVERY, "write_experience": False,
        "corpus": f"{corpus.name}.json {corpus.digest} ({len(corpus.lines)} entries)",
        "retriever": f"Earnest's keyword ranking for every arm, floor {SharedRanking().floor}",
    }  # fmt: skip


def opened(path: Path, config: dict[str, Any], *, fresh: bool) -> Results:
    """The results to go on with: those of the file if they were made under this configuration."""
    if fresh or not path.is_file():
        return Results(config)
    found = files.load(path)
    if found.config != config:
        raise SystemExit(f"{path} was made under another configuration; name another --out, or give --fresh to start anew")
    if found.versions != files.versions():
        print(f"note: {path} has rows of other versions, and keeps them; --fresh lives them again", file=sys.stderr)
    return found


def same_ranking(corpus: Corpus) -> str:
    """Asserts that Earnest's memory and the shared ranking of the other arms name the same entry for every probe."""
    ranking, texts = SharedRanking(), [line.text for line in corpus.lines]
    arm = EarnestArm(Cast(corpus, ranking, 0), "classic")
    for probe in probes():
        ranked = ranking.rank(probe.prompt, texts)
        said, wanted = arm.answer(probe.prompt), texts[ranked[0][0]] if ranked else ""
        if said != wanted:
            raise SystemExit(f"the arms do not share one ranking: {probe.prompt!r} gives {said!r} and {wanted!r}")
    return f"the same entry decides in every arm on all {len(probes())} probes"


def live(results: Results, wanted: argparse.Namespace, corpus: Corpus) -> None:
    """Lives the cells that are missing; the file is written after each seed."""
    arms = [arm for arm in ARMS if arm in wanted.arms or (arm == SUBJECT and "random-matched" in wanted.arms)]
    for seed in wanted.seeds:
        for arm in arms:
            if results.get(arm, seed) is None:
                subject = results.get(SUBJECT, seed)
                results.add(run(arm, seed, corpus=corpus, cycles=wanted.cycles, files=wanted.files, subject=subject))
        files.save(wanted.out, results)
        shares = "  ".join(f"{arm} {row.share:+.3f}" for arm in arms if (row := results.get(arm, seed)) is not None)
        print(f"seed {seed}: {shares}", file=sys.stderr, flush=True)


def on_real_disk(results: Results, corpus: Corpus, wanted: argparse.Namespace) -> dict[str, Any]:
    """Lives earnest-classic's cell of one seed with files written out in full; it must be the same row."""
    sparse: Row | None = results.get(SUBJECT, wanted.seeds[0])
    if sparse is None:
        return {}
    real = run(SUBJECT, sparse.seed, corpus=corpus, cycles=wanted.cycles, files=wanted.files, sparse=False)
    if real != sparse:
        raise SystemExit(f"a real disk gives other figures than sparse files: {real} against {sparse}")
    return {"seed": sparse.seed, "arm": SUBJECT, "verdict": f"the same row to the byte (share {real.share:.6f})"}


def main(argv: list[str] | None = None) -> int:
    """Run or report. 1 if the corpus is not what it must be."""
    wanted = parsed(argv)
    if wanted.report is not None:
        results = files.load(wanted.report)
    else:
        corpus = load_corpus()
        results = opened(wanted.out, configured(wanted, corpus), fresh=wanted.fresh)
        said = sys.argv[1:] if argv is None else argv
        results.command = shlex.join(["python", "-m", "bench.selection", *said])
        results.versions = results.versions if results.rows else files.versions()
        results.premises["one ranking"] = same_ranking(corpus)
        live(results, wanted, corpus)
        results.real_disk = on_real_disk(results, corpus, wanted)
        files.save(wanted.out, results)
    print("\n".join(lines(results)))
    return 1 if broken_premises(results) else 0


if __name__ == "__main__":
    sys.exit(main())
