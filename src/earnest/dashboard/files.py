"""The dashboard's files, as the package holds them: found by a fixed list, so that no path leads anywhere else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

MEDIA: Final[Mapping[str, str]] = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
INDEX: Final = "index.html"


@dataclass(frozen=True, slots=True)
class File:
    """One file: what it holds, what it is, and a tag that changes when it does."""

    body: bytes
    media: str
    tag: str


@cache
def pages() -> Mapping[str, File]:
    """Every file by the path that it is served under. Read once, about 100 kB."""
    made: dict[str, File] = {}
    for path, item in _walked(files("earnest.dashboard") / "static", "/static"):
        body = item.read_bytes()
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        made[path] = File(body, MEDIA[path.rpartition(".")[2]], tag)
    made["/"] = made.pop(f"/static/{INDEX}")
    return made


def _walked(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for item in sorted(folder.iterdir(), key=lambda one: one.name):
        if item.is_dir():
            yield from _walked(item, f"{path}/{item.name}")
        elif item.name.rpartition(".")[2] in MEDIA:
            yield f"{path}/{item.name}", item
