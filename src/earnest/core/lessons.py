"""The text form of a store of lessons: small, sorted, one fact a line, fit for git. Pure: lines to values and back.

It holds causes, not balances: what was learned, what was decided by it, what was measured. A store is made from it by living through that
again, so that balances and standings follow from the facts, whoever put them together.

    ["earnest lessons", 2, {"agent": …, "head": …, "parents": […], "tick": …, "ticked": …}]
    ["setting", name, value]
    ["meter", name, unit, scale, tier, [channel, …], revoked since this tick or null]
    ["entry", {…}]
    ["link", entry, entry, kind, weight, reason]
    ["rule", entry, tick, at, status, why, {…}]
    ["open", ticket, tick, at, decider, [supporter, …], question, {…}]
    ["settled", ticket, decider, tick, at, ticks until the outcome, time until it, meter, delta, {…} if need be]
    ["ended", ticket, decider, tick, at, ticks until the end, time until it, "abandoned" or "expired", {…}]
    ["look", ticket, tick, at, meter, delta, {…}]
    ["control", tick, at, meter, delta, {…}]
    ["erased", entry]

Times are microseconds since 1970, by clocks that may have been set back: in what order the facts are lived through says
`core.lesson_turns`; a step of a rule that is no later by the clock than the one before it has its `turn` in the object at the end. A
decider is "" where none decided. What a decision has beside it stands in the object at the end: `cited` and `withheld` entries, rules
`beside` it, and `draws`, the coins that were thrown for it, each [entry, arm, p_shown, p_alone, p_all, rival or "", when the trial that it
belongs to began or null]; of one that ended, `asked` is the question where it is another one than its decider answers. An end without an
outcome is told of randomised decisions alone. Form 1 had no links, rules, ends and draws, form 2 no erasures; both are read as well, and
what was never erased from is written as form 2.

`head` is a digest of the lines after the first and of `parents`: the heads of the texts that this one
came from, two after a merge.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from earnest.core.calendar import FIRST, LAST
from earnest.core.events import micros
from earnest.errors import InvalidInput

NAME: Final = "earnest lessons"
FORM: Final = 3
FORMS: Final = (1, 2, 3)
"""The forms that can be read."""
MAX_BYTES: Final = 64 * 1024 * 1024
MAX_LINE: Final = 1_000_000

_WIDTHS: Final[Mapping[str, tuple[type | tuple[type, ...], ...]]] = {
    "setting": (str, (str, int, float, bool)),
    "meter": (str, str, (int, float, type(None)), str, list, (int, type(None))),
    "entry": (dict,),
    "link": (str, str, str, (int, float), str),
    "rule": (str, int, int, str, str, dict),
    "open": (str, int, int, str, list, str, dict),
    "ended": (str, str, int, int, int, int, str, dict),
    "settled": (str, str, int, int, int, int, str, (int, float), dict),
    "look": (str, int, int, str, (int, float), dict),
    "control": (int, int, str, (int, float), dict),
    "erased": (str,),
}
_SPANS: Final = frozenset(("settled", "ended"))
"""Kinds that are written with what lies between the decision and its end, which may lie before it where clocks differ."""
_AT: Final = {"rule": 2, "open": 2, "ended": 3, "settled": 3, "look": 2, "control": 1}
"""Where in a fact of these kinds its time stands, after the name of the kind."""
_CALENDAR: Final = range(micros(FIRST), micros(LAST) + 1)
_NUMBERS: Final = {"created": int, "born": int, "importance": float, "confidence": float, "pinned": bool, "probation": int, "version": int}

Fact = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Lessons:
    """Everything in a text, by what each fact is about. `ticked` is when the clock moved last, in microseconds; 0 if it never did.

    erased: ids of entries that were erased here: nothing else is left of them, and no branch brings them back.
    """

    agent: str
    tick: int = 0
    ticked: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    meters: Mapping[str, Fact] = field(default_factory=dict)
    entries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    open: Mapping[str, Fact] = field(default_factory=dict)
    settled: Mapping[str, Fact] = field(default_factory=dict)
    looks: frozenset[str] = frozenset()
    controls: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()
    links: Mapping[tuple[str, str, str], Fact] = field(default_factory=dict)
    rules: frozenset[str] = frozenset()
    ended: Mapping[str, Fact] = field(default_factory=dict)
    erased: frozenset[str] = frozenset()

    @property
    def head(self) -> str:
        """A digest of everything and of the parents."""
        made = hashlib.sha256("\n".join(self.parents).encode())
        for line in body(self):
            made.update(b"\n" + line.encode("utf-8", "surrogatepass"))
        return made.hexdigest()[:40]


def line(fact: Sequence[Any]) -> str:
    """A fact on one line, with one spelling."""
    return json.dumps(fact, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)


def body(lessons: Lessons) -> list[str]:
    """The lines after the first, in their order."""
    entries = sorted(lessons.entries.items(), key=lambda item: (item[1].get("born", 0), item[1].get("created") or 0, item[0]))
    return [
        *(line(["setting", name, value]) for name, value in sorted(lessons.settings.items())),
        *(line(["meter", *fact]) for _, fact in sorted(lessons.meters.items())),
        *(line(["entry", {**said, "id": name}]) for name, said in entries),
        *(line(["link", *fact]) for _, fact in sorted(lessons.links.items())),
        *sorted(lessons.rules),
        *(line(["open", *fact]) for fact in sorted(lessons.open.values(), key=lambda fact: (fact[2], fact[0]))),
        *(line(_short("settled", fact)) for fact in sorted(lessons.settled.values(), key=lambda fact: (fact[5], fact[0]))),
        *(line(_short("ended", fact)) for fact in sorted(lessons.ended.values(), key=lambda fact: (fact[5], fact[0]))),
        *sorted(lessons.looks),
        *sorted(lessons.controls),
        *(line(["erased", name]) for name in sorted(lessons.erased)),
    ]


def _short(kind: str, fact: Fact) -> list[Any]:
    """A decision that ended as it is written: the end's tick and time as what lies between."""
    ticket, decider, tick, at, end, ended, *rest, more = fact
    return [kind, ticket, decider, tick, at, end - tick, ended - at, *rest, *([more] if more else [])]


