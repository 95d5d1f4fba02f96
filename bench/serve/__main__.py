"""`python -m bench.serve`: eight clients on one service, search and decide in turn, for as many requests as asked for.

    python -m bench.serve --folder DIR --requests 100000 --out bench/results/serve.json
    python -m bench.serve --quick
    python -m bench.serve --report bench/results/serve.json

The results are written after every chunk; a run that was interrupted goes on where it stopped, on the same folder. `--quick` shows that
the bench works, not how fast the service is.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from bench.ending import ended
from bench.serve.load import Service, chunk, clients_pool
from bench.serve.report import lines, memory_of
from bench.speed.machine import described, load
from bench.speed.texts import Texts
from earnest import Memory

CHUNK: Final = 1_000
KINDS: Final = ("search", "decide")
FORMAT: Final = 1


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m bench.serve", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--requests", type=int, default=100_000, help="questions in all (100,000); a decision is settled by one request more"
    )
    parser.add_argument("--clients", type=int, default=8, help="clients that ask at the same time, each on a connection of its own (8)")
    parser.add_argument("--entries", type=int, default=10_000, help="memories in the store (10,000)")
    parser.add_argument("--chunk", type=int, default=CHUNK, help="questions between two looks at the service's memory (1,000)")
    parser.add_argument("--folder", type=Path, default=None, help="the root folder; kept, so that a run can go on (else a temporary one)")
    parser.add_argument("--out", type=Path, default=None, help="results file, written after every chunk")
    parser.add_argument("--quick", action="store_true", help="few requests: to see that it works")
    parser.add_argument(
        "--memory-of", type=Path, metavar="FILE", help="put the memory of another run, without its times, into the results of --out"
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    wanted = parser.parse_args(argv)
    if wanted.memory_of is not None and wanted.out is None:
        parser.error("--memory-of needs --out, the results to put it into")
    if wanted.quick:
        wanted.requests, wanted.entries, wanted.chunk = min(wanted.requests, 1_000), min(wanted.entries, 1_000), min(wanted.chunk, 100)
    return wanted


def prepared(root: Path, entries: int) -> list[str]:
    """The texts of the store, which is made if it is not there."""
    texts = Texts(seed=11).memories(entries)
    with Memory.open(root, "bench", embedder="none") as memory:
        held = memory.stats().total
        if held < entries:
            memory.add_many([{"text": text, "sources": ["bench"]} for text in texts[held:]])
        # Nobody starves while the service is measured.
        memory.configure(rent=0.0)
    return texts


def run(wanted: argparse.Namespace, root: Path) -> dict[str, Any]:
    """All chunks that are not there yet."""
    made = _begun(wanted, root)
    made["runs"] += 1
    texts, asking = prepared(root, wanted.entries), Texts(seed=13 + made["runs"])
    service = Service(root)
    try:
        with clients_pool(wanted.clients) as pool:
            # Everything is loaded, and every client known, before the first chunk is timed.
            chunk(pool, service.port, "decide", [asking.question(texts[0])] * 2 * wanted.clients, wanted.clients)
            done = sum(one["questions"] for one in made["chunks"])
            while done < wanted.requests:
                questions = [asking.question(texts[asking.pick(len(texts))]) for _ in range(min(wanted.chunk, wanted.requests - done))]
                kind = KINDS[len(made["chunks"]) % len(KINDS)]
                one = chunk(pool, service.port, kind, questions, wanted.clients)
                one |= {"questions": len(questions), "resident": service.resident(), "files": service.files(), "run": made["runs"]}
                made["chunks"].append(one | {"load": load()})
                done += len(questions)
                _kept(wanted, made)
                print(f"{done:,} of {wanted.requests:,}", file=sys.stderr, flush=True)
    finally:
        service.end()
    with Memory.open(root, "bench") as memory:
        made["whole"] = memory.check().ok
        made["pending"] = memory.stats().pending
    _kept(wanted, made)
    return made


def _begun(wanted: argparse.Namespace, root: Path) -> dict[str, Any]:
    same = {"clients": wanted.clients, "entries": wanted.entries, "chunk": wanted.chunk}
    if wanted.out is not None and wanted.out.exists():
        made: dict[str, Any] = json.loads(wanted.out.read_text(encoding="utf-8"))
        if made["format"] != FORMAT or any(made[name] != value for name, value in same.items()):
            raise SystemExit(f"{wanted.out} is of another run; name another --out, or remove it")
        return made
    return {"format": FORMAT, **same, "machine": described(root), "runs": 0, "chunks": []}


def _kept(wanted: argparse.Namespace, made: dict[str, Any]) -> None:
    if wanted.out is not None:
        part = wanted.out.with_name(wanted.out.name + ".tmp")
        part.write_text(json.dumps(made) + "\n", encoding="utf-8")
        part.replace(wanted.out)


def main(argv: list[str] | None = None) -> int:
    """Run, and print the report."""
    wanted = parsed(argv)
    if wanted.memory_of is not None:
        made = json.loads(wanted.out.read_text(encoding="utf-8"))
        made["long"] = memory_of(json.loads(wanted.memory_of.read_text(encoding="utf-8")))
        _kept(wanted, made)
    elif wanted.report is not None:
        made = json.loads(wanted.report.read_text(encoding="utf-8"))
    elif wanted.folder is not None:
        wanted.folder.mkdir(parents=True, exist_ok=True)
        made = run(wanted, wanted.folder)
    else:
        with tempfile.TemporaryDirectory(prefix="earnest-serve-") as folder:
            made = run(wanted, Path(folder))
    print("\n".join(lines(made)))
    return 0


if __name__ == "__main__":
    ended(main)
