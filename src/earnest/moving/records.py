"""The lines of an export: a header, one row of the store a line, and a closing line with counts and a digest.

    {"earnest":{"export":1,"format":3,"agent":"ops","vectors":false,…}}
    {"scopes":{"scope":1,"name":"","alive":4,"terms":61}}
    …
    {"end":{"records":120,"counts":{"scopes":1,…},"sha256":"…","header":"…"}}

A row is an object with one name, its table's; bytes are {"base64": "…"}. `sha256` is over the lines of rows, each with its line feed: it
stands for what the memory holds, whenever and by whom it was written.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from earnest.core import check
from earnest.errors import InvalidInput

EXPORT: Final = 1
"""The version of this form."""

MAX_LINE: Final = 16 * 1024 * 1024
"""Bytes that a line may have: far more than the largest entry."""

_MARK: Final = "earnest"
_END: Final = "end"
_BYTES: Final = "base64"


@dataclass(frozen=True, slots=True)
class Header:
    """What an export says of itself before its rows. `head` is the last hash of the log."""

    agent: str
    format: int
    vectors: bool
    head: str = ""
    written: str = ""
    by: str = ""
    export: int = EXPORT


@dataclass(frozen=True, slots=True)
class Summary:
    """How many rows an export holds, by table, and the digest of all of them."""

    counts: Mapping[str, int] = field(default_factory=dict)
    sha256: str = ""

    @property
    def records(self) -> int:
        """Rows in all."""
        return sum(self.counts.values())


def line(value: Mapping[str, Any]) -> bytes:
    """One line of an export, with its line feed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8") + b"\n"


def header_line(header: Header) -> bytes:
    """The first line."""
    return line({_MARK: asdict(header)})


def row_line(table: str, values: Mapping[str, Any]) -> bytes:
    """The line of a row."""
    return line({table: {name: _packed(value) for name, value in values.items()}})


def end_line(summary: Summary, header_digest: str) -> bytes:
    """The last line."""
    return line({_END: {"records": summary.records, "counts": dict(summary.counts), "sha256": summary.sha256, "header": header_digest}})


def _packed(value: Any) -> Any:
    return {_BYTES: base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def parsed(data: bytes, number: int) -> Mapping[str, Any]:
    """A line of an export as the object that it is.

    Raises:
        InvalidInput: It is none, says where.
    """
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_strange)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InvalidInput("export", data[:40], f"line {number:,} is no JSON ({error}); the file is damaged or no export") from None
    if not isinstance(value, dict) or len(value) != 1:
        raise InvalidInput("export", data[:40], f"line {number:,} is no object with one name; the file is damaged or no export")
    return value


def _strange(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def is_header(data: bytes) -> bool:
    """Whether a file that begins so is an export of Earnest."""
    return data.lstrip(b"\xef\xbb\xbf").startswith(b'{"' + _MARK.encode("ascii") + b'":{')


def header_of(value: Mapping[str, Any]) -> Header:
    """The header from the first line.

    Raises:
        InvalidInput: It is none, or of a later version of this form.
    """
    said = value.get(_MARK)
    if not isinstance(said, dict):
        raise InvalidInput("export", value, "does not begin with the header of an Earnest export")
    version = said.get("export")
    if version != EXPORT:
        raise InvalidInput("export", version, f"is another version of the form; this Earnest reads version {EXPORT}: upgrade Earnest")
    try:
        return Header(
            agent=check.label("agent", said["agent"]),
            format=check.integer("format", said["format"], low=1, high=10_000),
            vectors=check.flag("vectors", said["vectors"]),
            head=str(said.get("head", "")),
            written=str(said.get("written", "")),
            by=str(said.get("by", "")),
        )
    except KeyError as error:
        raise InvalidInput("export", value, f"its header does not say {error}") from None


def row_of(value: Mapping[str, Any], number: int) -> tuple[str, dict[str, Any]]:
    """The table and the values of a row.

    Raises:
        InvalidInput: It is no row.
    """
    [(table, values)] = value.items()
    if not isinstance(values, dict):
        raise InvalidInput("export", table, f"line {number:,} holds no row; the file is damaged")
    return table, {name: _unpacked(item, number) for name, item in values.items()}


def _unpacked(value: Any, number: int) -> Any:
    if isinstance(value, dict) and [*value] == [_BYTES] and isinstance(value[_BYTES], str):
        try:
            return base64.b64decode(value[_BYTES], validate=True)
        except binascii.Error:
            raise InvalidInput("export", value[_BYTES], f"line {number:,} holds bytes that are none; the file is damaged") from None
    if isinstance(value, dict | list) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63):
        raise InvalidInput("export", value, f"line {number:,} holds a value that no column takes; the file is damaged")
    return value


def end_of(value: Mapping[str, Any]) -> tuple[Summary, str] | None:
    """The summary and the header's digest, if this is the last line."""
    said = value.get(_END)
    if not isinstance(said, dict) or not isinstance(said.get("counts"), dict):
        return None
    counts = {str(name): check.integer("counts", count, low=0, high=2**62) for name, count in said["counts"].items()}
    return Summary(counts, str(said.get("sha256", ""))), str(said.get("header", ""))
