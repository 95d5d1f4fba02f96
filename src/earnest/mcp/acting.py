"""Tools that change something: each calls one verb, and shows what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from earnest.core import cutting
from earnest.core.amounts import MICRO, shown_delta
from earnest.mcp import shown
from earnest.mcp.looking import where

if TYPE_CHECKING:
    from earnest.core.entry import Entry
    from earnest.core.ticket import Answer, Settlement
    from earnest.memory import Memory

_DIED: Final = 100
_ANSWER: Final = shown.WHOLE
_RULES: Final = 6_000

_SETTLE_IT: Final = "Act on it or not; then settle this ticket by what was measured (memory_settle), or let it go (memory_abandon)."
_WITHHELD: Final = "Memory was withheld at random, so that its use can be measured: act as you would without it, and settle this ticket."
_SILENT: Final = "Memory knows nothing that is relevant: go on without it. No ticket was opened."
_ONCE_MORE: Final = " The deciding entry is suspended for measured harm and is being tried once more: be careful, and measure."


def query(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_query`."""
    ticket = memory.decide(**where(args))
    if ticket.id is None:
        return _answered(ticket)
    made = _answered(ticket) | {"ticket_id": ticket.id, "holdout": ticket.holdout}
    if ticket.holdout:
        return made | {"next": _WITHHELD}
    tried = ticket.deciding is not None and ticket.deciding.standing == "suspended"
    return made | {"next": _SETTLE_IT + (_ONCE_MORE if tried else "")}


def ask(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_query` of a server that only reads: no ticket is opened."""
    return _answered(memory.answer(**where(args)))


def _answered(said: Answer) -> dict[str, Any]:
    entries = [shown.entry(one, role="supporting") for one in said.supporting]
    if said.deciding is not None:
        entries.insert(0, shown.entry(said.deciding, role="deciding"))
    made: dict[str, Any] = {
        "answer": cutting.cut(cutting.visible(said.text), _ANSWER),
        "silent": said.silent,
        "holdout": False,
        "entries": shown.fitting(entries, shown.MAX_PAGE - _ANSWER - _RULES),
    }
    _, _, about = said.annotated.partition("\n")
    if about:
        made["about"] = cutting.cut(cutting.visible(about), 4_000)
    if said.rules:
        made["rules"] = shown.fitting([shown.rule(one) for one in said.rules], _RULES)
    return made | ({"next": _SILENT} if said.silent else {})


def settle(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_settle`."""
    return settled(memory.settle(**args))


def settled(made: Settlement) -> dict[str, Any]:
    """What a settlement did, as a tool shows it."""
    if not made.landed:
        return {"landed": False, "reason": made.reason, "ticket_id": made.ticket}
    trust = {"claimed": "claimed, not measured by a meter that is bound to this channel", "operator": "as the operator's word"}
    said = f"{shown_delta(made.delta or 0.0)} by {made.meter} was recorded ({trust.get(str(made.tier), 'as measured')})"
    return {
        "landed": True,
        "reason": made.reason or said,
        "ticket_id": made.ticket,
        "tier": made.tier,
        "credits": [{"entry_id": c.entry, "energy": round(c.amount / MICRO, 6), "role": c.role} for c in made.credits],
        "suspended": list(made.suspended),
        "cleared": list(made.cleared),
        "buried": list(made.buried),
    }


def abandon(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_abandon`."""
    done = memory.abandon(**args)
    said = (
        "closed without an outcome: no information, which is not zero"
        if done
        else "this ticket is not open; memory_pending lists those that are"
    )
    return {"abandoned": done, "reason": said}


def tick(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_tick`."""
    report = memory.tick(**args)
    return {
        "tick": report.tick,
        "population": report.population,
        "deaths": len(report.died),
        "died": list(report.died[:_DIED]),
        "expired": report.expired,
        "rent": round(report.rent / MICRO, 6),
    }


def add(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_add`."""
    return _written(memory.add(**args))


def update(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_update`."""
    return _written(memory.update(**args))


def _written(one: Entry) -> dict[str, Any]:
    made: dict[str, Any] = {"id": one.id, "text": cutting.cut(cutting.visible(one.text), shown.PREVIEW), "standing": one.standing}
    if one.standing == "suspended":
        made["standing_reason"] = "this text, or nearly the same, did measured harm before; memory_obituary tells"
    elif one.marks:
        made["standing_reason"] = (
            f"the text is marked ({', '.join(one.marks)}): it aims at its reader, so that it decides nothing before an outcome has borne "
            "it out, or the operator vouches for it; write down what is so, in plain words"
        )
    return made


def sync_turn(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_sync_turn`."""
    turn = memory.sync_turn(args.pop("user_text", None), args.pop("assistant_text", None), **args)
    return {"entries": shown.fitting([shown.entry(one) for one in turn]), "known": turn.known, "notes": list(turn.notes)}


def feedback(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_feedback`."""
    found = memory.feedback(**args)
    changed = [{"what": name, "before": str(before), "after": str(after)} for name, (before, after) in found.changed.items()]
    made: dict[str, Any] = {"id": found.entry.id, "counted": found.counted, "changed": changed}
    return made | ({"reason": found.reason} if found.reason else {})


def forget(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_forget`."""
    return _state(memory.forget(**args))


def pin(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_pin`."""
    return _state(memory.pin(**args))


def unpin(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_unpin`."""
    return _state(memory.unpin(**args))


def _state(one: Entry) -> dict[str, Any]:
    made = {"id": one.id, "standing": one.standing, "pinned": one.pinned, "text": cutting.cut(cutting.visible(one.text), 200)}
    return made | ({"cause": one.cause} if one.cause else {})
