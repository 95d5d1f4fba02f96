"""Sentences: where they end, which of them say something, and how an endless one is cut. Every function is linear in its text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from earnest.core import check
from earnest.core.patterns import lazily


def words(listed: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(listed.split())


# Scripts written without spaces between words: Han with its punctuation, kana, Thai, Lao, Myanmar, Khmer.
_UNSPACED: Final = (
    "\u2e80-\u303f\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff1f\uff5b-\uff9f"
    "\u0e01-\u0e4f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
_DENSE: Final = lazily(f"[{_UNSPACED}]")
_HANGUL: Final = lazily("[\uac00-\ud7a3\u1100-\u11ff]")

_WIDE: Final = "。！？｡؟۔।॥።"
_CLOSERS: Final = "\"'”’»)\\]}」』）】〉》〕］"
_OPENERS: Final = "「『（【《〈“«("
_END: Final = lazily(rf"(?P<marks>[.!?…‽{_WIDE}]+)(?P<closers>[{_CLOSERS}]*)")
_LAST_TOKEN: Final = lazily(r"[^\W\d_]+(?:\.[^\W\d_]+)*$")
_TOKEN_CHARS: Final = 16

# Abbreviations by what may follow them. A sentence never ends after the first kind.
_NEVER: Final = words("e.g i.e mr mrs ms dr prof st vs cf approx resp z.b d.h u.a bzw ca vgl bspw mme mlle p.ex т.е т.к ул им")
_BEFORE_NUMBER: Final = words("no nr vol ch art fig eq sec abs pp p jan feb mar apr jun jul aug sep sept oct nov dec ст рис")
_BEFORE_CAPITAL: Final = words("etc inc ltd co corp al jr sr a.m p.m u.s u.k usw т.д т.п г гг др est dept")


def dense(char: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    return _DENSE.match(char) is not None


def join_lines(lines: Iterable[str]) -> str:
    """The lines of one paragraph as one line, with single spaces; none is put between two characters of an unspaced script."""
    made: list[str] = []
    for line in lines:
        bare = " ".join(line.split())
        if not bare:
            continue
        if made and not (dense(made[-1][-1]) and dense(bare[0])):
            made.append(" ")
        made.append(bare)
    return "".join(made)


def split_sentences(text: str) -> list[str]:
    """The sentences of one paragraph, in order; together they are the paragraph, but for the spaces between them."""
    made: list[str] = []
    start = 0
    for found in _END.finditer(text):
        if found.end() < len(text) and _ends(text, start, found):
            sentence = text[start : found.end()].strip()
            if sentence:
                made.append(sentence)
            start = found.end()
    rest = text[start:].strip()
    if rest:
        made.append(rest)
    return made


def _ends(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether a sentence that began at `start` ends with these marks; some text follows them."""
    marks, closers, after = found["marks"], found["closers"], text[found.end()]
    spaced = after.isspace()
    if any(mark in _WIDE for mark in marks):
        # After a closing quote the sentence often goes on: 「はい。」と言った.
        return not closers or spaced or after in _OPENERS
    if not spaced:
        # "好吗?是的": the marks of another keyboard between characters that have no spaces anyway.
        before = text[found.start() - 1] if found.start() else ""
        return "." not in marks and "…" not in marks and bool(before) and dense(before) and dense(after)
    following = _next_sign(text, found.end())
    if (closers or marks in ("…", "...", "....")) and following.islower():
        return False
    return marks != "." or bool(closers) or not _abbreviated(text, start, found.start(), following)


def _next_sign(text: str, at: int) -> str:
    """The first character after the spaces at `at`; "" if only spaces follow. Texts here have single spaces."""
    window = text[at : at + _TOKEN_CHARS].lstrip("\"'“‘«([{ \t\n")
    return window[:1]


