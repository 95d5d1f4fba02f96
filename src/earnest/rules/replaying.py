"""The steps of rules in the text form of a store: told from its log, and taken again by a store that lives through it.

What is told is who put a rule into force, or what proved it. A merged text may hold steps that do not follow on one another, of two sides
that went on apart; such a step is passed over, and a second trial of the same time is the first one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from earnest.core import check
from earnest.core.calendar import FIRST, LAST
from earnest.core.entry import StoredEntry
from earnest.core.events import micros, moment
from earnest.core.filters import Filter
from earnest.core.gate import MOST_DECISIONS, VERDICTS, WATCH_FIRST, Terms
from earnest.core.lesson_turns import LATER, Turn, Turns, strictly_later
from earnest.core.lessons import Lessons, line
from earnest.core.rules import FEW_HITS, NEXT, STATUSES, Status, StoredRule, before, later
from earnest.core.settings import Settings
from earnest.errors import InvalidInput
from earnest.protocols import Reading, Rng, Writing
from earnest.rules.standing import evidence_of, trial_of
from earnest.rules.trials import watch

CHANNEL: Final = "settle-ci"
_PAGE: Final = 1_000
_TOLD: Final = (
    "alpha", "decisions", "worth", "bound", "share", "meter", "effect", "low", "high", "shown", "withheld", "strength", "mean", "reason",
    "hits", "heard", "level",
)  # fmt: skip
"""What of a step's event is told. Numbers of trials and of events are a store's own."""
_JUDGED: Final = frozenset((*VERDICTS, "shifted", "doubted", "unused"))
"""Reasons that rest on what was before: such a step comes after the outcomes of its moment, any other before its decisions."""

Step = tuple[Any, ...]


def gathered(reading: Reading, lessons: Lessons) -> tuple[frozenset[str], dict[str, dict[str, Any]]]:
    """The steps of the rules of `lessons` as lines; and what the lines of those entries say besides, by their ids."""
    lines: set[str] = set()
    more: dict[str, dict[str, Any]] = {}
    chosen = Filter(scopes=None, kinds=("rule",), standings=("active", "suspended", "dead"), rules=True)
    names: set[str] = set()
    after: str | None = None
    while page := reading.page(chosen, after, _PAGE):
        after = page[-1].entry.id
        kept = [stored for stored in page if stored.entry.id in lessons.entries]
        names |= {stored.entry.id for stored in kept}
        rules = reading.rules([stored.row for stored in kept])
        for stored in kept:
            if said := _besides(reading, lessons, stored, rules.get(stored.row)):
                more[stored.entry.id] = said
    seen, turns = 0, dict[str, Turn]()
    while names and (events := reading.events(entry=None, kind="rule", after=seen, limit=_PAGE, newest=False)):
        seen = events[-1].seq
        for event in events:
            name = next((each for each in event.entries if each in names), None)
            if name is not None:
                told = {key: event.data[key] for key in _TOLD if event.data.get(key) is not None}
                told |= ({"note": event.note} if event.note else {}) | {"by": [event.actor, event.channel]}
                if event.data["status"] == "trial" and "alpha" in told:
                    told["number"] = event.data["trial"]
                if (later := strictly_later(turns, name, event.tick, micros(event.at))) is not None:
                    told[LATER] = later
                lines.add(line(["rule", name, event.tick, micros(event.at), event.data["status"], event.data["why"], told]))
    return frozenset(lines), more


def _besides(reading: Reading, lessons: Lessons, stored: StoredEntry, rule: StoredRule | None) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if sources := sorted(one.entry.id for one in reading.entries(evidence_of(reading, stored)) if one.entry.id in lessons.entries):
        said["from"] = sources
    if rule is not None and rule.ends is not None:
        said["term"] = [micros(rule.ends), min(FEW_HITS, stored.entry.recalls - rule.hits_before)]
    return said


@dataclass(slots=True)
class Rulebook:
    """Takes the steps of rules again, and knows which trial of there is which one here."""

    trials: dict[tuple[str, int], int] = field(default_factory=dict)

    def trial(self, rule: str, begun: int) -> int | None:
        """The number here of the trial of a rule that began there at that time."""
        return self.trials.get((rule, begun)) if isinstance(begun, int) else None

    def heard(self, tx: Writing, settings: Settings, ticket: str) -> None:
        """Watches the rules in force that stood beside a settled decision. What follows from it is told by steps of its own."""
        if tx.counter("kind:rule"):
            watch(tx, settings, ticket)

    def steps(self, lessons: Lessons, turns: Turns) -> Iterator[Step]:
        """(tick and time of its turn, order within, name, what is done, who did it over which channel, its own time) of every step."""
        for each in sorted(lessons.rules):
            _, name, tick, at, status, why, said = json.loads(each)
            check.choice("status", status, STATUSES)
            when = 2.5 if why in _JUDGED else 0.5
            number = check.integer("number", said.get("number", 0), low=0, high=10**9)
            act = self._step(name, at, status, check.label("why", why, limit=50), said)
            yield *turns.step(name, tick, at, said), when, f"{number:09} {name}", act, _author(name, said), at

    def _step(self, name: str, at: int, status: Status, why: str, said: Mapping[str, Any]) -> Callable[[Writing, Settings, Rng], None]:
        terms = _terms(name, said) if status == "trial" and "alpha" in said else None
        note = check.note("note", said.get("note", ""))
        told = {key: said[key] for key in _TOLD if key in said and isinstance(said[key], str | int | float)}

        def act(tx: Writing, settings: Settings, rng: Rng) -> None:
            stored = tx.entry(name)
            rule = None if stored is None else tx.rules([stored.row]).get(stored.row)
            if stored is None or rule is None:
                raise InvalidInput("lessons", name, "is no rule that a line tells of")
            running = trial_of(tx, rule)
            if rule.status == status and running is not None:
                self.trials[name, at] = running.number
            back = why == "undone" and status in STATUSES
            if not stored.entry.alive or rule.status == status or not (back or status in NEXT[rule.status]):
                return
            number = tx.trial_counts()[0] + 1 if terms is not None else None if running is None else running.number
            data = {"status": status, "before": rule.status, "why": why, **told, **({} if number is None else {"trial": number})}
            event = tx.append("rule", entries=[stored.row], data=data, note=note, before=before(rule, running))
            if running is not None:
                tx.end_trial(running.number, event, why if why in VERDICTS else "stopped")
            ends = later(moment(at), timedelta(days=settings.rules_half_life)) if status == "active" else None
            heard, level = (max(_number(told, "shown"), WATCH_FIRST), _number(told, "mean")) if why == "proved" else (0, 0.0)
            tx.change_rule(
                stored.row, status=status, event=event, ends=ends, hits_before=0, heard=int(heard), level=float(level), alarm=0.0
            )
            if terms is not None:
                self.trials[name, at] = tx.insert_trial(stored.row, terms, event)
            elif status == "trial":
                self._reopened(tx, stored.row, name)

        return act

    def _reopened(self, tx: Writing, row: int, name: str) -> None:
        """A step that was undone lets the trial before it run again."""
        held = tx.trials_of(row)
        if not held:
            raise InvalidInput("lessons", name, "is on trial again, and no line tells of the trial that it stood")
        tx.end_trial(held[-1].number, None, None)

    def terms(self, tx: Writing, name: str, said: Mapping[str, Any]) -> None:
        """How long an active rule has left, and the hits that it had in that time."""
        term = said.get("term")
        stored = tx.entry(name)
        rule = None if stored is None else tx.rules([stored.row]).get(stored.row)
        if term is None or stored is None or rule is None or rule.status != "active":
            return
        if not isinstance(term, list) or len(term) != 2:
            raise InvalidInput("lessons", name, "has a half-life that is none")
        ends, hits = check.integer("term", term[0], low=micros(FIRST), high=micros(LAST)), check.integer("term", term[1], low=0, high=2**60)
        tx.change_entry(stored.row, recalls=stored.entry.recalls + min(hits, FEW_HITS))
        tx.change_rule(stored.row, ends=moment(ends), hits_before=stored.entry.recalls)


def _author(name: str, said: Mapping[str, Any]) -> tuple[str, str]:
    """Who took a step, and over which channel: that stays on record."""
    by = said.get("by", ["lessons", CHANNEL])
    if not isinstance(by, list) or len(by) != 2:
        raise InvalidInput("lessons", name, "had a step taken by nobody")
    return check.label("actor", by[0], limit=100), check.label("channel", by[1], limit=50)


def _number(said: Mapping[str, Any], name: str) -> float:
    return check.number(name, said.get(name, 0), low=-1e9, high=1e9)


def _terms(name: str, said: Mapping[str, Any]) -> Terms:
    try:
        meter = said.get("meter")
        return Terms(
            check.number("alpha", said["alpha"], low=1e-300, high=0.999),
            check.integer("decisions", said["decisions"], low=1, high=MOST_DECISIONS),
            check.number("worth", said["worth"], low=-1e9, high=1e9),
            check.number("bound", said["bound"], low=1e-300, high=1e300),
            None if meter is None else check.label("meter", meter, limit=100),
            check.number("share", said["share"], low=1e-9, high=1 - 1e-9),
        )
    except KeyError as error:
        raise InvalidInput("lessons", name, f"is put on trial on terms that lack {error}") from None
