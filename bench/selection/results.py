"""Results files: one a world, every row by seed, with what it takes to live it again. Columns that never change are one number."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import earnest
from bench.selection.live import Row

FORMAT: Final = 2
FOLDER: Final = Path(__file__).resolve().parent / "results"
COLUMNS: Final = tuple(f.name for f in fields(Row) if f.name != "curve")
_ROUND: Final = {"share": 5, "harm": 2, "benign": 3, "safe": 3, "grounded": 2, "looks": 3, "rate": 3, "alarm": 3, "lies": 3}
_SOURCES: Final = (
    "core/evidence.py",
    "core/evidence_state.py",
    "core/learning.py",
    "core/baseline.py",
    "core/sizes.py",
    "core/credit.py",
    "core/ranking.py",
)

Key = tuple[str, str]
"""A setting and an arm."""


@dataclass(slots=True)
class Results:
    """The rows of one world: by (setting, arm), then by seed. `made` says by which sources."""

    world: str
    made: dict[str, str] = field(default_factory=dict)
    rows: dict[Key, dict[int, Row]] = field(default_factory=dict)

    def add(self, setting: str, arm: str, seed: int, row: Row) -> None:
        """Take a row in."""
        self.rows.setdefault((setting, arm), {})[seed] = rounded(row)

    def has(self, setting: str, arm: str, seed: int) -> bool:
        """Whether a cell was lived."""
        return seed in self.rows.get((setting, arm), {})

    def of(self, setting: str, arm: str, seeds: Sequence[int]) -> list[Row]:
        """The rows of these seeds, in their order; those that were lived."""
        found = self.rows.get((setting, arm), {})
        return [found[seed] for seed in seeds if seed in found]


def rounded(row: Row) -> Row:
    """A row as a file keeps it."""
    return Row(**{name: round(getattr(row, name), _ROUND[name]) if name in _ROUND else getattr(row, name) for name in COLUMNS})


def sources() -> dict[str, str]:
    """What took part: a digest of the rules' sources, so that rows of another state are known for what they are."""
    digest = hashlib.sha256()
    root = Path(earnest.__file__).resolve().parent
    for name in _SOURCES:
        digest.update(name.encode() + b"\0" + (root / name).read_bytes())
    for path in sorted(Path(__file__).resolve().parent.glob("corpus/*.json")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return {"earnest": earnest.__version__, "rules": digest.hexdigest()[:16], "python": platform.python_version()}


def path_of(world: str, folder: Path = FOLDER) -> Path:
    """The file of a world."""
    named = world.replace("%", " percent").replace("drift +", "drift up").replace("drift -", "drift down").replace("drift ~", "drift wave")
    return folder / (re.sub(r"[^a-z0-9]+", "-", named).strip("-") + ".json")


def load(world: str, folder: Path = FOLDER) -> Results:
    """What a world's file holds; nothing if there is none. Raises `ValueError` for a file of another format."""
    path = path_of(world, folder)
    if not path.is_file():
        return Results(world)
    said = json.loads(path.read_text(encoding="utf-8"))
    if said.get("bench") != "selection" or said.get("format") != FORMAT or said.get("world") != world:
        raise ValueError(f"{path}: no results of bench.selection for {world!r} in format {FORMAT}")
    made = Results(world, said["made"])
    for cell in said["cells"]:
        seeds = unfolded(cell["seeds"])
        columns = {name: value if isinstance(value, list) else [value] * len(seeds) for name, value in cell["rows"].items()}
        for place, seed in enumerate(seeds):
            made.rows.setdefault((cell["setting"], cell["arm"]), {})[seed] = Row(**{name: columns[name][place] for name in COLUMNS})
    return made


def save(results: Results, folder: Path = FOLDER) -> None:
    """Write a world's file whole or not at all, one cell a line."""
    cells = []
    for (setting, arm), rows in sorted(results.rows.items()):
        seeds = sorted(rows)
        columns: dict[str, Any] = {}
        for name in COLUMNS:
            values = [getattr(rows[seed], name) for seed in seeds]
            columns[name] = values[0] if len(set(values)) == 1 else values
        cells.append(json.dumps({"setting": setting, "arm": arm, "seeds": folded(seeds), "rows": columns}, separators=(",", ":")))
    command = f'python -m bench.selection --worlds "{results.world}"'
    head = json.dumps({"bench": "selection", "format": FORMAT, "world": results.world, "command": command, "made": results.made})
    text = head[:-1] + ', "cells": [\n' + ",\n".join(cells) + "\n]}\n"
    path = path_of(results.world, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".tmp")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)


def folded(seeds: Sequence[int]) -> str:
    """Seeds as ranges: "0-29,100-129"."""
    parts: list[list[int]] = []
    for seed in seeds:
        if parts and seed == parts[-1][1] + 1:
            parts[-1][1] = seed
        else:
            parts.append([seed, seed])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def unfolded(text: str) -> list[int]:
    """Seeds from "0-9" or "3,5,100-129"."""
    made: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        made += range(int(first), int(last if dash else first) + 1)
    return list(dict.fromkeys(made))
