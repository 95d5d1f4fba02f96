"""The text side of the decision reader: folding, sentences, languages, and words turned into roles.

`decision` asks for `sentences` and for the `roles` of each, in the language that its script and its words suggest; what the
roles mean is in `decision_words`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Final

from earnest.core.decision_words import TABLES
from earnest.core.patterns import lazily

YES_MARK, NO_MARK = "\ue000", "\ue001"  # private characters that stand for a phrase of the caller's
_BY_CHARACTER: Final = frozenset({"zh", "ja", "ko"})
_LATIN: Final = ("en", "de", "fr", "es", "pt")
_PROCLITICS: Final = ("وال", "بال", "فال", "لل", "ال", "و", "ف", "ب", "ل", "س")

_WORD = lazily(
    rf"[{YES_MARK}{NO_MARK}]"
    r"|[^\W_]+(?:(?:[-./_]|(?<=\d),(?=\d))[^\W_]+)*"  # a word, a file name, a number with its commas
    r"|[,;:()\[\]—–،؛]|(?<=\s)-(?=\s)|[\"«»“”„]"
)
_CLAUSE_END = lazily(r"[,;:()\[\]—–]|(?<=\s)-(?=\s)")
_BREAK: Final = "\u2029"
_SENTENCE_END = lazily(r"(?:[!?。؟¿¡\u2029]+|\.+(?=[\s\"'”»)\]」』\u2029]|$))[\"'”»)\]」』]*")
_BULLET = lazily(r"(?:[-*•·]|\d+[.)])\s")
QUOTES: Final = ('"', "“", "”", "„", "«", "»", "「", "」", "『", "』")
_PATHLIKE = lazily(r"[/_\\\d]|\w\.\w")


@dataclass(frozen=True, slots=True)
class _Lexicon:
    code: str
    phrases: dict[str, str]
    stems: dict[str, str]
    answers: dict[str, str]
    longest: int


def fold(text: str) -> str:
    """One form for all writings of the same words: width, case, apostrophes, contractions, Arabic letter variants."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = text.replace("’", "'").replace("‘", "'").replace(_BREAK, "\n")
    text = text.replace("cannot", "can not").replace("can't", "can not").replace("won't", "will not").replace("n't", " not")
    text = re.sub("[\u0640\u064b-\u0655\u0670]", "", text).translate(str.maketrans("أإآٱىة", "اااايه"))
    folded: list[str] = []
    for line in text.splitlines():  # a blank line or a bullet ends a sentence; a mere line break does not
        words = " ".join(line.split())
        folded.append(_BREAK + words if not words or _BULLET.match(words) else words)
    return " ".join(folded).strip()


def _plain(text: str) -> str:
    """The text without accents, for those who type without them."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def _spaceless(char: str) -> bool:
    """Whether the character belongs to a script in which a phrase need not end at a word boundary."""
    return "\u2e80" <= char <= "\ud7ff" or "\U00020000" <= char <= "\U0003ffff" or "\u0e00" <= char <= "\u0eff"


def mark(text: str, yes: list[str], no: list[str]) -> str:
    """Put a private character where a phrase of the caller's stands; the longest phrase wins where two overlap."""
    marks: dict[str, str] = {}
    for phrase in yes:
        marks[phrase] = f" {YES_MARK} "
    for phrase in no:
        marks[phrase] = marks.get(phrase, "") + f" {NO_MARK} "
    for phrase in sorted(marks, key=lambda p: (-len(p), p)):
        text = _replace_whole(text, phrase, marks[phrase])
    return text


def contains_phrase(text: str, phrase: str) -> bool:
    """Whether a phrase stands in a text as whole words, without regard to case, width and line breaks."""
    text, phrase = " ".join(fold(text).split()), " ".join(fold(phrase).split())
    return bool(phrase) and _replace_whole(text, phrase, "") != text


def _replace_whole(text: str, phrase: str, mark: str) -> str:
    parts: list[str] = []
    start = at = 0
    while (at := text.find(phrase, at)) >= 0:
        end = at + len(phrase)
        if _boundary(text, at) and _boundary(text, end):
            parts += [text[start:at], mark]
            start = at = end
        else:
            at += 1
    return "".join([*parts, text[start:]])


def _boundary(text: str, at: int) -> bool:
    if at in (0, len(text)):
        return True
    before, after = text[at - 1], text[at]
    joined = before.isalnum() and after.isalnum()
    return not joined or _spaceless(before) or _spaceless(after)


def unquoted(text: str) -> str:
    """An answer that is one quotation from end to end is the answer itself."""
    stripped = text.strip()
    inner = stripped[1:-1]
    if len(stripped) > 1 and stripped[0] in QUOTES and stripped[-1] in QUOTES and not any(q in inner for q in QUOTES):
        return inner
    return text


