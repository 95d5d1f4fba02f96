"""`python -m bench.ann`: how many of the truly nearest are found among very many vectors, how fast, and what making the lists costs.

    python -m bench.ann --sizes 100000,300000,1000000 --out bench/results/ann.json
    python -m bench.ann --report bench/results/ann.json

Vectors are those of the sentences of `docs/`, by the embedder `local`, and mixtures of two of them with noise; questions are sentences that
are among neither. The real shelf reads them from a real file. Compared are: every vector one by one, the built-in sign bits, the lists of
the extra `ann`. Times are of one thread.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import apsw
import numpy as np

from bench.ending import ended
from bench.selection.statistics import quantile
from bench.speed.machine import described, load
from earnest.core.onethread import one_thread
from earnest.core.vectors import encoded
from earnest.embedders import LocalEmbedder
from earnest.stores.sqlite import ann
from earnest.stores.sqlite.shelf import Shelf

ROOT: Final = Path(__file__).resolve().parents[2]
DEFAULT_OUT: Final = ROOT / "bench" / "results" / "ann.json"
QUESTIONS: Final = 200
DEPTHS: Final = (10, 128)
_CHUNK: Final = 8_192


def sentences() -> list[str]:
    """The sentences of the pages of `docs/`, each once, in a fixed order that has nothing to do with where they stand."""
    found: set[str] = set()
    for page in sorted((ROOT / "docs").glob("*.md")):
        prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
        for piece in re.split(r"(?<=[.!?:;])\s+|\n\n|\n\|", prose):
            said = " ".join(piece.split())
            if 25 < len(said) < 300:
                found.add(said)
    made = sorted(found)
    return [made[place] for place in np.random.default_rng(5).permutation(len(made))]


def base(kept: Path | None) -> Any:
    """float32[n, 384], of length 1: the sentences' vectors; from a file, or made and put there."""
    if kept is not None and kept.is_file():
        return np.load(kept)
    embedder, texts = LocalEmbedder(), sentences()
    raw = np.concatenate([np.asarray(embedder.embed(texts[at : at + 64]), np.float32) for at in range(0, len(texts), 64)])
    made = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    if kept is not None:
        np.save(kept, made)
    return made


def mixed(known: Any, count: int) -> Iterator[Any]:
    """So many vectors of length 1, in chunks: 0.8 of one sentence, 0.45 of another, and noise of length 0.4."""
    rng = np.random.default_rng(1)
    for start in range(0, count, _CHUNK):
        size = min(_CHUNK, count - start)
        one, other = known[rng.integers(len(known), size=size)], known[rng.integers(len(known), size=size)]
        noise = rng.standard_normal((size, known.shape[1]), dtype=np.float32) * np.float32(0.4 / np.sqrt(known.shape[1]))
        made = np.float32(0.8) * one + np.float32(0.45) * other + noise
        yield made / np.linalg.norm(made, axis=1, keepdims=True)


def filled(path: Path, known: Any, count: int) -> apsw.Connection:
    """A file with the tables that a shelf reads. Scope 3 has one side of the first axis, scope 1 the other, scope 2 five entries."""
    db = apsw.Connection(str(path))
    db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
    db.execute(
        "CREATE TABLE entries (entry INTEGER PRIMARY KEY, standing TEXT); CREATE TABLE events (event INTEGER PRIMARY KEY, entries TEXT)"
    )
    db.execute("CREATE TABLE vectors (vector INTEGER PRIMARY KEY, model INTEGER, entry INTEGER, scope INTEGER, kind TEXT, code BLOB)")
    axis = np.linalg.svd(known[:2_000] - known[:2_000].mean(axis=0), full_matrices=False)[2][0]
    middle = float(np.median(known @ axis))
    row = 0
    with db:
        db.execute("INSERT INTO events (entries) VALUES ('[]')")
        for chunk in mixed(known, count):
            scopes = np.where(chunk @ axis > middle, 3, 1).tolist()
            rows = range(row + 1, row + 1 + len(chunk))
            made = [
                (at, 1, at, 2 if at <= 5 else scope, "semantic", code)
                for at, scope, code in zip(rows, scopes, encoded([*chunk]), strict=True)
            ]
            db.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?, ?, ?)", made)
            row += len(chunk)
    return db


def timed(act: Callable[[Any], Any], questions: Sequence[Any]) -> tuple[list[Any], dict[str, float]]:
    """What each question gave, and the times in milliseconds, after one that is not counted."""
    act(questions[0])
    found, wall, cpu = [], [], []
    for question in questions:
        before, start = time.process_time(), time.perf_counter()
        found.append(act(question))
        wall.append(1e3 * (time.perf_counter() - start))
        cpu.append(1e3 * (time.process_time() - before))
    told = {
        "min": min(wall),
        "p50": quantile(wall, 0.5),
        "p95": quantile(wall, 0.95),
        "cpu_p50": quantile(cpu, 0.5),
        "cpu_p95": quantile(cpu, 0.95),
    }
    return found, {name: round(value, 3) for name, value in told.items()}


