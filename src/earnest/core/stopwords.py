"""Words that nearly every question has, so that a question is not judged by them. They are indexed all the same."""

from __future__ import annotations

import unicodedata
from typing import Final

_ENGLISH = """
a about after all also am an and any are as at be because been before being but by can could did do does doing done for from
get got had has have having he her here hers him his how i if in into is isnt it its itself just may me might mine more most
must my no nor not now of off on once only or other our ours out over own please really same shall she should so some such than
that the their theirs them then there these they this those through to too under until up upon us very was we were what when
where whether which while who whom whose why will with would you your yours dont doesnt didnt cant couldnt wouldnt shouldnt
wont arent wasnt werent hasnt havent im ive ill youre theyre thats whats lets ok okay fine alright
"""
_GERMAN = """
der die das den dem des ein eine einen einem einer eines und oder ist sind war waren wie wann warum wer wo was ich du er sie es wir ihr
liegt gibt kann darf muss soll wird werden hat haben habe im am zum zur von mit bei auf fur an aus nach ob dass nicht auch noch mein dein
"""
_FRENCH = """
le la les un une des du de et ou est sont que qui quoi quand comment pourquoi je tu il elle nous vous ils ce cette ces dans sur pour
avec par au aux en se sa son ses mon ma mes quel quelle quels quelles peut on ne pas a y
"""
_SPANISH = """
el la los las un una unos unas y o es son que quien cuando como donde por para con del al yo tu se lo de en cual cuales puedo puede
esta estan hay su sus mi mis no si
"""
_PORTUGUESE = """
o os as um uma e ou é sao que quem quando como onde por para com do da dos das no na nos nas eu voce se de em qual quais posso pode
esta estao ha seu sua meu minha nao ao
"""
_TURKISH = "ve veya bir bu su ne nerede nereye neden nasil kim kac hangi mi mu icin ile da de var yok olan olarak midir"
_VIETNAMESE = "la gi o dau khi nao ai tai sao the co khong duoc va cua cho cac nhung nay mot bao nhieu nhu roi"
_RUSSIAN = """
и в во не что он на я с со как а то все она так но да ты к у же вы за бы по только ее мне было вот от меня ли это когда где куда кто
почему зачем какой какая какие какое сколько можно нужно надо для из о об или если чтобы мы они мой моя наш ваш там здесь
"""
_GREEK = """
ο η το οι τα του της των τον την τους τις στο στη στην στον στα στις στους και ή να θα είναι που πού πώς πότε τι ποιος ποια ποιο με από
για σε δεν μη ένα μια ένας μου σου μας σας κάθε αυτό αν
"""
_HEBREW = "של את על אל עם כל לא כן זה זו הוא היא הם אני אתה אנחנו מה מי מתי איפה היכן למה איך כמה האם אפשר יש אין או גם כי אם עד"
_ARABIC = """
في من على إلى عن ما هل هذا هذه ذلك التي الذي هو هي و أو أن لا كان كانت متى أين كيف لماذا كم أي مع كل قد ثم إن يمكن بعد قبل يتم
"""
_HINDI = """
है हैं था थी थे का की के को में पर से और या यह वह ये वे क्या कब कहाँ कहां क्यों कैसे कौन किस कितना कितने ने हो होता होती होते कर करना
सकते सकता सकती लिए लिया जाता जाती जाते भी ही तो मैं हम आप मेरा मेरी मेरे नहीं इस उस एक तक
"""
_KOREAN = """
언제 어디 어디에 누가 누구 무엇 뭐 뭐가 왜 어떻게 몇 얼마 있어 있다 있지 있나요 있는 하나요 해요 되나요 돼요 인가요 합니까 입니까
하는 수 것 등 그 이 저 좀 및 또는 그리고
"""

# Single characters and pairs of unspaced scripts that every question has.
_CJK = (
    "的 了 是 吗 呢 吧 在 和 与 我 你 他 她 它 们 这 那 什 么 哪 谁 怎 "
    "は が を に の と で も か へ や ね よ です ます 은 는 이 가 을 를 에 의 도 로"
)

PHRASES: Final = """
什么时候 什么 怎么样 怎么 怎样 为什么 哪里 哪个 哪些 哪儿 多少 多久 是否 是不是 可以 能不能 能否 有没有 如何 请问 现在 目前 谁 吗 呢
吧 了 的 是 在 到 由 什麼時候 什麼 怎麼 為什麼 哪裡 哪個 現在 嗎 いつですか いつ どこですか どこ ですか ますか でしょうか ください
してもいい してよい でもいい についての について とは 何ですか 何 誰ですか 誰 です ます ました ません という ている ある いる から
まで ように เมื่อไหร่ เมื่อไร อะไร ที่ไหน ทำไม อย่างไร ยังไง ใคร เท่าไหร่ ได้ไหม ไหม หรือไม่ หรือยัง ครับ ค่ะ คะ อยู่ เป็น คือ ของ
ที่ และ กับ ใน
"""
"""Runs of characters that a question in an unspaced script has whatever it asks for; where they end, a word ends."""

PARTICLES: Final = """
에서는 으로는 에게서 이라는 입니다 인가요 이에요 까지 부터 에서 에게 한테 으로 처럼 보다 마다 조차 라는 이나 이란 은요 는요 은 는 이
가 을 를 에 의 도 로 와 과 께 랑 만 나 해도 하는 했다 한다 해야 하기 되는 된다 했어 해요 해
"""
"""What is glued to a Korean word and says what part it plays: stripped from the end, longest first."""


def _folded(words: str) -> set[str]:
    # The lists are written as people write; the analyser compares folded forms.
    from earnest.core.folding import folded

    plain = unicodedata.normalize("NFD", words.casefold())
    stripped = "".join(c for c in plain if not (unicodedata.category(c) == "Mn" and not "\u3040" <= c <= "\u30ff"))
    return set(unicodedata.normalize("NFC", stripped).split()) | set(folded(words).split()) | set(words.split())


_TELLING = (
    "a bin comment con da de den die do dos fur han hat la las los mal mi mit nos o on os par plus por sa sera si sin son su una var war y"
)
AMBIGUOUS: Final = frozenset(_TELLING.split())
"""Fillers of one language that are words to look for in another: the English son, war and die, Los Angeles, DOS. They are fillers only
in a question that has other fillers of that language."""

_LISTS: Final = (
    _GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _TURKISH, _VIETNAMESE, _RUSSIAN, _GREEK, _HEBREW, _ARABIC, _HINDI, _KOREAN, _CJK
)  # fmt: skip

ENGLISH: Final = frozenset(_folded(_ENGLISH))
FOREIGN: Final = frozenset(word for words in _LISTS for word in _folded(words)) - AMBIGUOUS - ENGLISH
"""Fillers of all other languages, but for those that are words in another."""

STOPWORDS: Final[frozenset[str]] = ENGLISH | FOREIGN
"""Fillers wherever they stand."""
