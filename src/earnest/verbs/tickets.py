"""Opening the ticket of a decision by what memory said to its question: if that still stands, and without what chance withholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from earnest.core.entry import StoredEntry
from earnest.core.rules import Rule
from earnest.core.settings import Settings
from earnest.core.ticket import Answer, Ticket
from earnest.forgetting import curve
from earnest.ledger import decisions, holdout, inquiry
from earnest.ledger.testimony import Testimony
from earnest.protocols import Reading, Writing
from earnest.recall.search import Found
from earnest.rules import trials
from earnest.rules.standing import views
from earnest.rules.trials import NOTHING as NOTHING_BESIDE
from earnest.rules.trials import Beside
from earnest.verbs.beside import annotated
from earnest.verbs.questions import Asking

if TYPE_CHECKING:
    from earnest.verbs.recalling import RecallVerbs

WITHHELD = Answer("", None, (), "", False, False)
SILENT_TICKET = Ticket("", None, (), "", True, False)


class Recalled(NamedTuple):
    """What memory says, who decides it and who supports it; whether a suspended entry was let decide once more, and how probably."""

    said: Answer
    decider: Found | None
    others: list[Found]
    retrial: bool = False
    exposure: float = 1.0

    @property
    def gone(self) -> bool:
        """Whether what decides was superseded since the time that was asked about."""
        return self.said.deciding is not None and not self.said.deciding.alive


def opened(
    verbs: RecallVerbs, asking: Asking, request: Mapping[str, Any], recalled: Recalled, rival: Recalled | None, key: str | None,
    rules: Sequence[int] = (),
) -> Ticket | None:  # fmt: skip
    """Open the ticket, if the entries still stand as they were found; None if a decider fell in between.

    Where no entry answers, the rules that the question calls for do: nobody decides then, and nobody is paid.
    """
    with verbs._writing() as tx:

        def do() -> tuple[Ticket | None, Mapping[str, Any]]:
            settings, tried = verbs._read_settings(tx), recalled
            said, first, named = _standing(tx, settings, recalled)
            instead = None if rival is None else _standing(tx, settings, rival)
            chances = None if first is None or instead is None else holdout.odds(settings, first, named, instead[1])
            draw = None if chances is None else holdout.drawn(chances, verbs._rng)
            withheld: list[StoredEntry] = []
            if first is not None and draw is not None and draw.arm != "shown":
                withheld = [first]
                if draw.arm == "all":
                    withheld, said, first, named = [first, *named], WITHHELD, None, []
                elif instead is not None and rival is not None:
                    (said, first, named), tried = instead, rival
            beside = NOTHING_BESIDE
            if rules and (draw is None or draw.arm != "all"):
                # All of memory withheld is rules withheld too, and then no trial throws its coin.
                names = [stored.row for stored in (*([] if first is None else [first]), *named, *withheld)]
                beside = trials.beside(tx, settings, verbs._rng, rules, names, verbs._clock.now())
            if recalled.decider is None:
                if not beside.shown and not beside.withheld:
                    raise _Fell
                said = Answer("\n".join(stored.entry.text for stored in beside.shown), None, (), "", False, bool(beside.shown))
            made = decisions.open_ticket(
                tx, verbs._rng, query=asking.kept, answer=said.text, deciding=first, supporting=named,
                withheld=[*withheld, *beside.withheld], rules=beside.shown, trials=beside.draws, draw=draw,
                exposure=tried.exposure * (1.0 if draw is None else draw.exposure) * beside.exposure,
                retrial=tried.retrial and first is not None,
            )  # fmt: skip
            shown = used_beside(tx, beside)
            said = replace(said, annotated=annotated(said.annotated, shown))
            if first is not None:
                curve.recalled(tx, settings, first, verbs._clock.now())
            return inquiry.opened(said, made, [s.entry for s in named], shown), {"ticket": made.id, "annotated": said.annotated}

        try:
            return verbs._once(tx, key, "decide", lambda: request, lambda kept: reopened(tx, kept), do)
        except _Fell:
            return None


def used_beside(tx: Writing, beside: Beside) -> list[Rule]:
    """Counts the rules that a decision is made beside as recalled, and gives them as they are told."""
    for stored in beside.shown:
        tx.change_entry(stored.row, recalls=stored.entry.recalls + 1)
    return views(tx, beside.shown)


def looked_back(said: Answer, rules: Sequence[Rule] = ()) -> Ticket:
    """What memory would have said at an earlier time, with something that was superseded since: nothing is opened for it."""
    return Ticket(said.text, said.deciding, said.supporting, annotated(said.annotated, rules), False, said.from_memory, rules=tuple(rules))


def reopened(reading: Reading, kept: Mapping[str, Any]) -> Ticket:
    """A ticket that was opened before, as `decide` returned it, with the rules that were shown beside it."""
    rows = inquiry.shown_rules(reading, kept["ticket"])
    return replace(inquiry.reopened(reading, kept), rules=tuple(views(reading, reading.entries(rows))))


class _Fell(Exception):
    """A decider may not decide any more."""


def _standing(tx: Writing, settings: Settings, recalled: Recalled) -> tuple[Answer, StoredEntry | None, list[StoredEntry]]:
    """The entries of an answer as they stand in this transaction, without supporters that may not be named. Raises `_Fell`."""
    said, decider, others, retrial, _ = recalled
    if decider is None:
        return said, None, []
    testimony = Testimony(tx, settings)
    now = {stored.row: stored for stored in tx.entries([decider.stored.row, *(f.stored.row for f in others)])}
    first = now.get(decider.stored.row)
    if first is None or not (testimony.retrial(first) > 0 if retrial else testimony.may_decide(first)):
        raise _Fell
    return said, first, [now[f.stored.row] for f in others if f.stored.row in now and now[f.stored.row].may_support]
