"""A reader of PDF files, by pypdf (pure Python, the extra `docs`). Gives the text of pages as paragraphs, or says why there is none."""

from __future__ import annotations

import io
import logging
from collections import Counter
from typing import Final

from earnest.core.patterns import lazily
from earnest.errors import InvalidInput, NotAvailable
from earnest.installed import bringing

_HEADER: Final = b"%PDF-"
_HEADER_WITHIN: Final = 1024
MAX_PDF_BYTES: Final = 200_000_000
MAX_PAGES: Final = 5_000
_MAX_CHARS: Final = 19_000_000
_EDGE: Final = 1
"""How many lines at the top and the foot of a page may be a running head."""
_MAX_HEAD: Final = 100
_MIN_PAGES: Final = 4
_NUMBERED: Final = lazily(r"\d+")
_PARAGRAPH_END: Final = lazily(r"[.!?:。！？][\"'”’»)\]]*$")
_LOOKS_BULLET: Final = lazily(r"^\s*(?:[•‣▪◦●○–-]|\d{1,3}[.)])\s+\S")


def is_pdf(data: bytes) -> bool:
    """Whether a file is a PDF by its first bytes, whatever it is called."""
    return _HEADER in data[:_HEADER_WITHIN]


def read_pdf(data: bytes, name: str) -> tuple[str, list[str]]:
    """The text of a PDF, and remarks for the report (pages without text, running heads that were dropped).

    Raises:
        NotAvailable: The extra `docs` is not installed.
        InvalidInput: It is no PDF, is damaged, needs a password, or holds no text (only pictures of it).

    Cost: seconds for hundreds of pages; bounded by 200 MB and 5,000 pages.
    """
    if not is_pdf(data):
        raise InvalidInput("path", name, "is called a PDF and is none; rename it after what it holds")
    try:
        import pypdf
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError as problem:
        raise NotAvailable(f"reading PDF files needs the extra `docs`: {bringing('docs')}") from problem
    # The library tells its troubles to a log; here the outcome tells.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise InvalidInput("path", name, "is encrypted and needs a password; save it without one")
        count = len(reader.pages)
        if count > MAX_PAGES:
            raise InvalidInput("path", name, f"has {count:,} pages, at most {MAX_PAGES:,} are read; split it into parts")
        pages = _texts(reader, name)
    except (PyPdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError, OSError) as problem:
        # A damaged file shows in many ways inside the library. What is raised here already is a verdict of its own.
        if isinstance(problem, InvalidInput):
            raise
        raise InvalidInput("path", name, f"is a damaged PDF ({_said(problem)}); open it in a viewer and save it again") from problem
    except DependencyError as problem:
        raise InvalidInput("path", name, f"is encrypted and needs one more package ({_said(problem)}); save it without") from problem
    if not any(page.strip() for page in pages):
        what = "1 page" if count == 1 else f"{count:,} pages"
        raise InvalidInput("path", name, f"holds no text, only pictures ({what}); run text recognition (OCR) over it first")
    return _joined(pages)


def _texts(reader: object, name: str) -> list[str]:
    made: list[str] = []
    size = 0
    for page in reader.pages:  # type: ignore[attr-defined]
        text: str = page.extract_text() or ""
        size += len(text)
        if size > _MAX_CHARS:
            raise InvalidInput("path", name, f"holds more than {_MAX_CHARS:,} characters of text; split it into parts")
        made.append(text)
    return made


def _said(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:120] or type(problem).__name__


def _joined(pages: list[str]) -> tuple[str, list[str]]:
    notes: list[str] = []
    empty = [number for number, page in enumerate(pages, 1) if not page.strip()]
    if empty:
        shown = ", ".join(f"{n:,}" for n in empty[:10]) + (f" and {len(empty) - 10:,} more" if len(empty) > 10 else "")
        notes.append(f"page{'s' if len(empty) > 1 else ''} {shown}: no text (a picture, maybe); text recognition would find it")
    split = [[line.rstrip() for line in page.splitlines()] for page in pages]
    heads = _running_heads(split)
    if heads:
        notes.append(f"lines that stand on most pages were dropped: {'; '.join(repr(head[:40]) for head in sorted(heads)[:5])}")
    lines: list[str] = []
    for page in split:
        last = len(page) - 1
        kept = [line for i, line in enumerate(page) if not (_plain(line) in heads and (i < _EDGE or i > last - _EDGE))]
        # A sentence may go on over the border of the page.
        if lines and kept and lines[-1] and _PARAGRAPH_END.search(lines[-1]):
            lines.append("")
        lines += kept
    return _paragraphs(lines), notes


def _plain(line: str) -> str:
    """A line with its numbers as one sign, so that "Page 3 of 9" is the same on each page."""
    return _NUMBERED.sub("#", " ".join(line.split()))


def _running_heads(pages: list[list[str]]) -> set[str]:
    """Lines at the edges of pages that stand on more than half of them."""
    if len(pages) < _MIN_PAGES:
        return set()
    seen: Counter[str] = Counter()
    for page in pages:
        edges = page[:_EDGE] + (page[-_EDGE:] if len(page) > 2 * _EDGE else [])
        seen.update({plain for line in edges if len(line) <= _MAX_HEAD and (plain := _plain(line))})
    return {line for line, count in seen.items() if count > len(pages) // 2}


def _paragraphs(lines: list[str]) -> str:
    """Lines as they stand on paper into paragraphs: words that were divided are joined, short last lines end a paragraph."""
    lengths = sorted(len(line) for line in lines if line.strip())
    usual = lengths[len(lengths) * 3 // 4] if lengths else 0
    made: list[str] = []
    for line in lines:
        bare = line.strip()
        before = made[-1] if made else ""
        if len(before) > 2 and before.endswith("-") and before[-2].isalpha() and bare[:1].islower():
            made[-1] = before[:-1] + bare
            continue
        short = before and len(before) < usual * 0.7
        if short and bare and (_PARAGRAPH_END.search(before) or bare[0].isupper()) and not _LOOKS_BULLET.match(bare):
            made.append("")
        made.append(bare)
    return "\n".join(made)
