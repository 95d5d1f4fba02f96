"""The measured gate at work: which rules a decision is made beside, what its outcome says of them, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from earnest.core.entry import StoredEntry
from earnest.core.gate import DECISIONS, EVERY, watched
from earnest.core.rules import StoredRule
from earnest.core.settings import Settings
from earnest.core.ticket import StoredTicket
from earnest.core.uplift import Draw
from earnest.protocols import Reading, Rng, Writing
from earnest.rules.standing import activate, begin_trial, change, overdue, proof, rule_of, seen, trial_of

MOST_ON_TRIAL: Final = 20
"""Rules on trial that one decision is drawn for at most, best-matching first: each coin halves how often a combination is seen."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The rules that stand beside a decision: those shown, those on trial that were kept back, and the coins that were thrown."""

    shown: tuple[StoredEntry, ...] = ()
    withheld: tuple[StoredEntry, ...] = ()
    draws: tuple[Draw, ...] = ()

    @property
    def exposure(self) -> float:
        """How probable it was that these were shown and those were not."""
        made = 1.0
        for draw in self.draws:
            made *= draw.exposure
        return made


NOTHING: Final = Beside()


def beside(tx: Writing, settings: Settings, rng: Rng, rows: Sequence[int], named: Sequence[int], now: datetime) -> Beside:
    """Which of the rules that match a decision stand beside it, as they are now; throws the coins of those on trial.

    `rows` are the matching rules, best first; `named` are rows that the decision names already. Call it in the transaction that opens the
    ticket, after everything that may still stop it.
    """
    kept = tx.rules(rows)
    shown: list[StoredEntry] = []
    withheld: list[StoredEntry] = []
    draws: list[Draw] = []
    active = 0
    for stored in tx.entries(rows):
        rule = kept.get(stored.row)
        if rule is None or stored.row in named or not stored.may_decide:
            continue
        if rule.status == "active" and active < settings.rules_cap and not overdue(settings, rule, stored.entry.recalls, now):
            active += 1
            shown.append(stored)
        elif rule.status == "trial" and len(draws) < MOST_ON_TRIAL:
            trial = trial_of(tx, rule)
            if trial is not None:
                share = trial.terms.share
                draw = Draw(stored.row, "shown" if rng.random() < share else "alone", share, 1.0 - share, 0.0, None, trial.number)
                draws.append(draw)
                (shown if draw.arm == "shown" else withheld).append(stored)
    return Beside(tuple(shown), tuple(withheld), tuple(draws))


def heard(tx: Writing, settings: Settings, ticket_id: str, now: datetime) -> tuple[str, ...]:
    """What a settled decision says of the rules beside it: trials are judged, rules in force are watched. Returns ids of those that moved.

    Only what was measured counts. O(rules beside it), and where a trial is due to be judged O(its draws).
    """
    if not tx.counter("kind:rule"):
        return ()
    ticket = tx.ticket(ticket_id)
    settlement = tx.settlement(ticket_id)
    if ticket is None or settlement is None or settlement.tier != "measured" or settlement.meter in tx.revoked():
        return ()
    changed: list[str] = []
    for draw in tx.draws_of(ticket.row):
        if draw.trial is not None and _judged(tx, settings, draw, now):
            changed.append(next(share.entry_id for share in ticket.shares if share.entry_row == draw.entry_row))
    outcome = settlement.delta / settlement.scale / settings.uplift_bound
    changed += _watched(tx, settings, ticket, outcome if outcome == outcome else 0.0)
    return tuple(changed)


def _judged(tx: Writing, settings: Settings, draw: Draw, now: datetime) -> bool:
    """Judges the trial of a draw, if it is due; says whether that ended it."""
    assert draw.trial is not None
    trial = tx.trial(draw.trial)
    if trial is None or trial.ended is not None:
        return False
    settled = tx.trial_outcomes(trial.number, trial.terms.meter)
    if settled % EVERY and settled < trial.terms.decisions:
        return False
    [stored] = tx.entries([trial.row])
    rule = tx.rules([trial.row])[trial.row]
    judgement = seen(tx, trial, open_too=False)
    if judgement.verdict == "open" or not stored.entry.alive or rule.status != "trial":
        return False
    said = proof(trial.number, judgement, trial.terms)
    if judgement.verdict == "proved":
        activate(tx, settings, stored, rule, "proved", now, seen=judgement, **said)
    else:
        change(tx, stored, rule, "rejected", judgement.verdict, verdict=judgement.verdict, **said)
    return True


def watch(tx: Writing, settings: Settings, ticket_id: str) -> None:
    """Lets the active rules beside a settled decision hear its outcome, and draws no consequence: for a history that is lived again."""
    ticket, settlement = tx.ticket(ticket_id), tx.settlement(ticket_id)
    if ticket is not None and settlement is not None and settlement.tier == "measured":
        outcome = settlement.delta / settlement.scale / settings.uplift_bound
        _watched(tx, settings, ticket, outcome if outcome == outcome else 0.0, demote=False)


def _watched(tx: Writing, settings: Settings, ticket: StoredTicket, outcome: float, *, demote: bool = True) -> list[str]:
    """Watches the active rules that were shown; those with which things have become worse go back to be measured, or looked at."""
    shown = [share.entry_row for share in ticket.shares if share.role in ("deciding", "supporting", "cited")]
    turned: list[str] = []
    for row, rule in sorted(tx.rules(shown).items()):
        if rule.status != "active":
            continue
        count, level, alarm, worse = watched(rule.heard, rule.level, rule.alarm, outcome)
        [stored] = tx.entries([row])
        if worse and demote and stored.entry.alive:
            _demoted(tx, settings, stored, rule)
            turned.append(stored.entry.id)
        else:
            tx.change_rule(row, heard=count, level=level, alarm=alarm)
    return turned


def _demoted(tx: Writing, settings: Settings, stored: StoredEntry, rule: StoredRule) -> None:
    """A proved rule stands trial again; one that a person accepted waits for a person, or for its first trial."""
    event = None if rule.event is None else tx.event(rule.event)
    if event is not None and event.data.get("why") == "proved":
        last = tx.trial(int(event.data["trial"]))
        begin_trial(tx, settings, stored, rule, "shifted", decisions=last.terms.decisions if last else DECISIONS,
                    meter=last.terms.meter if last else None)  # fmt: skip
    else:
        change(tx, stored, rule, "pending", "doubted", level=rule.level, heard=rule.heard)


def review(tx: Writing, settings: Settings) -> tuple[str, ...]:
    """Sends proved rules back to be measured whose proof does not hold without the meters that were revoked since. O(proved rules)."""
    if not tx.revoked():
        return ()
    turned: list[str] = []
    for rule_id, number in proved(tx):
        stored, rule = rule_of(tx, rule_id)
        trial = tx.trial(number)
        if trial is not None and seen(tx, trial).verdict != "proved":
            begin_trial(tx, settings, stored, rule, "shifted", decisions=trial.terms.decisions, meter=trial.terms.meter)
            turned.append(rule_id)
    return tuple(turned)


def proved(reading: Reading) -> list[tuple[str, int]]:
    """The living rules that are in force by a trial, each with its number."""
    made = []
    for number in range(1, reading.trial_counts()[0] + 1):
        trial = reading.trial(number)
        if trial is None or trial.verdict != "proved":
            continue
        [stored] = reading.entries([trial.row])
        rule = reading.rules([trial.row])[trial.row]
        event = None if rule.event is None else reading.event(rule.event)
        if rule.status == "active" and stored.entry.alive and event is not None and event.data.get("trial") == number:
            made.append((stored.entry.id, number))
    return made
