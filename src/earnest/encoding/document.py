"""What goes into an encoder and what comes out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from earnest.core import check
from earnest.core.entry import Kind, Origin, Retention
from earnest.core.reports import Skipped
from earnest.errors import InvalidInput

Format = Literal["auto", "text", "markdown", "html", "json", "table", "code"]

FORMATS: Final = ("auto", "text", "markdown", "html", "json", "table", "code")
MAX_BYTES: Final = 20_000_000
MAX_SKIPPED_CHARS: Final = 200
"""How much of a left-out text a report repeats, in characters."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What an encoder hands to the store: an entry without an id, a balance or a past.

    `cue` is the heading or question that the text belongs to, None if there is none. `sources` are the documents whose words the
    text uses: all of them and no other, in alphabetical order. `metadata` and `tags` are what the document says about itself,
    `valid_from` when it happened, `retention` None for the store's default.
    """

    text: str
    cue: str | None = None
    kind: Kind = "semantic"
    origin: Origin = "explicit"
    sources: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    tags: tuple[str, ...] = ()
    valid_from: datetime | None = None
    retention: Retention | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name, ready to be encoded. Making one writes nothing.

    Args:
        source: Where the text comes from; becomes the provenance label of every entry made from it. At most 500 characters,
            not blank, no control characters.
        text: What it says, at most 20 MB in UTF-8. Blank is allowed: the encoder then reports that it made nothing and why.
            NUL becomes a space and a lone surrogate U+FFFD, as everywhere at Earnest's door.
        format: "auto" decides by the ending of the source's name, else by what the text looks like. "json" is one value, a list,
            or one value a line; "table" is comma- or tab-separated values; "code" is kept whole.
        passages: Entries as they stand, beside the text: the turns of a conversation, the records of a file. Those without
            sources get this document's.
        notes: Remarks of whoever read the document, for the report: what was assumed.
        left_out: Parts that whoever read it left out, each with the reason, for the report.

    Raises:
        InvalidInput: A field is not of that form.
    """

    source: str
    text: str
    format: Format = "auto"
    passages: tuple[Draft, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

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
        object.__setattr__(self, "passages", tuple(check.items("passages", self.passages)))
        for passage in self.passages:
            if not isinstance(passage, Draft):
                raise InvalidInput("passages", passage, f"must hold nothing but Draft(text), not {type(passage).__name__}")


@dataclass(frozen=True, slots=True)
class Encoding:
    """Everything one `encode` made of its documents: drafts, what was left out and why, and remarks about the rest.

    `sources` are labels that this encoding speaks for beside those of the documents: the conversations in an export. `unfinished` are
    documents of which a part was not done as asked, and which are worth encoding again.
    """

    drafts: tuple[Draft, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()


def listed(documents: Any) -> list[Document]:
    """The documents that a caller gave to be encoded.

    Raises:
        InvalidInput: It is no list, or holds something else.
    """
    if isinstance(documents, str | bytes | Document) or not isinstance(documents, Iterable):
        raise InvalidInput("documents", documents, "must be a list of Document; put a single one in brackets")
    made = [*documents]
    for document in made:
        if not isinstance(document, Document):
            raise InvalidInput("documents", document, f"must hold nothing but Document(source, text), not {type(document).__name__}")
    return made