def share(found: Sequence[Sequence[int]], truth: Sequence[Sequence[int]], depth: int) -> float:
    """Which part of the truly nearest so many was found."""
    hit = sum(len({*one[:depth]} & {*other[:depth]}) for one, other in zip(found, truth, strict=True))
    return round(hit / sum(min(depth, len(other)) for other in truth), 4)


def resident() -> float:
    """The most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _rows(shelf: Shelf, mask: Any, depth: int, question: Any) -> list[int]:
    return shelf.best(question, mask, depth)[0]


def compared(shelf: Shelf, mask: Any, questions: Sequence[Any], lists: Any) -> dict[str, Any]:
    """The three ways on one filter."""

    def every(question: Any) -> list[int]:
        with one_thread():
            places = np.flatnonzero(mask)
            return shelf._first(places, shelf._all_scores(question, len(mask))[places], max(DEPTHS))[0]

    # What is measured is put into its place by hand: nothing is made in the background meanwhile.
    shelf.lists.close()
    made: dict[str, Any] = {}
    truth, made["one by one"] = timed(every, questions)
    for name in ("sign bits", "lists"):
        shelf.lists._made = lists if name == "lists" else None
        for depth in DEPTHS:
            found, times = timed(partial(_rows, shelf, mask, depth), questions)
            made[f"{name}, {depth}"] = times | {"found": share(found, truth, depth)}
    return made


def measured(known: Any, size: int, folder: Path) -> dict[str, Any]:
    """Everything at one size."""
    asked, known = [*np.ascontiguousarray(known[:QUESTIONS])], known[QUESTIONS:]
    db = filled(folder / f"{size}.db", known, size)
    shelf = Shelf(1, known.shape[1])
    start = time.process_time()
    shelf.follow(db)
    made: dict[str, Any] = {"size": size, "shelf_read_s": round(time.process_time() - start, 2)}
    shelf.best(asked[0], shelf.mask(None, None, rules=False), 10)
    before, wall, cpu = resident(), time.perf_counter(), time.process_time()
    lists = ann.Ann(shelf.dimension, shelf._widened, shelf.count)
    made |= {
        "made_s": round(time.perf_counter() - wall, 2),
        "made_cpu_s": round(time.process_time() - cpu, 2),
        "made_peak_mb": round(resident() - before, 1),
    }
    made |= {"lists": lists._lists, "bytes_each": lists._index.code_size + 8}
    made["everything"] = compared(shelf, shelf.mask(None, None, rules=False), asked, lists)
    made["one half"] = compared(shelf, shelf.mask([3], None, rules=False), asked, lists)
    five = shelf.mask([2], None, rules=False)
    made["five of one scope"] = {"found": len(shelf.best(asked[0], five, 10)[0])}
    start = time.process_time()
    shelf._append([(10**9 + at, 1, "semantic", code) for at, code in enumerate(encoded([*known[:1_024]]))])
    lists.take_in(shelf.count)
    made["take_in_us"] = round(1e6 * (time.process_time() - start) / 1_024, 1)
    db.close()
    return made


def lines(results: dict[str, Any]) -> Iterator[str]:
    """The report of a results file."""
    yield f"{results['machine']['cpu']}, {results['machine']['cores']} cores, load {results['machine']['load']}"
    for row in results["sizes"]:
        made = f"{row['lists']} lists made in {row['made_cpu_s']} s of a core"
        yield f"\n{row['size']:,} vectors; shelf read in {row['shelf_read_s']} s; {made}"
        for part in ("everything", "one half"):
            yield f"  {part:24} {'p50 ms':>8} {'p95 ms':>8} {'cpu p50':>8} {'found':>8}"
            for name, told in row[part].items():
                yield f"    {name:22} {told['p50']:8.2f} {told['p95']:8.2f} {told['cpu_p50']:8.2f} {told.get('found', 1.0):8.3f}"


def main(argv: list[str] | None = None) -> int:
    """Measures, or prints what was measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.ann", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", default="100000,300000", help="vectors, comma-separated")
    parser.add_argument("--base", type=Path, help="keep the sentences' vectors in this file, or read them from it")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    wanted = parser.parse_args(argv)
    if wanted.report is not None:
        print("\n".join(lines(json.loads(wanted.report.read_text(encoding="utf-8")))))
        return 0
    known = base(wanted.base)
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        machine = described(Path(folder))
        for size in map(int, wanted.sizes.split(",")):
            before = load()
            sizes.append(measured(known, size, Path(folder)) | {"load": before})
            print(f"{size:,} done", file=sys.stderr, flush=True)
    command = f"python -m bench.ann --sizes {shlex.quote(wanted.sizes)}"
    results = {"format": 1, "command": command, "machine": machine, "sentences": len(known), "questions": QUESTIONS, "sizes": sizes}
    wanted.out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print("\n".join(lines(results)))
    return 0


if __name__ == "__main__":
    ended(main)
