"""Exports as streams: written line by line into a file that appears whole, read line by line after the whole was checked."""

from __future__ import annotations

import codecs
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from earnest.errors import InvalidInput, StoreError, shown
from earnest.files import replacing
from earnest.moving import records
from earnest.moving.records import Header, Summary

Row = tuple[str, Mapping[str, Any]]


def write_export(file: IO[bytes], header: Header, rows: Iterable[Row], progress: Callable[[int], None] | None = None) -> Summary:
    """Write a whole export, a line at a time. O(rows) in time, one row in memory."""
    first = records.header_line(header)
    file.write(first)
    digest, counts = hashlib.sha256(), Counter[str]()
    for number, (table, values) in enumerate(rows, 1):
        said = records.row_line(table, values)
        digest.update(said)
        counts[table] += 1
        file.write(said)
        if progress is not None and number % 1_000 == 0:
            progress(number)
    summary = Summary(dict(counts), digest.hexdigest())
    file.write(records.end_line(summary, hashlib.sha256(first).hexdigest()))
    return summary


@contextmanager
def whole_file(path: Path, *, overwrite: bool = False) -> Iterator[IO[bytes]]:
    """A file that is there whole and on the disk when the block ends, or not at all.

    Raises:
        StoreError: It is there already and is not to be overwritten, or it cannot be written.
    """
    try:
        # A link that leads nowhere is there as well: it is not to be replaced by a file.
        path.lstat()
        there = True
    except FileNotFoundError:
        there = False
    except OSError as error:
        raise StoreError(f"{shown(str(path))}: cannot be written ({error.strerror}); give it another name") from error
    if there and not overwrite:
        raise StoreError(f"{shown(str(path))}: is there already; name a new file")
    try:
        with replacing(path) as file:
            yield file
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{shown(str(path))}: cannot be written ({error.strerror}); name a file in a folder that can be") from error


def read_export(file: IO[bytes]) -> tuple[Header, Summary]:
    """Check a whole export from its beginning: its header, every line, the counts and the digest. O(its size), one line in memory.

    Raises:
        InvalidInput: It is damaged, cut off or none; the message says where.
    """
    lines = _lines(file)
    number, first = next(lines, (0, b""))
    header = records.header_of(records.parsed(first, number or 1))
    digest, counts = hashlib.sha256(), Counter[str]()
    end: tuple[Summary, str] | None = None
    for number, data in lines:
        value = records.parsed(data, number)
        if end is not None:
            raise InvalidInput("export", data[:40], f"line {number:,} comes after the last one; two exports were glued together")
        end = records.end_of(value)
        if end is None:
            digest.update(data)
            counts[records.row_of(value, number)[0]] += 1
    if end is None:
        raise InvalidInput("export", number, "has no closing line: the file was cut off; export again")
    summary, header_digest = end
    if summary.sha256 != digest.hexdigest() or dict(summary.counts) != dict(counts):
        raise InvalidInput("export", summary.sha256, "is not the digest of its rows: the file was changed or damaged after it was written")
    if header_digest != hashlib.sha256(first).hexdigest():
        raise InvalidInput("export", header_digest, "is not the digest of its header: the file was changed or damaged after it was written")
    return header, summary


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file to read. Raises StoreError if it cannot be."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise StoreError(f"{shown(str(path))}: cannot be read ({error.strerror}); check the name") from error
    with file:
        yield file


def digest_of(rows: Iterable[Row]) -> str:
    """The digest that an export of these rows would have."""
    digest = hashlib.sha256()
    for table, values in rows:
        digest.update(records.row_line(table, values))
    return digest.hexdigest()


def rows_of(file: IO[bytes]) -> Iterator[Row]:
    """The rows of an export that `read_export` checked, from its beginning."""
    file.seek(0)
    for number, data in _lines(file):
        value = records.parsed(data, number)
        if number > 1 and records.end_of(value) is None:
            yield records.row_of(value, number)


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    while data := file.readline(records.MAX_LINE + 1):
        number += 1
        if len(data) > records.MAX_LINE:
            raise InvalidInput("export", len(data), f"line {number:,} is longer than {records.MAX_LINE:,} bytes; no row is")
        if number == 1:
            data = data.removeprefix(codecs.BOM_UTF8)
        # What an editor or git makes of the ends of lines on another system is no damage: no row has such signs in it.
        yield number, data.rstrip(b"\r\n") + b"\n"
