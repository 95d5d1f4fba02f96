"""The words of `timewords`, by language: English, German, French, Spanish, Russian, Chinese, Japanese. Compared as folded text."""

from __future__ import annotations

from typing import Final

from earnest.core.analysis import folded


def _table(rows: dict[int, str]) -> dict[str, int]:
    return {folded(word): value for value, words in rows.items() for word in words.split()}


MONTHS: Final = _table(
    {
        1: "january jan januar jänner janvier enero январь января январе",
        2: "february feb februar février febrero февраль февраля феврале",
        3: "march mar märz mars marzo март марта марте",
        4: "april apr avril abril апрель апреля апреле",
        5: "may mai mayo май мая мае",
        6: "june jun juni juin junio июнь июня июне",
        7: "july jul juli juillet julio июль июля июле",
        8: "august aug août agosto август августа августе",
        9: "september sep sept septembre septiembre сентябрь сентября сентябре",
        10: "october oct oktober okt octobre octubre октябрь октября октябре",
        11: "november nov novembre noviembre ноябрь ноября ноябре",
        12: "december dec dezember dez décembre diciembre декабрь декабря декабре",
    }
)
NAMED_MONTH: Final = frozenset(("may", "march", "mars", "august", "мае", "мая"))
"""Months that are other words too."""

SEASONS: Final = _table(
    {
        3: "spring frühling frühjahr printemps primavera весна весной весны",
        6: "summer sommer été verano лето летом лета 夏天 夏季",
        9: "autumn fall herbst automne otoño осень осенью осени 秋天 秋季",
        12: "winter hiver invierno зима зимой зимы 冬天 冬季",
    }
)
"""The month that a season begins in. "fall" and "été" are other words too: a season without a year weighs as a guess."""

WEEKDAYS: Final = _table(
    {
        0: "monday montag lundi lunes понедельник 星期一 周一 月曜日 月曜",
        1: "tuesday dienstag mardi martes вторник 星期二 周二 火曜日 火曜",
        2: "wednesday mittwoch mercredi miércoles среду 星期三 周三 水曜日 水曜",
        3: "thursday donnerstag jeudi jueves четверг 星期四 周四 木曜日 木曜",
        4: "friday freitag vendredi viernes пятницу 星期五 周五 金曜日 金曜",
        5: "saturday samstag samedi sábado субботу 星期六 周六 土曜日 土曜",
        6: "sunday sonntag dimanche domingo воскресенье 星期日 星期天 周日 日曜日 日曜",
    }
)
"""Weekdays, Monday first, in the form that stands behind "last" or "on"."""

UNITS: Final = {
    folded(word): unit
    for unit, words in {
        "d": "day days tag tage tagen jour jours día días день дня дней 天 日",
        "w": "week weeks woche wochen semaine semaines semana semanas неделю недели недель 周 星期 个星期 週間 週",
        "m": "month months monat monate monaten mois mes meses месяц месяца месяцев 个月 月 か月 ヶ月 カ月",
        "y": "year years jahr jahre jahren an ans année années año años год года лет 年",
    }.items()
    for word in words.split()
}

NUMBERS: Final = _table(
    {
        1: "a an one ein eine einem einer einen un une una один одну одна 一",
        2: "two couple zwei deux dos два две 二 两",
        3: "three few drei einigen paar trois quelques tres три 三 几",
        4: "four vier quatre cuatro четыре 四",
        5: "five fünf cinq cinco пять 五",
        6: "six sechs seis шесть 六",
        7: "seven sieben sept siete семь 七",
        8: "eight acht huit ocho восемь 八",
        9: "nine neun neuf nueve девять 九",
        10: "ten zehn dix diez десять 十",
        12: "twelve zwölf douze doce двенадцать 十二",
    }
) | {"a couple of": 2, "couple of": 2, "a few": 3, "ein paar": 3}

