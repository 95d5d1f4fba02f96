"""`python -m bench.athome`: does memory help a model of your own, and does it matter who tells memory how it went?

    python -m bench.athome --model ollama:llama3.2
    python -m bench.athome --model openai:qwen3 --base-url http://127.0.0.1:8000/v1
    python -m bench.athome --report athome.json

Arms: `evidence` (memory is told what was measured), `judge` (memory is told what the model thinks of the advice), `memory-off`. A file is
written after every life, and lives that it has are not lived again. It asks a model some thousand times: at home, never in CI.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import earnest
from bench.athome.arms import ARMS, WORLDS, live
from bench.athome.report import lines
from bench.ending import ended
from bench.selection.results import unfolded
from earnest.core.models import model_spec
from earnest.errors import EarnestError
from earnest.llms import OllamaLLM, OpenAILLM, made
from earnest.protocols import LLM

FORMAT: Final = 1
_ROUND: Final = 5


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The arguments, checked."""
    parser = argparse.ArgumentParser(prog="python -m bench.athome", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", default="ollama:llama3.2", help="a spec: ollama:NAME, openai:NAME, …")
    parser.add_argument("--base-url", default=None, help="where that model's server is, if not where its environment variable says")
    parser.add_argument("--worlds", default="storage,suite")
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--seeds", type=unfolded, default=[*range(8)], metavar="0-7")
    parser.add_argument("--cycles", type=int, default=6)
    parser.add_argument("--out", type=Path, default=Path("athome.json"))
    parser.add_argument("--fresh", action="store_true", help="forget the lives that the file has")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only print the table of a file")
    wanted = parser.parse_args(argv)
    wanted.worlds, wanted.arms = wanted.worlds.split(","), wanted.arms.split(",")
    unknown = [name for name in wanted.worlds if name not in WORLDS] + [name for name in wanted.arms if name not in ARMS]
    if unknown or wanted.cycles < 1:
        parser.error(f"no such worlds or arms: {', '.join(unknown)}" if unknown else "--cycles must be 1 or more")
    return wanted


def chosen(spec: str, base_url: str | None) -> LLM:
    """The model. Raises `InvalidInput` or `NotAvailable`, which say what is missing, and `SystemExit` for a server that cannot be named."""
    if base_url is None:
        return made(spec)
    kind, _, name = model_spec(spec).partition(":")
    if kind not in ("ollama", "openai"):
        raise SystemExit(f"--base-url goes with ollama:NAME or openai:NAME (any server that speaks its interface), not with {spec}")
    return OllamaLLM(name, base_url=base_url) if kind == "ollama" else OpenAILLM(name, base_url=base_url)


def opened(wanted: argparse.Namespace) -> dict[str, Any]:
    """The lives to go on with. Raises `SystemExit` for a file of another model or length."""
    config = {"model": wanted.model, "cycles": wanted.cycles}
    if wanted.fresh or not wanted.out.is_file():
        return {
            "bench": "athome", "format": FORMAT, "config": config,
            "versions": {"earnest": earnest.__version__, "python": platform.python_version()}, "lives": {},
        }  # fmt: skip
    kept = load(wanted.out)
    if kept["config"] != config:
        raise SystemExit(f"{wanted.out} holds lives of {kept['config']}; name another --out, or give --fresh to start anew")
    return kept


def load(path: Path) -> dict[str, Any]:
    """What a file holds. Raises `SystemExit` when it is none of this bench's."""
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SystemExit(f"{path} is no JSON: {error}") from None
    if said.get("bench") != "athome" or said.get("format") != FORMAT:
        raise SystemExit(f"{path} holds no lives of bench.athome in format {FORMAT}")
    return said


def save(said: dict[str, Any], path: Path) -> None:
    """Writes the file whole or not at all."""
    part = path.with_name(path.name + ".tmp")
    part.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    part.replace(path)


def lived(wanted: argparse.Namespace, said: dict[str, Any]) -> bool:
    """Lives what is missing, seed by seed, so that arms can be compared whenever it is stopped. False where the model stopped replying."""
    model = chosen(wanted.model, wanted.base_url)
    for seed in wanted.seeds:
        for world in wanted.worlds:
            for arm in wanted.arms:
                known = said["lives"].setdefault(world, {}).setdefault(arm, {})
                if str(seed) in known:
                    continue
                try:
                    life = asdict(live(world, arm, seed, wanted.cycles, model))
                except EarnestError as error:
                    print(f"{world}, {arm}, seed {seed}: {error}\nWhat was lived before is kept; run it again to go on.", file=sys.stderr)
                    return False
                known[str(seed)] = {name: round(value, _ROUND) for name, value in life.items()}
                save(said, wanted.out)
                print(f"{world}, {arm}, seed {seed}: share {life['share']:+.3f}", file=sys.stderr, flush=True)
    return True


def main(argv: list[str] | None = None) -> int:
    """Live or report. 1 if the model stopped replying."""
    wanted = parsed(argv)
    if wanted.report:
        print("\n".join(lines(load(wanted.report))))
        return 0
    said = opened(wanted)
    whole = lived(wanted, said)
    print("\n".join(lines(said)))
    return 0 if whole else 1


if __name__ == "__main__":
    ended(main)
