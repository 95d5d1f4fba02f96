"""Operations on rules, with a model that says what a case has it say, and what cases expect of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from earnest.core.rules import STATUSES

from .model import Left, Op, Reply, Unknown
from .run import Run

REPLIES: Final = Path(__file__).parent / "data" / "files" / "llm" / "replies.jsonl"


def reply_of(op: Op) -> str:
    """What the model of a case replies: as the case has it, or by its name among the kept replies."""
    if "raw" in op:
        return str(op["raw"])
    for line in REPLIES.read_text(encoding="utf-8").splitlines():
        said = json.loads(line)
        if said["id"] == op.get("reply_id"):
            return str(said["raw"])
    raise Unknown(f"I do not know the reply {op.get('reply_id')!r}")


def _reject(run: Run, op: Op, reply: Reply) -> None:
    if "rule" not in run.facts:
        raise Left("not here", "no rule was proposed that could be rejected")
    reply.value = run.surface.call(run.agent(op), "rules.verify", id=run.facts["rule"], accept=False)


def _list(run: Run, op: Op, reply: Reply) -> None:
    reply.value = run.surface.call(run.agent(op), "rules.list")


OPERATIONS: Final[dict[str, Callable[[Run, Op, Reply], None]]] = {
    "rules": _list,
    "rules_list": _list,
    "rule_reject": _reject,
}


def _total(run: Run, value: Any) -> list[str]:
    there = run.surface.call(None, "rules.list")
    return [] if len(there) == value else [f"wanted {value} rules, there are {len(there)}"]


def statuses(run: Run, value: Any) -> list[str]:
    """Every rule has this status."""
    if value not in STATUSES:
        raise Unknown(f"I do not know the status {value!r}")
    other = [rule["status"] for rule in run.surface.call(None, "rules.list") if rule["status"] != value]
    return [f"wanted every rule to be {value}, there are {other}"] if other else []


EXPECTATIONS: Final[dict[str, Callable[[Run, Any], list[str]]]] = {"rules_total": _total}
