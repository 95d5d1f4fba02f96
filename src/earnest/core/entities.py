"""Names in sentences: who and what a document talks about, found by how they are written. No model, no word list of names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from earnest.core.patterns import lazily
from earnest.core.sentences import words

MAX_NAME: Final = 80
_MAX_WORDS: Final = 6
# Where every noun has a capital (German, title case), a capital alone is no sign of a name.
_CROWDED_SHARE: Final = 0.25
_CROWDED_WORDS: Final = 40

_WORD: Final = lazily(r"\w+(?:['’.&-]\w+)*")
_IDENTIFIER: Final = lazily(r"[A-Za-z0-9_./-]+")
_DOTTED: Final = lazily(r"[\w/-]*[A-Za-z_][\w-]*(?:\.\w+)*\.[A-Za-z]\w*", re.ASCII)
_CAMEL: Final = lazily(r"[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*", re.ASCII)
_SNAKE: Final = lazily(r"[A-Za-z]\w*[A-Za-z0-9]_[A-Za-z0-9]\w*", re.ASCII)
_FRESH_START: Final = frozenset('"“‘«(「『[:：.!?…。！？')

# Words that take a capital only because a sentence begins with them, and times, which are no topic.
_COMMON: Final = words(
    """
    a an the this that these those it its he she they we you i our your their his her my and or but if when while once since
    after before until in on at for from to by with without under over of as is are was were be do does did not no never always
    all any some each every both most many more only also so then there here what which who why how where please note yes use
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
    november december der die das ein eine im am und le la les un une el los las il lo w на в не и по это
    """
)


@dataclass(frozen=True, slots=True)
class _Found:
    name: str
    length: int
    """In words."""
    first: bool
    """Whether it stands where any word would have a capital."""


def find_entities(sentences: Sequence[tuple[str, tuple[str, ...]]]) -> dict[str, list[int]]:
    """Which names occur in which sentences.

    A name is an identifier (`data.db`, `max_chars`, `LocalEncoder`), several capitalised words in a row, or one that somewhere
    stands with a capital in the midst of a sentence.

    Args:
        sentences: Texts with their sources.

    Returns:
        For each name the positions of the sentences that hold it, ascending. Linear in the length of the texts.
    """
    found: list[list[_Found]] = []
    inside: Counter[str] = Counter()
    capitals: Counter[str] = Counter()
    for text, sources in sentences:
        names, inner, upper = _names(text)
        found.append(names)
        for source in sources:
            inside[source] += inner
            capitals[source] += upper
    crowded = {s for s, n in inside.items() if n >= _CROWDED_WORDS and capitals[s] > _CROWDED_SHARE * n}
    proper: set[str] = set()
    for names, (_, sources) in zip(found, sentences, strict=True):
        quiet = not all(source in crowded for source in sources)
        proper.update(name.name for name in names if not name.first and (name.length > 1 or quiet))
    made: dict[str, list[int]] = {}
    for index, names in enumerate(found):
        for name in dict.fromkeys(_settled(name, proper) for name in names):
            if name:
                made.setdefault(name, []).append(index)
    return made


def _settled(found: _Found, proper: set[str]) -> str:
    """The name to file a finding under; "" if it is none. "Yesterday Alice Smith" is Alice Smith if she is known as such."""
    if found.name in proper:
        return found.name
    if found.length < 2:
        return ""
    tail = found.name.split(" ", 1)[1]
    return tail if found.length > 2 and tail in proper else found.name


def _names(text: str) -> tuple[list[_Found], int, int]:
    """The names in a sentence; how many words stand inside it, and how many of those have a capital."""
    made: list[_Found] = []
    for token in _IDENTIFIER.finditer(text):
        name = token[0].strip("./-")
        if 2 < len(name) <= MAX_NAME and _identifier(name):
            made.append(_Found(name, 1, False))
    inner = upper = 0
    run: list[str] = []
    first, end = True, -1
    shouted = text.upper() == text
    for word in _WORD.finditer(text):
        gap = text[end : word.start()] if end >= 0 else ""
        starts = end < 0 or (gap != " " and not _FRESH_START.isdisjoint(gap))
        plain = word[0].removesuffix("'s").removesuffix("’s")
        capital = plain[0].isupper() and not _identifier(plain)
        if not starts:
            inner += 1
            upper += capital
        if run and (not capital or gap != " "):
            _close(made, run, first)
            run = []
        end = word.end()
        if capital and not shouted and not (not run and plain.lower() in _COMMON):
            first = starts if not run else first
            run.append(plain)
            if plain != word[0]:
                _close(made, run, first)
                run = []
    _close(made, run, first)
    return made, inner, upper


def _close(made: list[_Found], run: list[str], first: bool) -> None:
    name = " ".join(run)
    if run and len(run) <= _MAX_WORDS and 1 < len(name) <= MAX_NAME:
        made.append(_Found(name, len(run), first))


def _identifier(name: str) -> bool:
    if len(name) > MAX_NAME or (name[1:].islower() and name.isalpha()):
        # The second is most words of most texts: without a sign, and without a capital in its midst.
        return False
    if _CAMEL.fullmatch(name) or _SNAKE.fullmatch(name):
        return True
    # "e.g" and "U.S" have dots too, but only single letters between them.
    return _DOTTED.fullmatch(name) is not None and any(len(part) > 1 for part in name.split("."))
