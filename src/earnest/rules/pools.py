"""Pools: rules that agents share as a file. What comes out of one waits for local approval, with its origin named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from earnest.core import check
from earnest.core.drafts import fault
from earnest.core.replies import clean
from earnest.core.rules import TYPES, Rule, RuleType
from earnest.errors import InvalidInput
from earnest.files import replacing

FORMAT: Final = "earnest-rules"
VERSION: Final = 1
MOST: Final = 1_000
"""Rules that are adopted from one file at most."""
LARGEST: Final = 5_000_000
"""Bytes of a pool that are read at most."""


def written(path: Path, agent: str, rules: Sequence[Rule]) -> None:
    """Write a pool to a file: whole, or not at all.

    Raises:
        InvalidInput: The file cannot be written.
    """
    made = {
        "format": FORMAT, "version": VERSION, "agent": agent,
        "rules": [
            {
                "type": r.type, "trigger": r.trigger, "action": r.action, "status": r.status, "hits": r.hits, "by": r.by,
                "sources": [*r.sources],
            }
            for r in rules
        ],
    }  # fmt: skip
    text = json.dumps(made, ensure_ascii=False, indent=1, allow_nan=False)
    try:
        with replacing(path) as file:
            file.write(f"{text}\n".encode())
    except OSError as error:
        raise InvalidInput("path", str(path), f"cannot be written ({error.strerror}); name another file") from error


def read(path: Path) -> tuple[str, list[tuple[RuleType, str, str]], list[str]]:
    """The agent that a pool came from, its rules that can be proposed here, and notes on those that cannot.

    Raises:
        InvalidInput: It is no pool, too large, or of a later version.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise InvalidInput("path", str(path), f"cannot be read ({error.strerror})") from error
    if len(raw) > LARGEST:
        raise InvalidInput("path", str(path), f"is larger than {LARGEST:,} bytes, more than a pool of rules takes")
    try:
        said = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("path", str(path), "is no pool of rules: it holds no JSON; `earnest rules export FILE` writes one") from error
    if not isinstance(said, Mapping) or said.get("format") != FORMAT or not isinstance(said.get("rules"), list):
        raise InvalidInput("path", str(path), "is no pool of rules; `earnest rules export FILE` writes one")
    if said.get("version") != VERSION:
        raise InvalidInput("path", str(path), f"is a pool of version {said.get('version')!r}, this Earnest reads version {VERSION}")
    agent = said.get("agent")
    made: list[tuple[RuleType, str, str]] = []
    notes: list[str] = []
    for place, item in enumerate(said["rules"], 1):
        if len(made) == MOST:
            notes.append(f"the pool holds more than {MOST} rules; the others were left out")
            break
        draft, why = _rule(item)
        if draft is None:
            notes.append(f"rule {place} was left out: {why}")
        else:
            made.append(draft)
    return check.label("agent", clean(agent)[:100] if isinstance(agent, str) and clean(agent) else "unknown"), made, notes


def _rule(item: Any) -> tuple[tuple[RuleType, str, str] | None, str]:
    if not isinstance(item, Mapping):
        return None, "it is no rule"
    type_ = next((name for name in TYPES if name == item.get("type")), None)
    trigger, action = item.get("trigger"), item.get("action")
    if type_ is None or not isinstance(trigger, str) or not isinstance(action, str):
        return None, "it lacks a type, a trigger or an action"
    trigger, action = clean(trigger), clean(action)
    wrong = fault(trigger, action)
    return (None, wrong) if wrong is not None else ((type_, trigger, action), "")
