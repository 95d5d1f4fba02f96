"""Results of worlds that are lived again and again: a file that grows, so that a run goes on where the one before stopped."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import earnest


@dataclass(frozen=True, slots=True)
class Form:
    """What the results of a bench look like: its name, the version of their form, the parts that hold lives by world, and how the lives of
    one world are written (after its name and a colon)."""

    bench: str
    version: int
    parts: Sequence[str]
    written: Callable[[Sequence[Any]], str]

    def opened(self, out: Path, config: Mapping[str, Any], *, fresh: bool) -> dict[str, Any]:
        """The results to go on with: those of the file if they were made under this configuration, unless it is to begin afresh.

        Raises:
            SystemExit: They were made under another one.
        """
        if fresh or not out.is_file():
            versions = {"earnest": earnest.__version__, "python": platform.python_version()}
            empty: dict[str, Any] = {part: {} for part in self.parts}
            return {"bench": self.bench, "format": self.version, "command": "", "config": config, "versions": versions, **empty}
        kept = self.load(out)
        if kept["config"] != config:
            raise SystemExit(f"{out} was made under another configuration; name another --out, or give --fresh to start anew")
        return kept

    def load(self, path: Path) -> dict[str, Any]:
        """What a file holds. Raises `ValueError` when it is none of this form."""
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if said.get("bench") != self.bench or said.get("format") != self.version:
            raise ValueError(f"{path}: no results of bench.{self.bench} in format {self.version}")
        return said

    def save(self, path: Path, results: Mapping[str, Any]) -> None:
        """Write the file whole or not at all."""
        text = json.dumps({name: value for name, value in results.items() if name not in self.parts}, indent=1)[:-2]
        for part in self.parts:
            worlds = ",\n".join(f"  {json.dumps(name)}: {self.written(lives)}" for name, lives in results[part].items())
            text += f',\n "{part}": {{\n{worlds}\n }}'
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(path.name + ".tmp")
        fresh.write_text(text + "\n}\n", encoding="utf-8", newline="\n")
        fresh.replace(path)


def on_one_line(lives: Sequence[Any]) -> str:
    """All lives of a world on its line."""
    return json.dumps(lives, separators=(",", ":"))


def a_life_a_line(lives: Sequence[Any]) -> str:
    """Each life of a world on a line of its own."""
    rows = ",\n".join(f"   {json.dumps(life, separators=(',', ':'))}" for life in lives)
    return f"[\n{rows}\n  ]"
