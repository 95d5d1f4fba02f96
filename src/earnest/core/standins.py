"""Words that stand in for one that a store does not hold: misspelt, inflected in another way, joined with another, or cut short.

Only for words that no entry holds: one that is there means itself. What stands in never counts in full, so that a guess cannot be as
sure as a word, unless it is the same word in short. Distances are those of Damerau and Levenshtein in the form that edits no letter
twice ("optimal string alignment"): a letter too many, too few, wrong, or two that changed places.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from earnest.core.analysis import Question, Wanted
from earnest.core.patterns import lazily
from earnest.core.stopwords import STOPWORDS

MOST: Final = 4
"""At most so many words of a question are looked for in other forms."""
SCANNED: Final = 1_500
"""Known terms that are read at most for each beginning that a word may have."""
_FEW: Final = 300
SHORTEST: Final = 4
"""Letters of the shortest word that may be misspelt."""
_TWO_EDITS: Final = 8
_LIKELY: Final = 12
_STANDINS: Final = 3

# What a word in another form counts, of a word: another ending of the same word, a misspelling, a part of it.
_ENDING: Final = 0.9
_MISSPELT: Final = 0.8
_PART: Final = 0.7
_KIN: Final = 0.6

# The part of the shorter word that two forms of one word share at their beginning, and the letters that they differ in at most.
_SAME_WORD: Final = 0.75
_SAME_ROOT: Final = 0.65
_TAIL: Final = 4

_WORD: Final = lazily(r"[^\W\d_]+")
_LONG_VOWELS: Final = lazily("[اويה]|(?<=.)[וי](?=.)")

SHORT_FOR: Final = {
    "db": "database", "dbs": "databases", "repo": "repository", "repos": "repositories", "config": "configuration",
    "configs": "configurations", "prod": "production", "dev": "development", "env": "environment", "envs": "environments",
    "auth": "authentication", "docs": "documentation", "doc": "document", "dir": "directory", "dirs": "directories",
    "app": "application", "apps": "applications", "admin": "administrator", "info": "information", "spec": "specification",
    "specs": "specifications", "lib": "library", "libs": "libraries", "dep": "dependency", "deps": "dependencies", "msg": "message",
    "msgs": "messages", "param": "parameter", "params": "parameters", "pwd": "password", "ui": "interface", "k8s": "kubernetes",
    "postgres": "postgresql", "js": "javascript", "ts": "typescript", "py": "python", "infra": "infrastructure", "temp": "temporary",
    "tmp": "temporary", "max": "maximum", "min": "minimum", "mgr": "manager", "dept": "department", "appt": "appointment",
    "vet": "veterinarian", "bday": "birthday", "tv": "television", "phone": "telephone", "photo": "photograph",
}  # fmt: skip
"""Short forms and what they are short for; each stands for the other."""

_SAME = (
    "delete remove erase wipe purge discard drop clear", "restart reboot", "error failure fault", "fix repair mend", "folder directory",
    "begin start commence", "finish end complete", "buy purchase", "car automobile", "job employment", "child kid", "movie film",
    "boss manager", "doctor physician", "holiday vacation", "city town", "picture photo image", "house home", "meeting appointment",
    "deadline due", "retain keep preserve", "protected safeguarded", "store save", "old stale outdated", "big large", "small little",
    "quick fast", "allowed permitted", "forbidden prohibited",
)  # fmt: skip


def _synonyms() -> dict[str, tuple[str, ...]]:
    made: dict[str, tuple[str, ...]] = {}
    for line in _SAME:
        group = line.split()
        for word in group:
            made[word] = (*made.get(word, ()), *(other for other in group if other != word))
    return made


SAME_AS: Final = _synonyms()
"""English words that are asked for one another in the questions that agents ask."""

_LONG_FOR: Final = {long: short for short, long in SHORT_FOR.items()}


def widened(
    question: Question,
    stems: Callable[[str], Sequence[str]],
    known: Callable[[Sequence[str]], frozenset[str]],
    vocabulary: Callable[[str, int], Iterable[str]],
) -> Question:
    """The question with forms that the store does hold for words that it does not.

    Args:
        question: As the analyser made it.
        stems: The stems of a folded word.
        known: Which of these terms an entry that is searched holds.
        vocabulary: Up to so many known terms that begin so, in order.

    Returns:
        The question itself if it needs nothing. Cost: one look at the index, and for each of at most `MOST` unknown words a few
        ranges of at most `SCANNED` terms of the vocabulary.
    """
    question = _within_words(question, known)
    wanted = [word for word in question.words if _eligible(word)]
    if not wanted:
        return question
    held = known([term for word in wanted for term in word.terms])
    missing = [word for word in wanted if not held & set(word.terms)]
    # The longest words are the ones that are misspelt, and the ones that say most.
    chosen = sorted(missing, key=lambda word: -len(word.terms[0]))[:MOST]
    # A form that another word of the question asks for already would be counted twice.
    asked = frozenset(question.terms)

    def fresh(terms: Sequence[str]) -> frozenset[str]:
        return known(terms) - asked

    found = _joined(question, missing, fresh)
    found |= {word: made for word in chosen if word not in found and (made := _forms(word, stems, fresh, vocabulary))}
    if not found:
        return question
    words: list[Wanted] = []
    for word in question.words:
        words += found.get(word, [word])
    return replace(question, words=tuple(words))


def _joined(question: Question, missing: Sequence[Wanted], known: Callable[[Sequence[str]], frozenset[str]]) -> dict[Wanted, list[Wanted]]:
    """Words that are not held apart but are together: "data base" where entries say "database"."""
    made: dict[Wanted, list[Wanted]] = {}
    for first, second in itertools.pairwise(question.words):
        if first in missing and second in missing and first not in made:
            held = known([first.terms[0] + second.terms[0], first.terms[0] + "s" + second.terms[0]])
            if held:
                made |= {word: [Wanted((word.terms[0], *sorted(held)), word.weight * _ENDING)] for word in (first, second)}
    return made


def _within_words(question: Question, known: Callable[[Sequence[str]], frozenset[str]]) -> Question:
    """Pairs of Chinese or Japanese characters that no entry holds, beside one that some do, are most likely no word but where two words
    meet: an entry is not judged by them."""
    places = [place for place, word in enumerate(question.words) if word.weight >= 1 and _pair(word)]
    if len(places) < 2:
        return question
    held = known([question.words[place].terms[0] for place in places])
    words = [*question.words]
    for before, after in itertools.pairwise(places):
        first, second = question.words[before].terms[0], question.words[after].terms[0]
        if first[1] == second[0] and (first in held) != (second in held):
            place = after if first in held else before
            words[place] = Wanted(words[place].terms, 0.0)
    return replace(question, words=tuple(words))


def _pair(word: Wanted) -> bool:
    spelt = word.terms[0]
    return len(spelt) == 2 and "\u3041" <= spelt[0] <= "\u9fff" and "\u3041" <= spelt[1] <= "\u9fff"


def _eligible(word: Wanted) -> bool:
    spelt = word.terms[0]
    return word.weight >= 0.5 and len(spelt) > 1 and spelt not in STOPWORDS and _spaced(spelt)


def _spaced(word: str) -> bool:
    """Whether a word is of letters alone and of a script that sets words apart."""
    first = ord(word[0])
    return len(word) <= 32 and (_WORD.fullmatch(word) is not None or word in SHORT_FOR) and (first < 0x0900 or 0x1E00 <= first < 0x2000)


def _forms(
    word: Wanted,
    stems: Callable[[str], Sequence[str]],
    known: Callable[[Sequence[str]], frozenset[str]],
    vocabulary: Callable[[str, int], Iterable[str]],
) -> list[Wanted]:
    """What is asked for in place of a word that is not held; empty if there is nothing like it."""
    spelt = word.terms[-2] if len(word.terms) > 2 else word.terms[0]
    full = SHORT_FOR.get(spelt) or _LONG_FOR.get(spelt)
    if full:
        held = known([full, *stems(full)])
        if held:
            return [Wanted((*word.terms, *held), word.weight)]
    for others in (SAME_AS.get(spelt, ()), *(SAME_AS.get(stem, ()) for stem in word.terms)):
        held = known([form for other in others for form in (other, *stems(other))]) if others else frozenset()
        if held:
            return _counted(word, sorted(held), _PART)
    if len(spelt) < SHORTEST and not _bare(spelt):
        return []
    near = sorted(_near(spelt, _scanned(spelt, vocabulary).difference(word.terms)))[:_LIKELY]
    # A form may be known from another scope alone, or from entries that the filter leaves out.
    held = known([term for _, _, term in near]) if near else frozenset()
    fitting = [(cost, term) for cost, _, term in near if term in held]
    if fitting:
        best = [term for cost, term in fitting if cost == fitting[0][0]][:_STANDINS]
        return _counted(word, best, -fitting[0][0])
    parts = _split(spelt, known)
    return [Wanted((part, *stems(part)), word.weight * _PART / 2) for part in parts]


def _counted(word: Wanted, forms: Sequence[str], share: float) -> list[Wanted]:
    """A word by other forms, counted in part: for the rest of it, the word itself is still asked for, and not found."""
    return [Wanted(tuple(dict.fromkeys((*word.terms, *forms))), word.weight * share), Wanted(word.terms[:1], word.weight * (1 - share))]


def _scanned(word: str, vocabulary: Callable[[str, int], Iterable[str]]) -> set[str]:
    """Known terms that may be a form of a word: all that begin with its letter; where those are too many, with its first two or so."""
    made = [*vocabulary(word[0], _FEW + 1)]
    if len(made) > _FEW:
        heads = {word[:2], word[0] + word[2:4], word[1] + word[0], word[0] + word[2] + word[1]}
        made = [term for head in sorted(heads) for term in vocabulary(head, SCANNED)]
    return {*made, *vocabulary(word[1] + word[0], _FEW), *vocabulary(word[1:4], _FEW)}


def _near(word: str, terms: Iterable[str]) -> Iterable[tuple[float, int, str]]:
    """(minus the share that it counts, distance, term) for each term that is a form of a word."""
    size = len(word)
    allowed = 2 if size >= _TWO_EDITS else 1
    bare = _bare(word)
    begins, head, ending = word[:SHORTEST], word[: (size - 1) // 2 if allowed == 1 else 3], word[-((size - 1) // 2) or size :]
    for term in terms:
        length = len(term)
        if not term.isalpha() or length < 3:
            continue
        # Most terms share nothing with the word but its first letter, and are seen off by this. An edit leaves one half as it is.
        alike = term.startswith(begins)
        if not (alike or bare or (abs(size - length) <= allowed and (term.startswith(head) or term.endswith(ending)))):
            continue
        shared = _shared(word, term) if alike else 0
        tail = max(size, length) - shared
        if shared >= max(SHORTEST, _SAME_WORD * min(size, length)) and tail <= min(_TAIL, shared - 2):
            yield -_ENDING, tail, term
        elif _maybe_misspelt(word, term, allowed) and (distance := edits(word, term, allowed)) <= allowed:
            yield -_MISSPELT, distance, term
        elif bare and bare == _bare(term):
            yield -_MISSPELT, abs(size - length), term
        elif shared == min(size, length) >= 5:
            # A word inside a longer one: "Datenbank" in "Datenbanksicherung", "toplantı" in "toplantısından".
            yield -_PART, abs(size - length), term
        elif shared >= max(SHORTEST + 1, _SAME_ROOT * min(size, length)) and tail <= _TAIL:
            yield -_KIN, tail, term


def _maybe_misspelt(word: str, term: str, allowed: int) -> bool:
    """Whether one word may be the other misspelt. In the shortest words another letter makes another word ("live", "lite"): there only
    letters that changed places, a letter too many or one too few are slips."""
    size, length = len(word), len(term)
    if abs(size - length) > allowed or min(size, length) < SHORTEST:
        return False
    return size != length or size > SHORTEST or sorted(word) == sorted(term)


def _bare(word: str) -> str:
    """The consonants of a Semitic word: its plural often differs in the vowels alone. "" for any other."""
    if not ("\u0590" <= word[0] <= "\u06ff"):
        return ""
    made = _LONG_VOWELS.sub("", word)
    return made if len(made) >= 3 else ""


def _shared(first: str, second: str) -> int:
    """How many letters two words share at their beginning."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count


