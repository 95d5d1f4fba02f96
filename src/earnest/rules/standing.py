"""How a rule's status changes: by a person, by a trial, by age; each time by an event that says who or what did it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from earnest.core.entry import StoredEntry
from earnest.core.gate import VERDICTS, WATCH_FIRST, Judgement, Terms, alpha_of, judged
from earnest.core.injection import MARKS
from earnest.core.rules import (
    Leave,
    Rule,
    Status,
    StoredRule,
    StoredTrial,
    Trial,
    before,
    lapse,
    later,
    moved,
    told,
    type_of,
)
from earnest.core.settings import Settings
from earnest.core.uplift import Drawn, SettledDraw
from earnest.errors import InvalidInput, NotAllowed, UnknownEntry
from earnest.ledger import holdout
from earnest.ledger.lifecycle import found
from earnest.protocols import Reading, Writing

BATCH = 500


def rule_of(reading: Reading, rule_id: str) -> tuple[StoredEntry, StoredRule]:
    """A living rule by its id.

    Raises:
        UnknownEntry: This agent never had it. InvalidInput: it is no rule. NotAllowed: it is dead.
    """
    try:
        stored = found(reading, rule_id)
    except UnknownEntry:
        raise UnknownEntry(rule_id, "rule") from None
    rule = reading.rules([stored.row]).get(stored.row)
    if rule is None:
        raise InvalidInput("rule", rule_id, f"is an entry of kind {stored.entry.kind}; `earnest rules` lists the rules that there are")
    if not stored.entry.alive:
        raise NotAllowed(f"rule {rule_id} is dead ({stored.entry.cause}); `restore` brings back what can return")
    return stored, rule


def permitted(settings: Settings, channel: str, rule_id: str) -> None:
    """Refuses to put a rule into force, or before anybody's eyes, over a channel that agents use themselves."""
    allowed = settings.rules_approvers.split(",")
    if channel not in allowed:
        raise NotAllowed(
            f"rule {rule_id} cannot be accepted or put on trial over {channel!r}: an agent does not approve its own rules; a person does "
            f"it with `earnest rules verify {rule_id}` or `earnest rules trial {rule_id}`, or allows this channel with the setting "
            "rules_approvers"
        )


def change(
    tx: Writing, stored: StoredEntry, rule: StoredRule, new: Status, why: Leave, *, note: str = "", verdict: str = "stopped", **data: Any
) -> int:
    """Gives a rule another status, by an event; ends the trial that it stands, if any. Returns the event's number.

    Raises:
        NotAllowed: That step is not allowed.
    """
    moved(rule.status, new, stored.entry.id)
    running = trial_of(tx, rule)
    said = {"status": new, "before": rule.status, "why": why, **data}
    event = tx.append("rule", entries=[stored.row], data=said, note=note, before=before(rule, running))
    if running is not None:
        tx.end_trial(running.number, event, verdict)
    tx.change_rule(stored.row, status=new, event=event, ends=None, heard=0, level=0.0, alarm=0.0)
    return event


def activate(
    tx: Writing, settings: Settings, stored: StoredEntry, rule: StoredRule, why: Leave, now: datetime, *, seen: Judgement | None = None,
    note: str = "", **data: Any,
) -> int:  # fmt: skip
    """Puts a rule into force; its half-life begins, and so does the watch on it."""
    event = change(tx, stored, rule, "active", why, note=note, verdict="stopped" if seen is None else "proved", **data)
    ends = later(now, timedelta(days=settings.rules_half_life))
    if stored.probation:
        # What its words aim at was before the eyes of whoever accepts it.
        tx.change_entry(stored.row, probation=0)
    heard, level = (0, 0.0) if seen is None else (max(seen.shown, WATCH_FIRST), seen.mean)
    tx.change_rule(stored.row, ends=ends, hits_before=stored.entry.recalls, heard=heard, level=level)
    return event


def begin_trial(
    tx: Writing, settings: Settings, stored: StoredEntry, rule: StoredRule, why: Leave, *, decisions: int, meter: str | None, note: str = ""
) -> int:
    """Puts a rule on trial, on terms that are fixed now. Returns the trial's number."""
    if holdout.exempt(settings, [stored]):
        raise NotAllowed(
            f"rule {stored.entry.id} has a tag that keeps it from being withheld ({settings.holdout_exempt}); a person may accept it"
        )
    if stored.in_quarantine:
        told = "; ".join(MARKS[mark] for mark in stored.entry.marks)
        raise NotAllowed(f"rule {stored.entry.id} is not put on trial, where agents would read it: {told}; a person may accept it")
    if stored.probation:
        # An import's probation is what the trial is now.
        tx.change_entry(stored.row, probation=0)
    made, proved = tx.trial_counts()
    terms = Terms(alpha_of(made + 1, proved), decisions, bound=settings.uplift_bound, meter=meter)
    said: dict[str, Any] = {
        "trial": made + 1, "alpha": terms.alpha, "decisions": decisions, "worth": terms.worth, "bound": terms.bound, "share": terms.share,
    }  # fmt: skip
    event = change(tx, stored, rule, "trial", why, note=note, **said, **({} if meter is None else {"meter": meter}))
    number = tx.insert_trial(stored.row, terms, event)
    assert number == made + 1, "trials are numbered one after the other"
    return number


