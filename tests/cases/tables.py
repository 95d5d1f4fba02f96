"""Tables whose rows are cases by themselves: agents' names, and queries that are hostile to an index."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .model import Left, Refused, Result
from .python_surface import PythonSurface
from .surface import Surface

Row = Mapping[str, Any]

_PORTABLE = re.compile(r"[a-z0-9_%~-][a-z0-9_.%~-]{0,190}\.db(-wal|-shm)?\Z")
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|\Z)")


class AgentIds:
    """Names of agents in one folder: each opens and is separate from all others, or is refused and leaves nothing."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.opened: dict[str, tuple[Any, str]] = {}
        """Names that opened, by their repr: the name, and the note that its store holds."""
        self.refused: dict[str, Any] = {}

    def play(self, rows: Sequence[Row]) -> list[Result]:
        """A result for every row; rows are told apart by their number."""
        results = []
        for number, row in enumerate(rows, 1):
            result = Result(f"agent_ids:{number}", self.surface.name)
            before = self._files()
            try:
                self._open(row, number, before, result)
            except Left as left:
                result.left.append(left)
                result.applied = False
            except Refused as error:
                result.failures.append(str(error))
            results.append(result)
        self.surface.reopen()
        reader = PythonSurface(self.surface.folder)
        for row, result in zip(rows, results, strict=True):
            self._again(reader, row, result)
        reader.close()
        return results

    def _files(self) -> set[str]:
        return {str(path.relative_to(self.surface.folder.parent)) for path in self.surface.folder.parent.rglob("*")}

    def _open(self, row: Row, number: int, before: set[str], result: Result) -> None:
        name, expect = row["id"], row["expect"]
        note = f"note number {number} about walrus{number}"
        try:
            self.surface.call(name, "add", text=note)
        except Refused as refused:
            if refused.kinds != {"validation"}:
                result.failures.append(f"refused as {sorted(refused.kinds)}: {refused.message}")
            if not may_be_refused(expect):
                result.failures.append(f"refused, and the table says {expect!r}: {refused.message}")
            if self._files() - before:
                result.failures.append(f"refused, and yet there is {sorted(self._files() - before)}")
            self.refused[repr(name)] = name
            result.notes.append("refused")
            return
        if expect == "refused":
            result.failures.append("opened, and the table says 'refused'")
        made = self._files() - before
        inside = str(self.surface.folder.relative_to(self.surface.folder.parent))
        for file in made - {inside}:
            if not file.startswith(inside + "/"):
                result.failures.append(f"{file} lies outside of the folder")
            base = Path(file).name
            if not _PORTABLE.match(base) or _DEVICES.match(base):
                result.failures.append(f"the file name {base!r} is not safe on every system")
        self.opened[repr(name)] = (name, note)

    def _again(self, reader: Surface, row: Row, result: Result) -> None:
        """What a reopened store holds: its own note, and those of names that are the same by Unicode's rules."""
        name = row["id"]
        if repr(name) not in self.opened:
            return
        if isinstance(name, int):
            name = str(name)
        try:
            found = {entry["text"] for entry in reader.call(name, "list")}
        except Refused as error:
            result.failures.append(f"cannot be opened again: {error}")
            return
        same = {note for other, note in self.opened.values() if self._alike(other, name)}
        if found != same:
            result.failures.append(f"holds {sorted(found)}, should hold {sorted(same)}")
        files = [path.name for path in self.surface.folder.iterdir() if path.suffix == ".db"]
        clashes = {file for file in files if [other.casefold() for other in files].count(file.casefold()) > 1}
        if clashes:
            result.failures.append(f"these files are one on some systems: {sorted(clashes)}")
        looks = [
            other for other, _ in self.opened.values() if isinstance(other, str) and isinstance(name, str) and _look(other) == _look(name)
        ]
        if any(not self._alike(other, name) for other in looks):
            result.failures.append(f"looks like another agent: {looks}")

    @staticmethod
    def _alike(first: Any, second: Any) -> bool:
        def canonical(name: Any) -> Any:
            # No name at all is the documented default agent; on the command line a number is the text that spells it.
            return "default" if name is None else unicodedata.normalize("NFC", str(name))

        return bool(canonical(first) == canonical(second))


def _look(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip()


def may_be_refused(expect: str) -> bool:
    """Whether an expectation of the table allows a refusal."""
    return "refused" in expect or expect == "likewise"


class HostileQueries:
    """Queries against one small corpus: none errs, in `search` or in `answer`, and those that have an answer find it."""

    def __init__(self, surface: Surface, corpus: Mapping[str, str]) -> None:
        self.surface = surface
        made = surface.call(None, "add_many", entries=[{"text": text} for text in corpus.values()])
        self.keys = {entry["id"]: key for entry, key in zip(made, corpus, strict=True)}

    def play(self, number: int, row: Row) -> Result:
        """The result of one row."""
        result = Result(f"fts_hostile:{number}", self.surface.name)
        try:
            hits = [self.keys[hit["id"]] for hit in self.surface.call(None, "search", query=row["query"], k=100)]
            answer = self.surface.call(None, "answer", query=row["query"])
        except Left as left:
            result.left.append(left)
            result.applied = False
            return result
        except Refused as refused:
            result.failures.append(f"{row['query']!r:.60} is refused: {refused}")
            return result
        wanted = row["must_hit"]
        if wanted == [] and (hits or not answer["silent"]):
            result.failures.append(f"{row['query']!r:.60} finds {hits} and answers {answer['text']!r}, and should find nothing")
        result.failures += [f"{row['query']!r:.60} does not find {key}: {hits}" for key in wanted or () if key not in hits]
        return result
