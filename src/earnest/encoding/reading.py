"""From a file to documents: what kind it is, by its first bytes and its name, and which reader it gets."""

from __future__ import annotations

import codecs
import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from earnest.core.sentences import words
from earnest.encoding.decoding import codec_named, decoded
from earnest.encoding.document import MAX_BYTES, Document, Format
from earnest.encoding.pdf import MAX_PDF_BYTES, is_pdf, read_pdf
from earnest.encoding.records import read_json
from earnest.encoding.webpage import declared_charset, looks_like_html
from earnest.errors import InvalidInput

_CODE: Final = words(
    ".py .pyi .js .mjs .cjs .ts .tsx .jsx .java .kt .scala .c .h .cc .cpp .hpp .cs .go .rs .rb .php .pl .lua .r .jl .swift .m .sh .bash "
    ".zsh .fish .ps1 .bat .sql .yaml .yml .toml .ini .cfg .conf .xml .css .scss .tex .diff .patch"
)
_FORMATS: Final[dict[str, Format]] = {
    ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".txt": "text", ".text": "text", ".html": "html", ".htm": "html",
    ".xhtml": "html", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "table", ".tsv": "table",
    **dict.fromkeys(sorted(_CODE), "code"),
}  # fmt: skip
DOCUMENTS: Final = frozenset(("text", "markdown", "html", "json", "table"))
"""The formats that a folder is searched for; code is read only when it is named."""

MAX_JSON_BYTES: Final = 4_000_000_000
_MAX_SHOWN: Final = 56
_PIECE: Final = 1 << 16
_HEAD: Final = 4_096
_MAX_MEMBERS: Final = 1_000
_ZIP: Final = b"PK\x03\x04"
_OTHERS: Final = (
    (b"\x89PNG", "a PNG picture"), (b"\xff\xd8\xff", "a JPEG picture"), (b"GIF8", "a GIF picture"), (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"), (b"MZ", "a program"), (b"SQLite format 3\x00", "an SQLite database"), (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"), (b"OggS", "a sound"), (b"ID3", "a sound"), (b"RIFF", "a sound or film"),
)  # fmt: skip


def format_of(name: str) -> Format:
    """The format that a file name stands for; "auto" if its ending says nothing."""
    return _FORMATS.get(Path(name).suffix.lower(), "auto")


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    shown: str
    source: str
    encoding: str | None


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_document(path: str | os.PathLike[str], *, source: str | None = None, encoding: str | None = None) -> Document:
    """Read a file into one `Document` named after it. Writes nothing.

    Args:
        path: A file of at most 20 MB (a PDF: 200 MB) of text, Markdown, HTML, PDF (the extra `docs`), JSON or JSON Lines, an
            export of conversations, a table or code. Its first bytes count before its ending. Line ends of any kind become "\\n".
        source: What to call it; unless given a relative path as it is (files of one name in two folders are two sources), and
            the bare name of a file that was given by an absolute path.
        encoding: What its text is encoded in; unless given, UTF-8, what a byte-order mark or the page itself says, UTF-16 without
            a mark, or Windows-1252 where it reads as Western European text: the document's `notes` say what was assumed.

    Returns:
        The document. `read_documents` gives an export of conversations as one document for each, of any size.

    Raises:
        InvalidInput: The file cannot be read, is too large, is not text, or is in another encoding; the message names the file,
            the byte offset where there is one, and the way out. A PDF: it is damaged, needs a password, or holds only pictures.
        NotAvailable: A PDF, and the extra `docs` is not installed.
    """
    file = _checked(path, source, encoding)
    try:
        data = _bytes(file, MAX_PDF_BYTES if is_pdf(_head(file)) else MAX_BYTES)
        if data.startswith(_ZIP):
            reason = "is an archive; `read_documents` and `earnest encode` read one that holds conversations"
            raise InvalidInput("path", file.shown, reason if _conversations(file) else _unreadable(data))
        return _whole(file, data)
    except OSError as problem:
        raise _not_read(file, problem) from problem


def read_documents(path: str | os.PathLike[str], *, source: str | None = None, encoding: str | None = None) -> Iterator[Document]:
    """Read a file into documents: one, or one for each conversation of an export. As `read_document`, but JSON of any size is read
    piece by piece, and so is an export that is still the archive it came in.

    Raises:
        InvalidInput, NotAvailable: As `read_document`. They are raised when the place is reached: what came before is good.
    """
    file = _checked(path, source, encoding)
    try:
        head = _head(file)
        if head.startswith(_ZIP):
            yield from _archive(file, head)
        elif format_of(file.source) == "json" and not is_pdf(head):
            if file.path.stat().st_size > MAX_JSON_BYTES:
                raise InvalidInput("path", file.shown, f"is larger than {MAX_JSON_BYTES:,} bytes; split it into parts")
            with file.path.open("rb") as stream:
                yield from read_json(_pieces(stream, file), file.source)
        else:
            yield read_document(path, source=source, encoding=encoding)
    except OSError as problem:
        raise _not_read(file, problem) from problem


def text_document(data: bytes, source: str, *, encoding: str | None = None) -> Document:
    """A document from bytes that came from elsewhere than a file, such as standard input. Raises as `read_document`."""
    return _whole(_File(Path(source), source, source, encoding), data)


