"""What several commands share: filters from options, entries as rows, and saying where nothing was found."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final

from earnest.cli.place import hint, others_in_folder
from earnest.cli.render import Painted, Part, Screen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earnest.core.entry import Entry
    from earnest.memory import Memory

STANDING_STYLES: Final = {"active": "green", "suspended": "yellow", "dead": "red"}
_RECALL: Final = ("since", "until", "as_of", "half_life", "k", "mode", "links", "weigh")


ABSTAINED: Final = 3
"""The exit status of a command that could measure nothing: neither yes nor no."""


class Abstained(Exception):
    """Nothing could be measured."""


def filters(args: Namespace) -> dict[str, Any]:
    """The filters that were asked for, as the façade takes them."""
    from earnest.core.filters import ALL

    scope: Any = ALL if args.all_scopes else args.scope if args.scope is not None else ""
    return {"scope": scope, "kind": args.kind, "source": args.source, "tags": args.tag}


def recall(args: Namespace) -> dict[str, Any]:
    """Filters, times, half-life and k, as the recalling verbs take them; what was not given keeps the verb's own default."""
    given = {name: getattr(args, name) for name in _RECALL}
    return filters(args) | {name: value for name, value in given.items() if value is not None}


def given(args: Namespace, *names: str) -> dict[str, Any]:
    """The options of these names that were given."""
    return {name: getattr(args, name) for name in names if getattr(args, name) is not None}


def energy(entry: Entry) -> str:
    """What an entry holds, for people; a dash for one that lives from something else."""
    from earnest.core.amounts import shown_energy

    return shown_energy(entry.balance) if entry.retention == "earned" else "-"


def standing(entry: Entry) -> Painted:
    """How an entry stands, in one word or two."""
    word = f"dead, {entry.cause}" if entry.cause else entry.standing
    return Painted(f"{word}, pinned" if entry.pinned else word, STANDING_STYLES[entry.standing])


def sources(entry: Entry, limit: int = 2) -> str:
    """Where an entry comes from, in few words."""
    more = f" +{len(entry.sources) - limit}" if len(entry.sources) > limit else ""
    return ", ".join(entry.sources[:limit]) + more or "-"


def entry_table(screen: Screen, entries: list[Entry]) -> None:
    """Entries as a table; the scope only where there is another one than the default."""
    scoped = any(entry.scope for entry in entries)
    head = ["id", "kind", "standing", "energy", *(["scope"] if scoped else []), "source", "text"]
    rows: list[list[Part]] = [
        [e.id, e.kind, standing(e), energy(e), *([e.scope or "(default)"] if scoped else []), sources(e), e.text] for e in entries
    ]
    screen.table(head, rows, right=frozenset({3}), narrow=len(head) - 2)


def nothing_here(screen: Screen, memory: Memory, args: Namespace, *, asked: bool = False) -> None:
    """Say which scope was looked in, which others hold entries, and which other agents have a file beside this one.

    Where something was `asked`, also how many entries could have answered, so that silence is no riddle.
    """
    held = dict(memory.stats().by_scope)
    looked = [*held] if args.all_scopes else args.scope or [""]
    narrowed = asked and any(getattr(args, name) for name in ("kind", "source", "tag", "since", "until", "as_of"))
    tried = "" if not asked or narrowed else f": {_considered(memory, held, looked):,} considered, 0 above the floor"
    if args.all_scopes:
        screen.say(f"Looked in every scope{tried}.")
    else:
        screen.say("Looked in ", " and ".join(f"scope {name!r}" if name else "the default scope" for name in looked), f"{tried}.")
        others = [f"{_scope(name)} ({count:,})" for name, count in held.items() if name not in looked]
        if others:
            screen.say("Other scopes hold entries: ", _few(others), "; name one with --scope, or say --all-scopes.")
    if not held:
        screen.say(f"This memory of agent {memory.agent} has no living entries; `", hint(args, "encode FILE"), "` makes some.")
        agents = others_in_folder(args)
        if agents:
            screen.say("Other agents have a memory in this folder: ", _few(agents), "; name one with --agent.")


def _considered(memory: Memory, held: Mapping[str, int], looked: list[str]) -> int:
    """How many entries of these scopes a question is compared with: the living, without rules."""
    return sum(held.get(name, 0) for name in set(looked)) - len(memory.list(scope=looked, kind="rule")) if looked else 0


def _scope(name: str) -> str:
    return repr(name) if name else "the default scope"


def _few(names: list[str], limit: int = 10) -> str:
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")


def model_cost(cost: Mapping[str, float]) -> str:
    """What a language model was asked, in words."""
    parts = [plural(int(cost["calls"]), "call")]
    parts += [
        f"{int(cost[name]):,} {word}"
        for name, word in (("failed", "of them failed"), ("kept", "replies kept from before"))
        if cost.get(name)
    ]
    parts += [f"{int(cost['tokens_in']):,} tokens read", f"{int(cost['tokens_out']):,} written"]
    priced = cost["calls"] - cost.get("failed", 0) - cost.get("unpriced", 0)
    if priced > 0:
        parts.append(f"${cost['usd']:.4f}")
    if cost.get("unpriced"):
        parts.append(f"{int(cost['unpriced']):,} of unknown price (`earnest config llm_price READ/WRITTEN` says it)")
    return ", ".join(parts)


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its word."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
