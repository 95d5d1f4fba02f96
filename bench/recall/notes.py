"""Plain notes without speakers, sessions or order: the paragraphs of this project's own pages, asked for by their headings.

The heading of a section is a question that somebody would type, and its paragraphs are what answers it; the heading itself is no part of
them. What is good for conversations must cost nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
_SHORTEST: Final = 60


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes by id, and questions with the ids of the notes that answer them."""

    ids: Sequence[str]
    texts: Sequence[str]
    questions: Sequence[tuple[str, frozenset[str]]]

    def entries(self) -> list[dict[str, Any]]:
        """The notes as arguments of `Memory.add`."""
        return [{"text": text, "retention": "kept"} for text in self.texts]


def build(folder: Path = DOCS) -> Notes:
    """The notes of every page in a folder, in the order of their names."""
    ids, texts, questions = [], [], []
    for page in sorted(folder.glob("*.md")):
        plain = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for number, section in enumerate(re.split(r"^#{1,4} ", plain, flags=re.MULTILINE)[1:]):
            heading, _, body = section.partition("\n")
            found = []
            for place, part in enumerate(re.split(r"\n\s*\n|\n(?=[-|*] )", body)):
                text = " ".join(re.sub(r"[|`*]|\]\([^)]*\)|\[", " ", part).split())
                if len(text) >= _SHORTEST:
                    found.append(f"{page.stem}/{number}/{place}")
                    ids.append(found[-1])
                    texts.append(text)
            title = re.sub(r"[`*#]", "", heading).strip()
            if found and len(title.split()) >= 2:
                questions.append((title, frozenset(found)))
    return Notes(ids, texts, questions)
