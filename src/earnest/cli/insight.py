"""Commands that look at how a memory lives."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final

from earnest.cli.common import energy, given, model_cost, plural, sources, standing
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Part, Screen, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from earnest.core.events import Event
    from earnest.core.reports import Audit, Stats, Vectors
    from earnest.core.ticket import Meter

_LAST: Final = 20
_MOST: Final = 1_000
_ACCOUNTS: Final = {
    "mint": "made for stakes",
    "world": "credits paid (−) and fines taken (+) for outcomes",
    "rent": "paid by the living, tick by tick",
    "cap": "credit that did not fit under the cap",
    "forfeit": "left behind by the dead",
}
_SEVERITIES: Final = {"error": "red bold", "warning": "yellow bold", "info": "cyan bold"}


def why(args: Namespace, screen: Screen) -> int:
    """`earnest why`."""
    with open_memory(args, "reading") as memory:
        story = memory.obituary(args.id)
        entry = memory.get(args.id)
    if screen.as_json:
        screen.json({"id": args.id, "obituary": story, "entry": entry})
    else:
        screen.block(story)
    return 0


def top(args: Namespace, screen: Screen) -> int:
    """`earnest top`."""
    with open_memory(args, "reading") as memory:
        entries = memory.top(**given(args, "limit"))
    if screen.as_json:
        screen.json({"entries": entries})
    elif not entries:
        screen.say("No living entry earns here; `", hint(args, "list --all-scopes"), "` shows those that live otherwise.")
    else:
        rows: list[list[Part]] = [[energy(e), e.id, standing(e), sources(e), e.text] for e in entries]
        screen.table(["energy", "id", "standing", "source", "text"], rows, right=frozenset({0}), narrow=3)
    return 0


def stats(args: Namespace, screen: Screen) -> int:
    """`earnest stats`."""
    with open_memory(args, "reading") as memory:
        found, meters = memory.stats(), memory.meters.list()
    if screen.as_json:
        screen.json({**plain(found), "meters": meters})
    else:
        _say_stats(screen, found, meters)
    return 0


def _today(cost: Mapping[str, float]) -> str:
    """What was spent today, of the budget if there is one."""
    budget = f" of ${cost['budget']:g}" if "budget" in cost else ""
    return f"; today ${cost['usd_today']:.4f}{budget}"


def _meaning(vectors: Vectors) -> str:
    """How far recall goes by meaning; nothing where there is no embedder and never was one."""
    known = vectors.usable + vectors.missing
    others = "".join(f"; kept unused: {count:,} of {name}" for name, count in vectors.others.items())
    problem = f"; {vectors.problem}" if vectors.problem else ""
    if vectors.model:
        return f"{vectors.model}, vectors usable: {vectors.usable:,} of {known:,}{others}{problem}"
    return f"no embedder{others}{problem}" if others or problem else ""


def _say_stats(screen: Screen, found: Stats, meters: list[Meter]) -> None:
    from earnest.core.amounts import shown_delta, shown_energy

    pinned = f", {found.pinned:,} pinned" if found.pinned else ""
    ends = f"{found.settled:,} settled, {found.abandoned:,} abandoned, {found.expired:,} expired, {found.pending:,} open"
    rows: list[tuple[str, Part]] = [
        ("agent", found.agent),
        ("entries", f"{found.alive:,} active, {found.suspended:,} suspended, {found.dead:,} dead{pinned}"),
        ("by kind", _counts(found.by_kind)),
        ("rules", _counts(found.rules)),
        ("by scope", _counts({name or "(default)": count for name, count in found.by_scope.items()})),
        ("died", _counts(found.by_cause)),
        ("decisions", f"{found.decisions:,}: {ends}"),
        ("silence", f"{plural(found.silent, 'question')} found nothing"),
        ("dropped", f"{plural(found.dropped, 'settlement')} named a ticket that was not open" if found.dropped else ""),
        ("tick", f"{found.tick:,}"),
        ("meaning", _meaning(found.vectors)),
        ("models", model_cost(found.cost) + _today(found.cost) if found.cost else ""),
    ]
    screen.pairs([row for row in rows if row[1]])
    screen.say()
    screen.say(Painted("Energy", "bold"), ", which entries live from")
    held: list[Sequence[Part]] = [("the living", shown_energy(found.energy), "held by them now")]
    held += [(name, shown_energy(amount, signed=True), _ACCOUNTS.get(name, "")) for name, amount in found.accounts.items()]
    screen.table(("account", "energy", "what it is"), held, right=frozenset({1}))
    screen.say()
    screen.say(Painted("Resources", "bold"), ", as meters measured them")
    if not meters:
        screen.say("nothing measured yet")
        return
    sums = [(m.name, shown_delta(m.total), m.unit, f"{m.settlements:,}") for m in meters]
    screen.table(("meter", "sum", "unit", "settlements"), sums, right=frozenset({1}))


def _counts(counts: Any) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)


def audit(args: Namespace, screen: Screen) -> int:
    """`earnest audit`."""
    filtered = {"entry": args.entry, "kind": args.kind}
    digest: Audit | None = None
    with open_memory(args, "reading") as memory:
        if args.after is not None:
            events = memory.events(**filtered, after=args.after, limit=_MOST)
        else:
            last = _LAST if args.last is None else args.last
            events = memory.events(**filtered, limit=last, newest=True)[::-1]
        if args.entry is None and args.kind is None:
            digest = memory.audit(after=args.after or 0)
    if screen.as_json:
        screen.json({"events": events, "digest": digest})
        return 0
    if events:
        rows: list[list[Part]] = [
            [f"{e.seq:,}", f"{e.at:%Y-%m-%d %H:%M:%S}", f"{e.tick:,}", e.kind, f"{e.actor} over {e.channel}", _told(e)] for e in events
        ]
        screen.table(["event", "time (UTC)", "tick", "kind", "by", "what"], rows, right=frozenset({0, 2}))
    else:
        screen.say("No such events.")
    if args.after is not None and len(events) == _MOST:
        screen.say(f"There may be more; go on with --after {events[-1].seq}.")
    if digest is not None:
        screen.say()
        _say_digest(screen, digest)
    return 0


def _told(event: Event) -> str:
    """What an event says, in few words."""
    parts = [*event.entries[:3], *([f"+{len(event.entries) - 3}"] if len(event.entries) > 3 else [])]
    if event.ticket:
        parts.append(f"ticket {event.ticket}")
    told = [" ".join(parts)] if parts else []
    told += [said for name, value in event.data.items() if (said := _detail(name, value))]
    return ", ".join(told) + (f": {event.note}" if event.note else "")


_ENERGY: Final = frozenset({"balance", "left", "energy", "rent", "rent_index"})
"""What the log holds in micro-units: people read it in whole energy."""
_ODDS: Final = {"odds": "helps with", "line": "needed"}
"""What the log holds as the logarithm of odds: people read a probability."""


def _detail(name: str, value: object) -> str:
    """One value of an event's data, as people read it; nothing for what is long or made of parts."""
    from earnest.core.amounts import shown_energy
    from earnest.core.evidence import sigmoid

    if isinstance(value, bool):
        return f"{name} {'yes' if value else 'no'}"
    if isinstance(value, int) and name in _ENERGY:
        return f"{name} {shown_energy(value)}"
    if isinstance(value, float):
        return f"{_ODDS[name]} {sigmoid(value):.0%}" if name in _ODDS else f"{name} {value:,.6g}"
    if isinstance(value, int):
        return f"{name} {value:,}"
    return f"{name} {value}" if isinstance(value, str) and len(value) < 32 else ""


