"""From candidates to files: which parts each target has, and in which budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from earnest.core.rendered import Rendered, RenderedFile, Target
from earnest.errors import InvalidInput
from earnest.rendering import files, managed, topics
from earnest.rendering.packing import FILES, HEADINGS, NOTE, TITLE, Candidate, Room, document, packed

_LEAST_SHARE: Final = 0.1
INDEX_NOTE: Final = "What memory holds lies beside this file, by kind:"


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget of a target. `whole`: it holds for the whole file, since its reader cuts the file there; else for the managed part."""

    bytes: int
    lines: int
    whole: bool = False


LIMITS: Final[dict[Target, Limits]] = {
    "AGENTS.md": Limits(12_000, 120),
    "CLAUDE.md": Limits(12_000, 120),
    # Claude Code shows 200 lines and 24.4 KB of a MEMORY.md and cuts the rest.
    "MEMORY.md": Limits(24_000, 200, whole=True),
    "claude-memory": Limits(24_000, 200, whole=True),
}


@dataclass(frozen=True, slots=True)
class Order:
    """What was asked for, checked: the target, where it goes, and its budget."""

    target: Target
    path: Path | None
    split_dir: Path | None
    limits: Limits
    write: bool


def rendered(order: Order, candidates: Sequence[Candidate]) -> Rendered:
    """Render, and write unless that was not asked for. `candidates` are in good standing, best first."""
    chosen: list[Candidate] = []
    lines: list[str] = []
    if order.path is None:
        lines, chosen = _fitting(order, candidates, b"")
        return Rendered(order.target, "\n".join(lines) + "\n", (), _ids(chosen), len(candidates) - len(chosen), True)
    main = order.path / topics.INDEX if order.target == "claude-memory" else order.path

    def make(data: bytes) -> bytes:
        nonlocal chosen, lines
        lines, chosen = _fitting(order, candidates, data)
        return managed.with_block(managed.split(str(main), data), lines, managed.newline_of(data))

    files.placed("path", order.path, folder=order.target == "claude-memory")
    if order.split_dir is not None:
        files.placed("split_dir", order.split_dir, folder=True)
    # Read first, so that a file that cannot be taken is refused before anything is written.
    files.change(main, make, write=False)
    parts: list[RenderedFile] = []
    if order.split_dir is not None:
        parts = _by_kind(order, order.split_dir, chosen)
    if order.target == "claude-memory":
        parts = _topics(order, order.path, chosen)
    after, changed = files.change(main, make, write=order.write)
    made = (_file(main, "\n".join(lines) + "\n", after, changed), *parts)
    current = all(file.change == "unchanged" for file in made)
    return Rendered(order.target, made[0].text, made, _ids(chosen), len(candidates) - len(chosen), current)


def _ids(chosen: Iterable[Candidate]) -> tuple[str, ...]:
    return tuple(one.stored.entry.id for one in chosen)


def _file(path: Path, text: str, after: bytes | None, changed: bool) -> RenderedFile:
    data = after or b""
    lines = data.count(b"\n") + (not data.endswith(b"\n") if data else 0)
    return RenderedFile(path, text, len(data), lines, ("removed" if after is None else "written") if changed else "unchanged")


def _fitting(order: Order, candidates: Sequence[Candidate], data: bytes) -> tuple[list[str], list[Candidate]]:
    """The lines of the managed part that fit, and who is in them."""
    around = managed.split(str(order.path or "path"), data)
    newline = managed.newline_of(data)
    room = Room(order.limits.bytes, order.limits.lines, newline)
    taken = room.size((managed.BEGIN, managed.END)), 2
    if order.limits.whole:
        empty = managed.with_block(around, [], newline)
        taken = len(empty), empty.count(b"\n")
    room = Room(room.bytes - taken[0], room.lines - taken[1], newline)
    if order.target == "claude-memory":
        chosen = _lines_that_fit(candidates, room)
        return topics.index(chosen), chosen
    if order.split_dir is None:
        chosen = packed(candidates, room, document)
        return document(chosen), chosen
    chosen = _shared(candidates, order)
    lines = _index(chosen, order.split_dir, order.path)
    if not room.holds(lines):
        raise InvalidInput("budget", order.limits.bytes, "leaves no room for the index of the folder")
    return lines, chosen


def _lines_that_fit(candidates: Sequence[Candidate], room: Room) -> list[Candidate]:
    if not room.holds(topics.index([])):
        raise InvalidInput(
            "budget", room.bytes, "leaves no room for a line: the file's own text takes all of it; shorten that, or ask for more"
        )
    chosen: list[Candidate] = []
    left, lines = room.bytes, room.lines
    for one in candidates:
        need = room.size([topics.index_line(one.stored.entry)])
        if lines < 1 or left < need:
            break
        chosen.append(one)
        left, lines = left - need, lines - 1
    return chosen


