"""Reasons for rules: what went wrong again and again, and what went well. And rules put together from them where no model does it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from earnest.core.analysis import Analyser
from earnest.core.drafts import neutral, suspicious
from earnest.core.entry import StoredEntry
from earnest.core.failures import phrases_for, tells_of_failure
from earnest.core.filters import Filter
from earnest.core.ranking import similarity
from earnest.core.rules import DOUBTFUL, MAX_ACTION, MAX_TRIGGER, RECALLED, VALUED, RuleType
from earnest.protocols import Reading
from earnest.rules.standing import evidence_of

LOOKED_AT: Final = 2_000
"""Entries that an analysis looks at in a scope at most, the newest first."""
ALIKE: Final = 0.3
"""Similarity from which two experiences are of one pattern."""
SAME_RULE: Final = 0.5
"""Similarity from which a draft is a known rule in other words; and the part of its evidence that makes it one whatever its words."""
TWICE: Final = 2
"""How often something must have happened before it makes a rule by itself."""
MOST_EVIDENCE: Final = 20
MOST_PATTERNS: Final = 40
MOST_RULES: Final = 5_000

_INSIDE: Final = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff])(\d+)(?=[\u3040-\u30ff\u3400-\u9fff])")
"""A number in the midst of a text without spaces."""

Outcome = Literal["error", "success"]


@dataclass(slots=True)
class Pattern:
    """Experiences that are alike: what they were, how often they count, and the question that they were asked about."""

    outcome: Outcome
    members: list[StoredEntry]
    terms: frozenset[str]
    weight: int
    settled: int = 0
    question: str = ""
    scope: str = field(default="")

    @property
    def rows(self) -> list[int]:
        """The rows of the newest experiences, which a rule names as its evidence."""
        return sorted((stored.row for stored in self.members), reverse=True)[:MOST_EVIDENCE]


@dataclass(frozen=True, slots=True)
class Draft:
    """A rule before it is proposed, and the pattern that it was made from."""

    type: RuleType
    trigger: str
    action: str
    pattern: Pattern


@dataclass(slots=True)
class Known:
    """The rules that there are in a scope, of whatever status: a proposal is none of them in other words."""

    terms: list[frozenset[str]] = field(default_factory=list)
    evidence: list[frozenset[int]] = field(default_factory=list)

    def covers(self, pattern: Pattern) -> bool:
        """Whether a rule was made of at least half of these experiences already."""
        return self.covered(pattern.rows)

    def covered(self, rows: Iterable[int]) -> bool:
        """As `covers`, for the rows of experiences."""
        mine = frozenset(rows)
        return any(len(mine & other) >= SAME_RULE * len(mine) for other in self.evidence if other)

    def says(self, terms: frozenset[str]) -> bool:
        """Whether a rule says nearly that."""
        return any(similarity(terms, other) >= SAME_RULE for other in self.terms)

    def take(self, terms: frozenset[str], rows: Iterable[int]) -> None:
        """Remember another rule."""
        self.terms.append(terms)
        self.evidence.append(frozenset(rows))


def known(reading: Reading, analyser: Analyser, scope: str) -> Known:
    """The living rules of a scope. O(their number)."""
    made = Known()
    chosen = Filter(scopes=(scope,), kinds=("rule",))
    for stored in reading.page(chosen, None, MOST_RULES):
        made.take(terms_of(analyser, stored.entry.cue or "", stored.entry.text), evidence_of(reading, stored))
    return made


def terms_of(analyser: Analyser, *texts: str) -> frozenset[str]:
    """The words of a rule that tell what it is about, with their forms."""
    return frozenset(term for text in texts for word in analyser.question(text).words if word.weight >= 0.5 for term in word.terms)


def patterns(reading: Reading, analyser: Analyser, scope: str) -> tuple[list[Pattern], int]:
    """The patterns of a scope that no rule was made of, the weightiest first; and how many suspicious texts were passed over.

    Error patterns: entries of a confidence below 0.6, and what a turn told as an error, that tell of a failure; and entries whose advice
    was followed by harm. Success patterns: entries of an importance of 0.7 or more that were recalled twice, and entries whose advice was
    followed by gain.
    """
    made: list[Pattern] = []
    strange = 0
    found = {one.row: one for one in reversed(reading.experiences([scope], DOUBTFUL, VALUED, RECALLED, LOOKED_AT))}
    for stored in reading.entries([*found]):
        one = found[stored.row]
        told = one.doubtful and tells_of_failure(stored.entry.text)
        if not (told or one.bad or one.good or one.valued):
            continue
        if suspicious(stored.entry.text) or (stored.entry.cue and suspicious(stored.entry.cue)):
            strange += 1
            continue
        failed = told or one.bad > one.good
        outcome: Outcome = "error" if failed else "success"
        settled = one.bad if one.bad > one.good else 0 if failed else one.good
        terms = terms_of(analyser, stored.entry.text)
        weight = max(settled, 1 if failed else min(stored.entry.recalls, 9) if one.valued else 0, 1)
        home = next((p for p in made if _joins(p, outcome, settled, terms)), None)
        if home is None:
            made.append(Pattern(outcome, [stored], terms, weight, settled, _question(reading, stored, failed) if settled else "", scope))
        else:
            home.members.append(stored)
            home.weight += weight
            home.settled += settled
    there = known(reading, analyser, scope)
    fresh = [pattern for pattern in made if not there.covers(pattern)]
    return sorted(fresh, key=lambda p: (-p.weight, -p.rows[0]))[:MOST_PATTERNS], strange


def _joins(pattern: Pattern, outcome: Outcome, settled: int, terms: frozenset[str]) -> bool:
    """What was measured of an entry is about that entry; what merely tells of a failure is of one kind with what tells the same."""
    return pattern.outcome == outcome and not settled and not pattern.settled and similarity(pattern.terms, terms) >= ALIKE


def _question(reading: Reading, stored: StoredEntry, failed: bool) -> str:
    """What was asked when an entry decided and it went so."""
    if stored.entry.cue:
        return stored.entry.cue
    for settled, role, _ in reading.settlements_of(stored.row, 50):
        if role in ("deciding", "cited") and settled.tier != "claimed" and (settled.delta < 0 if failed else settled.delta > 0):
            ticket = reading.ticket(settled.ticket_id)
            if ticket is not None and not suspicious(ticket.query):
                return ticket.query
    return ""


def drafts(analyser: Analyser, found: Sequence[Pattern]) -> list[Draft]:
    """Rules put together from patterns that came up at least twice, in the language of what happened."""
    made = []
    for pattern in found:
        if pattern.weight < TWICE:
            continue
        draft = _failed(analyser, pattern) if pattern.outcome == "error" else _went_well(pattern)
        # Each part may be harmless where the whole is not.
        if draft is not None and suspicious(f"{draft.trigger} {draft.action}") is None:
            made.append(draft)
    return made


def _failed(analyser: Analyser, pattern: Pattern) -> Draft:
    newest = max(pattern.members, key=lambda stored: stored.row).entry
    phrases = phrases_for(newest.text)
    if pattern.settled:
        room = MAX_ACTION - len(phrases.misled) - 8
        action = phrases.misled.format(n=pattern.weight, text=_cut(newest.text, room))
        return Draft("avoid", _cut(pattern.question or newest.text, MAX_TRIGGER), action, pattern)
    return Draft("avoid", _cut(_shared(analyser, pattern), MAX_TRIGGER), phrases.failed.format(n=pattern.weight), pattern)


def _went_well(pattern: Pattern) -> Draft | None:
    best = max(pattern.members, key=lambda stored: (stored.entry.recalls, stored.row)).entry
    if len(best.text) > MAX_ACTION:
        return None
    return Draft("prefer", _cut(pattern.question or best.cue or best.text, MAX_TRIGGER), _cut(best.text, MAX_ACTION), pattern)


def _shared(analyser: Analyser, pattern: Pattern) -> str:
    """What the experiences of a pattern have in common, in the words of the newest: words that few of them hold become a gap."""
    newest = max(pattern.members, key=lambda stored: stored.row).entry.text
    held: Counter[str] = Counter()
    for stored in pattern.members:
        held.update(set(analyser.terms(stored.entry.text)))
    most = max(2, (len(pattern.members) + 1) // 2) if len(pattern.members) > 1 else 1

    def shared(part: str) -> str:
        terms = analyser.terms(part)
        return part if not terms or any(held[term] >= most for term in terms) else "…"

    kept: list[str] = []
    for word in newest.split():
        made = "".join(shared(part) for part in _INSIDE.split(word) if part)
        if made != "…" or kept[-1:] != ["…"]:
            kept.append(made)
    return " ".join(kept)


def _cut(text: str, most: int) -> str:
    plain = neutral(text)
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"
