"""The demo corpus: a runbook, some notes, and a forum post whose advice costs data."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from earnest.encoding.document import Document

_NAMES: Final = ("runbook", "platform-notes", "forum-post")


def demo_corpus() -> list[Document]:
    """The three documents that the demo and the storage environment talk about: `runbook`, `platform-notes`, and the poisoned
    `forum-post`. Read from the package; no network.
    """
    folder = files("earnest.encoding").joinpath("corpus")
    return [Document(name, folder.joinpath(f"{name}.txt").read_text(encoding="utf-8"), "text") for name in _NAMES]
