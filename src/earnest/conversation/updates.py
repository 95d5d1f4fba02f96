"""What a statement of change makes untrue: the one earlier statement that says the same of the same matter, with other values.

Both are looked at without the words that only say that something changed ("now", "moved to", "jetzt", "maintenant", "теперь", …). What is
left is a matter and its values: numbers, names, days. One takes the place of the other if the matter is the same, word for word, and
either the values differ, and stand side by side in both ("The Kalar server uses port 1" and "The Lomi server uses port 2" differ twice,
and are two matters); or nothing differs but that one denies what the other says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from earnest.conversation import fingerprints
from earnest.core.agreement import denies
from earnest.core.analysis import Analyser, Question, folded
from earnest.core.entry import StoredEntry
from earnest.core.filters import Filter
from earnest.core.patterns import lazily
from earnest.core.sentences import words as sentence_words
from earnest.core.timetables import MONTHS, NAMED_MONTH, WEEKDAYS
from earnest.protocols import Reading

_CHANGED: Final = lazily(
    r"\b(?:no longer|any ?more|instead|actually|now|currently|as of (?:now|today)|from now on|changed?|moved?|renamed|switched|migrated|"
    r"relocated|upgraded|downgraded|updated|rescheduled|postponed|correction|meant|new|has been|have been|['’]ve)\b"
    r"|\b(?:jetzt|nun|mittlerweile|inzwischen|neuerdings|ab sofort|wurden?|worden|verschoben|verlegt|umgezogen|umgestellt|ge[aä]ndert|"
    r"nicht mehr|eigentlich)\b"
    r"|\b(?:maintenant|d[eé]sormais|d[eé]plac[eé]e?s?|report[eé]e?s?|chang[eé]e?s?|d[eé]m[eé]nag[eé]e?s?|a [eé]t[eé]|en fait)\b"
    r"|\b(?:ahora|se ha|ha sido|cambiad[oa]s?|movid[oa]s?|trasladad[oa]s?|en realidad|agora|foi|mudad[oa]s?|alterad[oa]s?|na verdade)\b"
    r"|\b(?:теперь|сейчас|перен[её]с\w*|измени\w+|переехал\w*|на самом деле|artık|şimdi|değişti|taşındı|τώρα|πλέον|עכשיו|כעת|الآن|الان|अब|"
    r"bây giờ|hiện giờ)\b"
    r"|现在|目前|已经|换成了?|换到了?|改为|改成了?|改到了?|搬到了?|变成了?|今は|現在は|に変更\w{0,5}|に変わ\w{0,4}|になりました|なりました|に移行\w{0,4}"
    r"|이제는?|지금은|변경\w{0,4}|ตอนนี้|เปลี่ยนเป็น|ย้ายไป",
    re.IGNORECASE,
)
_LIKES: Final = (
    (lazily(r"\b(?:lov|enjoy|ador)(?:e?s?|ing)\b", re.IGNORECASE), "like"),
    (lazily(r"\b(?:hate|dislike|detest)s?\b|\b(?:can['’]?t|cannot) stand\b", re.IGNORECASE), "does not like"),
    (lazily(r"\blikes\b", re.IGNORECASE), "like"),
)
_DAY: Final = lazily(
    r"[A-Za-z_]*\d(?:[A-Za-z0-9_.,:/\-]*[A-Za-z0-9_])?|星期[一二三四五六日天]|周[一二三四五六日]|[月火水木金土日]曜日?|[월화수목금토일]요일|上午|下午|早上|晚上|午前|午後|오전|오후"
)
_NAME: Final = lazily(
    r"\b[A-ZÀ-ÞΑ-ΩА-Я]\b|(?<![A-Za-z0-9_])[A-Za-z0-9_]*[A-Z][A-Za-z0-9_]*[A-Z][A-Za-z0-9_]*|(?<=[^.!?。\s])\s[\"'“«(]?([A-ZÀ-ÞΑ-ΩА-Я][\w-]*)|[A-Za-z][\w.-]*(?=[^\x00-\x7f])"
)
_WORD: Final = lazily(r"[^\W\d_]+")
_DENSE: Final = lazily(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_PARTICLES: Final = frozenset(
    "不没無无别っ的了是在把被用使着过呢也都就和我你他她它们们于到はがをにでとのもへやですますしたいるてかられ는은이가을를에로와과도다요해어"
)
_DATED: Final = (frozenset(WEEKDAYS) | frozenset(MONTHS)) - NAMED_MONTH
_SPEAKS: Final = frozenset(["i", "a", "я", "и", "ich", "je", "yo", "eu"])
_LINKS: Final = sentence_words(
    "at on of the am um den dem der a à las los la le el de du del di à h uhr в во на часов pm o clock to and und et y и o'clock"
)
_LEFT: Final = lazily(
    r"\b(?:from|von|vom|de|du|desde|da|с|со) (\S+) (?=(?:to|into|auf|zu|nach|à|vers|a|para|на|к)\b)"
    r"|从([^\s从到]+?)(?=换|改|迁|搬|变|转|到)",
    re.IGNORECASE,
)
_LABEL: Final = lazily(r"^\w[\w .'’-]{0,99}:\s+")
_WHOSE: Final = sentence_words(
    "mein meine meinen meinem meiner unser unsere unseren unserem unserer mon ma mes notre nos mi mis nuestro nuestra nuestros nuestras "
    "meu minha nosso nossa мой моя мое мои наш наша наше наши"
)
_DENIALS: Final = sentence_words(
    "no not never nor nobody nothing dont doesnt didnt cannot without kein keine keinen keinem keiner nicht nie niemals ne pas jamais "
    "rien nunca jamas nao não не нет никогда"
)


_CARRIES: Final = frozenset(("run", "listen", "use"))
_THINGS: Final = frozenset(("server", "servic", "instanc", "machin"))
"""Stems of words that may be said or left out of the same matter: "the staging server runs on port 1" is about "the staging port"."""
_NUMBER: Final = lazily(r"\d[\d.,:]*")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence says of a matter: the roots of its words, its values with where they begin and end in it, and whether it denies."""

    text: str
    words: frozenset[str]
    values: Mapping[str, tuple[int, int]]
    denies: bool
    left: frozenset[str] = frozenset()
    """The values that it says were left for others: "from A to B"."""

    def apart(self, other: Statement) -> set[str]:
        """The values that the other has not."""
        return self.values.keys() - other.values.keys()

    def together(self, values: set[str]) -> bool:
        """Whether these values stand side by side, as in "Tuesday at 10": with nothing but what joins times and names between them."""
        spans = sorted(self.values[value] for value in values)
        between = (self.text[end:start] for (_, end), (start, _) in pairwise(spans))
        return all(_joins(word) for part in between for word in _WORD.findall(part))


