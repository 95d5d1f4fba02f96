"""The one corpus that every arm starts from, as it is committed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent / "corpus"


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the corpus: what it says and where it is from."""

    id: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Fixed entries, and which sources lie. `digest` changes with any letter."""

    name: str
    lines: tuple[Line, ...]
    poisoned: frozenset[str]
    digest: str

    def is_poisoned(self, sources: Iterable[str]) -> bool:
        """Whether any of these sources lies: an entry made from a good and a lying one is poisoned too."""
        return not self.poisoned.isdisjoint(sources)


def load(name: str = "storage") -> Corpus:
    """The committed corpus of that name. Raises `ValueError` when an entry names a source that is not described."""
    raw = (FOLDER / f"{name}.json").read_bytes()
    said = json.loads(raw)
    lines = tuple(Line(item["id"], item["text"], item["source"]) for item in said["entries"])
    unknown = {line.source for line in lines} - set(said["sources"])
    if unknown or len({line.id for line in lines}) != len(lines):
        raise ValueError(f"{name}.json: sources that are not described {sorted(unknown)}, or an id that is there twice")
    poisoned = frozenset(source for source, about in said["sources"].items() if about["poisoned"])
    return Corpus(name, lines, poisoned, hashlib.sha256(raw).hexdigest()[:16])
