"""Time expressions in questions, resolved against a given moment: "last week", "im Mai 2023", "3 дня назад", "2023年5月".

Pure: the same text and the same `now` give the same spans. Days are days in UTC, weeks begin on Monday. Read are English, German,
French, Spanish, Russian, Chinese and Japanese, ISO dates, and dates with the day first and dots. What is ambiguous ("03/04/2023") is
left alone. The words and rules are general knowledge of those languages; nothing is learned from data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

from earnest.core.analysis import folded
from earnest.core.patterns import lazily
from earnest.core.timetables import (
    AFTER,
    AGO,
    BEFORE,
    FIXED,
    HINTS,
    LAST,
    LATELY,
    MONTHS,
    NAMED_MONTH,
    NUMBERS,
    PAST,
    SEASONS,
    SINCE,
    TO,
    UNITS,
    WEEKDAYS,
)

DAY: Final = timedelta(days=1)
EARLIER_YEAR: Final = 0.7
"""What a month without a year weighs in the years before the last one that it can mean."""
YEARS_BACK: Final = 6
VAGUE: Final = 0.5
"""What "recently" weighs: it says little about when."""
MAX_SPANS: Final = 24
_MAX_TEXT: Final = 2_000
_LONG_AGO: Final = datetime(1, 1, 1, tzinfo=UTC)
_FAR: Final = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time that a question names: from `start` up to, not including, `end`. `weight` is 1 unless it is a guess;
    `said` are the (folded) words that named it."""

    start: datetime
    end: datetime
    weight: float
    said: str


@dataclass(frozen=True, slots=True)
class _Atom:
    """One expression in the text, before "since" or "from … to" is applied: where it stands, and its possible readings."""

    at: int
    until: int
    readings: tuple[tuple[datetime, datetime, float], ...]


def spans(text: str, now: datetime) -> list[Span]:
    """The stretches of time that a text names, in order of appearance; empty where it names none. O(text), cut at 2,000 characters.

    Args:
        text: A question, as typed.
        now: An aware moment that relative words are counted from.
    """
    plain = folded(text[:_MAX_TEXT])
    if not _worth(plain):
        return []
    atoms = _apart(_atoms(plain, now.astimezone(UTC)))
    made: list[Span] = []
    skip = False
    for place, atom in enumerate(atoms):
        if skip:
            skip = False
            continue
        later = atoms[place + 1] if place + 1 < len(atoms) else None
        if later is not None and _between().fullmatch(plain[atom.until : later.at]):
            end = later.readings[0][1]
            # "from May to July 2024": of the years that the first can mean, the last one before the end.
            start = max((start for start, _, _ in atom.readings if start < end), default=None)
            if start is not None:
                made.append(Span(start, end, 1.0, plain[atom.at : later.until]))
                skip = True
                continue
        made.extend(_bounded(plain, atom, now))
    return made[:MAX_SPANS]


def closeness(named: Sequence[Span], moment: datetime) -> float:
    """How well a moment fits what was named: the weight of a span that it lies in, less outside, 0 far away.

    What happened is often told a little later, so that the time after a span fades more slowly than the time before it: to nothing
    over its own length (a week at least, two months at most), and over a third of that.
    """
    best = 0.0
    for span in named:
        if span.start <= moment < span.end:
            fit = 1.0
        else:
            reach = min(max(span.end - span.start, 7 * DAY), 61 * DAY)
            gap = (moment - span.end) / reach if moment >= span.end else 3 * ((span.start - moment) / reach)
            fit = 0.7 * (1 - gap)
        best = max(best, span.weight * fit)
    return best


def _bounded(plain: str, atom: _Atom, now: datetime) -> list[Span]:
    """The spans of one expression, opened to one side by "since", "after" or "before" ahead of it (or behind it)."""
    ahead, behind = plain[max(0, atom.at - 24) : atom.at], plain[atom.until : atom.until + 12]
    said = plain[atom.at : atom.until]
    made = []
    for start, end, weight in atom.readings:
        if _side(SINCE).search(ahead) or _side_after(SINCE).match(behind):
            end = max(now + DAY, end)
        elif _side(AFTER).search(ahead) or _side_after(AFTER).match(behind):
            start, end = end, max(now, end) + DAY
        elif _side(BEFORE).search(ahead) or _side_after(BEFORE).match(behind):
            start, end = _LONG_AGO, start
        if start < end:
            made.append(Span(start, end, weight, said))
    return made


