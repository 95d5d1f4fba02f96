"""The words by which near-duplicates are told apart: negations, opposites, conditions, quantities, moods, units, dates."""

from __future__ import annotations

from typing import Final

from earnest.core.sentences import words

NEGATIONS: Final = words(
    "not no never none nothing nobody nowhere without cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt couldnt "
    "mustnt neednt havent hasnt hadnt neither nor unless except fails refuses "
    "nicht kein keine keinen keinem keiner nie niemals ohne ne pas jamais aucun aucune sans nunca sin não nem sem jamás tampoco "
    "не нет никогда без нельзя ни ليس لا بدون لم لن"
)
"""Words that turn what a sentence says."""

NEGATING_SIGNS: Final = ("不", "没", "沒", "勿", "别", "別", "未", "無", "无", "非", "ない", "ません", "なかった", "않", "안 ", "못")
"""The same in scripts that glue them to words."""

NEGATING_PREFIXES: Final = ("un", "dis", "in", "im", "ir", "il", "non", "mis", "de")
"""Prefixes that make an opposite of a word, where the other text has the word without it."""

_OPPOSITES: Final = (
    "always never sometimes",
    "before after during",
    "earlier later",
    "increase decrease",
    "raise lower",
    "more less fewer",
    "min max",
    "minimum maximum",
    "most least",
    "high low",
    "higher lower",
    "highest lowest",
    "above below",
    "over under",
    "up down",
    "on off",
    "in out",
    "first last",
    "start stop pause",
    "begin end",
    "open close",
    "opened closed",
    "enable disable",
    "enabled disabled",
    "allow forbid deny",
    "allowed forbidden denied",
    "accept reject",
    "add remove",
    "keep delete remove",
    "kept deleted removed",
    "include exclude",
    "grant revoke",
    "true false",
    "yes no",
    "all none",
    "push pull",
    "left right",
    "sync async",
    "synchronous asynchronous",
    "public private",
    "internal external",
    "required optional",
    "inside outside",
    "ascending descending",
    "upgrade downgrade",
    "lock unlock",
    "success failure",
    "succeed fail",
    "pass fail",
    "passes fails",
    "like hate",
    "prefer avoid",
    "recommended discouraged",
    "safe dangerous",
    "fast slow",
    "hot cold",
    "old new",
    "oldest newest",
    "read write",
    "input output",
    "source target destination",
    "primary replica secondary",
    "client server",
    "local remote",
    "dev prod staging test qa",
    "development production",
    "planned done",
    "soft hard",
    "strict lenient",
    "positive negative",
    "with without",
    "early late",
    "am pm",
    "morning noon afternoon evening night",
    "north south east west",
)
OPPOSITES: Final = tuple(words(line) for line in _OPPOSITES)
"""Words of one row exclude one another where two texts have different ones of them."""

OPPOSITE_SIGNS: Final = (
    ("喜欢", "讨厌"), ("之前", "之后"), ("以前", "以后"), ("开启", "关闭"), ("打开", "关闭"), ("启用", "禁用"), ("允许", "禁止"),
    ("增加", "减少"), ("最大", "最小"), ("最高", "最低"), ("总是", "从不"), ("上午", "下午"), ("必须", "可以"), ("可以", "不得"),
    ("安全", "危险"),
    ("前に", "後に"), ("有効", "無効"), ("増", "減"), ("許可", "禁止"), ("안전", "위험"), ("전에", "후에"), ("허용", "금지"),
)  # fmt: skip
"""The same in scripts without spaces."""

CONDITIONS: Final = words(
    "if unless when whenever once until till while before after during except but only provided otherwise because instead "
    "wenn falls sobald bis vor nach außer nur aber si quand avant après sauf mais seulement cuando antes después solo pero "
    "quando depois mas somente если когда после до кроме только но إذا بعد قبل فقط لكن"
)
"""Words that bind what is said to something else: a text with one more of them says another thing."""
CONDITION_SIGNS: Final = (
    "如果",
    "除非",
    "只有",
    "只要",
    "才",
    "之前",
    "之后",
    "但",
    "なら",
    "まで",
    "だけ",
    "ただし",
    "만약",
    "까지",
    "만 ",
)

QUANTITIES: Final = words(
    "all every each any some most many few several both either only usually often rarely sometimes mostly partly almost about roughly "
    "alle jede manche viele wenige toutes tous chaque todos cada algunos muchos pocos все каждый некоторые كل بعض"
)
"""Words for how many or how often."""

MOODS: Final = {
    "must": words("must shall required mandatory need needs muss müssen doit debe deve должен должны"),
    "should": words("should ought recommended sollte devrait debería deveria следует"),
    "may": words("may can allowed permitted optional darf kann peut puede pode можно"),
    "might": words("might could maybe perhaps possibly probably planned proposed vielleicht quizás talvez возможно"),
}
"""How binding a sentence is."""

PRESENT: Final = words("is are has have does do will")
PAST: Final = words("was were had did")

UNITS: Final = {
    "ms": "ms", "millisecond": "ms", "s": "s", "sec": "s", "second": "s", "min": "minute", "minute": "minute", "h": "hour", "hr": "hour",
    "hour": "hour", "day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year", "b": "b", "byte": "b", "kb": "kb",
    "kib": "kib", "mb": "mb", "mib": "mib", "gb": "gb", "gib": "gib", "tb": "tb", "%": "%", "percent": "%", "$": "$", "usd": "$",
    "dollar": "$", "€": "€", "eur": "€", "euro": "€", "£": "£", "gbp": "£", "pound": "£", "cent": "cent", "°c": "°c", "°f": "°f",
    "celsius": "°c", "fahrenheit": "°f", "px": "px", "mm": "mm", "cm": "cm", "m": "m", "meter": "m", "metre": "m", "km": "km",
    "mile": "mile", "inch": "inch",
    "foot": "foot", "feet": "foot", "g": "g", "kg": "kg", "lb": "lb", "am": "am", "pm": "pm",
    "time": "time", "x": "time",
    "core": "core", "thread": "thread", "user": "user", "request": "request", "retry": "retry", "node": "node", "file": "file",
    "秒": "s", "分": "minute", "分钟": "minute", "小时": "hour", "天": "day", "日": "day", "周": "week", "月": "month", "年": "year",
    "元": "元", "次": "time",
}  # fmt: skip
"""Units that may follow a number (or stand before it, as currencies do), by what they measure."""

DATES: Final = words(
    "january february march april june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec "
    "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun today tomorrow yesterday tonight weekend "
    "spring summer autumn winter"
)
"""Words that say when. "May" is one where it is written with a capital inside a sentence."""

FILLERS: Final = words(
    "a an the is are be been being please also just so then there this that it its to of do does did has have had "
    "der die das ein eine ist sind le la les un une est sont el los las una es son o os as um uma é são"
)
"""Words without which a sentence says the same."""
