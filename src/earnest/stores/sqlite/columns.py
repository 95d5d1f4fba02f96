"""What columns and the index hold, as values, and values as they hold them."""

from __future__ import annotations

import json
from typing import Any


def facet(kind: str, value: object) -> str:
    """A term that stands for a property of an entry. The analyser never makes a term with this sign."""
    return f"§{kind}{value}"


def loaded(text: Any) -> Any:
    """What a JSON column holds. One that holds no text (a damaged file) is no JSON either."""
    if not isinstance(text, str):
        raise json.JSONDecodeError("not a text", repr(text), 0)
    # Most entries have no tags, no lineage and no metadata: what is empty need not be parsed.
    return [] if text == "[]" else {} if text == "{}" else json.loads(text)


def quoted(term: str) -> str:
    """A term as a literal of the index's query language, whatever characters it holds."""
    return '"' + term.replace('"', '""') + '"'
