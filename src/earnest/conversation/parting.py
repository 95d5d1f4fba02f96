"""Sentences that tell several things of the one who speaks become one sentence for each, so that one of them can change alone.

A second thing begins where the speaker is named again ("…, and my cat is called Mia"), or where a verb goes on of which only the speaker
can be the subject ("Ich heiße Sam und wohne in Bonn"). The subject that was left out is put back. Where anybody else might be meant
("friends who live in Rome and work at Acme"), the sentence stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from earnest.core.patterns import lazily
from earnest.core.turns import Said

_VALUE: Final = lazily(r"\d+(?:[.,:/\-]\d+)*")
_MENDS: Final = lazily(
    r"^(?:no[,. ]+wait|wait|oops|sorry|i mean|make (?:that|it)|scratch that|nein[,. ]+(?:moment|warte|halt)|quatsch|non[,. ]+attends|pardon"
    r"|perd[oó]n|digo)\b[,:. –—-]*(?:no\b[, ]*)?(?:it['’]?s |to |at |um |auf )?(\d+(?:[.,:/\-]\d+)*)[.!]*$",
    re.IGNORECASE,
)
"""A sentence that only puts the number of the one before it right."""
_AGAIN: Final = lazily(
    r"(?:,? and|,) (?=(?:I|I['’](?:m|ve)|my|we|our) )|(?:,? und|,) (?=(?:ich|mein\w*|wir|unser\w*) )"
    r"|(?:,? et|,) (?=(?:j['’]|je |mon |ma |nous |notre ))|,? y (?=(?:yo|mis?|nuestr[oa]s?) )|,? e (?=(?:eu|meus?|minhas?|noss[oa]s?) )"
    r"|(?:, (?:и )?| и )(?=(?:я|мой|моя|мы|наш|наша) )|[，,](?=我)",
    re.IGNORECASE,
)
"""Where a sentence names the speaker again."""
_UNDER: Final = lazily(
    r"(?:if|unless|when(?:ever)?|while|because|since|although|though|once|after|before|until|as|wenn|falls|weil|obwohl|sobald|nachdem|bevor|si|"
    r"quand|lorsque|parce|puisque|cuando|porque|aunque|если|когда|потому|хотя|如果|要是|当|因为|虽然)\b",
    re.IGNORECASE,
)
"""How a sentence begins of which one part holds only with the other."""
_LEANS: Final = lazily(r"\b(?:there|it|them|both|dort|beides|là|allí|ahí|lá|ali|там|туда|оба)\b|那里|那儿|这里|都|そこ|거기", re.IGNORECASE)
"""What leans on the part before it."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How a language goes on about the same subject: how the sentence begins, where the next thing does, and the subject that it lacks."""

    head: re.Pattern[str]
    join: re.Pattern[str]
    subject: Callable[[str], str]
    ending: Callable[[str], str]
    """What closes a part whose verb was bent to go on."""
    least: int
    """So many words at least are a statement: "I live and work in Rome" is one."""
    most: int
    """So many parts are cut off at most; 0: any number."""

    def parts(self, text: str) -> list[str]:
        if self.head.match(text) is None:
            return [text]
        made, begun = [], 0
        for found in list(self.join.finditer(text))[: self.most or None]:
            made.append(text[begun : found.start()] + self.ending(found[0]))
            begun = found.end()
        made.append(text[begun:])
        whole = [made[0], *(self.subject(part) + part for part in made[1:])]
        return whole if all(len(part.split()) >= self.least for part in whole) else [text]


def _way(
    head: str, join: str, subject: str = "", *, least: int = 1, most: int = 0, ending: Callable[[str], str] = lambda _: "",
    by: Callable[[str], str] | None = None,
) -> _Way:  # fmt: skip
    return _Way(lazily(head, re.IGNORECASE), lazily(join, re.IGNORECASE), by or (lambda _: subject), ending, least, most)


_KOREAN: Final = {"이고": "입니다", "살고": "살아요", "일하고": "일해요", "다니고": "다녀요", "쓰고": "써요", "좋아하고": "좋아해요"}

