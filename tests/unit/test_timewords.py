"""Times in questions: what they mean, counted from a given moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from earnest.core.timewords import MAX_SPANS, Span, closeness, spans

NOW = datetime(2026, 11, 30, 7, 30, tzinfo=UTC)  # a Monday


def first(text: str, now: datetime = NOW) -> tuple[str, str] | None:
    found = spans(text, now)
    return (found[0].start.date().isoformat(), found[0].end.date().isoformat()) if found else None


WEEK, DAY, MONTH = ("2026-11-23", "2026-11-30"), ("2023-05-07", "2023-05-08"), ("2023-05-01", "2023-06-01")
YESTERDAY, THREE_AGO = ("2026-11-29", "2026-11-30"), ("2026-11-27", "2026-11-28")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        # English
        ("What did we decide last week?", WEEK), ("in May 2023", MONTH), ("on 7 May 2023", DAY), ("on May 7th, 2023", DAY),
        ("the 7th of May 2023", DAY), ("yesterday", YESTERDAY), ("last night", YESTERDAY), ("today", ("2026-11-30", "2026-12-01")),
        ("3 days ago", THREE_AGO), ("three days ago", THREE_AGO), ("in the last 7 days", ("2026-11-23", "2026-12-01")),
        ("over the past 3 months", ("2026-08-30", "2026-12-01")), ("last Friday", THREE_AGO), ("on Friday", THREE_AGO),
        ("last Monday", (*WEEK[:1], "2026-11-24")), ("last month", ("2026-10-01", "2026-11-01")),
        ("last year", ("2025-01-01", "2026-01-01")),
        ("last weekend", ("2026-11-28", "2026-11-30")), ("next year", ("2027-01-01", "2028-01-01")),
        ("summer 2023", ("2023-06-01", "2023-09-01")), ("Q3 2024", ("2024-07-01", "2024-10-01")), ("in 2023", ("2023-01-01", "2024-01-01")),
        # dates
        ("2023-05-07", DAY), ("2023/05/07", DAY), ("2023-05", MONTH), ("07.05.2023", DAY),
        # stretches
        ("between 2023-05-01 and 2023-05-10", ("2023-05-01", "2023-05-11")), ("from May to July 2024", ("2024-05-01", "2024-08-01")),
        ("since May 2023", ("2023-05-01", "2026-12-01")), ("since Monday", ("2026-11-23", "2026-12-01")),
        ("before 2024", ("0001-01-01", "2024-01-01")), ("after May 2023", ("2023-06-01", "2026-12-01")),
        # other languages
        ("Was war letzte Woche?", WEEK), ("vor drei Tagen", THREE_AGO), ("im Mai 2023", MONTH), ("am 7. Mai 2023", DAY),
        ("gestern", YESTERDAY),
        ("am Freitag", THREE_AGO), ("la semaine dernière", WEEK), ("il y a 3 jours", THREE_AGO), ("en mai 2023", MONTH),
        ("le 7 mai 2023", DAY),
        ("hier", YESTERDAY), ("la semana pasada", WEEK), ("hace tres días", THREE_AGO), ("en mayo de 2023", MONTH), ("ayer", YESTERDAY),
        ("el 7 de mayo de 2023", DAY), ("на прошлой неделе", WEEK), ("3 дня назад", THREE_AGO),
        ("в мае 2023 года", MONTH), ("вчера", YESTERDAY),
        ("上周我们决定了什么", WEEK), ("三天前", THREE_AGO), ("2023年5月", MONTH), ("2023年5月7日", DAY),
        ("昨天", YESTERDAY), ("上周五", THREE_AGO),
        ("过去两周", ("2026-11-16", "2026-12-01")), ("先週", WEEK), ("3日前", THREE_AGO), ("昨日", YESTERDAY),
    ],
)  # fmt: skip
def test_a_time_is_read(text: str, meant: tuple[str, str]) -> None:
    assert first(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "", "May I delete it?", "How long ago?", "march on", "version 2.2023.1", "20.04", "1999-13-45", "99999 years ago", "9999 years ago",
        "the planet Mars", "port 8080", "call 0049", "what is the second one", "31.02.2023", "03/04/2023", "a" * 5_000, "1 " * 3_000,
        "mar de plata",
    ],
)  # fmt: skip
def test_what_is_no_time_or_could_be_several_is_left_alone(text: str) -> None:
    assert spans(text, NOW) == []


def test_a_month_without_a_year_is_the_last_one_and_less_likely_one_before() -> None:
    found = spans("in June", NOW)
    assert [s.start.year for s in found] == [2026, 2025, 2024, 2023, 2022, 2021] and found[0].weight == 1 > found[1].weight == found[
        5
    ].weight
    assert spans("in December", NOW)[0].start.year == 2025, "this year's has not begun"


def test_recently_says_little() -> None:
    [found] = spans("what happened recently", NOW)
    assert found.weight < 1 and found.end > NOW > found.start


def test_the_moment_decides_and_its_zone_does_not() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    assert spans("yesterday", east) == spans("yesterday", NOW)
    assert first("yesterday", datetime(2024, 3, 1, tzinfo=UTC)) == ("2024-02-29", "2024-03-01")
    assert first("one month ago", datetime(2024, 3, 31, tzinfo=UTC)) == ("2024-02-14", "2024-03-16"), "there was no 31st"


def test_there_is_a_bound_on_what_one_question_can_name() -> None:
    assert len(spans(" ".join(f"2023-05-{day:02}" for day in range(1, 32)), NOW)) == MAX_SPANS


def test_closeness_is_one_inside_fades_outside_and_slower_afterwards() -> None:
    span = Span(datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC), 1.0, "may 2023")

    def at(days: float) -> float:
        return closeness([span], span.end + timedelta(days=days))

    assert closeness([span], span.start) == 1 and at(-1) == 1
    assert 0.7 >= at(0) > at(5) > at(20) > 0 == at(60)
    before = closeness([span], span.start - timedelta(days=5))
    assert at(5) > before > 0 and closeness([span], span.start - timedelta(days=40)) == 0
    assert closeness([], span.start) == 0
    guess = Span(span.start, span.end, 0.5, "")
    assert closeness([guess], span.start) == 0.5 and closeness([guess, span], span.start) == 1
