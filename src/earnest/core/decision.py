"""Does a piece of advice say act, don't, or can't it be told?

A small reader by clauses for ten languages (en de fr es pt ru ar zh ja ko), with its words in `decision_words`. How it reads:

1.  The text is folded (width, case) and cut into sentences; each is read in the language that its script and words suggest.
2.  A sentence becomes a row of roles: an act, a protection, a negation, a judgement, a condition, …; unknown words are "word".
3.  In each clause the sign of what is named (act +, protection -) is turned once by every negation and every judgement
    against that governs it, so that "not unsafe to delete" and "a mistake to say these are safe" come out right.
4.  The clauses are summed up on the cautious side.

What it decides where people may differ:

-   One clause that says don't outweighs all that say act, in whatever order: "safe to delete … must be kept" is False.
-   A condition on something still to be done or found out (only after, only if, if, unless, as long as, not until) makes the
    sentence None: it is not an unconditional go. A plain time ("after seven days", "once a build finishes") is no condition.
-   Questions, doubts ("might", "probably") and what others are said to claim are None; a claim that the text then calls
    wrong is False.
-   What was done, or how it is done, is no advice: "the logs were deleted", "back up before deleting" are None.

It is a reader of short plain advice, not a parser: where it cannot tell it says None, and an environment then does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from earnest.core.decision_text import NO_MARK, YES_MARK, fold, languages, latin_language, mark, roles, sentences, unquoted
from earnest.errors import InvalidInput

LIMIT: Final = 20_000
"""Characters of a text that are read; the rest is ignored."""

_VERB_LAST: Final = frozenset({"ja", "ko"})  # what governs the verb follows it
_MODAL_ANYWHERE: Final = frozenset({"de", "ja", "ko"})  # the modal may follow the act that it allows
_BARE_LAST: Final = frozenset({"de", "ja", "ko"})  # a bare act may close the clause instead of opening it
_ONE_NEGATION: Final = frozenset({"fr", "es", "pt", "ru", "ar"})  # several negating words make one negation

_TOPICS: Final = frozenset({"act", "nom", "able", "keep", "extra+", "extra-"})
_OPERATORS: Final = frozenset({"neg", "none", "nor", "no", "harm", "flip", "refute"})
_JUDGEMENTS: Final = _OPERATORS | {"safe"}
_LIGHT: Final = frozenset({"stop", "lead", "and"})


@dataclass(slots=True)
class _Group:
    """Neighbouring topics of one sign in a clause: "may be deleted or purged" is one."""

    sign: int
    first: int
    last: int
    bare: bool
    free: bool


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a sentence says (-1, 0, +1), what it says somebody claims, and whether it names anything or only conditions."""

    value: int = 0
    claims: bool = False
    topical: bool = False
    conditional: bool = False


def decision_polarity(text: str, extra_positive: Sequence[str] = (), extra_negative: Sequence[str] = ()) -> bool | None:
    """Read whether `text` says act (True), don't (False), or can't be told (None). Nothing is changed.

    The language is found per sentence. `extra_positive` and `extra_negative` add literal phrases of a domain that count as act
    and don't: matched without regard to case and width, on word boundaries (anywhere, in scripts that write no spaces), the
    longest first, and turned by negation and condition as every other word. A text that holds one of each is False.
    At most the first 20 000 characters are read. Raises `InvalidInput` when an argument is not text or a phrase is blank.
    Cost: linear in the text, times the number of extra phrases.
    """
    if not isinstance(text, str):
        raise InvalidInput("text", text, "the reader takes text; pass answer.text, which is empty when memory is silent")
    yes, no = _phrases("extra_positive", extra_positive), _phrases("extra_negative", extra_negative)
    folded = fold(_unmarked(text[:LIMIT]))
    folded = mark(folded, yes, no)
    if YES_MARK in folded and NO_MARK in folded:
        return False
    return _summed_up(unquoted(folded))