def written(lessons: Lessons) -> str:
    """The text."""
    form = FORM if lessons.erased else 2
    first = [NAME, form, {"agent": lessons.agent, "head": lessons.head, "parents": [*lessons.parents], "tick": lessons.tick,
                          "ticked": lessons.ticked}]  # fmt: skip
    return "\n".join([line(first), *body(lessons)]) + "\n"


def parsed(text: str, where: str = "the text") -> Lessons:
    """A text read and checked, its digest too.

    Raises:
        InvalidInput: Names the line, and what is wrong with it.
    """
    if len(text) > MAX_BYTES:
        raise InvalidInput("lessons", where, f"is larger than {MAX_BYTES:,} characters")
    lines = text.removeprefix("\ufeff").split("\n")
    for number, each in enumerate(lines, 1):
        # The first lines of two texts always differ, so that a conflict begins there.
        if each.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||")):
            why = "is a conflict that git left: `earnest lessons merge` joins two texts (git show :2:FILE, :3:FILE, and :1:FILE as --base)"
            raise InvalidInput("lessons", where, f"line {number} {why}")
    first = _fact(lines[0], where, 1)
    if first[:1] == [NAME] and len(first) > 1 and isinstance(first[1], int) and first[1] > FORM:
        raise InvalidInput("lessons", where, f"is of form {first[1]}, this Earnest reads up to form {FORM}: upgrade Earnest")
    if len(first) != 3 or first[0] != NAME or first[1] not in FORMS or not isinstance(first[2], dict):
        raise InvalidInput("lessons", where, f"does not begin as a text of lessons of form {FORM} does")
    made = _Gathering(where)
    for number, each in enumerate(lines[1:], 2):
        if each:
            made.take(_fact(each, where, number), each, number)
    about = first[2]
    try:
        lessons = replace(
            made.lessons(str(about["agent"])), tick=_whole(about["tick"]), ticked=_whole(about["ticked"], _CALENDAR),
            parents=tuple(str(parent) for parent in about["parents"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput("lessons", where, f"its first line lacks something or holds something else: {error}") from None
    if about.get("head") != lessons.head:
        raise InvalidInput("lessons", where, "was changed by hand or is cut off: its digest is another one; take the version before")
    return lessons


def _whole(value: Any, allowed: range = range(2**62)) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
        raise ValueError(f"{value!r} is no whole number")
    return value


def _fact(text: str, where: str, number: int) -> list[Any]:
    try:
        if len(text) > MAX_LINE or text.count("[") + text.count("{") > 10_000:
            raise ValueError("it is too large")
        made = json.loads(text, parse_constant=_strict)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("lessons", where, f"line {number} is no fact: {error}") from None
    if not isinstance(made, list) or not made:
        raise InvalidInput("lessons", where, f"line {number} is no fact: it has to be a list")
    return made


def _strict(name: str) -> Any:
    raise ValueError(f"{name} is no number")


class _Gathering:
    """Facts by what they are about, each checked for its form."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._named: dict[str, dict[Any, Any]] = {kind: {} for kind in ("setting", "meter", "entry", "link", "open", "settled", "ended")}
        self._lines: dict[str, set[str]] = {"look": set(), "control": set(), "rule": set()}
        self._erased: set[str] = set()

    def take(self, fact: list[Any], text: str, number: int) -> None:
        """One line."""
        kind, *rest = fact
        if (kind == "settled" and len(rest) == 8) or (kind == "ended" and len(rest) == 7):
            rest = [*rest, {}]
        widths = _WIDTHS.get(kind) if isinstance(kind, str) else None
        if widths is None or len(rest) != len(widths):
            raise self._wrong(number, f"{str(kind)[:40]!r} is not known in this form, or has another length")
        for place, (value, wanted) in enumerate(zip(rest, widths, strict=True)):
            number_wanted = wanted in (int, (int, float))
            if not isinstance(value, wanted) or (number_wanted and isinstance(value, bool)):
                raise self._wrong(number, f"{str(value)[:40]!r} is of the wrong type")
            endless = isinstance(value, float) and not math.isfinite(value)
            allowed = _CALENDAR if place == _AT.get(kind) else range(-(2**62) if kind in _SPANS else 0, 2**62)
            if endless or (wanted is int and isinstance(value, int) and value not in allowed):
                raise self._wrong(number, f"{str(value)[:40]!r} is out of range")
        if kind in self._lines:
            self._lines[kind].add(line(fact))
            return
        if kind == "erased":
            self._erased.add(rest[0])
            return
        if kind == "entry":
            said = dict(rest[0])
            name = said.pop("id", None)
            if not isinstance(name, str) or not isinstance(said.get("text"), str) or not self._numbers(said):
                raise self._wrong(number, "an entry has an id, a text and numbers where they belong")
            fact_kept: Any = said
        else:
            name, fact_kept = rest[0], rest[1] if kind == "setting" else tuple(rest)
            if kind == "link":
                name = tuple(rest[:3])
                if rest[0] >= rest[1] or not 0 < rest[3] <= 1:
                    raise self._wrong(number, "a link names two entries, the lesser id first, and weighs more than 0 and at most 1")
            if kind in _SPANS:
                fact_kept = (*rest[:4], rest[2] + rest[4], rest[3] + rest[5], *rest[6:])
                if min(fact_kept[2], fact_kept[4]) < 0 or fact_kept[5] not in _CALENDAR:
                    raise self._wrong(number, "its outcome lies before the beginning of time, or after its end")
        if name in self._named[kind]:
            raise self._wrong(number, f"{name!r} is there twice")
        self._named[kind][name] = fact_kept

    @staticmethod
    def _numbers(said: Mapping[str, Any]) -> bool:
        for name, kind in _NUMBERS.items():
            value = said.get(name)
            right = isinstance(value, int | float) if kind is float else isinstance(value, kind)
            if value is not None and (not right or (kind is not bool and isinstance(value, bool))):
                return False
        return True

    def lessons(self, agent: str) -> Lessons:
        """What was gathered."""
        named = self._named
        return Lessons(
            agent, settings=named["setting"], meters=named["meter"], entries=named["entry"], open=named["open"], settled=named["settled"],
            looks=frozenset(self._lines["look"]), controls=frozenset(self._lines["control"]), links=named["link"],
            rules=frozenset(self._lines["rule"]), ended=named["ended"], erased=frozenset(self._erased),
        )  # fmt: skip

    def _wrong(self, number: int, why: str) -> InvalidInput:
        return InvalidInput("lessons", self._where, f"line {number}: {why}")
