"""`python -m bench.mcp`: how soon the MCP server answers its client, beside an empty server on the same SDK, started in turn in one run.

    python -m bench.mcp --rounds 20 --out bench/results/mcp.json
    python -m bench.mcp --quick
    python -m bench.mcp --report bench/results/mcp.json

Every round starts each server once, in an order that is drawn, so that whatever else the machine does hits all of them. `--quick` shows
that the bench works, not how fast the server is.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path
from typing import Any, Final

from bench.ending import ended
from bench.mcp.report import lines
from bench.mcp.starting import ARMS, Started, calls, started
from bench.speed.machine import described, load
from bench.speed.texts import Texts
from earnest import Memory

FORMAT: Final = 1


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m bench.mcp", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=20, help="how often each server is started (20)")
    parser.add_argument("--calls", type=int, default=200, help="calls of each tool on a server that is warm (200)")
    parser.add_argument("--entries", type=int, default=10_000, help="memories in the store (10,000)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the starts (1)")
    parser.add_argument("--out", type=Path, default=None, help="results file")
    parser.add_argument("--quick", action="store_true", help="few repetitions: to see that it works")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the report of a results file")
    wanted = parser.parse_args(argv)
    if wanted.quick:
        wanted.rounds, wanted.calls, wanted.entries = min(wanted.rounds, 2), min(wanted.calls, 10), min(wanted.entries, 200)
    return wanted


def measured(wanted: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Start every server in turn, then call a warm one."""
    texts = Texts(seed=11).memories(wanted.entries)
    store = folder / "memory.db"
    with Memory.open(store, embedder="none") as memory:
        memory.add_many([{"text": text, "sources": ["bench"]} for text in texts])
    draw = random.Random(wanted.seed)
    starts: dict[str, list[Started]] = {arm: [] for arm in ARMS}
    before = load()
    for round_number in range(wanted.rounds):
        for arm in draw.sample(ARMS, len(ARMS)):
            starts[arm].append(started(arm, folder / f"new-{round_number}.db" if arm == "earnest, new store" else store))
    return {
        "format": FORMAT,
        "command": f"python -m bench.mcp --rounds {wanted.rounds} --calls {wanted.calls} --entries {wanted.entries} --seed {wanted.seed}",
        "machine": described(folder), "load": [before, load()], "rounds": wanted.rounds, "entries": wanted.entries, "seed": wanted.seed,
        "starts": {arm: [one._asdict() for one in made] for arm, made in starts.items()},
        "calls": calls(store, texts, wanted.calls),
    }  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Measure and print, or only print."""
    wanted = parsed(argv)
    if wanted.report:
        print("\n".join(lines(json.loads(wanted.report.read_text(encoding="utf-8")))))
        return 0
    with tempfile.TemporaryDirectory(prefix="earnest-mcp-") as place:
        results = measured(wanted, Path(place))
    if wanted.out is not None and not wanted.quick:
        wanted.out.parent.mkdir(parents=True, exist_ok=True)
        wanted.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines(results)))
    return 0


if __name__ == "__main__":
    ended(main)
