"""Commands that ask memory and tell it what came of its advice."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from earnest.cli.common import energy, given, nothing_here, plural, recall, sources, standing
from earnest.cli.place import hint, open_memory
from earnest.cli.render import Painted, Part, Screen

if TYPE_CHECKING:
    from earnest.core.ticket import Answer, Settlement
    from earnest.memory import Memory


def query(args: Namespace, screen: Screen) -> int:
    """`earnest query`."""
    with open_memory(args, "reading") as memory:
        answer = memory.answer(args.question, **recall(args), **_model(args))
        if screen.as_json:
            screen.json(answer)
        elif answer:
            _say_answer(screen, answer)
        else:
            _say_silent(screen, memory, args)
    return 0


def decide(args: Namespace, screen: Screen) -> int:
    """`earnest decide`."""
    with open_memory(args, "writing") as memory:
        ticket = memory.decide(args.question, **recall(args), **given(args, "key"), **_model(args))
        if screen.as_json:
            screen.json(ticket)
        elif ticket.id is None and ticket:
            _say_answer(screen, ticket)
            why = "what answers was superseded since" if ticket.from_memory else "nobody is to be credited for an answer not from memory"
            screen.say(f"No ticket was opened: {why}.")
        elif ticket.id is None:
            _say_silent(screen, memory, args)
            screen.say("No ticket was opened.")
        else:
            if ticket.holdout:
                screen.say("Memory was withheld this time, so that its use can be measured: act as you would without it.")
            elif not ticket.text:
                screen.say("A rule on trial was kept back this time, so that its use can be measured: act as you would without it.")
            else:
                _say_answer(screen, ticket)
            screen.say()
            screen.say("ticket  ", Painted(ticket.id, "bold"))
            screen.say("Do what you will, measure what changed, then: ", hint(args, f"settle {ticket.id} DELTA --meter NAME"))
            screen.say("Nothing to measure? ", hint(args, f"abandon {ticket.id}"))
    return 0


def _model(args: Namespace) -> dict[str, Any]:
    return {} if args.model is None else {"llm": args.model}


def _say_answer(screen: Screen, answer: Answer) -> None:
    first, *rest = answer.annotated.splitlines() or [answer.text]
    screen.block(first)
    for line in rest:
        screen.block(line, "  ")
    if answer.deciding is not None:
        screen.say("  decided by   ", Painted(answer.deciding.id, "cyan"), f" ({energy(answer.deciding)} energy)")
    for entry in answer.supporting:
        screen.cut("  supported by ", Painted(entry.id, "cyan"), f" ({sources(entry)}) ", Painted(entry.text, "dim"))


def _say_silent(screen: Screen, memory: Memory, args: Namespace) -> None:
    screen.say("Memory is silent: nothing it may answer with is relevant enough to that question.")
    nothing_here(screen, memory, args, asked=True)


def search(args: Namespace, screen: Screen) -> int:
    """`earnest search`."""
    with open_memory(args, "reading") as memory:
        hits = memory.search(args.question, **recall(args), **given(args, "floor"))
        if screen.as_json:
            screen.json({"hits": hits})
        elif not hits:
            screen.say("Nothing found.")
            nothing_here(screen, memory, args, asked=True)
        else:
            rows: list[list[Part]] = [
                [f"{hit.score:.3f}", hit.entry.id, standing(hit.entry), sources(hit.entry), hit.entry.text] for hit in hits
            ]
            screen.table(["score", "id", "standing", "source", "text"], rows, right=frozenset({0}), narrow=3)
    return 0


def settle(args: Namespace, screen: Screen) -> int:
    """`earnest settle`."""
    with open_memory(args, "writing") as memory:
        made = memory.settle(args.ticket, delta=args.delta, **given(args, "meter", "scale", "acted", "detail", "cited", "key"))
    if screen.as_json:
        screen.json(made)
    elif made:
        _say_settled(args, screen, made)
    else:
        screen.say(Painted("Nothing landed: ", "yellow"), made.reason)
    return 0 if made else 1


def _say_settled(args: Namespace, screen: Screen, made: Settlement) -> None:
    from earnest.core.amounts import shown_delta, shown_energy

    delta = shown_delta(made.delta or 0)
    screen.say(f"Settled {made.ticket}: {delta} by {made.meter} ({_trust(made.tier)})")
    for credit in made.credits:
        style = "red" if credit.amount < 0 else "green" if credit.amount > 0 else ""
        screen.say(f"  {credit.entry}  ", Painted(f"{shown_energy(credit.amount, signed=True)} energy", style), f"  {credit.role}")
    for entry in made.suspended:
        screen.say(f"  {entry}  ", Painted("suspended", "yellow"), ": it may not decide any more; ", hint(args, f"why {entry}"))
    for entry in made.cleared:
        screen.say(f"  {entry}  ", Painted("cleared", "green"), ": it may decide again")
    for entry in made.buried:
        screen.say(f"  {entry}  ", Painted("buried", "red"), ": ", hint(args, f"why {entry}"))


def _trust(tier: str | None) -> str:
    return {"operator": "typed by an operator, not measured", "claimed": "claimed, not measured"}.get(str(tier), str(tier))


def abandon(args: Namespace, screen: Screen) -> int:
    """`earnest abandon`."""
    with open_memory(args, "writing") as memory:
        done = memory.abandon(args.ticket, **given(args, "reason", "key"))
    if screen.as_json:
        screen.json({"ticket": args.ticket, "abandoned": done})
    elif done:
        screen.say(f"Abandoned {args.ticket}: no information, which is not an outcome of zero.")
    else:
        screen.say(f"Ticket {args.ticket} is not open here; ", hint(args, "pending"), " lists those that are.")
    return 0 if done else 1


def pending(args: Namespace, screen: Screen) -> int:
    """`earnest pending`."""
    with open_memory(args, "reading") as memory:
        tickets = memory.pending(**given(args, "after", "limit"))
    if screen.as_json:
        screen.json({"tickets": tickets})
    elif not tickets:
        screen.say("No open tickets", f" after {args.after}" if args.after else "", ".")
    else:
        rows: list[list[Part]] = [[t.id, f"{t.age_ticks:,}", t.deciding or ("(withheld)" if t.holdout else "-"), t.query] for t in tickets]
        screen.table(["ticket", "age in ticks", "decided by", "question"], rows, right=frozenset({1}))
    return 0


def tick(args: Namespace, screen: Screen) -> int:
    """`earnest tick`."""
    from earnest.core.amounts import shown_energy

    with open_memory(args, "writing") as memory:
        report = memory.tick(**given(args, "slot", "expire_after"))
        died = [memory.get(entry) for entry in report.died] if not screen.as_json else []
    if screen.as_json:
        screen.json(report)
        return 0
    ended = f"{plural(len(report.died), 'death')}, {plural(report.expired, 'ticket')} expired"
    rent = f"{shown_energy(abs(report.rent))} energy of rent {'given back' if report.rent < 0 else 'charged'}"
    screen.say(f"Tick {report.tick:,}: {report.population:,} living, {ended}, {rent}")
    for entry in died:
        screen.cut(f"  {entry.id}  ", Painted(str(entry.cause), "red"), "  ", entry.text)
    return 0