def expire(tx: Writing, settings: Settings, now: datetime) -> tuple[str, ...]:
    """Lets active rules expire whose half-life ended without enough hits; the others go into their next one. O(what has ended)."""
    gone: list[str] = []
    half_life = timedelta(days=settings.rules_half_life)
    while ended := tx.rules_ending(now, BATCH):
        entries = {stored.row: stored for stored in tx.entries([rule.row for rule in ended])}
        for rule in ended:
            stored = entries[rule.row]
            status, ends = lapse(rule, stored.entry.recalls, now, half_life)
            if status == "expired" and stored.entry.alive:
                change(tx, stored, rule, "expired", "unused", hits=stored.entry.recalls - rule.hits_before)
                gone.append(stored.entry.id)
            else:
                # A dead one is looked at again a half-life later: it may have been restored by then.
                tx.change_rule(rule.row, ends=ends if stored.entry.alive else later(now, half_life), hits_before=stored.entry.recalls)
    return tuple(gone)


def overdue(settings: Settings, rule: StoredRule, hits: int, now: datetime) -> bool:
    """Whether an active rule is to expire as soon as somebody writes: it is not shown any more."""
    return lapse(rule, hits, now, timedelta(days=settings.rules_half_life))[0] == "expired"


def trial_of(reading: Reading, rule: StoredRule) -> StoredTrial | None:
    """The trial that a rule stands now."""
    if rule.status != "trial":
        return None
    return next((one for one in reversed(reading.trials_of(rule.row)) if one.ended is None), None)


def seen(reading: Reading, trial: StoredTrial, *, open_too: bool = True) -> Judgement:
    """What a trial has shown so far, worked out from its draws. O(their number)."""
    rows = reading.trial_draws(trial.number, trial.terms.meter)
    return judged((drawn(row, trial.terms) for row in rows), trial.terms, reading.trial_lost(trial.number), open_too=open_too)


def shown(reading: Reading, trial: StoredTrial) -> Judgement:
    """What a trial has shown, for people: of one that came to a verdict, the figures on which it did. O(1) then."""
    event = None if trial.ended is None else reading.event(trial.ended)
    verdict = next((verdict for verdict in VERDICTS if verdict == trial.verdict), None)
    if event is None or verdict is None or event.data.get("effect") is None:
        return seen(reading, trial)
    said = [event.data[name] for name in ("effect", "low", "high", "shown", "withheld", "strength", "mean", "reason")]
    return Judgement(verdict, *said)


def drawn(row: SettledDraw, terms: Terms) -> Drawn:
    """A draw of a trial as the comparison takes it."""
    outcome = row.delta / row.scale / terms.bound
    return Drawn(0, row.draw.arm == "shown", row.draw.shown, outcome if outcome == outcome else 0.0)


def views(reading: Reading, entries: Sequence[StoredEntry], *, trials: bool = False, scores: dict[int, float] | None = None) -> list[Rule]:
    """Rules as people see them; with `trials`, what their latest trial has shown too, which takes O(its draws)."""
    kept = reading.rules([stored.row for stored in entries])
    drawn_from = {stored.row: evidence_of(reading, stored) for stored in entries if stored.row in kept}
    named = [*dict.fromkeys(row for rows in drawn_from.values() for row in rows)]
    ids = {one.row: one.entry.id for one in reading.entries(named)} if named else {}
    return [
        _view(reading, stored, kept[stored.row], [ids[row] for row in drawn_from[stored.row]], trials, (scores or {}).get(stored.row, 0.0))
        for stored in entries
        if stored.row in kept
    ]


def evidence_of(reading: Reading, stored: StoredEntry) -> list[int]:
    """Rows of the experiences that a rule was drawn from. Asks nothing of one that was made of no entry."""
    return [row for row, how, _ in reading.lineage(stored.row) if how == "experience"] if stored.entry.lineage else []


def _view(reading: Reading, stored: StoredEntry, rule: StoredRule, evidence: Sequence[str], trials: bool, score: float) -> Rule:
    entry = stored.entry
    event = None if rule.event is None else reading.event(rule.event)
    tried = reading.trials_of(stored.row) if trials else []
    trial = tried[-1] if tried else None
    return Rule(
        id=entry.id, type=type_of(entry.metadata), trigger=entry.cue or "", action=entry.text, status=rule.status, hits=entry.recalls,
        evidence=tuple(evidence), scope=entry.scope,
        by=told(event) if event is not None else _proposed(stored), since=entry.created if event is None else event.at, ends=rule.ends,
        sources=entry.sources, score=score, standing=entry.standing,
        trial=None if trial is None else Trial(trial.number, trial.terms, shown(reading, trial), trial.verdict),
    )  # fmt: skip


def _proposed(stored: StoredEntry) -> str:
    made = stored.entry.metadata.get("proposed")
    return f"proposed {made}" if isinstance(made, str) and made else "proposed"


def proof(number: int, judgement: Judgement, terms: Terms) -> dict[str, Any]:
    """What an event says of the trial that a status rests on."""
    return {
        "trial": number, "effect": judgement.effect, "low": judgement.low, "high": judgement.high, "shown": judgement.shown,
        "withheld": judgement.withheld, "strength": judgement.strength, "mean": judgement.mean, "alpha": terms.alpha,
        "reason": judgement.reason,
    }  # fmt: skip
