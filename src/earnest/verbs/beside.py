"""Rules beside what is recalled: which ones a message or a decision calls for, and how they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from earnest.core.analysis import Analyser
from earnest.core.entry import StoredEntry
from earnest.core.filters import Filter
from earnest.core.rules import Rule, Status
from earnest.core.sentences import split_sentences
from earnest.core.settings import Settings
from earnest.core.ticket import Answer
from earnest.protocols import Reading
from earnest.recall.answering import one_line
from earnest.recall.search import Found
from earnest.rules.standing import overdue, views
from earnest.rules.trials import MOST_ON_TRIAL

if TYPE_CHECKING:
    from earnest.verbs.questions import Asking
    from earnest.verbs.recalling import RecallVerbs

TRIGGERED: Final = 0.4
"""The part of a trigger's words that a message must hold, unless told otherwise."""
ONE_MATTER: Final = 500
"""Characters of a question beyond which the words of a trigger may stand in it by chance."""
SPARE: Final = 20
"""Rules beyond the cap that are looked at, to pass over the suspended and the overdue."""
_PARTS: Final = 6
"""Sentences of a message that are asked about one by one at most, beside the message as a whole."""


def asked_parts(message: str) -> list[str]:
    """What is asked about: the message, and if it is long, each of its last sentences, where what is wanted stands as a rule."""
    parts = [part for line in message.split("\n") if line.strip() for part in split_sentences(" ".join(line.split()))]
    return [message] if len(parts) < 2 else list(dict.fromkeys([message, *parts[-_PARTS:]]))


def called_for(verbs: RecallVerbs, asking: Asking, chosen: Filter, *, trial: bool = False) -> tuple[list[Found], list[Rule]]:
    """The rules in force that a question calls for, as a whole or sentence by sentence, best first, and as they are told.

    With `trial` those on trial are among them: only for who throws their coins, in the transaction that opens a ticket. No snapshot may
    be open.
    """
    return _called_for(verbs, asking, chosen, trial, views)


def rows_called_for(verbs: RecallVerbs, asking: Asking, chosen: Filter) -> list[int]:
    """The rows of the rules that a question calls for, those on trial among them, best first; to be looked at again as they are when the
    ticket is opened. No snapshot may be open."""
    found, _ = _called_for(verbs, asking, chosen, True, lambda reading, entries: [])
    return [hit.stored.row for hit in found]


def _called_for(
    verbs: RecallVerbs, asking: Asking, chosen: Filter, trial: bool, told: Callable[[Reading, Sequence[StoredEntry]], list[Rule]]
) -> tuple[list[Found], list[Rule]]:
    statuses: tuple[Status, ...] = ("active", "trial") if trial else ("active",)
    if not asking.text:
        return [], []
    with verbs._store.read() as reading:
        verbs._read_settings(reading)
        if wanted(reading, chosen, statuses) is None:
            return [], []
    askings = [asking, *(verbs._asking(part, asking.k, None, asking.mode) for part in asked_parts(asking.text)[1:])]
    with verbs._store.read() as reading:
        settings = verbs._read_settings(reading)
        most = settings.rules_cap + trial * MOST_ON_TRIAL
        found = matching(verbs, reading, settings, askings, chosen, statuses, verbs._clock.now(), k=most)
        return found, told(reading, [hit.stored for hit in found])


def ruled(said: Answer, rules: Sequence[Rule]) -> Answer:
    """An answer with the rules that stand beside it; where no entry answers, they do, and nobody decides."""
    if not rules:
        return said
    if said.silent:
        said = Answer("\n".join(rule.action for rule in rules), None, (), "", silent=False, from_memory=True)
    return replace(said, annotated=annotated(said.annotated, rules), rules=tuple(rules))


