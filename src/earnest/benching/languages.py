"""Which languages a store is written in, by the little words that every sentence of one has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

_LITTLE: Final[dict[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "danish": "og ikke jeg det der har vi af til som blev hvad også efter være",
        "dutch": "het een niet ik dat zijn wordt naar ook maar deze voor met aan bij",
        "english": "the and is of to in that it was for with are this not have",
        "finnish": "ja ei on se että oli hän mutta niin kun olen ovat myös jos tämä",
        "french": "le les des est une dans pas pour que qui sur avec nous cette sont",
        "german": "der die und nicht das ist ein eine mit für auf den wird auch sich",
        "hungarian": "és hogy nem egy az meg volt csak már van ez azt mint még kell",
        "indonesian": "yang dan di tidak ini itu dengan untuk dari pada akan ke saya adalah juga",
        "italian": "il che di non una è per sono della con gli anche più nel questo",
        "norwegian": "og ikke jeg det er på har til som ble hva også etter være fra",
        "portuguese": "não uma que os para com você do da em mais são está isso pelo",
        "romanian": "și nu că este în la pe cu mai sunt pentru din care fi ai",
        "spanish": "el los que una para con por no las del está son pero más este",
        "swedish": "och inte jag det är på har till som blev vad också efter vara från",
        "turkish": "ve bir bu için de da ile değil ne var çok daha olarak gibi mi",
    }.items()
}
_WORD: Final = re.compile(r"[^\W\d_]+")
_FEWEST: Final = 3
"""Little words of a language that an entry must hold to count as written in it."""

SHARE: Final = 0.1
"""A language that at least this share of the entries is written in is worth its stemmer."""


def languages_of(texts: Iterable[str]) -> dict[str, float]:
    """The share of the texts that is written in each language of the Latin script, largest first; texts that are too short to tell, and
    those of other scripts (whose stemmers are on by default), count in none."""
    count: Counter[str] = Counter()
    total = 0
    for text in texts:
        total += 1
        words = {word.lower() for word in _WORD.findall(text[:2_000])}
        hits = {name: len(words & little) for name, little in _LITTLE.items()}
        best = max(hits.values())
        likely = [name for name, hit in hits.items() if hit == best]
        if best >= _FEWEST and len(likely) == 1:
            count[likely[0]] += 1
    return {name: number / total for name, number in count.most_common()} if total else {}
