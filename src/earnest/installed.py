"""What is installed here: packages beside Earnest and their releases, and how what is missing is installed for this very Earnest."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_NAME: Final = "earnest"


def release(module: str, distribution: str) -> str | None:
    """The release, ``major.minor``, of an installed package; None if it is not installed, "" if nobody can tell.

    Told by the name of the folder of its metadata: to read that, as `importlib.metadata` does, takes twenty times as long. O(packages).
    """
    try:
        found = find_spec(module)
    except ValueError:
        # There is a module of that name in this process that came from nowhere.
        return ""
    if found is None:
        return None
    home = Path(found.origin or "")
    folder = home.parent.parent if home.name.startswith("__init__.") else home.parent
    begins = distribution.lower().replace("-", "_") + "-"
    try:
        there = [item.name.lower() for item in folder.iterdir()]
    except OSError:
        return ""
    ends = ".dist-info"
    versions = sorted(name[len(begins) : -len(ends)] for name in there if name.startswith(begins) and name.endswith(ends))
    return ".".join(versions[-1].split(".")[:2]) if versions else ""


@cache
def stemming() -> str:
    """The release of Snowball's rules by which words are stemmed here.

    Both packages number their releases by those: of up to 8,000 words of each of 18 languages the same release made the same stems in both,
    and 2.2, 3.0 and 3.1 made others (of Dutch for nearly half of them).
    """
    compiled = release("Stemmer", "PyStemmer")
    return (release("snowballstemmer", "snowballstemmer") or "") if compiled is None else compiled


def bringing(extra: str, *, again: bool = False) -> str:
    """The command that installs what an extra of this Earnest names, in backquotes; `again` in place of what is there.

    By the name of the package only if it was installed by it: whoever installed a checkout, a wheel or a branch would get whatever an index
    has under that name. For them the packages of the extra are named themselves.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    command = "pip install --force-reinstall" if again else "pip install"
    try:
        mine = distribution(_NAME)
    except PackageNotFoundError:
        return f"`{command} '.[{extra}]'` in the folder of its source"
    needed = requirements(mine.requires or [], extra)
    if mine.read_text("direct_url.json") is None or not needed:
        return f"`{command} '{_NAME}[{extra}]'`"
    return f"`{command} {' '.join(_quoted(each) for each in needed)}`"


def requirements(stated: list[str], extra: str) -> list[str]:
    """Of the requirements in a package's metadata those that an extra adds, without the condition that it is asked for."""
    import re

    asked = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")
    made = []
    for each in stated:
        package, _, condition = each.partition(";")
        named = asked.search(condition)
        if named is None or named[1] != extra:
            continue
        rest = re.sub(r"^\s*and\s+|\s+and\s*$", "", asked.sub("", condition)).strip()
        made.append(f"{package.strip()}; {rest}" if rest else package.strip())
    return made


def _quoted(requirement: str) -> str:
    return '"' + requirement.replace('"', "'") + '"' if "'" in requirement or '"' in requirement else f"'{requirement}'"
