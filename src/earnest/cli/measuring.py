"""Commands about the instruments: who measures, what they show by themselves, and second looks at what they said."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from earnest.cli.common import given, plural
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Part, Screen
from earnest.errors import InvalidInput

if TYPE_CHECKING:
    from earnest.core.ticket import Appeal, Meter, Revocation

_WAYS = {"add": "meters add NAME", "bind": "meters bind NAME CHANNEL", "revoke": "meters revoke NAME"}


def meters(args: Namespace, screen: Screen) -> int:
    """`earnest meters`."""
    action = args.action or "list"
    options = given(args, "unit", "scale", "tier")
    if options and action != "add":
        raise InvalidInput("meters", action, "takes no --unit, --scale or --tier; those belong to `meters add NAME`")
    if args.since is not None and action != "revoke":
        raise InvalidInput("meters", action, "takes no --since; that belongs to `meters revoke NAME`")
    if action == "list":
        with open_memory(args, "reading") as memory:
            found = memory.meters.list()
        _say_meters(screen, found)
        return 0
    if args.name is None or (action == "bind") != (args.channel is not None):
        raise InvalidInput("meters", action, f"is written `earnest {_WAYS[action]}`")
    with open_memory(args, "creating" if action == "add" else "writing") as memory:
        if action == "revoke":
            _say_revoked(args, screen, memory.meters.revoke(args.name, since=_since(args.since)))
            return 0
        made = memory.meters.add(args.name, **options) if action == "add" else memory.meters.bind(args.name, channel=args.channel)
    if screen.as_json:
        screen.json(made)
    else:
        _say_meters(screen, [made])
    return 0


def _since(said: str | None) -> int | str | None:
    """A tick if it is a whole number, else a time."""
    return int(said) if said is not None and said.isascii() and said.isdigit() and len(said) < 19 else said


def _say_revoked(args: Namespace, screen: Screen, made: Revocation) -> None:
    if screen.as_json:
        screen.json(made)
        return
    screen.say(f"Revoked {made.meter}: its words do not count any more. ", hint(args, f"undo {made.event}"), " lets them count again.")
    for entries, word, style in (
        (made.cleared, "cleared", "green"),
        (made.returned, "brought back", "green"),
        (made.suspended, "suspended", "yellow"),
    ):
        for entry in entries:
            screen.say(f"  {entry}  ", Painted(word, style))


def _say_meters(screen: Screen, found: list[Meter]) -> None:
    from earnest.core.amounts import shown_delta

    if screen.as_json:
        screen.json({"meters": found})
    elif not found:
        screen.say("No meters yet: `earnest meters add NAME` makes one, and so does a settlement that names it.")
    else:
        rows: list[list[Part]] = [
            [
                m.name, m.unit or "-", "-" if m.scale is None else f"{m.scale:,.12g}", m.tier, f"{m.settlements:,}", shown_delta(m.total),
                _lies(m), "-" if m.baseline is None else f"{m.baseline:+.4g}", ", ".join(m.channels) or "none",
            ]
            for m in found
        ]  # fmt: skip
        heads = ["meter", "unit", "scale", "tier", "settled", "total", "lies", "by itself", "bound to"]
        screen.table(heads, rows, right=frozenset({2, 4, 5, 6, 7}))


def _lies(meter: Meter) -> Part:
    """How often a meter's words are wrong, as far as that was learned."""
    if meter.revoked is not None:
        return Painted("revoked", "red")
    if meter.lie_rate is None:
        return "-"
    return Painted(f"{meter.lie_rate:.0%}, alarm", "red") if meter.alarm else f"{meter.lie_rate:.0%}"


def control(args: Namespace, screen: Screen) -> int:
    """`earnest control`."""
    from earnest.core.amounts import shown_delta

    with open_memory(args, "writing") as memory:
        event = memory.control(delta=args.delta, **given(args, "meter", "scale", "detail", "key"))
        told = memory.events(after=event - 1, limit=1)[0].data
    if screen.as_json:
        screen.json({"event": event, "delta": args.delta, "meter": told["meter"], "tier": told["tier"]})
        return 0
    screen.say(f"Recorded: {told['meter']} showed {shown_delta(args.delta)} when nothing was done ({told['tier']})")
    if told["tier"] != "measured":
        screen.say("It teaches nothing until the meter is bound to this channel: ", hint(args, f"meters bind {told['meter']} cli"))
    return 0


def remeasure(args: Namespace, screen: Screen) -> int:
    """`earnest remeasure`."""
    from earnest.core.amounts import shown_delta, shown_energy

    options = given(args, "meter", "scale", "detail", "key")
    if args.wanted:
        if args.ticket is not None or options:
            raise InvalidInput(
                "remeasure", "--wanted", "only lists; a second look is written `earnest remeasure TICKET DELTA --meter NAME`"
            )
        with open_memory(args, "reading") as memory:
            _say_wanted(screen, memory.appeals(**given(args, "after", "limit")))
        return 0
    if args.ticket is None or args.delta is None or args.meter is None:
        raise InvalidInput(
            "remeasure", args.ticket, "is written `earnest remeasure TICKET DELTA --meter NAME`, or `earnest remeasure --wanted`"
        )
    with open_memory(args, "writing") as memory:
        made = memory.remeasure(args.ticket, delta=args.delta, **options)
    if screen.as_json:
        screen.json(made)
    elif not made:
        screen.say(Painted("Nothing landed: ", "yellow"), made.reason)
    else:
        screen.say(f"Looked again at {made.ticket}: {shown_delta(args.delta)} by {made.meter} ({made.tier}); {made.reason}")
        if made.moved:
            screen.say(f"  put right: {shown_energy(made.moved, signed=True)} energy")
        for entries, word, style in (
            (made.suspended, "suspended", "yellow"),
            (made.cleared, "cleared", "green"),
            (made.buried, "buried", "red"),
        ):
            for entry in entries:
                screen.say(f"  {entry}  ", Painted(word, style), ": ", hint(args, f"why {entry}"))
    return 0 if made else 1


_WHY = {"first": "first outcomes", "appeal": "at stake", "random": "by chance"}


def _say_wanted(screen: Screen, wanted: list[Appeal]) -> None:
    from earnest.core.amounts import shown_delta

    if screen.as_json:
        screen.json({"appeals": wanted})
    elif not wanted:
        screen.say("No second look is wanted.")
    else:
        screen.say(f"{plural(len(wanted), 'second look')} wanted: measure again what these decisions changed, by another instrument.")
        rows: list[list[Part]] = [[a.ticket, a.entry, f"{shown_delta(a.delta)} by {a.meter}", _WHY[a.why], a.query] for a in wanted]
        screen.table(["ticket", "entry", "reported", "why", "question"], rows)
