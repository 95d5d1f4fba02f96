"""The header of a Markdown file as metadata: the part of YAML that such headers use, every value kept as the text it was written as.

`version: 1.10` stays "1.10" and `yes: no` stays "no": a reader that guesses types changes what was said.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

from earnest.core.patterns import lazily

_PAIR: Final = lazily(r"^(?P<key>[\w\"'][\w .\"'/-]{0,100}?)[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_ITEM: Final = lazily(r"^[ \t]*-(?:[ \t]+(?P<value>.*))?$")
_QUOTED: Final = lazily(r"^(?P<mark>[\"'])(?P<inside>.*)(?P=mark)$")
_TAG_KEYS: Final = frozenset(("tags", "tag", "keywords"))
_TITLE_KEYS: Final = frozenset(("title", "date", "author", "description"))
_MAX_TAGS: Final = 50
_MAX_TAG: Final = 100
_MAX_JSON: Final = 4_000
"""In characters as JSON; every entry of the document carries a copy."""


@dataclass(slots=True)
class FrontMatter:
    """What a header says: `metadata` by key, `tags` apart, and remarks about what could not be read."""

    metadata: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def read_front_matter(lines: list[str], made: FrontMatter) -> None:
    """Add what the lines between the rulers say. What is no pair of a key and a text, or a list of texts, is noted, not guessed."""
    found, unread = _pairs(lines)
    if unread:
        count = f"{len(unread):,} lines" if len(unread) > 1 else "1 line"
        made.notes.append(f"front matter: {count} could not be read as `key: value` ({unread[0][:60]!r})")
    tags = list(made.tags)
    for key, value in found.items():
        if key.lower() in _TAG_KEYS:
            parts = value if isinstance(value, list) else re.split(r"[,;]", value)
            tags += [tag for part in parts if (tag := " ".join(part.split())) and len(tag) <= _MAX_TAG]
        elif value not in ("", []):
            made.metadata[key] = value
    made.tags = tuple(dict.fromkeys(tags))[:_MAX_TAGS]
    if len(json.dumps(made.metadata, ensure_ascii=False)) > _MAX_JSON:
        kept = {key: value for key, value in made.metadata.items() if key.lower() in _TITLE_KEYS and len(str(value)) <= _MAX_JSON // 8}
        made.notes.append(f"front matter: longer than {_MAX_JSON:,} characters; only {', '.join(kept) or 'the tags'} kept")
        made.metadata = kept


def _pairs(lines: list[str]) -> tuple[dict[str, Any], list[str]]:
    found: dict[str, Any] = {}
    unread: list[str] = []
    key = ""
    for line in lines:
        bare = line.rstrip()
        if not bare.strip() or bare.lstrip().startswith("#"):
            continue
        pair, item = _PAIR.match(bare), _ITEM.match(bare)
        if pair:
            key = _unquoted(pair["key"])
            value = _value(pair["value"] or "")
            if value is None:
                unread.append(bare)
                key = ""
            else:
                found[key] = value
        elif item and key and (found[key] == "" or isinstance(found[key], list)):
            found[key] = [*found[key], _unquoted((item["value"] or "").strip())]
        elif key and bare[0].isspace() and isinstance(found[key], str):
            # A folded text, or the rest of a long one.
            found[key] = f"{found[key]} {bare.strip()}".strip().removeprefix("> ").removeprefix("| ")
        else:
            unread.append(bare)
    return found, unread


def _value(text: str) -> Any:
    """The text or list that stands after a key; None if it is a list that does not end."""
    text = text.strip()
    if text in (">", "|", ">-", "|-", "null", "~"):
        return ""
    if text.startswith("["):
        if not text.endswith("]"):
            return None
        return [made for part in _parts(text[1:-1]) if (made := _unquoted(part.strip()))]
    if not _QUOTED.match(text) and " #" in text:
        text = text[: text.index(" #")].rstrip()
    return _unquoted(text)


def _parts(text: str) -> list[str]:
    """The items of a list in brackets; a comma in quotation marks is text."""
    made, current, mark = [], "", ""
    for char in text:
        if char == "," and not mark:
            made.append(current)
            current = ""
            continue
        if char in "\"'" and (not mark or char == mark):
            mark = "" if mark else char
        current += char
    return [*made, current]


def _unquoted(text: str) -> str:
    found = _QUOTED.match(text)
    if not found:
        return text
    return found["inside"].replace("''", "'") if found["mark"] == "'" else found["inside"].replace('\\"', '"')
