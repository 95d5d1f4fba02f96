"""The part of a user's file that is Earnest's: between two marks, on bytes, so that everything around it stays as it is to the byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from earnest.errors import InvalidInput

BEGIN: Final = "<!-- earnest:begin, written by `earnest render`; what is between these marks is replaced -->"
END: Final = "<!-- earnest:end -->"
_BEGINS: Final = b"<!-- earnest:begin"
_ENDS: Final = b"<!-- earnest:end"
_MARK: Final = b"\xef\xbb\xbf"
_BOMS: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


class Split(NamedTuple):
    """A file around its managed part: what stands before and after it, and whether there is one."""

    before: bytes
    inside: bytes
    after: bytes
    found: bool


def split(path: str, data: bytes) -> Split:
    """A file's bytes around its managed part.

    Raises:
        InvalidInput: It is not UTF-8, or its marks are damaged; names the lines.
    """
    if data.startswith(_BOMS) or b"\x00" in data:
        raise InvalidInput("path", path, "is no UTF-8 text, so that nothing is written into it; convert it first")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "path", path, f"is no UTF-8 text (at byte {error.start:,}), so that nothing is written into it; convert it first"
        ) from None
    begins: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    at = 0
    for number, whole in enumerate(data.splitlines(keepends=True), 1):
        # A byte order mark stands before the first line, not in it.
        mark = len(_MARK) if at == 0 and whole.startswith(_MARK) else 0
        at, line = at + mark, whole[mark:]
        if line.startswith(_BEGINS):
            begins.append((number, at))
        elif line.startswith(_ENDS):
            ends.append((number, at + len(line)))
        at += len(line)
    if not begins and not ends:
        return Split(data, b"", b"", False)
    if len(begins) != 1 or len(ends) != 1 or begins[0][1] >= ends[0][1]:
        said = [f"begins at line {number}" for number, _ in begins] + [f"ends at line {number}" for number, _ in ends]
        raise InvalidInput(
            "path",
            path,
            f"has a damaged managed part: it {', '.join(said)}; leave one pair of marks, or take all of them out, and render again",
        )
    start, stop = begins[0][1], ends[0][1]
    return Split(data[:start], data[start:stop], data[stop:], True)


def newline_of(data: bytes) -> str:
    """What ends the lines of a file: what ends its first one. (After a bare carriage return a line feed would be taken for a pair.)"""
    first = data.find(b"\n")
    if first < 0 and data.endswith(b"\r"):
        return "\r\n"
    return "\r\n" if first > 0 and data[first - 1 : first] == b"\r" else "\n"


def block(lines: Sequence[str], newline: str) -> bytes:
    """The managed part with these lines in it."""
    return "".join(line + newline for line in (BEGIN, *lines, END)).encode("utf-8")


def with_block(around: Split, lines: Sequence[str], newline: str) -> bytes:
    """The file with its managed part replaced; put at its end, set apart by a blank line, if it has none."""
    made = block(lines, newline)
    if around.found:
        if not around.after and not around.inside.endswith((b"\n", b"\r")):
            made = made.removesuffix(newline.encode("ascii"))  # the file ended without one
        return around.before + made + around.after
    if not around.before.strip(b"\xef\xbb\xbf \t\r\n"):
        return around.before + made
    gap = newline if around.before.endswith(b"\n") else newline * 2
    return around.before + gap.encode("ascii") + made


def without_block(around: Split) -> bytes:
    """The file without its managed part, and without the blank line that set it apart."""
    before = around.before
    for gap in (b"\r\n\r\n", b"\n\n"):
        if before.endswith(gap):
            before = before[: -len(gap) // 2]
            break
    return before + around.after