def _apart(atoms: list[_Atom]) -> list[_Atom]:
    """In order, without those that lie inside a longer one."""
    kept: list[_Atom] = []
    for atom in sorted(atoms, key=lambda a: (a.at, -a.until)):
        if not kept or atom.at >= kept[-1].until:
            kept.append(atom)
        elif atom.until - atom.at > kept[-1].until - kept[-1].at:
            kept[-1] = atom
    return kept


# finding expressions


def _atoms(plain: str, now: datetime) -> list[_Atom]:
    made: list[_Atom] = []
    for match in _calendar().finditer(plain):
        found = _date(match, now)
        if found:
            made.append(_Atom(match.start(), match.end(), tuple(found)))
    for match in _month().finditer(plain):
        found = _named_month(match, plain, now)
        if found:
            made.append(_Atom(match.start(), match.end(), tuple(found)))
    for match in _relative().finditer(plain):
        found = _reading(match, now)
        if found:
            # A word before a weekday belongs to what may open the span: "since Monday".
            at = match.start("weekday") if match["weekday"] else match.start()
            made.append(_Atom(at, match.end(), tuple(found)))
    return made


def _date(match: re.Match[str], now: datetime) -> list[tuple[datetime, datetime, float]]:
    part = match.groupdict()
    if part["year"]:
        return _exact(int(part["year"]), int(part["month"] or 0), int(part["day"] or 0))
    if part["dmy_y"]:
        return _exact(int(part["dmy_y"]), int(part["dmy_m"]), int(part["dmy_d"]))
    if part["han_y"]:
        return _exact(int(part["han_y"]), int(part["han_m"] or 0), int(part["han_d"] or 0))
    if part["han_month"]:
        return _any_year(int(part["han_month"]), int(part["han_day"] or 0), now)
    if part["quarter"]:
        first = 3 * int(part["quarter"]) - 2
        start = _exact(int(part["quarter_y"]), first, 0)
        return [(start[0][0], _add_months(start[0][0], 3), 1.0)] if start else []
    return _exact(int(part["alone"]), 0, 0) if part["alone"] else []


def _named_month(match: re.Match[str], plain: str, now: datetime) -> list[tuple[datetime, datetime, float]]:
    name, day, year = match["name"], match["first"] or match["second"], match["year"]
    season = SEASONS.get(name)
    if season:
        return _season(season, int(year) if year else None, now)
    # "may", "march" and abbreviations are words of their own: they are months only beside a number or behind a preposition.
    if not (day or year) and (name in NAMED_MONTH or len(name) <= 4) and not _before_month().search(plain[: match.start()]):
        return []
    month = MONTHS[name]
    if day and not 1 <= int(day) <= 31:
        return []
    return _exact(int(year), month, int(day or 0)) if year else _any_year(month, int(day or 0), now)


def _reading(match: re.Match[str], now: datetime) -> list[tuple[datetime, datetime, float]]:
    part = {name: value for name, value in match.groupdict().items() if value is not None}
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if "fixed" in part:
            unit, step = FIXED[_spaced(part["fixed"])]
            return [(*_around(today, unit, step), 1.0)]
        if "lately" in part:
            return [(today - 30 * DAY, today + DAY, VAGUE)]
        if "weekday" in part:
            return [_weekday(today, WEEKDAYS[part["weekday"]])]
        if "dense_weekday" in part:
            word = part["dense_weekday"]
            if word[0] in "上这本":
                # "Last week's Friday" is not always the last Friday.
                start = _around(today, "w", -1 if word[0] == "上" else 0)[0] + WEEKDAYS[word[1:]] * DAY
                return [(start, start + DAY, 1.0)]
            return [_weekday(today, WEEKDAYS[word])]
        for prefix in ("ago", "past"):
            units = [name for name in part if name.startswith(prefix + "_unit")]
            if units:
                count = _number(next(part[name] for name in part if name.startswith(prefix + "_count")))
                unit = UNITS[part[units[0]]]
                if count is None:
                    return []
                there = _back(today, unit, count)
                if prefix == "past":
                    return [(there, today + DAY, 1.0)]
                # "three weeks ago" is about then, within half of the unit that was named.
                give = {"d": 0, "w": 3, "m": 15, "y": 183}[unit]
                return [(there - give * DAY, there + (give + 1) * DAY, 1.0)]
    except (OverflowError, ValueError):
        return []  # a moment that no calendar has
    return []


