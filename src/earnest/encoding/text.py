"""From the bytes of a file to a document. Only what is certain is decoded: a guess would store garbled text in silence."""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import Final

from earnest.encoding.document import MAX_BYTES, Document, Format
from earnest.errors import InvalidInput

_FORMATS: Final[dict[str, Format]] = {".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text"}

# UTF-32 before UTF-16: its little-endian mark begins with the one of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAX_SHOWN: Final = 56
_WAY_OUT: Final = "save it again as UTF-8"


def format_of(name: str) -> Format:
    """The format that a file name stands for; "auto" if its ending says nothing."""
    return _FORMATS.get(Path(name).suffix.lower(), "auto")


def read_document(path: str | os.PathLike[str]) -> Document:
    """Read a file into a `Document` named after it. Writes nothing.

    Args:
        path: A text file of at most 20 MB: UTF-8 with or without a byte-order mark, or UTF-16 or UTF-32 with one. Line ends of
            any kind become "\\n". `.md` and `.markdown` are Markdown, `.txt` and `.text` plain text; else the content decides.

    Returns:
        The document. Its source is a relative path as it was given (files of one name in two folders are two sources), and the
        bare name of a file that was given by an absolute path.

    Raises:
        InvalidInput: The file cannot be read, is too large, is not text, or is in another encoding; the message names the file,
            the byte offset where there is one, and the way out.
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise InvalidInput("path", path, f"must be a path to a file, not {type(path).__name__}")
    shown = os.fspath(path)
    if "\x00" in shown or not shown.strip():
        raise InvalidInput("path", shown, "is no path to a file; give the name of a text file")
    file = Path(path)
    try:
        # Asked first, so that a device or a huge file is not read at all.
        if not file.is_file():
            raise InvalidInput("path", shown, "is a folder, give a file" if file.is_dir() else "no such file; check the name")
        # One byte more than allowed tells that the file is too large even if it grows meanwhile.
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as problem:
        why = problem.strerror or str(problem)
        raise InvalidInput("path", shown, f"cannot be read ({why}); check the name and the rights") from problem
    if len(data) > MAX_BYTES:
        raise InvalidInput("path", shown, f"is larger than {MAX_BYTES:,} bytes; split the document into parts")
    # Messages cut long values; the name of the file must survive that.
    text = decoded(data, shown if len(shown) < _MAX_SHOWN else file.name)
    given = file.name if file.is_absolute() else file.as_posix()
    name = given.encode("utf-8", "replace").decode("utf-8")
    return Document(name, text, format_of(name))


def decoded(data: bytes, name: str) -> str:
    """The text of some bytes, without byte-order mark and with "\\n" as the only line end; else `InvalidInput` naming `name`."""
    mark, encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", "utf-8"))
    body = data[len(mark) :]
    if encoding == "utf-8" and b"\x00" in body:
        at = len(mark) + body.index(b"\x00")
        raise InvalidInput("path", name, f"has a NUL at byte {at:,}: not a text file, or UTF-16 without a mark; {_WAY_OUT}")
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as problem:
        at, claimed = len(mark) + problem.start, encoding.upper().removesuffix("-LE").removesuffix("-BE")
        reason = f"is not {claimed}: byte {at:,} is 0x{data[at]:02X} ({problem.reason}); {_WAY_OUT}"
        raise InvalidInput("path", name, reason) from None
    if "\x00" in text:
        raise InvalidInput("path", name, f"has a NUL at character {text.index(chr(0)):,}: not a text file; {_WAY_OUT}")
    return text.replace("\r\n", "\n").replace("\r", "\n")