def _joins(word: str) -> bool:
    low = folded(word)
    return low in _LINKS or all(char in _PARTICLES for char in low)


def statement_of(analyser: Analyser, text: str) -> Statement:
    """A sentence without the words of change, as a matter and its values. Linear in its length."""
    for pattern, word in _LIKES:
        text = pattern.sub(word, text)
    plain = " ".join(_CHANGED.sub(" ", _LABEL.sub("", text)).split())
    values: dict[str, tuple[int, int]] = {}
    for found in (*_DAY.finditer(plain), *_NAME.finditer(plain)):
        group = 1 if found.re is _NAME and found[1] else 0
        name = folded(found[group]).strip()
        if name not in fingerprints.FRAME and name not in _SPEAKS:
            values.setdefault(name, found.span(group))
    for found in _WORD.finditer(plain):
        if folded(found[0]) in _DATED:
            values.setdefault(folded(found[0]), found.span())
    parts = {part for value in values for part in re.split(r"\W+", value) if part} | set(values) | fingerprints.FRAME | _DENIALS | _WHOSE
    told = {term: word.terms[-1] for word in analyser.question(plain).words if word.weight >= 0.5 for term in word.terms}
    words: set[str] = set()
    for low in map(folded, _WORD.findall(plain)):
        if _DENSE.search(low):
            inside = {char for value in values for char in value}
            words.update(char for char in low if _DENSE.match(char) and char not in _PARTICLES and char not in inside)
        elif low in told and low not in parts:
            words.add(told[low])
    left = frozenset(folded(found[1] or found[2]).strip(".,;:") for found in _LEFT.finditer(plain))
    return Statement(plain, frozenset(words), values, denies(text), frozenset(left & values.keys()))


def takes_the_place(new: Statement, old: Statement) -> bool:
    """Whether a statement of change makes another one untrue."""
    shared = new.values.keys() & old.values.keys()
    fresh, gone = new.apart(old), old.apart(new)
    if new.words != old.words and not (len(fresh) == len(gone) == 1 and all(map(_NUMBER.fullmatch, fresh | gone)) and _alike(new, old)):
        return False
    if not (new.words or shared):
        return False
    if fresh and not gone and new.left & old.values.keys() and new.denies == old.denies:
        # "From A to B" says itself what is not so any more.
        return True
    if not fresh and not gone:
        return new.denies != old.denies and bool(new.words)
    if not fresh or not gone or new.denies != old.denies:
        return False
    return new.together(fresh) and old.together(gone)


def _alike(new: Statement, old: Statement) -> bool:
    """Whether two statements name one matter, but for words that only carry it: two things that both name are two matters ("the staging
    server", "the staging machine"), and an attribute alone ("the port") is none."""
    added, left_out = new.words - old.words, old.words - new.words
    named = len(new.words & old.words) + len(new.values.keys() & old.values.keys())
    return named > 1 and added | left_out <= _CARRIES | _THINGS and not (added & _THINGS and left_out & _THINGS)


def replaced(reading: Reading, analyser: Analyser, scope: str, text: str) -> StoredEntry | None:
    """The one entry that a statement of change makes untrue; it came from a conversation.

    None where that is not clear: several would fit, or it is pinned, awaited by a ticket, or says more than the statement. Cost: two index
    queries, and O(the sentence) for each of at most two dozen candidates of either.
    """
    new = statement_of(analyser, text)
    asked = analyser.question(_CHANGED.sub(" ", text)).words
    parts = {part for value in new.values for part in re.split(r"\W+", value)} | set(new.values)
    matter = tuple(word for word in asked if not parts.intersection(word.terms))
    # First with the names in it, which tell one of many alike; then by the matter alone, since a new value is in no entry that it replaces.
    seen: set[int] = set()
    for words in dict.fromkeys((asked, matter)):
        if not words:
            continue
        candidates, _ = reading.candidates(Question(words), Filter(scopes=(scope,)), fingerprints.LOOKED_AT, 0.2)
        rows = [c.row for c in candidates if c.row not in seen]
        seen.update(rows)
        fitting = [
            stored for stored in reading.entries(rows) if _free(stored) and takes_the_place(new, statement_of(analyser, stored.entry.text))
        ]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def _free(stored: StoredEntry) -> bool:
    entry = stored.entry
    return entry.origin == "turn" and entry.standing == "active" and not entry.pinned and not stored.open_tickets