_FIXED: Final = {
    ("d", 0): "today|tonight|this morning|this afternoon|this evening|heute|aujourd'hui|ce matin|ce soir|hoy|esta mañana|сегодня|今天|今日",
    ("d", -1): "yesterday|last night|gestern|hier soir|hier|ayer|anoche|вчера|昨天|昨日|昨夜|昨晚",
    ("d", -2): "the day before yesterday|day before yesterday|vorgestern|avant-hier|anteayer|позавчера|前天|一昨日|おととい",
    ("d", 1): "tomorrow|demain|завтра|明天|明日",
    ("w", 0): "this week|diese woche|dieser woche|cette semaine|esta semana|на этой неделе|这周|本周|这个星期|今週",
    ("w", -1): "last week|past week|previous week|letzte woche|letzter woche|vergangene woche|vorige woche|semaine dernière|semana pasada|"
    "на прошлой неделе|прошлой неделе|上周|上星期|上个星期|先週",
    ("w", 1): "next week|nächste woche|semaine prochaine|próxima semana|на следующей неделе|下周|来週",
    ("m", 0): "this month|diesen monat|diesem monat|ce mois-ci|este mes|в этом месяце|这个月|本月|今月",
    ("m", -1): "last month|past month|previous month|letzten monat|letztem monat|vergangenen monat|vorigen monat|mois dernier|mes pasado|"
    "в прошлом месяце|прошлом месяце|上个月|上月|先月",
    ("m", 1): "next month|nächsten monat|mois prochain|próximo mes|в следующем месяце|下个月|来月",
    ("y", 0): "this year|dieses jahr|diesem jahr|cette année|este año|в этом году|今年",
    ("y", -1): "last year|past year|previous year|letztes jahr|letztem jahr|vergangenes jahr|voriges jahr|année dernière|an dernier|"
    "año pasado|в прошлом году|прошлом году|去年|昨年",
    ("y", 1): "next year|nächstes jahr|année prochaine|próximo año|в следующем году|明年|来年",
    ("weekend", 0): "this weekend|dieses wochenende|ce week-end|este fin de semana|на этих выходных|这个周末|今週末",
    ("weekend", -1): "last weekend|past weekend|letztes wochenende|week-end dernier|fin de semana pasado|на прошлых выходных|上周末|先週末",
}
FIXED: Final = {folded(phrase): meaning for meaning, phrases in _FIXED.items() for phrase in phrases.split("|")}
"""Phrases that name a day, a week, a month, a year or a weekend, and how many of them from now."""

LATELY: Final = tuple(
    map(
        folded,
        ("recently", "lately", "neulich", "kürzlich", "récemment", "dernièrement", "recientemente", "últimamente", "недавно",
         "в последнее время", "最近", "近来"),
    )
)  # fmt: skip

AGO: Final = (
    ("", r"\s+ago\b"),
    (r"\bvor", r"(?!\w)"),
    (r"\bil\s+y\s+a", r"(?!\w)"),
    (r"\bhace", r"(?!\w)"),
    ("", r"\s+назад"),
    ("", r"\s?前"),
)
"""What stands before and after a number with a unit where it counts back from now."""

PAST: Final = (
    (r"\b(?:last|past|previous)", r"(?!\w)"),
    (r"\b(?:letzten|vergangenen)", r"(?!\w)"),
    (r"\b(?:ces|les)", r"\s+derni\w+"),
    (r"\bultim[oa]s", r"(?!\w)"),
    (r"(?<!\w)последни[ех]", r"(?!\w)"),
    (r"(?:最近|过去|過去|この)", r"[間间]?"),
)
"""The same for a stretch that ends now."""

LAST: Final = r"\b(?:last|on|since|by|letzten|am|seit|le|depuis|el pasado|el|desde el)\s+|(?<!\w)(?:в|во|с)\s+(?:прошл\w+\s+)?"
"""What stands before a weekday."""

HINTS: Final = (
    *("ago", "past", "last", "назад", "последние", "vor", "letzten", "hace", "ultimos", "ultimas", "il y a", "derniers", "dernieres"),
    *("前", "过去", "過去", "この"),
)
"""Words that a question with a counted stretch of time has."""


def _folded(words: str) -> tuple[str, ...]:
    return tuple(map(folded, words.split("|")))


SINCE: Final = _folded("since|starting|from|seit|ab|depuis|desde|desde el|с|начиная с|以来|以后|から|起")
AFTER: Final = _folded("after|later than|nach|après|después de|после|之后|以後|より後")
BEFORE: Final = _folded("before|until|till|earlier than|prior to|vor|bis|avant|jusqu'en|antes de|hasta|до|之前|以前|まで")
TO: Final = _folded("to|and|until|till|through|-|–|—|bis|und|à|et|a|y|hasta|по|до|и|到|至|から|~|～")
"""Words before a time that open a stretch to one side, and words between two times that make one stretch of them."""