def _summed_up(folded: str) -> bool | None:
    latin = latin_language(folded)
    values: list[int] = []
    claimed = False
    for sentence, question in sentences(folded):
        if question:
            continue
        reading = _read(sentence, latin, claimed)
        claimed = claimed or reading.claims
        if reading.conditional and not reading.topical and values and values[-1] > 0:
            values[-1] = 0  # "Yes. But only after the backup."
        values.append(reading.value)
    if -1 in values:
        return False
    return True if 1 in values else None


def _phrases(name: str, given: Sequence[str]) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInput(name, given, "a list or tuple of phrases, even for one: ('safe to cancel',)")
    folded: list[str] = []
    for phrase in given:
        words = fold(_unmarked(phrase)).split() if isinstance(phrase, str) else []
        if not words:
            raise InvalidInput(name, phrase, "each phrase is a text with at least one visible character")
        folded.append(" ".join(words))
    return folded


def _unmarked(text: str) -> str:
    return text.replace(YES_MARK, " ").replace(NO_MARK, " ")


def _read(sentence: str, latin: str, claimed: bool) -> _Reading:
    reading = _Reading()
    for code in languages(sentence, latin):
        reading = _read_items(roles(sentence, code), code, claimed)
        if reading.value or reading.topical or reading.conditional:
            return reading
    return reading


def _read_items(items: list[str], code: str, claimed: bool) -> _Reading:
    items = [i for i in items if i != "noise"]
    opening = next((i for i in items if i not in ("lead", "and", "quote", "split", "clause")), "")
    if "ask" in items or opening == "ask0":
        return _Reading(topical=True)
    reported = "report" in items or _quoted_topic(items)
    items = [i for i in items if i not in ("quote", "report")]
    named = any(i in _TOPICS for i in items)
    if "cond" in items or ("until" in items and any(i in ("neg", "none") for i in items)):
        return _Reading(topical=named or "yes" in items, conditional=True)
    open_ended = reported or "hedge" in items
    values: list[int] = []
    claims, denied = claimed, False
    for clause in _clauses(items):
        value = _clause_value(clause, code, claims)
        if value > 0 and denied:
            value = -1  # "It is false, that …"
        elif not claims and "refute" in clause and not value and "neg" not in clause:
            denied = True
        if value > 0:
            claims = True
        values.append(0 if value > 0 and open_ended else value)
    value = -1 if -1 in values else max(values, default=0)
    return _Reading(value=value, claims=claims, topical=named)


def _quoted_topic(items: list[str]) -> bool:
    inside = False
    for item in items:
        if item == "quote":
            inside = not inside
        elif inside and item in _TOPICS | {"safe", "yes"}:
            return True
    return False


def _clauses(items: list[str]) -> list[list[str]]:
    """Cut at punctuation and contrast; "and" cuts only before a new modal, so that a negation reaches over a plain list."""
    clauses: list[list[str]] = [[]]
    for at, item in enumerate(items):
        following = items[at + 1] if at + 1 < len(items) else ""
        if item == "clause" and "neg" in clauses[-1][:2] and _opens_with_act(items[at + 1 : at + 8]):
            clauses[-1].append("and")  # "Never rename, delete or move it": one list under one negation
        elif item in ("clause", "split") or (item == "and" and following == "modal"):
            clauses.append([])
        else:
            clauses[-1].append(item)
    return [c for c in clauses if c]


def _opens_with_act(items: list[str]) -> bool:
    return next((i for i in items if i not in ("word", "and", "clause")), "") == "act"


def _clause_value(clause: list[str], code: str, claimed: bool) -> int:
    trimmed = _without_asides(clause)
    if trimmed is None:
        return 0
    groups = [g for g in _groups(trimmed) if g.free or _licensed(g, trimmed, code)]
    if not groups:
        return _verdict(trimmed, code, claimed)
    values = []
    for n, group in enumerate(groups):
        scope = _scope(trimmed, groups, n, code)
        value = group.sign * _turned(scope, code)
        if value > 0 and "need" in trimmed and "neg" not in scope:
            value = 0  # "protected files can be deleted": two minds
        values.append(value)
    return -1 if -1 in values else max(values)


