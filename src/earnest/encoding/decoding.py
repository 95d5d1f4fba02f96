"""From bytes to text. What is certain is decoded; what is assumed is said; what could only be guessed is refused.

A wrong guess stores garbled text that nobody finds again, so there is no statistical detector here: a file without a mark is UTF-8,
UTF-16 where every other byte is zero, Windows-1252 where it reads as Western European text, and else the caller names its encoding.
"""

from __future__ import annotations

import codecs
import contextlib
from dataclasses import dataclass
from typing import Final

from earnest.core.patterns import lazily
from earnest.errors import InvalidInput

# UTF-32 before UTF-16: its little-endian mark begins with the one of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WAY_OUT: Final = "save it again as UTF-8, or name its encoding (`encoding=`, `--encoding`)"

# Names that the web uses for larger encodings than those they were made for (WHATWG Encoding Standard, "names and labels").
_ALIASES: Final = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252",
    "windows-1252": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "shift-jis": "cp932",
    "x-sjis": "cp932", "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "iso-8859-9": "cp1254",
}  # fmt: skip

# Signs of Windows-1252 that ordinary text has beside its letters.
_SIGNS: Final = "‘’“”„‚«»‹›–—…•·€£¥¢§¶©®™°±²³¹¼½¾×÷µ¿¡ªº\u00a0†‡´¨"
_LETTER: Final = lazily(r"[^\W\d_]")
_HIGH: Final = lazily(r"[^\x00-\x7f]+")
_MAX_HIGH_SHARE: Final = 0.35
"""Of the letters of a Western European text, at most so many have accents, even where the text is short."""

_SAMPLE: Final = 4_096
_HINTS: Final = (
    ("gb18030", lazily("[\u4e00-\u9fa5\u3000-\u301f\uff01-\uff5e]")),
    ("cp932", lazily("[\u3040-\u30ff\u4e00-\u9fa5\u3000-\u301f]")),
    ("cp949", lazily("[\uac00-\ud7a3]")),
    ("cp1251", lazily("[\u0410-\u044f\u0401\u0451]")),
)

