"""What goes into an encoder and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from earnest.core import check
from earnest.core.entry import Kind, Origin
from earnest.core.reports import Skipped
from earnest.errors import InvalidInput

Format = Literal["auto", "text", "markdown"]

FORMATS: Final = ("auto", "text", "markdown")
MAX_BYTES: Final = 20_000_000
MAX_SKIPPED_CHARS: Final = 200
"""How much of a left-out text a report repeats, in characters."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name, ready to be encoded. Making one writes nothing.

    Args:
        source: Where the text comes from; becomes the provenance label of every entry made from it. At most 500 characters,
            not blank, no control characters.
        text: What it says, at most 20 MB in UTF-8. Blank is allowed: the encoder then reports that it made nothing and why.
            NUL becomes a space and a lone surrogate U+FFFD, as everywhere at Earnest's door.
        format: "auto" decides by the ending of the source's name, else by what the text looks like.

    Raises:
        InvalidInput: A field is not of that form.
    """

    source: str
    text: str
    format: Format = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", check.label("source", self.source))
        if not isinstance(self.text, str):
            raise InvalidInput("text", self.text, f"must be text, not {type(self.text).__name__}; `read_document` reads a file")
        made = check.cleaned(self.text) if len(self.text) <= MAX_BYTES else self.text
        # The length in characters first: counting bytes would copy a text that is far too long.
        if len(made) > MAX_BYTES or len(made.encode("utf-8")) > MAX_BYTES:
            raise InvalidInput("text", self.text, f"takes more than {MAX_BYTES:,} bytes; split the document into parts")
        object.__setattr__(self, "text", made)
        check.choice("format", self.format, FORMATS)


@dataclass(frozen=True, slots=True)
class Draft:
    """What an encoder hands to the store: an entry without an id, a balance or a past.

    `cue` is the heading or question that the text belongs to, None if there is none. `sources` are the documents whose words the
    text uses: all of them and no other, in alphabetical order.
    """

    text: str
    cue: str | None = None
    kind: Kind = "semantic"
    origin: Origin = "explicit"
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Encoding:
    """Everything one `encode` made of its documents: drafts, what was left out and why, and remarks about the rest."""

    drafts: tuple[Draft, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