# a folder by kind


def _shared(candidates: Sequence[Candidate], order: Order) -> list[Candidate]:
    """The candidates that fit into the files of their kinds, each of which has a share of the budget as large as its share of entries.

    Raises:
        InvalidInput: Not even empty files of all these kinds would fit.
    """
    chosen: list[Candidate] = []
    by_kind: dict[str, list[Candidate]] = {}
    for one in candidates:
        by_kind.setdefault(one.stored.entry.kind, []).append(one)
    # A kind with few entries has room for some of them all the same.
    weights = {kind: max(len(mine) / len(candidates), _LEAST_SHARE) for kind, mine in by_kind.items()}
    frame = Room(0, 0).size((managed.BEGIN, managed.END))
    least = Room(0, 0).size(document([])), len(document([]))
    # What every file needs before it holds anything comes first; what is left of the budget is shared.
    left = order.limits.bytes - len(by_kind) * (frame + least[0]), order.limits.lines - len(by_kind) * (2 + least[1])
    if min(left) < 0:
        needed = f"{order.limits.bytes - left[0]:,} bytes and {order.limits.lines - left[1]:,} lines"
        said = f"and {order.limits.lines:,} lines leave no room for {len(by_kind)} files: at least {needed} are needed"
        raise InvalidInput("budget", order.limits.bytes, f"{said}; give more, or leave split_dir out")
    for kind, mine in by_kind.items():
        part = weights[kind] / sum(weights.values())
        chosen += packed(mine, Room(least[0] + int(left[0] * part), least[1] + int(left[1] * part)), document)
    return sorted(chosen, key=lambda one: one.rank)


def _index(chosen: Sequence[Candidate], folder: Path, path: Path | None) -> list[str]:
    if not chosen:
        return document([])
    where = _relative(folder, path)
    made = [TITLE, "", *NOTE, "", INDEX_NOTE, ""]
    for kind in dict.fromkeys(one.stored.entry.kind for one in chosen):
        count = sum(one.stored.entry.kind == kind for one in chosen)
        made.append(f"- [{HEADINGS[kind]}]({where}{FILES[kind]}): {count} {'entry' if count == 1 else 'entries'}")
    return made


def _relative(folder: Path, path: Path | None) -> str:
    """A folder as a link from a file: by the shortest way, escaped where Markdown needs that."""
    start = path.parent if path is not None else Path()
    try:
        said = folder.resolve().relative_to(start.resolve()).as_posix()
    except ValueError:
        said = folder.as_posix()
    made = quote(said, safe="/:")
    return "" if made in (".", "") else f"{made.rstrip('/')}/"


def _by_kind(order: Order, folder: Path, chosen: Sequence[Candidate]) -> list[RenderedFile]:
    """The files of a folder, one for each kind; what is ours in the file of a kind that has no entry is taken out."""
    made = []
    for kind, name in FILES.items():
        mine = [one for one in chosen if one.stored.entry.kind == kind]
        path = folder / name
        lines = document(mine) if mine else []

        def make(data: bytes, path: Path = path, lines: list[str] = lines) -> bytes | None:
            around = managed.split(str(path), data)
            if lines:
                return managed.with_block(around, lines, managed.newline_of(data))
            if not around.found:
                return data or None
            return managed.without_block(around) or None

        after, changed = files.change(path, make, write=order.write)
        if lines or changed:
            made.append(_file(path, "\n".join(lines) + "\n" if lines else "", after, changed))
    return made


# Claude Code's folder


def _topics(order: Order, folder: Path, chosen: Sequence[Candidate]) -> list[RenderedFile]:
    """The files of the facts; those that we wrote for entries that are not shown any more are taken away."""
    made = []
    wanted = {topics.file_name(one.stored.entry): topics.topic(one.stored.entry) for one in chosen}
    for name, text in wanted.items():
        after, changed = files.change(folder / name, lambda _, text=text: text.encode("utf-8"), write=order.write)  # type: ignore[misc]
        made.append(_file(folder / name, text, after, changed))
    for path in sorted(folder.glob(f"{topics.PREFIX}*.md")) if folder.is_dir() else []:
        if path.name in wanted or path.is_symlink() or not path.is_file():
            continue
        data = files.content(path) or b""
        if topics.ours(path.name, data.decode("utf-8", "replace")):
            after, changed = files.change(path, lambda _: None, write=order.write)
            made.append(_file(path, "", after, changed))
    return made
