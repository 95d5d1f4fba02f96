"""Prompts: the two habits that the ledger needs, ready to be used by a person. What memory says in them is fenced as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from earnest.core import cutting
from earnest.mcp import texts

_LISTED: Final = 20
_LONGEST: Final = 4_000
_BUDGET: Final = 800


class Prompt(NamedTuple):
    """A prompt: its arguments as (name, description, whether it is needed), who writes it, and the tool without which it is of no use."""

    name: str
    title: str
    description: str
    args: tuple[tuple[str, str, bool], ...]
    write: Callable[[Any, Mapping[str, str]], str]
    needs: str


def recall(memory: Any, given: Mapping[str, str]) -> str:
    """Ask memory before acting on a task."""
    task = given["task"]
    block = str(memory.prefetch(task[:_LONGEST], budget=_BUDGET))
    held = f"This may have to do with it:\n\n{block}\n" if block else ""
    return texts.RECALL_PROMPT.format(task=cutting.cut(cutting.visible(task), _LONGEST), block=held)


def settle(memory: Any, given: Mapping[str, str]) -> str:
    """Settle what is open."""
    waiting = memory.pending(limit=_LISTED + 1)
    lines = [
        f"- {one.id}: asked {cutting.cut(cutting.line(one.query), 200)!r}, open for {one.age_ticks} ticks" for one in waiting[:_LISTED]
    ]
    if len(waiting) > _LISTED:
        lines.append("- and more; memory_pending lists them")
    happened = given.get("outcome", "").strip()
    outcome = f"\nWhat is known of the outcome so far: {cutting.cut(cutting.visible(happened), _LONGEST)}\n" if happened else ""
    return texts.SETTLE_PROMPT.format(tickets="\n".join(lines) or "- none: nothing is owed", outcome=outcome)


PROMPTS: Final = (
    Prompt(
        "recall_before_acting", "Ask memory first", "Ask memory about what a task turns on, before acting.",
        (("task", "What is about to be done.", True),), recall, "memory_query",
    ),
    Prompt(
        "settle_after_acting", "Settle what is owed", "Go through the open tickets and settle or abandon each.",
        (("outcome", "What is known of the outcome, if anything.", False),), settle, "memory_settle",
    ),
)  # fmt: skip