def _abbreviated(text: str, start: int, dot: int, following: str) -> bool:
    """Whether the single dot at `dot` belongs to an abbreviation, an initial or a number at the head of a sentence."""
    head = text[start:dot].strip() if dot - start <= _TOKEN_CHARS else ""
    if head.isdigit():
        return True
    found = _LAST_TOKEN.search(text[max(start, dot - _TOKEN_CHARS) : dot])
    if found is None:
        return False
    token = found[0]
    low = token.lower()
    if low in _NEVER:
        return True
    if low in _BEFORE_NUMBER and following.isdigit():
        return True
    if low in _BEFORE_CAPITAL or ("." in low and all(len(part) == 1 for part in low.split("."))):
        return not (following.isupper() or (following != "" and not following.isalnum()) or dense(following or " "))
    if len(token) > 1 or token == "I":
        return False
    # A letter alone: "a." at the head of a line, or an initial between two names ("John F. Kennedy").
    before = text[max(start, dot - 2 * _TOKEN_CHARS) : dot - 1].split()
    return head == token or (token.isupper() and following.isupper() and bool(before) and before[-1][0].isupper())


def says_something(text: str) -> bool:
    """Whether a text can be a statement: it has letters, and at least two words, a value given to a name, or three characters of
    an unspaced script. "OK", "8080" and "---" are none; "Port is 8080." and "勿删除" are."""
    letters = [c for c in text if c.isalpha()]
    if not letters:
        return False
    if sum(1 for word in text.split() if any(c.isalnum() for c in word)) > 1:
        return True
    if sum(1 for c in letters if dense(c) or _HANGUL.match(c)) > 2:
        return True
    return re.search(r"\w[=:]\S", text) is not None


def same(text: str) -> str:
    """Equal for texts that differ only in spaces and in compatible forms of the same characters (NFKC)."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


# Where an endless sentence is best cut: after a sentence, else after a space or a mark that separates.
_CUT_SENTENCE: Final = lazily(rf"[.!?…][{_CLOSERS}]*\s|[{_WIDE}][{_CLOSERS}]*")
_CUT_ANY: Final = lazily(r"\s|[，、；：,;·|]")


def pieces(text: str, limit: int) -> list[str]:
    """A text in parts of at most `limit` characters, cut at sentences, else at spaces or marks, else anywhere but between a
    character and its accents. Nothing but the spaces at the cuts is lost."""
    made: list[str] = []
    at = 0
    while len(text) - at > limit:
        cut = _last_cut(_CUT_SENTENCE, text, at + limit // 2, at + limit)
        cut = cut or _last_cut(_CUT_ANY, text, at + limit // 4, at + limit) or _hard_cut(text, at, at + limit)
        made.append(text[at:cut].strip())
        at = cut
    made.append(text[at:].strip())
    return [piece for piece in made if not check.blank(piece)]


def _last_cut(where: re.Pattern[str], text: str, low: int, high: int) -> int:
    """Where the last match between two positions ends; 0 if there is none."""
    last = 0
    for found in where.finditer(text, low, high):
        last = found.end()
    return last


def _hard_cut(text: str, low: int, high: int) -> int:
    """The last position up to `high` that does not part a character from its accents or from what it is joined to."""
    for cut in range(high, max(low, high - _TOKEN_CHARS), -1):
        joined = "\u200d" in text[cut - 1 : cut + 1] or "\U0001f3fb" <= text[cut] <= "\U0001f3ff"
        if not joined and not unicodedata.category(text[cut]).startswith("M"):
            return cut
    return high


def code_pieces(text: str, limit: int) -> list[str]:
    """Code in parts of at most `limit` characters, cut between lines where it can be. Indentation stays."""
    made: list[str] = []
    current: list[str] = []
    size = 0
    for line in text.split("\n"):
        for part in [line[i : i + limit] for i in range(0, len(line), limit)] or [""]:
            if current and size + 1 + len(part) > limit:
                made.append("\n".join(current))
                current, size = [], 0
            size += len(part) + (1 if current else 0)
            current.append(part)
    made.append("\n".join(current))
    return [piece.strip("\n") for piece in made if not check.blank(piece)]
