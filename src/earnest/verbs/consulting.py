"""Answering with the help of a language model: it says what to look up, and answers; what it cites decides, and gets the credit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from earnest.core.entry import Entry, StoredEntry
from earnest.core.filters import Filter
from earnest.core.reports import Hit
from earnest.core.rules import Rule
from earnest.core.ticket import Answer, Ticket
from earnest.core.tokens import estimated
from earnest.forgetting import curve
from earnest.ledger import decisions, holdout, inquiry
from earnest.ledger.testimony import Testimony
from earnest.protocols import LLM
from earnest.recall.answering import SILENCE, age_line, one_line
from earnest.recall.protocol import Consulted, QueryProtocol
from earnest.recall.search import EXTRA, Found
from earnest.rules import trials
from earnest.verbs import tickets
from earnest.verbs.beside import annotated, called_for
from earnest.verbs.questions import Asking
from earnest.verbs.seating import as_now, as_then, guarding, seated
from earnest.verbs.tickets import WITHHELD, Recalled

if TYPE_CHECKING:
    from datetime import datetime

    from earnest.verbs.recalling import RecallVerbs

_ATTEMPTS = 2
"""How often a model is asked if what it cited fell before the ticket was open."""
RULES: Final = 1_000
"""Tokens that rules may take of its prompt."""


class Advice(NamedTuple):
    """What is answered, and the entries that it cites."""

    said: Answer
    cited: list[Found]


def fitting(rules: Sequence[Rule]) -> list[Rule]:
    """The rules that the model is told of: the best-matching ones, as far as there is room for them in its prompt."""
    made: list[Rule] = []
    room = RULES
    for rule in rules:
        room -= estimated(rule.trigger + rule.action) + 20
        if room < 0:
            break
        made.append(rule)
    return made


def consulted(verbs: RecallVerbs, llm: LLM, asking: Asking, chosen: Filter, rules: Sequence[Rule] = ()) -> Advice:
    """Ask memory with a model's help. Only what may decide is shown to the model, and the `rules`, which the answer is given beside; no
    snapshot is open while it is asked.

    Raises:
        ModelFailed, BudgetSpent: It gave no answer, or was not asked.
    """
    if not asking.text:
        return Advice(SILENCE, [])
    known: dict[str, Found] = {}
    since: dict[str, Entry] = {}
    if _guarded(verbs, asking, chosen):
        return Advice(SILENCE, [])

    def look(query: str, k: int) -> list[Hit]:
        again = verbs._asking(query, k, asking.half_life, asking.mode, asking.links)
        again.past = asking.past
        found, _ = _seen(verbs, again, chosen, since)
        known.update((f.stored.entry.id, f) for f in found[:k] if f.stored.entry.id not in known)
        return [Hit(f.stored.entry, f.score, f.why, f.covered) for f in found[:k]]

    with verbs._store.read() as reading:
        settings, tick = verbs._read_settings(reading), reading.counter("tick")
        analyser = verbs._sound_index()
    now = verbs._clock.now()
    protocol = QueryProtocol(look, llm, rng=verbs._rng, analyser=analyser, conflict=settings.conflict, now=now, tick=tick)
    gate = verbs._gate()
    made = protocol.ask(gate.passed(asking.text).text, asking.k, [f"{rule.type}: {rule.said}" for rule in rules])
    # The ticket keeps the answer, so that it goes through the gate like everything that is written.
    made = replace(made, text=gate.passed(made.text).text)
    return Advice(as_now(_said(made, now, tick), since), [known[entry.id] for entry in made.cited])


def _seen(verbs: RecallVerbs, asking: Asking, chosen: Filter, since: dict[str, Entry]) -> tuple[list[Found], bool]:
    """What a question finds of what may decide, the decider first; and whether something was found that keeps memory silent. Adds to
    `since` what was superseded since the time that is asked about."""
    if not asking.text:
        return [], False
    with verbs._store.read() as reading:
        settings = verbs._read_settings(reading)
        reranking = verbs._reranking
        found = verbs._find(reading, asking, chosen, reranking.depth(asking.k + EXTRA), settings.floor, guards=guarding(reading, settings))
        found, gone = as_then(reading, settings, found)
        since.update(gone)
        seating = seated(reading, settings, found)
    if reranking.usable:
        seating = seating.ranked_anew(reranking.ordered(asking.text, found)[0], asking.k + EXTRA)
    seats = seating.chosen()
    return [f for f in seats.found if seating.seats[f.stored.row].decides], bool(found) and not seats.found


def _guarded(verbs: RecallVerbs, asking: Asking, chosen: Filter) -> bool:
    """Whether what the question finds first did harm, and nothing else is near enough: then no other wording gets around it."""
    return _seen(verbs, asking, chosen, {})[1]


def _said(made: Consulted, now: datetime, tick: int) -> Answer:
    if made.silent:
        return SILENCE
    if not made.cited:
        why = made.notes[-1] if made.notes else "the answer cites nothing that it was shown"
        return Answer(made.text, None, (), f"{made.text}\n(not from memory: {why})", silent=False, from_memory=False)
    lines = [f"[{number}] {one_line(entry.text)} ({age_line(entry, now, tick)})" for number, entry in enumerate(made.cited, 1)]
    notes = [f"({note})" for note in made.notes]
    deciding = made.cited[0] if len(made.cited) == 1 else None
    supporting = () if deciding is not None else made.cited
    return Answer(made.text, deciding, supporting, "\n".join([made.text, *lines, *notes]), silent=False, from_memory=True)


def decided(verbs: RecallVerbs, llm: LLM, asking: Asking, chosen: Filter, request: Mapping[str, Any], key: str | None) -> Ticket | None:
    """Ask with a model's help and open a ticket for what it cites; None for silence.

    An answer that is not from memory comes back without a ticket: nobody gets the credit for it. Where no entry answers, the rules that
    the question calls for do. Coins of rules on trial are thrown when the ticket is opened: which of them come up changes neither what the
    model says nor whether there is a ticket.
    """
    for _ in range(_ATTEMPTS):
        rules, told = called_for(verbs, asking, chosen, trial=True)
        active = fitting([rule for rule in told if rule.status == "active"])
        said, cited = consulted(verbs, llm, asking, chosen, active)
        taken = {rule.id for rule in active} | {rule.id for rule in told if rule.status == "trial"}
        rows = [hit.stored.row for hit in rules if hit.stored.entry.id in taken]
        if said.silent:
            ticket = tickets.opened(verbs, asking, request, Recalled(SILENCE, None, []), None, key, rows) if rows else None
        elif not cited:
            shown = {rule.id for rule in active}
            verbs._note(None, [hit.stored.row for hit in rules if hit.stored.entry.id in shown])
            beside = annotated(said.annotated, active)
            return Ticket(said.text, None, (), beside, silent=False, from_memory=False, rules=tuple(active))
        elif any(not entry.alive for entry in (*([said.deciding] if said.deciding else []), *said.supporting)):
            return tickets.looked_back(said, active)
        else:
            ticket = _opened(verbs, asking, request, said, cited, key, rows)
        if ticket is not None or said.silent:
            return ticket
    return None


def _opened(
    verbs: RecallVerbs, asking: Asking, request: Mapping[str, Any], said: Answer, cited: Sequence[Found], key: str | None,
    rules: Sequence[int],
) -> Ticket | None:  # fmt: skip
    """Open the ticket, if all that was cited may still decide; None if one of them fell in between."""
    with verbs._writing() as tx:
        settings = verbs._read_settings(tx)
        now = {stored.row: stored for stored in tx.entries([found.stored.row for found in cited])}
        testimony = Testimony(tx, settings)
        named = [now[found.stored.row] for found in cited if found.stored.row in now and testimony.may_decide(now[found.stored.row])]

        def do() -> tuple[Ticket, Mapping[str, Any]]:
            chances = holdout.odds(settings, named[0], named[1:], None)
            draw = None if chances is None else holdout.drawn(chances, verbs._rng)
            withheld: list[StoredEntry] = []
            shaping, answer = list(named), said
            if draw is not None and draw.arm == "all":
                withheld, shaping, answer = shaping, [], WITHHELD
            deciding = shaping[0] if len(shaping) == 1 else None
            beside = trials.NOTHING
            if rules and answer is said:
                beside = trials.beside(tx, settings, verbs._rng, rules, [stored.row for stored in shaping], verbs._clock.now())
            made = decisions.open_ticket(
                tx, verbs._rng, query=asking.kept, answer=answer.text, deciding=deciding, supporting=(),
                cited=shaping if deciding is None else (), withheld=[*withheld, *beside.withheld], rules=beside.shown, trials=beside.draws,
                exposure=(1.0 if draw is None else draw.exposure) * beside.exposure, draw=draw,
            )  # fmt: skip
            for stored in shaping:
                curve.recalled(tx, settings, stored, verbs._clock.now())
            shown = tickets.used_beside(tx, beside)
            answer = replace(answer, annotated=annotated(answer.annotated, shown))
            others = [] if deciding is not None else [stored.entry for stored in shaping]
            return inquiry.opened(answer, made, others, shown), {"ticket": made.id, "annotated": answer.annotated}

        if len(named) < len(cited):
            return None
        return verbs._once(tx, key, "decide", lambda: request, lambda kept: tickets.reopened(tx, kept), do)
