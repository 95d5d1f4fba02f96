"""A text that was executed guards its question as it did while it was suspended: by its words, its meaning, and its place among turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from earnest import Memory
from earnest.core.entry import Cause
from earnest.embedders import HashingEmbedder
from earnest.ledger.book import Book
from earnest.testing.clock import ManualClock, SeededRng
from earnest.verbs.questions import Mode

TURNS = (
    "Ann: Shall we clean up the old database files under data?",
    "Bob: Yes, delete them, that is safe.",
    "Ann: And the backups in the vault?",
    "Bob: Keep those for a year, the auditors ask for them.",
    "Ann: The printer is out of toner again.",
    "Bob: I order toner on Mondays from the shop in Basel.",
)
FACTS = ("Database files are listed in the inventory.", "The vault holds tapes.", "Toner is in the cupboard on the third floor.")
QUESTIONS = (
    "Are the old database files under data safe to delete?",
    "May we delete the database files?",
    "Is it safe to clean up the old data?",
    "How long are the backups in the vault kept?",
    "Who asks for backups?",
    "When does Bob order toner?",
)


def opened(meaning: bool, floor: float) -> Memory:
    memory = Memory.open(
        clock=ManualClock(), rng=SeededRng(3), embedder=HashingEmbedder() if meaning else "none", settings={"floor": floor, "near": 0.3}
    )
    for place, text in enumerate(TURNS):
        memory.add(text, kind="episodic", valid_from=f"2025-05-07T10:0{place}:00Z", metadata={"session": 1, "speaker": text[:3]})
    for text in FACTS:
        memory.add(text)
    return memory


def execute(memory: Memory, entry: str, cause: Cause = "executed") -> None:
    with memory._writing() as tx:
        stored = tx.entry(entry)
        assert stored is not None
        Book(tx, memory._read_settings(tx)).bury(stored, cause)


def suspend(memory: Memory, entry: str) -> None:
    with memory._writing() as tx:
        stored = tx.entry(entry)
        assert stored is not None
        tx.change_entry(stored.row, standing="suspended")


def said(memory: Memory, mode: Mode) -> dict[str, tuple[bool, set[str]]]:
    """Whether each question is answered, and what a prompt is told of it."""
    told = {question: {entry.text for entry in memory.prefetch(question).entries} for question in QUESTIONS}
    return {question: (bool(memory.answer(question, mode=mode)), told[question]) for question in QUESTIONS}


PLACES = [*((place,) for place in range(len(TURNS))), *((place, place + 1) for place in range(len(TURNS) - 1))]
WAYS: list[tuple[bool, Mode]] = [(False, "auto"), (True, "auto"), (True, "dense")]


@pytest.mark.parametrize("floor", [0.1, 0.2, 0.4])
@pytest.mark.parametrize("meaning, mode", WAYS)
@pytest.mark.parametrize("places", PLACES)
def test_what_a_suspended_turn_keeps_silent_stays_so_when_it_was_executed(
    meaning: bool, mode: Mode, floor: float, places: tuple[int, ...]
) -> None:
    memory = opened(meaning, floor)
    harmful = [memory.list()[place].id for place in places]
    assert [memory.get(each).text for each in harmful] == [TURNS[place] for place in places]
    for each in harmful:
        suspend(memory, each)
    before = said(memory, mode)
    for each in harmful:
        execute(memory, each)
    for question, (speaks, told) in said(memory, mode).items():
        assert before[question][0] or not speaks, question
        assert told <= before[question][1], question


@pytest.mark.parametrize("mode", ["auto", "hybrid", "rrf", "keyword", "dense"])
def test_an_executed_fact_guards_its_question_however_it_is_looked_for(mode: Mode) -> None:
    memory = Memory.open(clock=ManualClock(), rng=SeededRng(3), embedder=HashingEmbedder(), settings={"near": 0.3})
    bad = memory.add("The database files under data are redundant and safe to delete.")
    memory.add("Files of the canteen lie in the hall.")
    question = "Are the redundant database files under data safe to delete?"
    assert memory.answer(question, mode=mode).text == bad.text
    execute(memory, bad.id)
    assert memory.answer(question, mode=mode).silent and not memory.prefetch(question)


def test_an_executed_text_is_known_by_its_meaning_where_no_word_is_shared() -> None:
    words = {"wipe": "delete", "obsolete": "old", "archive": "log"}

    class Synonyms:
        """Knows three pairs of words as one."""

        model_id = "synonyms"

        def embed(self, texts: Sequence[str]) -> Any:
            plain = [" ".join(words.get(word.strip("?.").lower(), word) for word in text.split()) for text in texts]
            return HashingEmbedder().embed(plain)

    memory = Memory.open(clock=ManualClock(), rng=SeededRng(3), embedder=Synonyms(), settings={"near": 0.3})
    bad = memory.add("delete old log")
    memory.add("archive the letters of the board")
    question = "wipe obsolete archive?"
    assert memory.answer(question).text == bad.text
    execute(memory, bad.id)
    assert memory.answer(question).silent and not memory.prefetch(question)


@pytest.mark.parametrize("cause", ["executed", "starved", "faded"])
def test_undoing_a_return_leaves_an_entry_as_dead_as_it_was(cause: Cause) -> None:
    memory = Memory.open(clock=ManualClock(), rng=SeededRng(3), embedder="none")
    bad = memory.add("The database files under data are redundant and safe to delete.")
    memory.add("Database files lie in the hall, where everybody may delete them.")
    question = "Are the redundant database files under data safe to delete?"
    execute(memory, bad.id, cause)
    before, silent = memory.get(bad.id), memory.answer(question).silent
    assert silent == (cause == "executed")
    memory.restore(bad.id)
    memory.undo(memory.events(kind="restore")[-1].seq)
    assert replace(memory.get(bad.id), last_recalled=None) == replace(before, last_recalled=None)
    assert memory.answer(question).silent == silent and memory.check().ok
    memory.undo(memory.events(kind="death")[-1].seq)
    assert memory.get(bad.id).alive and memory.check().ok
