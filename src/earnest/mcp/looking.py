"""Tools that look and change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from earnest.core import cutting
from earnest.core.amounts import MICRO
from earnest.core.filters import ALL
from earnest.errors import InvalidInput
from earnest.mcp import shown

if TYPE_CHECKING:
    from earnest.memory import Memory

_STORY: Final = 12_000
_SCOPES: Final = 50
_DEPTHS: Final = (64, 256, 1_000)
"""How deep is looked. It is the same for the first eight pages at least, so that entries that match equally well stand in the same order on
one page and the next."""


def where(args: dict[str, Any]) -> dict[str, Any]:
    """A tool's arguments with its filters as the façade takes them."""
    made = dict(args)
    if made.pop("all_scopes", False):
        if made.get("scope"):
            raise InvalidInput("scope", made["scope"], "names scopes while all_scopes asks for every one; give one of the two")
        made["scope"] = ALL
    return made


def search(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_search`."""
    asked = where(args)
    limit, offset = asked.pop("limit", 5), asked.pop("offset", 0)
    depth = next((depth for depth in _DEPTHS if max(offset + limit + 1, 8 * limit) <= depth), _DEPTHS[-1])
    hits = memory.search(k=depth, **asked)[offset : offset + limit + 1]
    rows = [shown.entry(hit.entry, score=round(hit.score, 4), why=cutting.cut(cutting.line(hit.why), 300)) for hit in hits]
    return shown.page("hits", rows, limit, lambda n: _next_offset(offset + n))


def _next_offset(offset: int) -> tuple[str, dict[str, Any]]:
    return f"call again with offset={offset}; memory_obituary shows a long text whole", {"next_offset": offset}


def prefetch(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_prefetch`."""
    context = memory.prefetch(**where(args))
    entries, rules = ([one.id for one in part] for part in (context.entries, context.rules))
    return {"text": context.text, "tokens": context.tokens, "entries": entries, "rules": rules}


def stats(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_stats`."""
    found = memory.stats()
    names = (
        "alive", "suspended", "dead", "total", "pending", "tick", "decisions", "silent", "settled", "abandoned", "expired", "dropped",
        "pinned", "redacted",
    )  # fmt: skip
    scopes = sorted(found.by_scope.items(), key=lambda item: (-item[1], item[0]))[:_SCOPES]
    made: dict[str, Any] = {"agent": found.agent, "energy": round(found.energy / MICRO, 6)}
    made |= {name: getattr(found, name) for name in names}
    made |= {"by_kind": dict(found.by_kind), "by_cause": dict(found.by_cause), "by_tier": dict(found.by_tier)}
    made["by_scope"] = {cutting.cut(cutting.line(scope), 100): count for scope, count in scopes}
    if found.rules:
        made["rules"] = dict(found.rules)
    if found.vectors.problem:
        made["recall"] = cutting.cut(cutting.line(found.vectors.problem), 300)
    return made


def top(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_top`."""
    limit, offset = args.get("limit", 10), args.get("offset", 0)
    rows = [shown.entry(one) for one in memory.top(offset + limit + 1)[offset:]]
    return shown.page("entries", rows, limit, lambda n: _next_offset(offset + n))


def pending(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_pending`."""
    limit = args.pop("limit", 20)
    rows = [shown.ticket(one) for one in memory.pending(limit=limit + 1, **args)]

    def rest(shown_now: int) -> tuple[str, dict[str, Any]]:
        last = str(rows[shown_now - 1]["ticket_id"])
        return f"call again with after={last}", {"next_after": last}

    return shown.page("tickets", rows, limit, rest)


def obituary(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_obituary`: the entry, its text from `offset` on, and its life."""
    offset = args.get("offset", 0)
    one, story = memory.get(args["id"]), memory.obituary(args["id"])
    said = cutting.visible(one.text)
    if offset and offset >= len(said):
        raise InvalidInput("offset", offset, f"lies behind the end of the text, which is {len(said):,} characters long")
    end = cutting.border(said, offset + shown.WHOLE)
    end = end if end > offset else min(offset + shown.WHOLE, len(said))
    entry = shown.entry(one) | {"text": said[offset:end]}
    entry.pop("text_truncated", None)
    made: dict[str, Any] = {"entry": entry, "story": cutting.cut(cutting.visible(story), _STORY), "truncated": end < len(said)}
    if end < len(said):
        entry["text_truncated"] = True
        made |= {"rest": f"the text goes on: call again with offset={end}", "next_offset": end}
    elif len(story) > _STORY:
        made |= {"truncated": True, "rest": f"the story goes on: memory_audit with entry_id={one.id} has every event"}
    return made


def audit(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_audit`."""
    limit, after = args.get("limit", 30), args.get("after")
    chosen = {name: args[name] for name in ("entry", "kind") if name in args}
    if after is None:
        newest = memory.events(limit=limit + 1, newest=True, **chosen)
        rows = [shown.event(one) for one in newest]
        made = shown.page("events", rows, limit, lambda n: ("older events: call again with after=0, which reads from the beginning", {}))
        made["events"].reverse()
    else:
        rows = [shown.event(one) for one in memory.events(after=after, limit=limit + 1, **chosen)]

        def rest(shown_now: int) -> tuple[str, dict[str, Any]]:
            last = str(rows[shown_now - 1]["number"])
            return f"call again with after={last}", {"next_after": last}

        made = shown.page("events", rows, limit, rest)
    if not chosen and after is None:
        digest = memory.audit()
        made["by_kind"] = dict(digest.by_kind)
        made["by_meter"] = {cutting.cut(cutting.line(name), 100): dict(said) for name, said in list(digest.by_meter.items())[:20]}
    return made


def doctor(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_doctor`."""
    found = memory.doctor()
    names = ("code", "severity", "summary", "evidence", "fix")
    rows = [{name: cutting.cut(cutting.visible(getattr(one, name)), 1_500) for name in names} for one in found.findings]
    made = shown.page("findings", rows, len(rows) or 1, lambda n: ("`earnest doctor` shows all of them", {}))
    return {"healthy": found.healthy, **made}


def uplift(memory: Memory, args: dict[str, Any]) -> dict[str, Any]:
    """`memory_uplift`."""
    found = memory.uplift(args.pop("meter", None), **args)
    made: dict[str, Any] = {"verdict": found.verdict, "decisions": found.decisions, "holdouts": found.holdouts}
    for name in ("effect", "low", "high", "meter"):
        value = getattr(found, name)
        if value is not None:
            made[name] = value
    return made
