"""Sentences that stand by themselves: "I" becomes the one who said it, and what only leads in is left out.

English is put into the third person; Chinese, Japanese, Korean, Thai and Vietnamese, whose verbs do not change with the person, have
their pronouns replaced; in other languages the speaker's name is put in front, since their verbs could not be changed without a grammar.
"""

from __future__ import annotations

import re
from typing import Final

from earnest.conversation.cues import found, languages_of
from earnest.core.analysis import folded
from earnest.core.patterns import lazily
from earnest.core.sentences import words

USER: Final = "user"
ASSISTANT: Final = "assistant"

_LEAD: Final = lazily(
    r"^(?:(?:well|so|oh|ah|also|and|but|ok|okay|hey|hi|hello|yes|yeah|yep|no|nope|sure|right|anyway|actually|sorry|"
    r"(?:many )?thanks(?: a lot| so much| again| for \w+ \w+)?|thank you(?: so much| very much| again)?|btw|"
    r"i see|got it|understood|i understand|noted|updated|done|by the way|fyi|basically|honestly|please note that|great|good|"
    r"cool|perfect|correction)"
    r"(?:\s*[,:;!.–—-]+\s*|\s+(?=and\b|but\b|so\b)))+",
    re.IGNORECASE,
)
_FRAMED: Final = lazily(
    r"^(?:(?:as (?:i|we|you) (?:remember|recall|said|mentioned|noted|told (?:me|you))(?: earlier| before)?"
    r"|(?:if|from what) i (?:remember|recall)(?: correctly| right)?|according to (?:my|your|the) (?:memory|notes|records))\s*[,:–—-]+\s*"
    r"|i (?:meant|mean)(?: to say)?(?: that)? (?=(?:the|our|my|we|it)\b))",
    re.IGNORECASE,
)
"""What only says where a statement comes from, before it."""
_TAIL: Final = lazily(
    r"[,;.–—-]+\s*(?:please )?(?:forget|ignore|scratch|never ?mind) (?:what|whatever|all|everything|that)"
    r"(?: i (?:just )?(?:said|told you|wrote))?(?: before| earlier)?(?=[.!]*$)",
    re.IGNORECASE,
)
_AND: Final = lazily(r"^(?:and|but|so|also|then|plus)\s+(?=\w)", re.IGNORECASE)
_LETS: Final = lazily(r"^let['’]?s\s+(?P<not>not\s+)?(?:just\s+|please\s+|now\s+)?(?P<what>.+)", re.IGNORECASE | re.DOTALL)
_REMIND: Final = lazily(r"^(?:please\s+)?remind me\s+(?P<what>to\s+.+|that\s+.+)", re.IGNORECASE | re.DOTALL)

_ADVERBS: Final = (
    "always|usually|often|sometimes|never|really|still|also|just|only|currently|mostly|generally|rarely|probably|definitely|actually|"
    "personally|already|recently|strongly|now|both|all|much|even|absolutely|normally|typically|mainly|finally|hardly|frequently|kindly"
)
_VERB: Final = lazily(rf"\bI\s+(?P<adverbs>(?:(?:{_ADVERBS})\s+)*)(?P<verb>[a-z]+n['’]t|[a-z]+)(?P<rest>\s+not\b)?")
_ENGLISH_I: Final = lazily(r"\b(?:i|my|mine|myself)\b|\bme[.!,]?$|\b(?:let's|remind me)\b")
_QUOTE: Final = lazily(r"([\"“„«][^\"”“»]{2,}(?:[\"”“»]|$)|(?<=[\s:,])[‘'][^’']{2,}[’'](?!\w))")
_AND_NOW: Final = lazily(
    r"\band (?P<when>now|currently|still|also) (?P<verb>(?:work|live|use|prefer|like|want|need|eat|drive|study|have|own|run)\b)"
)
_BOTH: Final = lazily(
    r"\bI (?P<one>live|work|eat|drink|love|like|use|run|own|study|play) and (?P<other>work|live|drink|like|love|use|run|study|play)\b"
)
"""Two verbs of one subject side by side: "I live and work in Rome"."""
_SHORT: Final = {"'m": " is", "'ve": " has", "'ll": " will", "'d": " would"}
_CONTRACTED: Final = lazily(r"\bI['’](m|ve|ll|d)\b")
_OTHERS: Final = ((lazily(r"\bmyself\b", re.IGNORECASE), "self"), (lazily(r"\b(?:my|mine)\b", re.IGNORECASE), "own"),
                  (lazily(r"\bme\b", re.IGNORECASE), "me"), (lazily(r"\bI\b"), "me"))  # fmt: skip

_MODAL: Final = words(
    "can could will would should must may might shall cannot can't couldn't won't wouldn't shouldn't mustn't didn't wasn't ought used"
)
_SPECIAL: Final = {
    "am": "is", "have": "has", "do": "does", "go": "goes", "don't": "doesn't", "haven't": "hasn't", "aren't": "isn't", "was": "was",
    "wanna": "wants to", "gotta": "has to",
}  # fmt: skip
_PAST: Final = words(
    "went had did made bought got saw met left took came said told thought found gave knew felt kept began brought wrote ran built sent "
    "spent lost paid heard held stood meant led taught fell broke chose drove ate drank spoke grew flew forgot rose sold slept swam wore "
    "won woke became understood caught dealt drew froze hid laid sang shook shut sat stole stuck swore threw put set read let cut hit cost "
    "hurt quit"
)
_PRESENT_ED: Final = words("need feed speed embed shed bleed breed heed seed weed proceed exceed succeed")