def wanted(reading: Reading, chosen: Filter, statuses: Sequence[Status]) -> Filter | None:
    """The filter for rules of these statuses beside what another filter lets through; None where there can be none."""
    if not reading.counter("kind:rule") or (chosen.kinds is not None and "rule" not in chosen.kinds):
        return None
    counts = reading.rule_counts()
    there = tuple(status for status in statuses if counts.get(status))
    return replace(chosen, kinds=("rule",), statuses=there) if there else None


def matching(
    verbs: RecallVerbs, reading: Reading, settings: Settings, askings: Iterable[Asking], chosen: Filter, statuses: Sequence[Status],
    now: datetime, *, floor: float | None = None, k: int | None = None,
) -> list[Found]:  # fmt: skip
    """The rules that these questions call for, best first: only such as may be shown now.

    A rule is called for if the question holds most of its trigger (which is what a rule has and an answer has not: a message may say much
    beside what a rule is about), or if it lies as near in meaning as the embedder calls the same matter.
    """
    where = wanted(reading, chosen, statuses)
    most = settings.rules_cap if k is None else k
    if where is None or not most:
        return []
    best: dict[int, Found] = {}
    least = TRIGGERED if floor is None else floor
    near = settings.near or verbs._embedding.near
    for asking in askings:
        found = verbs._find(reading, asking, where, most + SPARE, 0.0)
        said = frozenset(verbs._analyser.terms(asking.text)) if len(asking.text) <= ONE_MATTER else frozenset()
        cosines = _cosines(reading, asking, found) if near else {}
        for hit in found:
            row = hit.stored.row
            held = _held(verbs._analyser, hit.stored.entry.cue or hit.stored.entry.text, said)
            if not (held >= least and held > 0) and not (near and cosines.get(row, 0.0) >= near):
                continue
            sure = replace(hit, score=max(held, cosines.get(row, 0.0)))
            if row not in best or sure.score > best[row].score:
                best[row] = sure
    kept = reading.rules([*best])
    fit = [
        hit for row, hit in best.items()
        if hit.stored.may_decide and row in kept and not overdue(settings, kept[row], hit.stored.entry.recalls, now)
    ]  # fmt: skip
    return sorted(fit, key=lambda hit: (-hit.score, -hit.stored.row))[:most]


def _cosines(reading: Reading, asking: Asking, found: Sequence[Found]) -> dict[int, float]:
    """How near these rules lie in meaning; none without an embedder."""
    if asking.asked is None:
        return {}
    return reading.cosines(asking.asked.model, asking.asked.vector, [hit.stored.row for hit in found])


def _held(analyser: Analyser, trigger: str, said: frozenset[str]) -> float:
    """The part of a trigger that a message holds, by the words that carry meaning; 0 where that is a single word of several."""
    words = [word for word in analyser.question(trigger).words if word.weight >= 0.5] if said else []
    held = [word for word in words if not said.isdisjoint(word.terms)]
    # In Chinese and Japanese a word is several overlapping pieces.
    pieces = sum(len(word.terms[0]) <= 2 and "\u3040" <= word.terms[0][0] <= "\u9fff" for word in words)
    if not held or len(held) < min(3 if 2 * pieces > len(words) else 2, len(words)):
        return 0.0
    return sum(word.weight for word in held) / sum(word.weight for word in words)


def in_force(reading: Reading, found: Sequence[Found]) -> list[Found]:
    """Without the rules that are not active: asked for by kind, they are shown by `search`, and decide nothing."""
    rows = [hit.stored.row for hit in found if hit.stored.entry.kind == "rule"]
    if not rows:
        return list(found)
    kept = reading.rules(rows)
    return [hit for hit in found if hit.stored.row not in kept or kept[hit.stored.row].status == "active"]


def annotated(said: str, rules: Sequence[Rule]) -> str:
    """An annotated answer with the rules that stand beside it."""
    if not rules:
        return said
    lines = [f"- {rule.type}: {one_line(rule.said)} ({one_line(rule.by, 200)}; rule {rule.id})" for rule in rules]
    return "\n".join((said, "Rules that apply here:", *lines)) if said else "\n".join(("Rules that apply here:", *lines))