_ANSI: Final = lazily(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS: Final = lazily("[\x01-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f]")
_BIDI: Final = lazily("[\u202a-\u202e\u2066-\u2069]")
_BREAKS: Final = lazily("\r\n?|[\u0085\u2028\u2029\x0b\x0c]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text with "\\n" as its only line end, and what was assumed or taken out, in words."""

    text: str
    notes: tuple[str, ...] = ()


def decoded(data: bytes, name: str, *, encoding: str | None = None, declared: str | None = None) -> Decoded:
    """The text of some bytes, without byte-order mark, control characters and terminal sequences.

    Args:
        data: All of the file.
        name: What it is called, for messages.
        encoding: What the caller says it is encoded in; then nothing else is tried.
        declared: What the file itself says (an HTML page may); believed if it is true.

    Raises:
        InvalidInput: It is in no encoding that is certain, or it is not text; names the byte and the way out.
    """
    if encoding is not None:
        text = _as_told(data, name, encoding)
        notes: list[str] = []
    else:
        text, notes = _text(data, name, declared)
    if "\x00" in text:
        raise InvalidInput("path", name, f"has a NUL at character {text.index(chr(0)):,}: not a text file; {_WAY_OUT}")
    return _clean(text, notes)


def codec_named(encoding: object) -> str:
    """The codec of that name. Raises `InvalidInput` if there is none."""
    if not isinstance(encoding, str):
        raise InvalidInput("encoding", encoding, "must be the name of a text encoding, such as cp1252 or gb18030")
    name = _ALIASES.get(encoding.strip().lower(), encoding.strip())
    try:
        with contextlib.suppress(UnicodeDecodeError):
            # Codecs that make no text refuse at the first byte.
            b"ab".decode(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise InvalidInput("encoding", encoding, "is no text encoding that Python knows; try cp1252, gb18030, cp932 or cp1251") from None


def _as_told(data: bytes, name: str, encoding: str) -> str:
    codec = codec_named(encoding)
    try:
        # utf-16 and utf-8-sig take the mark off themselves; for the others it is a character.
        return data.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        reason = f"is not {codec}: byte {problem.start:,} is 0x{data[problem.start]:02X} ({problem.reason}); name another encoding"
        raise InvalidInput("path", name, reason) from None


def _text(data: bytes, name: str, declared: str | None) -> tuple[str, list[str]]:
    mark, encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", "utf-8"))
    body = data[len(mark) :]
    if not mark and declared is not None:
        try:
            return body.decode(codec_named(declared)), []
        except (InvalidInput, UnicodeDecodeError):
            text, notes = _text(data, name, None)
            return text, [*notes, f"it says that it is {declared[:40]}, and is not"]
    if encoding == "utf-8" and b"\x00" in body:
        wide = _unmarked_utf16(body)
        if wide is not None:
            return wide[0], [f"read as {wide[1]}, which no mark says: every other byte is zero"]
        at = len(mark) + body.index(b"\x00")
        raise InvalidInput("path", name, f"has a NUL at byte {at:,}: not a text file, or UTF-16 without a mark; {_WAY_OUT}")
    try:
        return body.decode(encoding), []
    except UnicodeDecodeError as problem:
        western = None if mark else _western(body)
        if western is not None:
            return western, [f"read as Windows-1252: byte {problem.start:,} is 0x{data[problem.start]:02X}, so it is not UTF-8"]
        at, claimed = len(mark) + problem.start, encoding.upper().removesuffix("-LE").removesuffix("-BE")
        reason = f"is not {claimed}: byte {at:,} is 0x{data[at]:02X} ({problem.reason}){_hint(body)}; {_WAY_OUT}"
        raise InvalidInput("path", name, reason) from None


def _unmarked_utf16(body: bytes) -> tuple[str, str] | None:
    """Text in UTF-16 without its mark, and in which order; None unless nearly every other byte is zero, as in Latin script."""
    if len(body) < 4 or len(body) % 2:
        return None
    half = len(body) // 2
    for offset, codec, name in ((1, "utf-16-le", "UTF-16 (little-endian)"), (0, "utf-16-be", "UTF-16 (big-endian)")):
        if body[offset::2].count(0) > 0.7 * half and body[1 - offset :: 2].count(0) == 0:
            try:
                return body.decode(codec), name
            except UnicodeDecodeError:
                return None
    return None


def _western(body: bytes) -> str | None:
    """The bytes as Windows-1252, if that makes Western European text; None if they are more likely something else."""
    try:
        text = body.decode("cp1252")
    except UnicodeDecodeError:
        return None
    if _CONTROLS.search(text):
        return None
    letters = high = 0
    for found in _LETTER.finditer(text):
        letters += 1
        high += found[0] > "\x7f"
    if high > _MAX_HIGH_SHARE * letters and high > 2:
        return None
    for found in _HIGH.finditer(text):
        run = found[0]
        said = run.strip(_SIGNS)
        # Two accented letters in a row are rare and in lower case ("créée"); what was two bytes a character has longer runs.
        odd = any(c not in _SIGNS and not c.isalpha() for c in run)
        inside = text[found.start() - 1 : found.start()].isalpha() or text[found.end() : found.end() + 1].isalpha()
        pair = len(said) == 2 and not (inside and (said.islower() or said.isupper()))
        if odd or pair or len(said) > 2 or (said and len(run) > 3):
            return None
    return text


def _hint(body: bytes) -> str:
    """Which other encodings the bytes might be in, for the message only."""
    likely = []
    for name, usual in _HINTS:
        try:
            text = body[:_SAMPLE].decode(name)
        except UnicodeDecodeError as problem:
            if problem.start < min(len(body), _SAMPLE) - 4:
                continue
            text = body[: problem.start].decode(name)
        high = [c for c in text if c > "\x7f"]
        if high and sum(1 for c in high if usual.match(c)) > 0.9 * len(high):
            likely.append(name)
    return f"; it may be {' or '.join(likely)}" if likely else ""


def _clean(text: str, notes: list[str]) -> Decoded:
    text = _BREAKS.sub("\n", text)
    text, sequences = _ANSI.subn("", text)
    text, controls = _CONTROLS.subn("", text)
    text, bidi = _BIDI.subn("", text)
    for count, what in ((sequences, "terminal sequence"), (controls, "control character"), (bidi, "bidirectional control")):
        if count:
            notes.append(f"{count:,} {what}{'s were' if count > 1 else ' was'} taken out")
    return Decoded(text, tuple(notes))
