"""Words that nearly every question has, so that a question is not judged by them. They are indexed all the same."""

from __future__ import annotations

from typing import Final

_ENGLISH = """
a about after all also am an and any are as at be because been before being but by can could did do does doing done for from
get got had has have having he her here hers him his how i if in into is isnt it its itself just may me might mine more most
must my no nor not of off on once only or other our ours out over own please really same shall she should so some such than
that the their theirs them then there these they this those through to too under until up upon us very was we were what when
where whether which while who whom whose why will with would you your yours dont doesnt didnt cant couldnt wouldnt shouldnt
wont arent wasnt werent hasnt havent im ive ill youre theyre thats whats lets
"""
_GERMAN = "der die das den dem des ein eine einen einem einer und oder ist sind war wie wann warum wer ich du er sie wir ihr"
_FRENCH = "le la les un une des du de et ou est sont que qui quoi quand comment pourquoi je tu il elle nous vous ils ce cette"
_SPANISH = "el la los las un una unos unas y o es son que quien cuando como donde por para con del al yo tu se lo"
_PORTUGUESE = "o os as um uma e ou é sao que quem quando como onde por para com do da dos das no na eu voce se"
_RUSSIAN = "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня ли это"
_ARABIC = "في من على إلى عن ما هل هذا هذه ذلك التي الذي هو هي و أو أن لا"
_CJK = (
    "的 了 是 吗 呢 吧 在 和 与 我 你 他 她 它 们 这 那 什 么 哪 谁 怎 "
    "は が を に の と で も か へ や ね よ です ます 은 는 이 가 을 를 에 의 도 로"
)


def _folded(words: str) -> set[str]:
    # The lists are written as people write; the analyser compares folded forms.
    import unicodedata

    plain = unicodedata.normalize("NFD", words.casefold())
    stripped = "".join(c for c in plain if not (unicodedata.category(c) == "Mn" and not "\u3040" <= c <= "\u30ff"))
    return set(unicodedata.normalize("NFC", stripped).split()) | set(words.split())


STOPWORDS: Final[frozenset[str]] = frozenset(
    word for words in (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _RUSSIAN, _ARABIC, _CJK) for word in _folded(words)
)