def _third(verb: str) -> str:
    """The third person of an English verb that follows "I"."""
    plain = verb.replace("’", "'")
    if plain in _SPECIAL:
        return _SPECIAL[plain]
    if plain in _MODAL or plain in _PAST or "'" in plain or (plain.endswith("ed") and plain not in _PRESENT_ED):
        return verb
    if re.search(r"(?:s|x|z|ch|sh|o)$", plain):
        return verb + "es"
    if re.search(r"[^aeiou]y$", plain):
        return verb[:-1] + "ies"
    return verb + "s"


def bare(sentence: str) -> str:
    """A sentence without the words that only lead in ("Well,", "By the way,"), and without its reminder to remember it."""
    made = sentence.strip()
    for _ in range(2):
        led = _LEAD.sub("", made).strip()
        if led != made and led.split(" ", 1)[0].islower():
            led = led[:1].upper() + led[1:]
        made = led
        if (framed := _FRAMED.match(made)) is not None:
            made = made[framed.end() :].strip()
            made = made[:1].upper() + made[1:]
    made = _TAIL.sub("", made)
    return _AND.sub("", made) if _AND.match(made) and len(made.split()) > 3 else made


def named(sentence: str, speaker: str, name: str) -> str:
    """A sentence in which the speaker is called by name; `name` is "" where it is not known."""
    low = folded(sentence)
    languages = languages_of(low)
    if speaker == ASSISTANT:
        return _english(sentence, "the assistant") if "en" in languages else _labelled(sentence, low, "Assistant")
    if "en" in languages and (_ENGLISH_I.search(low) or not found("first person", low)):
        return _english(sentence, name or "the user")
    for language, replace in _REPLACING.items():
        if language in languages:
            made = replace(sentence, name)
            if made != sentence:
                return made
    return _labelled(sentence, low, name or "User")


def _labelled(sentence: str, low: str, label: str) -> str:
    return f"{label}: {sentence}" if found("first person", low) else sentence


def _english(sentence: str, who: str) -> str:
    """In the third person; what is quoted of somebody stays as that one said it."""
    parts = _QUOTE.split(sentence)
    if len(parts) == 1:
        return _in_english(sentence, who)
    made = "".join(part if _QUOTE.fullmatch(part) else _in_english(part, who) if part.strip() else part for part in parts)
    return made if made == sentence else made[:1].upper() + made[1:]


def _in_english(sentence: str, who: str) -> str:
    decided = _LETS.match(sentence)
    if decided:
        sentence = f"Decided: {'do not ' if decided['not'] else ''}{decided['what']}"
    reminder = _REMIND.match(sentence)
    if reminder:
        sentence = f"{who} asked to be reminded {reminder['what']}"
    made = _CONTRACTED.sub(lambda m: who + _SHORT["'" + m[1]], sentence)
    made = _BOTH.sub(lambda m: f"{who} {_third(m['one'])} and {_third(m['other'])}", made)
    made = _VERB.sub(lambda m: f"{who} {m['adverbs']}{_third(m['verb'])}{m['rest'] or ''}", made)
    made = _AND_NOW.sub(lambda m: f"and {m['when']} {_third(m['verb'])}", made) if made != sentence else made
    forms = {"self": who, "own": f"{who}'s", "me": who}
    for pattern, form in _OTHERS:
        made = pattern.sub(forms[form], made)
    # What needed no change stays as it was typed.
    return made if made == sentence else made[:1].upper() + made[1:]


def _chinese(sentence: str, name: str) -> str:
    return re.sub("我(?!们|們|国|國|方|司|校)", name or "用户", sentence)


def _japanese(sentence: str, name: str) -> str:
    return re.sub("(?:私|僕|俺|わたし|ぼく)(?=[はのがをにもと])", name or "ユーザー", sentence)


_KOREAN: Final = (
    ("(?:저는|나는|난(?= ))", "는"),
    ("(?:제가|내가)", "가"),
    ("(?:저의|나의|제(?= )|내(?= ))", "의"),
    ("(?:저를|나를)", "를"),
)


def _korean(sentence: str, name: str) -> str:
    who = name or "사용자"
    for pattern, form in _KOREAN:
        sentence = re.sub(rf"(?<![가-힣]){pattern}", who + form, sentence)
    return sentence


def _thai(sentence: str, name: str) -> str:
    return re.sub("^(?:ผม|ดิฉัน|ฉัน|หนู)|(?<=ของ)(?:ผม|ดิฉัน|ฉัน)", name or "ผู้ใช้", sentence)


def _vietnamese(sentence: str, name: str) -> str:
    who = name or "người dùng"
    made = re.sub(r"\b(?:tôi|mình|toi)\b", who, sentence, flags=re.IGNORECASE)
    return made[:1].upper() + made[1:]


_REPLACING: Final = {"zh": _chinese, "ja": _japanese, "ko": _korean, "th": _thai, "vi": _vietnamese}
