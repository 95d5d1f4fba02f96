"""What the free texts of cases stand for: contents and queries that are described, not written out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .model import Op, Unknown

_SIZED = re.compile(r"([\d,]+) chars, last words: (.+)")
_LONG = re.compile(r"(.+) \+ ([\d,]+) chars of (.+) and emoji")
_SIGNS = "every ASCII and Latin-1 punctuation sign, alone and as hello<sign>world"
_EACH = "<each text of injection.jsonl>"
_SECRETS = ("<each text of secrets.jsonl>", "<each>")
_PART = re.compile(r"(\d+) (adds?|searches|search|decide\+settle)\Z")


def injections() -> list[str]:
    """Texts that try to pass for more than data."""
    table = Path(__file__).with_name("data") / "tables" / "injection.jsonl"
    return [json.loads(line)["stored"] for line in table.read_text(encoding="utf-8").split("\n") if line]


def secrets() -> list[dict[str, Any]]:
    """Texts with values that are to be kept nowhere, and ones that only look so."""
    table = Path(__file__).with_name("data") / "tables" / "secrets.jsonl"
    return [json.loads(line) for line in table.read_text(encoding="utf-8").split("\n") if line]


def content(value: Any) -> Any:
    """The text of an entry: "40,000 chars, last words: X" is a text of that length that ends in X; others stand for themselves."""
    described = _SIZED.fullmatch(value) if isinstance(value, str) else None
    if described is None:
        return value
    size, end = int(described[1].replace(",", "")), described[2]
    return ("lorem ipsum " * (size // 12 + 1))[: size - len(end)] + end


def metadata(value: Any) -> Any:
    """Metadata in which the text "float nan" stands for a number that JSON cannot hold."""
    if isinstance(value, dict):
        return {key: metadata(item) for key, item in value.items()}
    if isinstance(value, list):
        return [metadata(item) for item in value]
    return float(value.removeprefix("float ")) if value in ("float nan", "float inf", "float -inf") else value


def unfolded(op: Op) -> list[Op]:
    """The steps that one `for_each` stands for; any other operation stands for itself."""
    if op.get("content") == _EACH or (op["op"] == "prefetch" and op.get("query") == "each"):
        name = "content" if "content" in op else "query"
        return [{**op, name: text} for text in injections()]
    if op.get("user") in _SECRETS:
        return [{**op, "user": row["text"]} for row in secrets()]
    if op.get("texts") in _SECRETS:
        return [{**op, "items": [row["text"] for row in secrets()]}]
    if op["op"] != "for_each":
        return [op]
    over, do = op.get("over"), op.get("do")
    if do != "search" or not (over == _SIGNS or isinstance(over, list)):
        raise Unknown(f"I do not know how to do {do!r} for each of {over!r}")
    if isinstance(over, list):
        return [{"op": "search", "query": query} for query in over]
    signs = [chr(code) for code in range(0x21, 0x100) if not chr(code).isalnum() and not 0x7F <= code <= 0x9F]
    return [{"op": "search", "query": query} for sign in signs for query in (sign, f"hello{sign}world")]


def numbered(text: str, n: int) -> list[str]:
    """`n` texts that hold the words of one and are no twins; "2 KB each" and "X + 20,000 chars of Y and emoji" are written out."""
    sized, long = re.fullmatch(r"(\d+) KB each", text), _LONG.fullmatch(text)
    if sized is not None:
        return [(f"{text} {i} " + "lorem ipsum " * 200)[: int(sized[1]) * 1_000] for i in range(n)]
    if long is not None:
        piece = f"{long[3]}🚀👩‍👩‍👧‍👦e\u0301"
        return [f"{i} {long[1]} " + (piece * 20_000)[: int(long[2].replace(",", ""))] for i in range(n)]
    return [f"{text} {i}" for i in range(n)]


def burst(each: str) -> dict[str, int]:
    """How often one worker does what: "100 adds, 100 searches, 20 decide+settle"."""
    made = {"adds": 0, "searches": 0, "settles": 0}
    for part in each.split(", "):
        found = _PART.match(part)
        if found is None:
            raise Unknown(f"I do not know how to do {part!r} in parallel")
        name = {"add": "adds", "search": "searches", "decide+settle": "settles"}.get(found[2], found[2])
        made[name] += int(found[1])
    return made