def _without_asides(clause: list[str]) -> list[str] | None:
    """Take out the acts that are only mentioned ("before deleting") and what follows "rather than". None: it is a condition."""
    kept: list[str] = []
    skip = False
    for at, item in enumerate(clause):
        if item == "instead":
            break
        if item == "without":
            if "neg" in kept:
                return None  # "do not delete without approval"
            break
        if item == "before":
            following = [i for i in clause[at + 1 : at + 3] if i != "stop"]  # "before deleting", "before you delete"
            skip = bool(following) and following[0] in ("act", "nom")
        elif item == "drop":
            near = [i for i in range(max(len(kept) - 3, 0), len(kept)) if kept[i] in ("act", "nom")]
            if near:
                kept[near[-1]] = "word"
        elif skip and item in ("act", "nom"):
            kept.append("word")
            skip = False
        else:
            kept.append(item)
    return kept


def _groups(clause: list[str]) -> list[_Group]:
    groups: list[_Group] = []
    for at, item in enumerate(clause):
        if item not in _TOPICS:
            continue
        sign = -1 if item in ("keep", "extra-") else 1
        between = clause[groups[-1].last + 1 : at] if groups else []
        if groups and groups[-1].sign == sign and not any(i in _JUDGEMENTS or i == "modal" for i in between):
            groups[-1].last = at
            groups[-1].free = groups[-1].free or item not in ("act", "nom")
            groups[-1].bare = groups[-1].bare or item == "act"
        else:
            groups.append(_Group(sign, at, at, item == "act", item not in ("act", "nom")))
    return groups


def _licensed(group: _Group, clause: list[str], code: str) -> bool:
    """Whether a named act is advice: as an imperative, or under a modal, a judgement or a negation."""
    before, after = clause[: group.first], clause[group.last + 1 :]
    reach = clause if code in _MODAL_ANYWHERE else before
    if "modal" in reach or any(i in _JUDGEMENTS or i == "yes" for i in clause):
        return True
    opens = all(i in ("lead", "and", "yes") for i in before) or before[-1] in ("and", "lead")
    closes = code in _BARE_LAST and all(i == "lead" for i in after)
    return group.bare and (opens or closes)


def _scope(clause: list[str], groups: list[_Group], n: int, code: str) -> list[str]:
    """The part of a clause that governs a topic: what stands before it, and after it what no later topic takes."""
    group = groups[n]
    start = groups[n - 1].last + 1 if n else 0
    end = groups[n + 1].first if n + 1 < len(groups) else len(clause)
    before, inside, after = clause[start : group.first], clause[group.first : group.last + 1], clause[group.last + 1 : end]
    if code in _VERB_LAST:
        return (before if n == 0 else []) + inside + after
    if n + 1 < len(groups) and any(i in _JUDGEMENTS for i in before):
        return before + inside
    return before + inside + after


def _turned(scope: list[str], code: str) -> int:
    negations = sum(i in ("neg", "none", "no") for i in scope)
    if code in _ONE_NEGATION:
        negations = min(negations, 1)
    if "nor" in scope:
        negations = 1
    against = sum(i in ("harm", "flip", "refute") for i in scope)
    return -1 if (negations + against) % 2 else 1


def _verdict(clause: list[str], code: str, claimed: bool) -> int:
    """What a clause says that names neither act nor protection: "Yes", "That is dangerous", "They are wrong"."""
    turned = _turned([i for i in clause if i in ("neg", "none", "nor", "no")], code)
    light = all(i in _LIGHT or i in ("safe", "modal", "yes", "neg", "nor", "no") for i in clause)
    if "refute" in clause:
        return -1 if claimed and turned > 0 else 0
    if "harm" in clause:
        return -1 if turned > 0 else 0
    if "safe" in clause and turned < 0:
        return -1
    if "need" in clause:
        return -1 if turned > 0 else 0
    if "yes" in clause and ("word" not in clause[: clause.index("yes")] or light):
        return turned
    if ("safe" in clause or "modal" in clause) and light:
        return turned
    only_no = all(i in ("neg", "no", "lead", "stop") for i in clause) and any(i in ("neg", "no") for i in clause)
    return -1 if only_no else 0