_WAYS: Final = (
    # Not after "who live in Rome", "to live in Rome", "don't eat meat": there it is somebody or something else that goes on.
    _way(
        r"^I(?: am|['’]m| (?:live|work|use|prefer|like|love|hate|own|drive|speak|study|teach|have|code|play|come|moved) )"
        r"(?!.*\b(?:who|that|which|whose|where|they|you|he|she|people|to (?=[a-z])|would|could|might|want|never|not|or|\w+n['’]t)\b)",
        r"(?:,? and|,) (?=(?:live|work|use|prefer|like|love|hate|own|drive|speak|study|teach|have|code|play) )",
        "I ",
        least=3,
    ),
    _way(
        r"^we (?:live|work|use|have|run|deploy|host|store|keep|own|build|ship|release|meet|target|support) "
        r"(?!.*\b(?:who|that|which|whose|where|they|you|people|to (?=[a-z])|would|could|might|want|never|not|or|\w+n['’]t)\b)",
        r"(?:,? and|,) (?=(?:use|run|have|host|store|keep|own|build|ship|release|deploy|target|support) )",
        "we ",
        least=3,
    ),
    _way(
        r"^(?:ich|mich|mir)\b",
        r",? und (?=(?:wohne|arbeite|lebe|nutze|benutze|verwende|habe|bin|komme|spreche|studiere|fahre|mag|liebe|hasse|trinke|esse|"
        r"hei(?:ß|ss)e|bevorzuge) )",
        "ich ",
        least=3,
    ),
    _way(
        r"^(?:je |j['’])(?!.*\b(?:qui|que|où|dont)\b)",
        r",? et (?=(?:habite|travaille|vis|suis|utilise|parle|préfère|aime|déteste|viens|étudie|conduis) )",
        by=lambda rest: "j'" if rest[0].casefold() in "haeiouéèê" else "je ",
        least=2,
    ),
    _way(r"", r",? y (?=(?:vivo|trabajo|soy|tengo|uso|utilizo|hablo|estudio|prefiero|odio|conduzco|me (?:llamo|gusta|encanta)) )", least=2),
    _way(r"", r",? e (?=(?:moro|vivo|trabalho|sou|tenho|uso|utilizo|falo|estudo|prefiro|gosto|odeio|dirijo|me chamo) )", least=2),
    _way(
        r"^(?:я|меня)\b",
        r"(?:, (?:и )?| и )(?=(?:живу|работаю|говорю|учусь|езжу|пользуюсь|использую|люблю|предпочитаю|ненавижу|преподаю) )",
        "я ",
        least=3,
    ),
    # Not after "我有 …": who somebody has may be who lives there.
    _way(r"^我(?:叫|姓|住|在|来自|今年|是)", r"[，,](?:并且?|而且)?(?=(?:现在)?(?:住在|来自|在[^，,]{1,20}(?:工作|上班|上学|读书)))", "我"),
    _way(r"^(?:私|僕|俺|わたし|ぼく)の名前は[^、はが]{1,20}で、", r"で、", "私は", most=1, ending=lambda _: "です"),
    _way(r"^(?:私|僕|俺|わたし|ぼく)は", r"[てで](?:いて|おり)、(?=[^はが]{1,40}$)", "私は", ending=lambda join: f"{join[0]}います"),
    _way(
        r"^(?:저는|나는|제 이름은)",
        r"(?:이고|살고|일하고|다니고|쓰고|좋아하고),? (?!\S+(?:은|는|이|가) )",
        "저는 ",
        least=2,
        ending=lambda join: _KOREAN[join.rstrip(", ")],
    ),
)


def mended(said: list[Said]) -> list[Said]:
    """Sentences of which one put the number of the one before it right ("No wait, 5434."), with the right number."""
    made: list[Said] = []
    for one in said:
        mends = _MENDS.match(one.text)
        if mends and made and len(_VALUE.findall(made[-1].text)) == 1:
            made[-1] = replace(made[-1], text=_VALUE.sub(mends[1], made[-1].text))
        else:
            made.append(one)
    return made


def parted(said: Sequence[Said], begun: Callable[[str], str], counts: Callable[[Said], bool]) -> list[Said]:
    """Sentences of which one tells several things of the speaker, as one sentence each. `begun` gives a sentence from where it begins to
    say something; `counts` says whether one is a statement of the speaker that stands by itself: where one part is none, the sentence stays
    whole. Linear in its length."""
    made: list[Said] = []
    for one in said:
        again = [part.strip() for part in _AGAIN.split(begun(one.text))]
        whole = again
        for way in _WAYS:
            whole = [part for each in whole for part in way.parts(each)]
        made += _alone(one, whole, counts) or _alone(one, again, counts) or [one]
    return made


def _alone(one: Said, parts: Sequence[str], counts: Callable[[Said], bool]) -> list[Said]:
    """The parts of a sentence as sentences; none if it is one, or a part needs another."""
    if len(parts) < 2 or _UNDER.match(one.text) or any(_LEANS.search(part) for part in parts[1:]):
        return []
    end = one.text[-1] if one.text[-1] in ".!。！" else "."
    made = [replace(one, text=f"{part[:1].upper()}{part[1:].rstrip(' .!。！')}{end}", before="") for part in parts]
    return made if all(map(counts, made)) else []
