"""`earnest settle-ci`: lessons settled by the test suite."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earnest.cli.common import ABSTAINED, plural
from earnest.cli.place import hint, open_memory, store_of
from earnest.cli.render import Painted, Part, Screen
from earnest.errors import InvalidInput, NothingMeasured

if TYPE_CHECKING:
    from earnest.ci.settling import Outcome, Request
    from earnest.memory import Memory

_SHOWN: Final = 20


def settle_ci(args: Namespace, screen: Screen) -> int:
    """`earnest settle-ci`."""
    from earnest.ci import settling

    if args.control and args.remeasure:
        raise InvalidInput("settle-ci", "--control", "excludes --remeasure: a control is no second look")
    request = _request(args)
    try:
        if args.measure_only:
            from earnest.ci import flaky, state

            place = _place(args)
            seen = settling.measure(request, state.read(place).known if place.exists() else flaky.Known()).outcome
        else:
            work = settling.control if args.control else settling.look_again if args.remeasure else settling.settle_ci
            with open_memory(args, "writing", channel=settling.CHANNEL, actor="ci") as memory:
                if args.base_store is not None:
                    request = _at_base(args, request)
                seen = work(memory, _place(args), request)
                _say(args, screen, seen, memory)
                return _status(args, seen)
    except NothingMeasured as error:
        seen = settling.Outcome(None, 0, tuple(request.tickets), reason=str(error))
        _say(args, screen, seen, None)
        return ABSTAINED
    _say(args, screen, seen, None)
    return 0


def _status(args: Namespace, seen: Outcome) -> int:
    return 1 if seen.tickets and not seen.landed and not args.control else 0


def _place(args: Namespace) -> Path:
    """The state: named, or beside the store."""
    from earnest.opening import agent_name, located

    if args.state is not None:
        return Path(args.state)
    return Path(located(store_of(args)[0], agent_name(args.agent))[0] + ".ci.json")


def _request(args: Namespace) -> Request:
    from earnest.ci import flaky, settling
    from earnest.core import check

    for name, side in (("--base-xml", args.base_xml), ("--head-xml", args.head_xml)):
        if not side:
            raise InvalidInput("settle-ci", name, "is missing: the reports before and after the change are what is measured")
    return settling.Request(
        base=args.base_xml,
        head=args.head_xml,
        tickets=_tickets(args),
        meter=args.meter or (settling.SECOND_METER if args.remeasure else settling.METER),
        scale=args.scale,
        detail=args.detail or "",
        run=args.run_id,
        codes=(args.base_code or "", args.head_code or ""),
        opened_by=check.moment("base_time", args.base_time),
        allow_removed=bool(args.allow_removed),
        quarantine=flaky.QUARANTINE if args.quarantine is None else check.integer("quarantine", args.quarantine, low=1, high=10_000),
    )


def _tickets(args: Namespace) -> tuple[str, ...]:
    """The tickets that were named, in whatever way; the variable PR_BODY counts where nothing else was said."""
    from earnest.ci import tickets

    named: list[str] = []
    for word in args.tickets or ():
        named += tickets.listed(word)
    if args.tickets_file is not None:
        named += tickets.in_file(args.tickets_file)
    if args.commits is not None:
        named += tickets.in_commits(args.commits)
    body = args.pr_body
    if body is None and not (args.tickets or args.tickets_file or args.commits):
        body = os.environ.get("PR_BODY", "")
    if body == "-":
        body = sys.stdin.read(tickets.MAX_TEXT + 1)
    if body:
        named += tickets.tickets_in(body)
    return tickets.few(named)


def _at_base(args: Namespace, request: Request) -> Request:
    """The request with the tickets that were open in the store as it was at base."""
    from dataclasses import replace

    from earnest.memory import Memory, read_lessons

    if Path(args.base_store).is_file():
        with Path(args.base_store).open("rb") as file:
            if file.read(1) == b"[":
                return replace(request, at_base=frozenset(read_lessons(args.base_store).open))
    with Memory.open(args.base_store, args.agent, read_only=True) as before:
        return replace(request, at_base=frozenset(ticket.id for ticket in before.pending()))


def _say(args: Namespace, screen: Screen, seen: Outcome, memory: Memory | None) -> None:
    from earnest.core.amounts import shown_delta

    if screen.as_json:
        screen.json(seen)
        return
    if seen.delta is None:
        screen.say(Painted("Abstained: ", "yellow"), seen.reason, ". The tickets stay open.")
        return
    screen.say(f"Measured {shown_delta(seen.delta)} tests: {seen.reason}")
    _list(screen, seen.regressed, "broken", "red")
    _list(screen, seen.improved, "mended", "green")
    _list(screen, seen.quarantined, "flaky, not counted", "yellow")
    _list(screen, seen.removed, "passed, and is gone", "yellow")
    if seen.landed:
        screen.say(f"Settled {plural(seen.landed, 'ticket')} by {shown_delta(seen.share or 0)} each")
    for names, word, style in ((seen.suspended, "suspended", "yellow"), (seen.cleared, "cleared", "green"), (seen.buried, "buried", "red")):
        for entry in names:
            screen.say(f"  {entry}  ", Painted(word, style), ": ", hint(args, f"why {entry}"))


def _list(screen: Screen, tests: tuple[str, ...], word: str, style: str) -> None:
    for test in tests[:_SHOWN]:
        line: list[Part] = ["  ", Painted(word, style), f"  {test}"]
        screen.say(*line)
    if len(tests) > _SHOWN:
        screen.say(f"  and {len(tests) - _SHOWN:,} more {word}")