def sentences(text: str) -> list[tuple[str, bool]]:
    """The sentences, each with whether it is a question; a quotation mark after the end belongs to the sentence."""
    found: list[tuple[str, bool]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        piece = text[start : match.start()]
        start = match.end()
        if piece.strip():
            closing = "".join(c for c in match.group() if c in QUOTES)
            found.append((piece + closing, "?" in match.group() or "؟" in match.group()))
    if text[start:].strip():
        found.append((text[start:], False))
    return found


@cache
def _lexicon(code: str) -> _Lexicon:
    phrases: dict[str, str] = {}
    stems: dict[str, str] = {}
    answers: dict[str, str] = {}
    by_character = code in _BY_CHARACTER
    for role, line in TABLES[code].items():
        for entry in (fold(e) for e in line.split(",")):
            if by_character and role in ("yes", "no"):
                answers[entry] = role
            elif entry.endswith("*"):
                stems.setdefault(entry[:-1], role)
            else:
                phrases.setdefault(_tokenised(entry, by_character), role)
    if not by_character:
        for known in (phrases, stems):
            for entry, role in list(known.items()):
                known.setdefault(_plain(entry), role)
                known.setdefault(entry.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue"), role)
    sizes = [len(p) if by_character else p.count(" ") + 1 for p in phrases]
    return _Lexicon(code, phrases, stems, answers, max(sizes))


def _tokenised(entry: str, by_character: bool) -> str:
    return entry if by_character else " ".join(_WORD.findall(entry))


def latin_language(text: str) -> str:
    """The European language whose words the text uses most; English where they tie."""
    words = [w for w in _WORD.findall(text[:4000]) if w.replace("-", "").isalpha()]
    best, most = "en", 0
    for code in _LATIN:
        lexicon = _lexicon(code)
        score = sum(_known(word, lexicon) for word in words)
        if score > most:
            best, most = code, score
    return best


def _known(word: str, lexicon: _Lexicon) -> bool:
    return word in lexicon.phrases or any(word[:n] in lexicon.stems for n in range(4, min(len(word), 16) + 1))


def languages(sentence: str, latin: str) -> list[str]:
    """The languages whose script the sentence uses, the likeliest first. File names and paths are no evidence of a language."""
    counts = {"ko": 0, "ja": 0, "zh": 0, "ru": 0, "ar": 0, latin: 0}
    for char in "".join(_evidence(word) for word in sentence.split()):
        if "\uac00" <= char <= "\ud7a3":
            counts["ko"] += 3
        elif "\u3041" <= char <= "\u30ff":
            counts["ja"] += 3
        elif "\u3400" <= char <= "\u9fff":
            counts["zh"] += 3
        elif "\u0400" <= char <= "\u04ff":
            counts["ru"] += 1
        elif "\u0600" <= char <= "\u06ff":
            counts["ar"] += 1
        elif char.isalpha():
            counts[latin] += 1
    if counts["ja"]:  # Japanese writes both kana and Chinese characters
        counts["ja"] += counts.pop("zh")
    ranked = sorted((code for code, n in counts.items() if n), key=lambda code: -counts[code])
    return ranked or [latin]


def _evidence(word: str) -> str:
    return "".join(c for c in word if c > "\u02ff") if _PATHLIKE.search(word) else word


def _items_by_word(sentence: str, lexicon: _Lexicon) -> list[str]:
    tokens = _WORD.findall(sentence)
    items: list[str] = []
    at = 0
    while at < len(tokens):
        role, size = _longest(tokens, at, lexicon)
        items.append(role)
        at += size
    return items


def _longest(tokens: list[str], at: int, lexicon: _Lexicon) -> tuple[str, int]:
    token = tokens[at]
    if token in (YES_MARK, NO_MARK):
        return ("extra+" if token == YES_MARK else "extra-"), 1
    if not token[0].isalnum():
        return ("quote" if token in QUOTES else "clause"), 1
    for size in range(min(lexicon.longest, len(tokens) - at), 1, -1):
        role = lexicon.phrases.get(" ".join(tokens[at : at + size]))
        if role:
            return role, size
    for form in _forms(token, lexicon.code):
        if form in lexicon.phrases:
            return lexicon.phrases[form], 1
        for cut in range(min(len(form), 24), 1, -1):
            if form[:cut] in lexicon.stems:
                return lexicon.stems[form[:cut]], 1
    return "word", 1


def _forms(token: str, code: str) -> list[str]:
    """The word, and in Arabic the word without the particles that are written onto it."""
    if code != "ar":
        return [token]
    return [token, *(token[len(p) :] for p in _PROCLITICS if token.startswith(p) and len(token) > len(p) + 2)]


def _items_by_character(sentence: str, lexicon: _Lexicon) -> list[str]:
    items: list[str] = []
    for clause in _CLAUSE_END.split(sentence):
        clause = clause.strip() if lexicon.code == "ko" else clause.replace(" ", "")
        if items:
            items.append("clause")
        answer = lexicon.answers.get(clause.rstrip("."))
        if answer:
            items.append(answer)
            continue
        at = 0
        while at < len(clause):
            role, size = _longest_at(clause, at, lexicon)
            if role != "space":
                items.append(role)
            at += size
    return items


def _longest_at(clause: str, at: int, lexicon: _Lexicon) -> tuple[str, int]:
    char = clause[at]
    if char in (YES_MARK, NO_MARK):
        return ("extra+" if char == YES_MARK else "extra-"), 1
    if char in QUOTES:
        return "quote", 1
    for size in range(min(lexicon.longest, len(clause) - at), 0, -1):
        role = lexicon.phrases.get(clause[at : at + size])
        if role:
            return role, size
    return ("word" if char.isalnum() else "space"), 1


def roles(sentence: str, code: str) -> list[str]:
    """The roles of a sentence's words in order: "word" an unknown one, "clause" punctuation, "quote" a quotation mark."""
    lexicon = _lexicon(code)
    return _items_by_character(sentence, lexicon) if code in _BY_CHARACTER else _items_by_word(sentence, lexicon)
