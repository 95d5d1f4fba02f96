"""Questions with known answers out of entries, without a model.

Each kind takes something away from an entry that a person who asks would not have: half of its words, their spelling, the part that
is the answer, or the entry itself where another says nearly the same. A question counts only if few entries can be its answer.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from earnest.benching.chance import Chance
from earnest.core.analysis import Analyser
from earnest.core.entry import Entry

KINDS: Final = ("words", "typo", "asked", "speaker", "cue", "reply", "twin")
"""What a question is made of; see `docs/bench-recall.md`."""

MAX_ANSWERS: Final = 5
"""A question that more entries could answer is too vague to be judged by."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’.\-_/][^\W_]+)*")
_DENSE: Final = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e01-\u0e4f]")
_COPULA: Final = re.compile(
    r"^(?P<what>[^.:;!?]{4,80}?)\s+(?P<verb>is|are|was|were|runs on|lives in|costs|starts at|ends at|belongs to)\s+(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[。！？；，、,.;!?\s]+")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_COMMON: Final = 0.2
"""A word that more than this share of the entries holds says nothing about one of them."""
_HELD: Final = 0.2
"""At most this share of the entries is held out."""
_NAMELESS: Final = frozenset(("user", "assistant", "human", "system", "unknown", "tool", "agent", "ai"))
_CHARS: Final = 300
_FEWEST_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, and the places (in the list of entries) of those that answer it.

    `held` is the place of the entry whose own words are the question: it is left out of what is searched. `bare` says that the answers'
    cue is the question: it is taken off them.
    """

    text: str
    kind: str
    answers: frozenset[int]
    scope: str
    held: int | None = None
    bare: bool = False


def probes(entries: Sequence[Entry], analyser: Analyser, chance: Chance, wanted: int) -> list[Probe]:
    """Up to `wanted` questions about the entries, of all kinds that they allow, as many of each as can be.

    The same entries and the same chance give the same questions. O(the entries' words + wanted × an entry's words).
    """
    maker = _Maker(entries, analyser, chance)
    found: dict[str, list[Probe]] = {kind: [] for kind in KINDS}
    each = -(-wanted // 3)
    for place in chance.sample(range(len(entries)), len(entries)):
        for kind in KINDS:
            if len(found[kind]) < each and (probe := maker.probe(kind, place)) is not None:
                found[kind].append(probe)
    return _shared_out(found, wanted, len(entries))


def _shared_out(found: dict[str, list[Probe]], wanted: int, entries: int) -> list[Probe]:
    """As many of each kind as there can be, and no more than wanted in all. What answers one question is not held out for another."""
    taken: list[Probe] = []
    held: set[int] = set()
    needed: set[int] = set()
    depth = 0
    while len(taken) < wanted and any(depth < len(probes) for probes in found.values()):
        for probes in found.values():
            if depth >= len(probes) or len(taken) >= wanted:
                continue
            probe = probes[depth]
            own = probe.held
            if probe.answers & held or (own is not None and (own in needed or len(held) >= _HELD * entries)):
                continue
            if own is not None:
                held.add(own)
            needed |= probe.answers
            taken.append(probe)
        depth += 1
    return taken


class _Maker:
    def __init__(self, entries: Sequence[Entry], analyser: Analyser, chance: Chance) -> None:
        self._entries, self._analyser, self._chance = entries, analyser, chance
        self._terms = [frozenset(analyser.terms(f"{entry.cue or ''} {entry.text}")) for entry in entries]
        self._holding: dict[str, set[int]] = defaultdict(set)
        for place, terms in enumerate(self._terms):
            for term in terms:
                self._holding[term].add(place)
        self._cues: Counter[tuple[str, str]] = Counter((entry.scope, entry.cue) for entry in entries if entry.cue)
        self._most = max(3, int(_COMMON * len(entries)))
        self._makers: dict[str, Callable[[int], Probe | None]] = {
            "cue": self._cue,
            "reply": self._reply,
            "words": self._some_words,
            "typo": self._typo,
            "asked": self._asked,
            "speaker": self._speaker,
            "twin": self._twin,
        }

    def probe(self, kind: str, place: int) -> Probe | None:
        """A question of this kind about an entry; None if it allows none."""
        return self._makers[kind](place)

    def _cue(self, place: int) -> Probe | None:
        """The question or heading that entries were written under, taken off them: what a question means has to do."""
        cue, scope = self._entries[place].cue, self._entries[place].scope
        if not cue or self._cues[scope, cue] > MAX_ANSWERS:
            return None
        same = frozenset(i for i, entry in enumerate(self._entries) if entry.cue == cue and entry.scope == scope)
        return Probe(cue, "cue", same, scope, bare=True)

    def _reply(self, place: int) -> Probe | None:
        """What somebody asked in a conversation, and what the other one said to that; the question itself is held out."""
        if place + 1 >= len(self._entries):
            return None
        asked, said = self._entries[place], self._entries[place + 1]
        session, speaker = asked.metadata.get("session"), asked.metadata.get("speaker")
        text = asked.text.rstrip()
        if session is None or said.metadata.get("session") != session or said.metadata.get("speaker") == speaker:
            return None
        if asked.scope != said.scope or not text.endswith(("?", "？", "؟")) or said.text.rstrip().endswith(("?", "？", "؟")):
            return None
        if len(self._telling(place)) < _FEWEST_WORDS or len(self._telling(place + 1)) < _FEWEST_WORDS:
            return None
        return Probe(text[-_CHARS:], "reply", frozenset((place + 1,)), asked.scope, held=place)

    def _some_words(self, place: int) -> Probe | None:
        """Half of the words that tell an entry from the others, in the order in which they stand."""
        if _dense(self._entries[place].text):
            return self._piece(place)
        words = self._telling(place)
        return self._judged(" ".join(self._kept(words, min(max(3, len(words) // 2), 6))), "words", place) if len(words) >= 4 else None

    def _typo(self, place: int) -> Probe | None:
        """A few telling words, the longest of them misspelt."""
        words = self._kept(self._telling(place), 4)
        longest = max(words, key=len, default="")
        if len(words) < 3 or len(longest) < 6 or not longest.isascii() or not longest.isalpha():
            return None
        answers = self._answers(" ".join(words), place)
        wrong = self._misspelt(longest)
        if answers is None or self._holding.get(wrong.lower()):
            return None
        return Probe(" ".join(wrong if word == longest else word for word in words), "typo", answers, self._entries[place].scope)

    def _misspelt(self, word: str) -> str:
        at = 1 + self._chance.below(len(word) - 2)
        way = self._chance.below(4)
        if way == 0:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :] if word[at] != word[at + 1] else word[:at] + word[at + 1 :]
        if way == 1:
            return word[:at] + word[at + 1 :]
        letter = _LETTERS[self._chance.below(26)]
        return word[:at] + letter + word[at + (1 if way == 2 else 0) :]

    def _asked(self, place: int) -> Probe | None:
        """ "The port is 8080" as "What is the port?": what is asked for is not in the question."""
        found = _COPULA.match(self._entries[place].text)
        if not found or len(_WORD.findall(found["what"])) > 10:
            return None
        what, verb = found["what"].strip(), found["verb"].lower()
        asks = {"runs on": f"What does {what} run on?", "lives in": f"Where does {what} live?", "costs": f"How much does {what} cost?",
                "starts at": f"When does {what} start?", "ends at": f"When does {what} end?",
                "belongs to": f"Who does {what} belong to?"}  # fmt: skip
        answers = self._answers(what, place)
        if answers is None:
            return None
        return Probe(asks.get(verb, f"What {verb} {what}?"), "asked", answers, self._entries[place].scope)

    def _speaker(self, place: int) -> Probe | None:
        """What somebody said about something, where turns say who speaks."""
        speaker = self._entries[place].metadata.get("speaker")
        words = self._kept(self._telling(place), 3)
        if not isinstance(speaker, str) or speaker.lower() in _NAMELESS or len(words) < 2:
            return None
        answers = self._answers(" ".join(words), place)
        said = [i for i in answers or () if self._entries[i].metadata.get("speaker") == speaker]
        return (
            Probe(f"What did {speaker} say about {' '.join(words)}?", "speaker", frozenset(said), self._entries[place].scope)
            if said
            else None
        )

    def _twin(self, place: int) -> Probe | None:
        """An entry's own words as the question for those that say nearly the same in other words; the entry itself is held out."""
        terms = {term for term in self._terms[place] if len(self._holding[term]) <= self._most}
        if len(terms) < 4:
            return None
        shared: Counter[int] = Counter(other for term in terms for other in self._holding[term] if other != place)
        scope = self._entries[place].scope
        alike = [
            other
            for other, count in shared.most_common(20)
            if count >= 3 and 0.35 <= count / len(terms | self._terms[other]) < 0.9 and self._entries[other].scope == scope
        ]
        if not 0 < len(alike) <= MAX_ANSWERS:
            return None
        return Probe(self._entries[place].text[:_CHARS], "twin", frozenset(alike), scope, held=place)

    def _piece(self, place: int) -> Probe | None:
        """Of a script without spaces: some characters out of the midst of a clause or two."""
        clauses = [clause for clause in _CLAUSE.split(self._entries[place].text) if len(clause) >= 4]
        if not clauses:
            return None
        chosen = self._kept(clauses, 2)
        parts = []
        for clause in chosen:
            size = max(3, min(6, len(clause) * 2 // 3))
            at = self._chance.below(len(clause) - size + 1)
            parts.append(clause[at : at + size])
        return self._judged(" ".join(parts), "words", place)

    # what they share

    def _judged(self, text: str, kind: str, place: int) -> Probe | None:
        answers = self._answers(text, place)
        return Probe(text, kind, answers, self._entries[place].scope) if answers is not None else None

    def _answers(self, text: str, place: int) -> frozenset[int] | None:
        """The entries of the same scope that hold all that the question asks for; None if they are too many to tell, or not this one."""
        asked = set(self._analyser.terms(text))
        telling = [term for term in asked if len(self._holding.get(term, ())) <= self._most]
        sets = sorted((self._holding.get(term, set()) for term in (telling or asked)), key=len)
        found = set.intersection(*sets) if sets else set()
        found = {other for other in found if self._entries[other].scope == self._entries[place].scope}
        return frozenset(found) if place in found and len(found) <= MAX_ANSWERS else None

    def _telling(self, place: int) -> list[str]:
        """The words of an entry that few others hold, in order, each once."""
        made: dict[str, str] = {}
        for found in _WORD.finditer(self._entries[place].text[: 4 * _CHARS]):
            word = found[0]
            terms = self._analyser.terms(word)
            if len(word) > 2 and terms and min(len(self._holding.get(term, ())) for term in terms) <= self._most:
                made.setdefault(word.lower(), word)
        return list(made.values())

    def _kept(self, words: Sequence[str], count: int) -> list[str]:
        places = sorted(self._chance.sample(range(len(words)), count))
        return [words[i] for i in places]


def _dense(text: str) -> bool:
    """Whether a text is mostly of a script without spaces."""
    letters = [c for c in text if c.isalpha()]
    return bool(letters) and sum(1 for c in letters if _DENSE.match(c)) > len(letters) / 2


def kinds_of(made: Iterable[Probe]) -> dict[str, int]:
    """How many questions of each kind there are."""
    count = Counter(probe.kind for probe in made)
    return {kind: count[kind] for kind in KINDS if count[kind]}
