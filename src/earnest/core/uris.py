"""The names of files as URIs, in the form that SQLite takes on every system."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

_EXTENDED: Final = "//?/"
_SHARE: Final = "//?/UNC/"


def file_uri(path: PurePath) -> str:
    """The URI of a file, by an absolute path of this system or of another one; what follows a question mark is the caller's.

    The rules are those of SQLite's documentation, "Uniform Resource Identifiers", section 3.1: slashes for backslashes, a slash before a
    drive's letter, and `%`, `?` and `#` by their numbers. The authority is left empty, so that neither a share of Windows nor two slashes
    at the beginning are taken for the name of another machine.
    """
    named = path.as_posix()
    if named.startswith(_SHARE):
        named = f"//{named.removeprefix(_SHARE)}"
    named = named.removeprefix(_EXTENDED)
    if not named.startswith("/"):
        named = f"/{named}"
    for sign in "%?#":
        named = named.replace(sign, f"%{ord(sign):02x}")
    return f"file://{named}"
