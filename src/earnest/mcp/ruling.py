"""The tool for rules: an agent may look, match and propose. Accepting is a person's part, or a trial's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from earnest.core.rules import STATUSES, TYPES
from earnest.errors import InvalidInput
from earnest.mcp import shown

if TYPE_CHECKING:
    from earnest.memory import Memory

_TAKEN: Final = {
    "match": frozenset({"text", "limit", "scope"}),
    "list": frozenset({"status", "limit", "after", "scope"}),
    "propose": frozenset({"type", "trigger", "then", "evidence", "sources", "scope", "key"}),
}
_NEEDED: Final = {"match": ("text",), "list": (), "propose": ("type", "trigger", "then")}
_HINTS: Final = {"type": ", ".join(TYPES), "status": ", ".join(STATUSES)}


def rules(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_rules`."""
    action = args.pop("action", "list")
    for name in args:
        if name not in _TAKEN[action]:
            owners = " or ".join(other for other, taken in _TAKEN.items() if name in taken)
            raise InvalidInput(name, args[name], f"is for action={owners}, and action is {action}")
    for name in _NEEDED.get(action, ()):
        if name not in args:
            raise InvalidInput(name, None, f"is needed for action={action}" + (f"; one of {_HINTS[name]}" if name in _HINTS else ""))
    return _ACTIONS[action](memory, args)


def _match(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    limit = args.get("limit", 20)
    found = memory.rules.match(args["text"], limit + 1, scope=args.get("scope", ""))
    return shown.page("rules", [shown.rule(one) for one in found], limit, lambda n: ("say more closely what is about to be done", {}))


def _list(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    limit = args.pop("limit", 20)
    rows = [shown.rule(one) for one in memory.rules.list(limit=limit + 1, **args)]

    def rest(count: int) -> tuple[str, dict[str, Any]]:
        last = str(rows[count - 1]["id"])
        return f"call again with after={last}", {"next_after": last}

    return shown.page("rules", rows, limit, rest)


def _propose(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    made = memory.rules.add(args.pop("type"), action=args.pop("then"), **args)
    return {"rules": [shown.rule(made)], "truncated": False}


_ACTIONS: Final = {"match": _match, "list": _list, "propose": _propose}
