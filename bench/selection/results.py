"""The results file: every row that was lived, with what it takes to live it again."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import apsw

import earnest
from bench.selection.cell import Row

FORMAT: Final = 1
_SOURCE: Final = Path(earnest.__file__).resolve().parent


@dataclass(slots=True)
class Results:
    """Rows under one configuration. `real_disk` and `premises` are what the run asserted."""

    config: dict[str, Any]
    command: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    premises: dict[str, Any] = field(default_factory=dict)
    real_disk: dict[str, Any] = field(default_factory=dict)
    rows: dict[tuple[str, str, int], Row] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Take a row in."""
        self.rows[row.world, row.arm, row.seed] = row

    def get(self, arm: str, seed: int, world: str = "honest") -> Row | None:
        """The row of a cell, if it was lived."""
        return self.rows.get((world, arm, seed))

    def of(self, arm: str, world: str = "honest") -> dict[int, Row]:
        """The rows of an arm, by seed."""
        return {row.seed: row for row in sorted(self.rows.values(), key=lambda r: r.seed) if row.arm == arm and row.world == world}


def versions() -> dict[str, str]:
    """What took part. `source` is a digest of Earnest's own code, so that rows of an earlier state are known for what they are."""
    digest = hashlib.sha256()
    for path in sorted(_SOURCE.rglob("*.py")):
        digest.update(path.relative_to(_SOURCE).as_posix().encode() + b"\0" + path.read_bytes())
    try:
        darwin = version("darwin-memo")
    except PackageNotFoundError:
        darwin = "not installed"
    return {
        "earnest": earnest.__version__, "source": digest.hexdigest()[:16], "darwin-memo": darwin, "python": platform.python_version(),
        "apsw": apsw.apsw_version(), "sqlite": apsw.sqlite_lib_version(),
    }  # fmt: skip


def load(path: Path) -> Results:
    """What a file holds. Raises `ValueError` when it is none of this format."""
    said = json.loads(path.read_text(encoding="utf-8"))
    if said.get("bench") != "selection" or said.get("format") != FORMAT:
        raise ValueError(f"{path}: no results of bench.selection in format {FORMAT}")
    made = Results(said["config"], said["command"], said["versions"], said["premises"], said["real_disk"])
    for row in said["rows"]:
        made.add(Row.read(row))
    return made


def save(path: Path, results: Results) -> None:
    """Write the file whole or not at all, one row a line."""
    head = {
        "bench": "selection", "format": FORMAT, "command": results.command, "config": results.config, "versions": results.versions,
        "premises": results.premises, "real_disk": results.real_disk,
    }  # fmt: skip
    rows = ",\n".join(f"  {json.dumps(results.rows[key].said())}" for key in sorted(results.rows))
    text = json.dumps(head, indent=1, ensure_ascii=False)[:-2] + f',\n "rows": [\n{rows}\n ]\n}}\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".tmp")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)
