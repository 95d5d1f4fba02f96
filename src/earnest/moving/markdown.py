"""An export for people: the living entries as Markdown, under their scopes and kinds, with everything that is told about each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from typing import IO, Any, Final

from earnest.core import filters
from earnest.core.entry import KINDS, Entry
from earnest.core.filters import ALL, Filter
from earnest.core.paging import paged
from earnest.protocols import Reading

_MARKS: Final = re.compile(r"([\\`*_{}\[\]<>#|~])")
_START: Final = re.compile(r"^(\s*)([-+>=]|\d+[.)])", re.MULTILINE)


def living(reading: Reading, scope: Any) -> Iterator[Entry]:
    """The living entries, by scope, then kind, then age. Raises InvalidInput."""
    asked = filters.checked(scope=ALL if scope is None else scope)
    scopes = asked.scopes
    if scopes is None:
        scopes = tuple(name for name, _ in reading.totals()["scopes"])
    for name in scopes:
        for kind in KINDS:
            chosen = Filter(scopes=(name,), kinds=(kind,), standings=("active", "suspended"), rules=True)
            for stored in paged(partial(reading.page, chosen), None, lambda stored: stored.entry.id):
                yield stored.entry


def write(file: IO[bytes], agent: str, entries: Iterable[Entry]) -> Counter[str]:
    """Write entries as Markdown; how many, by kind. One entry in memory."""
    counts: Counter[str] = Counter()

    def put(text: str) -> None:
        file.write(text.encode("utf-8"))

    put(f"# Memory of {plain(agent)}\n")
    for (scope, kind), group in groupby(entries, key=lambda entry: (entry.scope, entry.kind)):
        place = f"scope {plain(scope)}" if scope else "default scope"
        put(f"\n## {kind.capitalize()}, {place}\n\n")
        for entry in group:
            put(_item(entry))
            counts[kind] += 1
    return counts


def _item(entry: Entry) -> str:
    said = "\n  ".join(plain(line) for line in entry.text.splitlines())
    asked = f"**{plain(' '.join(entry.cue.split()))}** " if entry.cue else ""
    about = [f"`{entry.id}`"]
    if entry.standing != "active":
        about.append(entry.standing)
    if entry.pinned:
        about.append("pinned")
    about += [f"from {plain(', '.join(entry.sources))}"] if entry.sources else []
    about += [f"tags {plain(', '.join(entry.tags))}"] if entry.tags else []
    about.append(f"recorded {entry.created.isoformat()}" if entry.created else "age unknown")
    about += [f"holds from {entry.valid_from.isoformat()}"] if entry.valid_from else []
    about += [f"holds until {entry.valid_to.isoformat()}"] if entry.valid_to else []
    about.append(f"importance {entry.importance:g}")
    return f"- {asked}{said}\n  <br>{'; '.join(about)}\n"


def plain(text: str) -> str:
    """A text that Markdown shows as it is: nothing in it is a mark, a link or a tag."""
    return _START.sub(r"\1\\\2", _MARKS.sub(r"\\\1", text))