def _checked(path: str | os.PathLike[str], source: str | None, encoding: str | None) -> _File:
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise InvalidInput("path", path, f"must be a path to a file, not {type(path).__name__}")
    shown = os.fspath(path)
    if "\x00" in shown or not shown.strip():
        raise InvalidInput("path", shown, "is no path to a file; give the name of a text file")
    if encoding is not None:
        codec_named(encoding)
    file = Path(path)
    # Messages cut long values; the name of the file must survive that.
    short = shown if len(shown) < _MAX_SHOWN else file.name
    try:
        # Asked first, so that a device is not read at all.
        if not file.is_file():
            raise InvalidInput("path", shown, "is a folder, give a file" if file.is_dir() else "no such file; check the name")
    except OSError as problem:
        raise _not_read(_File(file, short, "", None), problem) from problem
    given = file.name if file.is_absolute() else file.as_posix()
    return _File(file, short, (given if source is None else source).encode("utf-8", "replace").decode("utf-8"), encoding)


def _not_read(file: _File, problem: OSError) -> InvalidInput:
    why = problem.strerror or str(problem)
    return InvalidInput("path", file.shown, f"cannot be read ({why}); check the name and the rights")


def _head(file: _File) -> bytes:
    with file.path.open("rb") as stream:
        return stream.read(_HEAD)


def _bytes(file: _File, limit: int) -> bytes:
    # One byte more than allowed tells that the file is too large even if it grows meanwhile.
    with file.path.open("rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise InvalidInput("path", file.shown, f"is larger than {limit:,} bytes; split the document into parts")
    return data


def _whole(file: _File, data: bytes) -> Document:
    ending = Path(file.source).suffix.lower()
    if is_pdf(data) or ending == ".pdf":
        text, notes = read_pdf(data, file.shown)
        clean = decoded(text.encode("utf-8", "replace"), file.shown)
        return Document(file.source, clean.text, "text", notes=(*notes, *clean.notes))
    for start, what in _OTHERS:
        if data.startswith(start) and b"\x00" in data[:_HEAD]:
            raise InvalidInput("path", file.shown, f"is {what}, not a text file")
    if len(data) > MAX_BYTES:
        raise InvalidInput("path", file.shown, f"is larger than {MAX_BYTES:,} bytes; split the document into parts")
    chosen = format_of(file.source)
    page = chosen == "html" or (chosen == "auto" and looks_like_html(data[:_HEAD].decode("latin-1")))
    made = decoded(data, file.shown, encoding=file.encoding, declared=declared_charset(data) if page else None)
    return Document(file.source, made.text, "html" if page else chosen, notes=made.notes)


def _pieces(stream: _Stream, file: _File) -> Iterator[str]:
    """The text of a stream in pieces, by what its mark says, else UTF-8."""
    head = stream.read(_PIECE)
    marks = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
    name = file.encoding or next((codec for mark, codec in marks.items() if head.startswith(mark)), "utf-8")
    decoder = codecs.getincrementaldecoder(codec_named(name))()
    read = 0
    while True:
        try:
            text = decoder.decode(head, final=not head)
        except UnicodeDecodeError as problem:
            at = read + problem.start
            reason = f"is not {name.upper()}: byte {at:,} or near ({problem.reason}); name its encoding (`encoding=`, `--encoding`)"
            raise InvalidInput("path", file.shown, reason) from None
        if "\x00" in text:
            raise InvalidInput("path", file.shown, "has a NUL: not a text file")
        yield text
        if not head:
            return
        read += len(head)
        head = stream.read(_PIECE)


def _conversations(file: _File) -> list[zipfile.ZipInfo]:
    """The members of an archive that hold conversations."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            members = [info for info in archive.infolist()[: _MAX_MEMBERS * 10] if not info.is_dir()]
    except (zipfile.BadZipFile, ValueError, RuntimeError):
        return []
    named = [i for i in members if (base := Path(i.filename).name.lower()).startswith("conversations") and base.endswith(".json")]
    return sorted(named, key=lambda info: info.filename)[:_MAX_MEMBERS]


def _unreadable(head: bytes) -> str:
    names = ((b"word/", "a Word file"), (b"xl/", "an Excel file"), (b"ppt/", "a PowerPoint file"), (b"epub", "an e-book"))
    what = next((said for sign, said in names if sign in head), "an archive without conversations in it")
    return f"is {what}, which is not read; save it as text, Markdown, HTML or PDF"


def _archive(file: _File, head: bytes) -> Iterator[Document]:
    members = _conversations(file)
    if not members:
        raise InvalidInput("path", file.shown, _unreadable(head))
    if sum(info.file_size for info in members) > MAX_JSON_BYTES:
        raise InvalidInput("path", file.shown, f"holds more than {MAX_JSON_BYTES:,} bytes; unpack it and split it into parts")
    try:
        with zipfile.ZipFile(file.path) as archive:
            for info in members:
                with archive.open(info) as member:
                    # What an archive says about its sizes is a claim; no more than that is read.
                    bounded = _Bounded(member, info.file_size)
                    yield from read_json(_pieces(bounded, file), file.source)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, RuntimeError, EOFError) as problem:
        raise InvalidInput("path", file.shown, f"is a damaged or locked archive ({problem}); unpack it by hand") from problem


class _Bounded:
    """A stream that ends after so many bytes."""

    def __init__(self, stream: _Stream, left: int) -> None:
        self._stream, self._left = stream, left

    def read(self, size: int, /) -> bytes:
        """At most so many bytes, and never more than the bound."""
        data = self._stream.read(min(size, self._left)) if self._left else b""
        self._left -= len(data)
        return data