def _say_digest(screen: Screen, digest: Audit) -> None:
    from earnest.core.amounts import shown_delta, shown_energy

    if digest.last < digest.first:
        return
    screen.say(Painted(f"Events {digest.first:,} to {digest.last:,}", "bold"))
    rows: list[tuple[str, Part]] = [("kinds", _counts(digest.by_kind))]
    for name, meter in digest.by_meter.items():
        unit = f" {meter['unit']}" if meter["unit"] else ""
        said = f"{shown_delta(meter['total'])}{unit} over {plural(meter['settlements'], 'settlement')} ({_counts(meter['tiers'])})"
        rows.append((f"meter {name}", said))
    if digest.by_meter:
        rows.append(("energy", f"{shown_energy(digest.credited)} credited, {shown_energy(digest.fined)} fined"))
    rows += [("gained most", f"{entry} {shown_energy(amount, signed=True)}") for entry, amount in digest.gainers]
    rows += [("lost most", f"{entry} {shown_energy(amount, signed=True)}") for entry, amount in digest.losers]
    screen.pairs(rows, "  ")


def doctor(args: Namespace, screen: Screen) -> int:
    """`earnest doctor`."""
    with open_memory(args, "reading") as memory:
        found, counts = memory.doctor(), memory.stats()
    if screen.as_json:
        screen.json({"healthy": found.healthy, "failing": found.failing, "findings": found.findings})
        return 1 if found.failing else 0
    for finding in found.findings:
        screen.say(Painted(finding.severity, _SEVERITIES[finding.severity]), f"  {finding.code}")
        screen.block(finding.summary, "  ")
        screen.pairs([("seen", finding.evidence), ("do", finding.fix)], "  ")
        screen.say()
    severe = [f for f in found.findings if f.severity != "info"]
    looked = f"{plural(counts.total, 'entry', 'entries')}, {plural(counts.decisions, 'decision')}, {plural(counts.settled, 'settlement')}"
    if severe:
        screen.say(f"{plural(len(severe), 'thing')} to mend, in {looked}.")
    else:
        screen.say(Painted("Nothing is wrong", "green"), f" with how this memory is used, in {looked}.")
    return 1 if found.failing else 0
