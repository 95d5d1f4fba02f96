"""Which files in a folder are documents: hidden, ignored and foreign ones are left out and counted, links to folders not followed."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from earnest.core import check
from earnest.core.sentences import words
from earnest.encoding.reading import DOCUMENTS, format_of
from earnest.errors import InvalidInput

MAX_FILES: Final = 200_000
_ENDINGS: Final = frozenset((".pdf", ".rst", ".adoc", ".org"))
_BARE: Final = words("readme changelog changes notes todo contributing authors license copying install faq news history security")
_JUNK: Final = words("node_modules __pycache__ venv site-packages bower_components")
_IGNORE_FILES: Final = (".gitignore", ".earnestignore")
_MAX_PATTERNS: Final = 1_000
_MAX_PATTERN: Final = 500


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read. `source` is what its entries will call it."""

    path: Path
    source: str


@dataclass(slots=True)
class Search:
    """What a search found: files in order, the folders that were searched, and how many files were left out for which reason."""

    files: list[Found] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def find_files(paths: Iterable[str | os.PathLike[str]], *, hidden: bool = False) -> Search:
    """The files behind some names: files as they are, folders with everything in them that is a document.

    In folders are left out: hidden files and folders (unless `hidden`), what a `.gitignore` or `.earnestignore` in them names,
    caches and installed packages, links to folders (which may go in circles), devices, and files whose ending says that they are no
    documents. A file that is named itself is taken whatever it is. A file that is found twice is taken once.

    Raises:
        InvalidInput: A name is none, there is no such file or folder, or there are more than 200,000 files.
    """
    search = Search()
    seen: set[Path] = set()
    for name in _checked(paths):
        path = Path(name)
        # A relative name is kept as it was given; of an absolute one only the last part says something.
        label = path.name if path.is_absolute() else path.as_posix()
        try:
            is_folder = path.is_dir()
            if not is_folder and not path.exists():
                raise InvalidInput("paths", name, "no such file or folder; check the name")
            found: Iterable[Found] = [Found(path, label)]
            if is_folder:
                search.folders.append(path.resolve())
                found = _walk(path, "" if label == "." else label, [], search, hidden)
            for file in found:
                place = file.path.resolve()
                if place not in seen:
                    seen.add(place)
                    search.files.append(file)
                if len(search.files) > MAX_FILES:
                    raise InvalidInput("paths", name, f"holds more than {MAX_FILES:,} files; name the folders in it one by one")
        except OSError as problem:
            raise InvalidInput("paths", name, f"cannot be read ({problem.strerror or problem}); check the name and the rights") from problem
    search.files = _told_apart(search.files)
    return search


def _told_apart(files: list[Found]) -> list[Found]:
    """Files with sources of their own: those of one name, given by absolute paths, are called by their paths."""
    count = Counter(file.source for file in files)
    told = [file if count[file.source] == 1 else Found(file.path, file.path.as_posix()) for file in files]
    return [Found(file.path, check.spelt(file.source)) for file in told]


def _checked(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    made = []
    for path in [paths] if isinstance(paths, str | os.PathLike) else check.items("paths", paths):
        name = os.fspath(path) if isinstance(path, str | os.PathLike) else path
        if not isinstance(name, str) or "\x00" in name or not name.strip():
            raise InvalidInput("paths", path, "holds something that is no name of a file or folder")
        made.append(name)
    return made


def _walk(folder: Path, label: str, rules: list[_Rule], search: Search, hidden: bool) -> Iterator[Found]:
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entries, key=lambda entry: entry.name)
    except OSError as problem:
        search.left_out[f"folder that cannot be read ({problem.strerror})"] += 1
        return
    rules = [*rules, *_rules(folder, label)]
    for entry in inside:
        name = f"{label}/{entry.name}" if label else entry.name
        try:
            is_folder = entry.is_dir()
            reason = _reason(entry, is_folder, hidden) or ("named by an ignore file" if _ignored(name, is_folder, rules) else "")
            if reason:
                search.left_out[reason] += 1
            elif is_folder:
                yield from _walk(folder / entry.name, name, rules, search, hidden)
            elif not entry.is_file():
                search.left_out["broken link, device or socket"] += 1
            else:
                yield Found(folder / entry.name, name)
        except OSError as problem:
            search.left_out[f"cannot be read ({problem.strerror})"] += 1


def _reason(entry: os.DirEntry[str], is_folder: bool, hidden: bool) -> str:
    """Why something in a folder is left out; "" if it is not."""
    if entry.name.startswith(".") and not hidden:
        return "hidden"
    if is_folder:
        if entry.is_symlink():
            return "link to a folder"
        return "cache or installed packages" if entry.name in _JUNK else ""
    ending = Path(entry.name).suffix.lower()
    if format_of(entry.name) in DOCUMENTS or ending in _ENDINGS or (Path(entry.name).stem.lower() in _BARE and ending in ("", ".txt")):
        return ""
    return f"no document by its name ({ending or 'no ending'})"


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line of an ignore file: a pattern over names or over paths below the folder that the file lies in."""

    base: str
    pattern: re.Pattern[str]
    anchored: bool
    folders_only: bool
    keeps: bool


def _rules(folder: Path, label: str) -> Iterator[_Rule]:
    for name in _IGNORE_FILES:
        try:
            lines = (folder / name).read_text(encoding="utf-8", errors="replace").splitlines()[:_MAX_PATTERNS]
        except OSError:
            continue  # there is none here
        for line in lines:
            text = line.strip()
            if not text or text.startswith("#") or len(text) > _MAX_PATTERN:
                continue
            keeps, text = text.startswith("!"), text.removeprefix("!")
            only, text = text.endswith("/"), text.rstrip("/")
            anchored, text = "/" in text, text.removeprefix("/")
            try:
                pattern = re.compile(_regex(text))
            except re.error:
                continue  # no pattern at all, such as a range of characters that runs backwards
            yield _Rule(f"{label}/" if label else "", pattern, anchored, only, keeps)


def _regex(glob: str) -> str:
    """A pattern of an ignore file: "*" and "?" stop at a border of folders, "**" does not, brackets are sets of characters."""
    made, at = "", 0
    while at < len(glob):
        char = glob[at]
        end = glob.find("]", at + 2) if char == "[" else -1
        if glob.startswith("**/", at):
            made, at = made + "(?:.*/)?", at + 3
        elif glob.startswith("**", at):
            made, at = made + ".*", at + 2
        elif end > 0:
            inside = glob[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[").replace("&&", "&").replace("||", "|").replace("~~", "~")
            made, at = made + (f"[^{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]"), end + 1
        else:
            made, at = made + {"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)), at + 1
    return made + r"\Z"


def _ignored(name: str, is_folder: bool, rules: list[_Rule]) -> bool:
    """Whether the last rule that fits a name leaves it out."""
    for rule in reversed(rules):
        if rule.folders_only and not is_folder:
            continue
        inside = name.removeprefix(rule.base)
        if rule.pattern.match(inside if rule.anchored else inside.rsplit("/", 1)[-1]):
            return not rule.keeps
    return False
