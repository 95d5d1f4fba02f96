"""Answering with the help of a language model: it says what to look up, and answers; what it cites decides, and gets the credit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from earnest.core.entry import StoredEntry
from earnest.core.filters import Filter
from earnest.core.reports import Hit
from earnest.core.ticket import Answer, Ticket
from earnest.forgetting import curve
from earnest.ledger import decisions, holdout, inquiry
from earnest.ledger.testimony import Testimony
from earnest.protocols import LLM
from earnest.recall.answering import SILENCE, age_line, one_line
from earnest.recall.protocol import Consulted, QueryProtocol
from earnest.recall.reranking import RERANKED, reranked
from earnest.recall.search import EXTRA, Found
from earnest.verbs.seating import guarding, seated

if TYPE_CHECKING:
    from datetime import datetime

    from earnest.verbs.recalling import Asking, RecallVerbs

_ATTEMPTS = 2
"""How often a model is asked if what it cited fell before the ticket was open."""


class Advice(NamedTuple):
    """What is answered, and the entries that it cites."""

    said: Answer
    cited: list[Found]


def consulted(verbs: RecallVerbs, llm: LLM, asking: Asking, chosen: Filter) -> Advice:
    """Ask memory with a model's help. Only what may decide is shown to the model; no snapshot is open while it is asked.

    Raises:
        ModelFailed, BudgetSpent: It gave no answer, or was not asked.
    """
    if not asking.text:
        return Advice(SILENCE, [])
    known: dict[str, Found] = {}
    if _guarded(verbs, asking, chosen):
        return Advice(SILENCE, [])

    def look(query: str, k: int) -> list[Hit]:
        again = verbs._asking(query, k, asking.half_life, asking.mode, asking.links)
        found, _ = _seen(verbs, again, chosen)
        known.update((f.stored.entry.id, f) for f in found[:k] if f.stored.entry.id not in known)
        return [Hit(f.stored.entry, f.score, f.why, f.covered) for f in found[:k]]

    with verbs._store.read() as reading:
        settings, tick = verbs._read_settings(reading), reading.counter("tick")
        analyser = verbs._sound_index()
    now = verbs._clock.now()
    protocol = QueryProtocol(look, llm, rng=verbs._rng, analyser=analyser, conflict=settings.conflict, now=now, tick=tick)
    gate = verbs._gate()
    made = protocol.ask(gate.passed(asking.text).text, asking.k)
    # The ticket keeps the answer, so that it goes through the gate like everything that is written.
    made = replace(made, text=gate.passed(made.text).text)
    return Advice(_said(made, now, tick), [known[entry.id] for entry in made.cited])


def _seen(verbs: RecallVerbs, asking: Asking, chosen: Filter) -> tuple[list[Found], bool]:
    """What a question finds of what may decide, the decider first; and whether something was found that keeps memory silent."""
    if not asking.text:
        return [], False
    with verbs._store.read() as reading:
        settings = verbs._read_settings(reading)
        most = max(asking.k + EXTRA, RERANKED * (verbs._reranker is not None))
        found = verbs._find(reading, asking, chosen, most, settings.floor, guards=guarding(reading, settings))
        seating = seated(reading, settings, found)
    if verbs._reranker is not None:
        seating = seating.ranked_anew(reranked(verbs._reranker, asking.text, found)[0], asking.k + EXTRA)
    seats = seating.chosen()
    return [f for f in seats.found if seating.seats[f.stored.row].decides], bool(found) and not seats.found


def _guarded(verbs: RecallVerbs, asking: Asking, chosen: Filter) -> bool:
    """Whether what the question finds first did harm, and nothing else is near enough: then no other wording gets around it."""
    return _seen(verbs, asking, chosen)[1]


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

    An answer that is not from memory comes back without a ticket: nobody gets the credit for it.
    """
    for _ in range(_ATTEMPTS):
        said, cited = consulted(verbs, llm, asking, chosen)
        if said.silent:
            return None
        if not cited:
            return Ticket(said.text, None, (), said.annotated, silent=False, from_memory=False)
        ticket = _opened(verbs, asking, request, said, cited, key)
        if ticket is not None:
            return ticket
    return None


def _opened(
    verbs: RecallVerbs, asking: Asking, request: Mapping[str, Any], said: Answer, cited: Sequence[Found], key: str | None
) -> Ticket | None:
    """Open the ticket, if all that was cited may still decide; None if one of them fell in between."""
    from earnest.verbs.recalling import WITHHELD

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
            made = decisions.open_ticket(
                tx, verbs._rng, query=asking.kept, answer=answer.text, deciding=deciding, supporting=(),
                cited=shaping if deciding is None else (), withheld=withheld, exposure=1.0 if draw is None else draw.exposure, draw=draw,
            )  # fmt: skip
            for stored in shaping:
                curve.recalled(tx, settings, stored, verbs._clock.now())
            others = [] if deciding is not None else [stored.entry for stored in shaping]
            return inquiry.opened(answer, made, others), {"ticket": made.id, "annotated": answer.annotated}

        if len(named) < len(cited):
            return None
        return verbs._once(tx, key, "decide", lambda: request, lambda kept: inquiry.reopened(tx, kept), do)