def edits(first: str, second: str, most: int) -> int:
    """How many edits make one word of the other; `most` + 1 if it takes more. O(length × most)."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = [*range(len(second) + 1)]
    for i, a in enumerate(first, 1):
        after = [i] + [most + 1] * len(second)
        for j in range(max(1, i - most), min(len(second), i + most) + 1):
            b = second[j - 1]
            after[j] = min(after[j - 1] + 1, row[j] + 1, row[j - 1] + int(a != b))
            if before and i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                after[j] = min(after[j], before[j - 2] + 1)
        if min(after) > most:
            return most + 1
        before, row = row, after
    last: int = row[-1]
    return min(last, most + 1)


def _split(word: str, known: Callable[[Sequence[str]], frozenset[str]]) -> list[str]:
    """The two known words that a long one is made of, with or without a linking s; none if it is not."""
    if len(word) < 2 * SHORTEST:
        return []
    cuts = [(word[:at], word[at:]) for at in range(SHORTEST, len(word) - SHORTEST + 1)]
    held = known([part for cut in cuts for part in (*cut, cut[0].removesuffix("s"))])
    for head, tail in cuts:
        for start in (head, head.removesuffix("s")):
            if start in held and tail in held and start not in STOPWORDS and tail not in STOPWORDS:
                return [start, tail]
    return []