# readings of a date


def _exact(year: int, month: int, day: int) -> list[tuple[datetime, datetime, float]]:
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return []
    if year >= 9999:
        return []
    return [(start, start + DAY if day else _add_months(start, 1 if month else 12), 1.0)]


def _any_year(month: int, day: int, now: datetime) -> list[tuple[datetime, datetime, float]]:
    """A month or a day without a year: the last one that began, and less likely those of the years before."""
    made: list[tuple[datetime, datetime, float]] = []
    for year in range(now.year, max(1, now.year - YEARS_BACK), -1):
        for start, end, _ in _exact(year, month, day):
            if start <= now:
                made.append((start, end, EARLIER_YEAR if made else 1.0))
    return made


def _season(first_month: int, year: int | None, now: datetime) -> list[tuple[datetime, datetime, float]]:
    """Three months, by the seasons of the northern half of the world, where most dates without a place come from."""
    years = [year] if year else list(range(now.year, max(1, now.year - YEARS_BACK), -1))
    made: list[tuple[datetime, datetime, float]] = []
    for each in years:
        for start, _, _ in _exact(each, first_month, 0):
            if year or start <= now:
                made.append((start, _add_months(start, 3), EARLIER_YEAR if made else 1.0))
    return made


def _around(today: datetime, unit: str, step: int) -> tuple[datetime, datetime]:
    if unit == "d":
        return today + step * DAY, today + (step + 1) * DAY
    monday = today - today.weekday() * DAY
    if unit == "w":
        return monday + 7 * step * DAY, monday + 7 * (step + 1) * DAY
    if unit == "weekend":
        saturday = monday + (5 + 7 * step) * DAY
        return saturday, saturday + 2 * DAY
    first = today.replace(day=1) if unit == "m" else today.replace(month=1, day=1)
    months = 1 if unit == "m" else 12
    return _add_months(first, months * step), _add_months(first, months * (step + 1))


def _weekday(today: datetime, weekday: int) -> tuple[datetime, datetime, float]:
    """The last such day before today."""
    back = (today.weekday() - weekday) % 7 or 7
    return today - back * DAY, today - (back - 1) * DAY, 1.0


def _back(today: datetime, unit: str, count: int) -> datetime:
    if unit in ("d", "w"):
        return today - count * (DAY if unit == "d" else 7 * DAY)
    first = _add_months(today.replace(day=1), -count * (1 if unit == "m" else 12))
    return min(first + (today.day - 1) * DAY, _add_months(first, 1) - DAY)


def _add_months(moment: datetime, months: int) -> datetime:
    count = moment.year * 12 + moment.month - 1 + months
    return moment.replace(year=count // 12, month=count % 12 + 1, day=1)


def _number(word: str) -> int | None:
    word = _spaced(word)
    if word.isascii() and word.isdigit():
        return int(word) if len(word) <= 4 else None
    return NUMBERS.get(word)


def _spaced(words: str) -> str:
    return " ".join(words.split())


# the patterns, made when they are first needed


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=lambda w: (-len(w), w)))


_EDGE: Final = r"(?<![^\W_])"
_END: Final = r"(?![^\W_])"


def _bordered(words: Sequence[str]) -> str:
    """A choice of words: whole words in scripts with spaces, anywhere in others."""
    with_spaces = [word for word in words if ord(word[-1]) < 0x2E80]
    without = [word for word in words if ord(word[-1]) >= 0x2E80]
    made = [f"{_EDGE}(?:{_any(with_spaces)}){_END}"] if with_spaces else []
    return "|".join(made + ([_any(without)] if without else []))


