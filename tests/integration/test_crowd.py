"""Recall in a small scope beside a very large one: nothing of the crowd takes a place or an answer from the few."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from earnest import Memory

CROWD = 100_000
FEW = (
    "The bicycle of Ann stands in the cellar behind the blue door.",
    "Bob pays the rent of the workshop on the third of each month.",
    "Cid keeps the spare key of the office with the neighbours.",
    "Dee waters the plants of the office every Tuesday morning.",
    "Eve has repaired the printer of the workshop with tape.",
)
QUESTIONS = (
    "Where is the bicycle?", "Who pays the rent?", "Where is the spare key of the office?", "When are the plants watered?",
    "What happened to the printer of the workshop?", "office", "workshop rent key door printer",
)  # fmt: skip
WORDS = (
    "bicycle", "cellar", "door", "rent", "workshop", "month", "key", "office", "neighbours", "plants", "tuesday", "printer", "tape", "blue",
    "spare", "morning",
)  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_five_entries_are_found_beside_a_hundred_thousand_as_well_as_alone(mode: Literal["keyword", "hybrid"], tmp_path: Path) -> None:
    crowd = [
        {"text": f"{WORDS[n % 16]} {WORDS[n // 16 % 16]} {WORDS[n // 256 % 16]} of number {n}", "scope": "crowd"} for n in range(CROWD)
    ]
    few = [{"text": text, "scope": "few"} for text in FEW]
    found: list[list[list[str]]] = []
    for name, entries in (("alone", few), ("beside", crowd + few)):
        with Memory.open(tmp_path / f"{name}.db", agent="a", embedder="none" if mode == "keyword" else "hashing") as memory:
            memory.add_many(entries)
            if mode == "hybrid":
                memory.reembed()
            found.append([[hit.entry.text for hit in memory.search(question, 5, scope="few", mode=mode)] for question in QUESTIONS])
            assert all(memory.decide(question, scope="few").deciding is not None for question in QUESTIONS[:5])
    alone, beside = found
    assert [texts[0] for texts in alone[:5]] == list(FEW), "each question has its answer"
    assert [texts[0] for texts in beside] == [texts[0] for texts in alone]
    assert [set(texts) for texts in beside] == [set(texts) for texts in alone]
