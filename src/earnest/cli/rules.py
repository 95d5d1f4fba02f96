"""The command on rules: proposing, accepting, trying, matching and sharing them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from earnest.cli.common import given, model_cost, plural
from earnest.cli.entries import typed
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Part, Screen
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from earnest.core.rules import Rule

_STYLES: Final = {"pending": "yellow", "trial": "cyan", "active": "green", "rejected": "red", "expired": "dim"}

# Action: how its argument is called ("" for none), and which options it takes.
_TAKES: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "list": ("", frozenset({"status", "limit", "scope", "all_scopes"})),
    "add": ("TYPE", frozenset({"trigger", "do", "source", "evidence", "tag", "scope", "key"})),
    "analyze": ("", frozenset({"model", "scope", "key"})),
    "show": ("ID", frozenset()),
    "verify": ("ID", frozenset({"accept", "reason", "key"})),
    "trial": ("ID", frozenset({"decisions", "meter", "reason", "key"})),
    "match": ("TEXT", frozenset({"k", "floor", "scope", "all_scopes"})),
    "export": ("FILE", frozenset({"status", "scope", "all_scopes"})),
    "adopt": ("FILE", frozenset({"scope", "source", "key"})),
}
_OPTIONS: Final = {
    "status": "--status", "limit": "--limit", "scope": "--scope", "all_scopes": "--all-scopes", "trigger": "--trigger", "do": "--action",
    "source": "--source", "evidence": "--evidence", "tag": "--tag", "model": "--model", "accept": "--accept or --reject",
    "reason": "--reason", "decisions": "--decisions", "meter": "--meter", "k": "-k", "floor": "--floor", "key": "--key",
}  # fmt: skip


def rules(args: Namespace, screen: Screen) -> int:
    """`earnest rules`."""
    action = args.what_to_do or "list"
    wants, takes = _TAKES[action]
    for name, option in _OPTIONS.items():
        # A switch that was not given is None, but --all-scopes is False then.
        if getattr(args, name) is not None and name not in takes and not (name == "all_scopes" and args.all_scopes is False):
            raise InvalidInput("rules", option, f"does not belong to `rules {action}`")
    if bool(wants) != (args.what is not None):
        raise InvalidInput("rules", args.what, f"is written `earnest rules {action}{' ' + wants if wants else ''}`")
    return _DONE[action](args, screen)


def _scope(args: Namespace, *, one: bool = False) -> dict[str, Any]:
    """The scope that was named: a list of them, or the only one."""
    from earnest.core.filters import ALL

    if args.all_scopes:
        return {"scope": ALL}
    if not args.scope:
        return {}
    if one and len(args.scope) > 1:
        raise InvalidInput("--scope", args.scope, "names several scopes; a rule belongs to one")
    return {"scope": args.scope[0] if one else args.scope}


def _list(args: Namespace, screen: Screen) -> int:
    with open_memory(args, "reading") as memory:
        found = memory.rules.list(**_scope(args), **given(args, "status", "limit"))
    if screen.as_json:
        screen.json({"rules": found})
    elif not found:
        screen.say("No rules here: `", hint(args, "rules analyze"), "` proposes some from what happened.")
    else:
        _table(screen, found)
    return 0


def _table(screen: Screen, found: list[Rule]) -> None:
    rows: list[list[Part]] = [[r.id, r.type, Painted(r.status, _STYLES[r.status]), f"{r.hits:,}", _under(r), r.said] for r in found]
    screen.table(["id", "type", "status", "hits", "by", "rule"], rows, right=frozenset({3}))


def _under(rule: Rule) -> str:
    """Who or what gave a rule its status; of one on trial, how far it is."""
    if rule.status == "trial" and rule.trial is not None:
        return f"{rule.trial.seen.decisions:,} of {rule.trial.terms.decisions:,} decisions"
    return rule.by


def _add(args: Namespace, screen: Screen) -> int:
    if args.trigger is None or args.do is None:
        raise InvalidInput("rules", args.what, "is written `earnest rules add TYPE --trigger WHEN --action WHAT`")
    fields = given(args, "key")
    fields |= {name: value for name, value in (("sources", args.source), ("evidence", args.evidence), ("tags", args.tag)) if value}
    with open_memory(args, "creating") as memory:
        made = memory.rules.add(
            args.what, trigger=typed(args.trigger) or "", action=typed(args.do) or "", **_scope(args, one=True), **fields
        )
    _say(args, screen, made)
    return 0


def _analyze(args: Namespace, screen: Screen) -> int:
    with open_memory(args, "writing") as memory:
        made = memory.rules.analyze(args.model, **_scope(args, one=True), **given(args, "key"))
    if screen.as_json:
        screen.json({"rules": [*made], "by": made.by, "patterns": made.patterns, "notes": made.notes, "cost": made.cost})
        return 0
    if made:
        _table(screen, [*made])
        screen.say("They are pending: `", hint(args, "rules verify ID"), "` accepts one, `", hint(args, "rules trial ID"), "` tries it.")
    else:
        screen.say(f"Nothing new to propose; {plural(made.patterns, 'pattern')} looked at.")
    for note in made.notes:
        screen.say(f"Note: {note}")
    if made.cost:
        screen.say(f"Asked {args.model}: {model_cost(made.cost)}")
    return 0


def _show(args: Namespace, screen: Screen) -> int:
    with open_memory(args, "reading") as memory:
        _say(args, screen, memory.rules.get(args.what))
    return 0


def _verify(args: Namespace, screen: Screen) -> int:
    with open_memory(args, "writing") as memory:
        made = memory.rules.verify(args.what, accept=args.accept is not False, **given(args, "reason", "key"))
    _say(args, screen, made)
    return 0


def _trial(args: Namespace, screen: Screen) -> int:
    with open_memory(args, "writing") as memory:
        made = memory.rules.trial(args.what, **given(args, "decisions", "meter", "reason", "key"))
    _say(args, screen, made)
    return 0


def _say(args: Namespace, screen: Screen, rule: Rule) -> None:
    if screen.as_json:
        screen.json(rule)
        return
    screen.say(Painted(rule.id, "bold"), f"  {rule.type}  ", Painted(rule.status, _STYLES[rule.status]))
    rows: list[tuple[str, Part]] = [("when", rule.trigger)] if rule.trigger else []
    rows += [("do", rule.action), ("by", rule.by), ("hits", f"{rule.hits:,}")]
    if rule.since is not None:
        rows.append(("since", f"{rule.since:%Y-%m-%d}"))
    if rule.ends is not None:
        rows.append(("ends", f"{rule.ends:%Y-%m-%d}, unless it is used three times"))
    if rule.evidence:
        rows.append(("from", ", ".join(rule.evidence[:5]) + (f" and {len(rule.evidence) - 5} more" if len(rule.evidence) > 5 else "")))
    if rule.trial is not None:
        rows += _trial_rows(rule)
    screen.pairs(rows, "  ")
    if rule.status == "pending":
        screen.say("  `", hint(args, f"rules verify {rule.id}"), "` accepts it, `", hint(args, f"rules trial {rule.id}"), "` tries it.")


def _trial_rows(rule: Rule) -> list[tuple[str, Part]]:
    import math

    assert rule.trial is not None
    seen, terms = rule.trial.seen, rule.trial.terms
    rows: list[tuple[str, Part]] = [
        (f"trial {rule.trial.number}", f"{rule.trial.verdict or 'running'}: {seen.decisions:,} of {terms.decisions:,} decisions, "
                                       f"{seen.shown:,} with it and {seen.withheld:,} without")
    ]  # fmt: skip
    if seen.effect is not None:
        rows.append(("effect", f"{seen.effect:+.3f} scale a decision, between {seen.low:+.3f} and {seen.high:+.3f}"))
        rows.append(
            ("strength", f"{max(0.0, seen.strength):.1f} of the {-math.log(terms.alpha):.1f} that prove it (alpha {terms.alpha:.2g})")
        )
    return rows


def _match(args: Namespace, screen: Screen) -> int:
    with open_memory(args, "reading") as memory:
        found = memory.rules.match(typed(args.what), **_scope(args), **given(args, "k", "floor"))
    if screen.as_json:
        screen.json({"rules": found})
    elif found:
        _table(screen, found)
    else:
        screen.say("No active rule is called for.")
    return 0


def _export(args: Namespace, screen: Screen) -> int:
    with open_memory(args, "reading") as memory:
        count = memory.rules.export(args.what, **_scope(args), **given(args, "status"))
    if screen.as_json:
        screen.json({"path": args.what, "rules": count})
    else:
        screen.say(f"Wrote {plural(count, 'rule')} to {args.what}.")
    return 0


def _adopt(args: Namespace, screen: Screen) -> int:
    if args.source and len(args.source) > 1:
        raise InvalidInput("--source", args.source, "names several sources; a pool has one")
    source = {"source": args.source[0]} if args.source else {}
    with open_memory(args, "creating") as memory:
        made = memory.rules.adopt(args.what, **_scope(args, one=True), **source, **given(args, "key"))
    if screen.as_json:
        screen.json({"rules": [*made], "notes": made.notes})
        return 0
    if made:
        _table(screen, [*made])
        screen.say("They are pending, whatever they were elsewhere.")
    else:
        screen.say("Nothing in it that is new here.")
    for note in made.notes:
        screen.say(f"Note: {note}")
    return 0


_DONE: Final[dict[str, Callable[[Namespace, Screen], int]]] = {
    "list": _list, "add": _add, "analyze": _analyze, "show": _show, "verify": _verify, "trial": _trial, "match": _match,
    "export": _export, "adopt": _adopt,
}  # fmt: skip