@cache
def _calendar() -> re.Pattern[str]:
    return re.compile(
        r"(?<![\d.\-/])(?P<year>(?:19|20)\d\d)[-/](?P<month>0?[1-9]|1[0-2])(?:[-/](?P<day>\d{1,2}))?(?![\d\-/])"
        r"|(?<![\d.])(?P<dmy_d>\d{1,2})\.\s?(?P<dmy_m>0?[1-9]|1[0-2])\.\s?(?P<dmy_y>(?:19|20)\d\d)(?!\d)"
        r"|(?P<han_y>(?:19|20)\d\d)\s?年(?:\s?(?P<han_m>1[0-2]|0?[1-9])\s?月(?:\s?(?P<han_d>\d{1,2})\s?[日号])?)?"
        r"|(?<!\d)(?P<han_month>1[0-2]|0?[1-9])\s?月(?:\s?(?P<han_day>\d{1,2})\s?[日号])?"
        r"|\bq(?P<quarter>[1-4])\s+(?P<quarter_y>(?:19|20)\d\d)\b"
        r"|(?<![\w.\-/:])(?P<alone>(?:19|20)\d\d)(?![\w\-/:]|\.\d)"
    )


@cache
def _month() -> re.Pattern[str]:
    names = _any({**MONTHS, **SEASONS})
    return re.compile(
        rf"(?:(?<![\d.:/\-])(?P<first>\d{{1,2}})(?:st|nd|rd|th|er|re|\.|º|o)?\s+(?:of\s+|de\s+)?)?{_EDGE}(?P<name>{names}){_END}\.?"
        rf"(?:\s+(?P<second>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]))?(?:,?\s+(?:of\s+|de\s+|del\s+)?(?P<year>(?:19|20)\d\d)(?!\d))?"
    )


@cache
def _relative() -> re.Pattern[str]:
    number = rf"\d{{1,4}}|{_any(NUMBERS)}"
    unit = _any(UNITS)
    choices: list[str] = []
    for place, (before, after) in enumerate(AGO):
        choices.append(rf"{before}\s*(?P<ago_count{place}>{number})\s*(?P<ago_unit{place}>{unit}){after}")
    for place, (before, after) in enumerate(PAST):
        choices.append(rf"{before}\s*(?P<past_count{place}>{number})\s*(?P<past_unit{place}>{unit}){after}")
    spaced = [word for word in WEEKDAYS if ord(word[0]) < 0x2E80]
    dense = [word for word in WEEKDAYS if ord(word[0]) >= 0x2E80]
    choices.append(rf"(?:{LAST}){_EDGE}(?P<weekday>{_any(spaced)}){_END}")
    choices.append(rf"(?P<dense_weekday>[上这本]?(?:{_any(dense)}))")
    choices += [f"(?P<fixed>{_bordered(list(FIXED))})", f"(?P<lately>{_bordered(LATELY)})"]
    return re.compile("|".join(choices))


@cache
def _signs() -> tuple[frozenset[str], str]:
    # Of a phrase its longest word, which says most.
    words = {max(phrase.split(), key=len) for phrase in (*FIXED, *LATELY, *MONTHS, *SEASONS, *WEEKDAYS, *HINTS)}
    return frozenset(word for word in words if ord(word[-1]) < 0x2E80), "".join({word[-1] for word in words if ord(word[-1]) >= 0x2E80})


def _worth(plain: str) -> bool:
    """A quick look: whether it is worth reading a text for times at all. Most questions end here."""
    words, dense = _signs()
    if any("0" <= char <= "9" for char in plain) or not words.isdisjoint(_WORD.findall(plain)):
        return True
    return not plain.isascii() and any(char in dense for char in plain)


_WORD: Final = lazily(r"[^\W\d_]+(?:['-][^\W\d_]+)*")


@cache
def _before_month() -> re.Pattern[str]:
    return re.compile(
        r"(?:^|\W)(?:in|during|since|until|till|by|before|after|of|last|next|this|early|late|mid|from|between|von|zwischen|entre|im|seit|ab|bis|vor|nach|en|depuis|avant|"
        r"desde|hasta|antes de|в|с|до|после|and|to|und|et|y|и)[\s\-]+$"
    )


@cache
def _between() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{_any(TO)})\s*")


@cache
def _side(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[\s(])(?:{_any(words)})\s+(?:the\s+|dem\s+|der\s+|le\s+|la\s+|el\s+)?$")


@cache
def _side_after(words: tuple[str, ...]) -> re.Pattern[str]:
    """Languages that put "since" behind."""
    dense = [word for word in words if ord(word[-1]) >= 0x2E80]
    return re.compile(rf"\s?(?:{_any(dense)})") if dense else re.compile(r"(?!)")
