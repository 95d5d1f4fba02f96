"""Threads that stem at the same time get the stems that they would have got one after the other."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from earnest.core.stems import stems_of

LANGUAGES = ("english", "russian", "arabic", "greek", "hindi")
WORDS = [f"{head}{middle}{tail}" for head in ("relation", "operat", "nation", "form") for middle in ("al", "iz", "ate", "") for tail in (
    "ational", "ization", "fulness", "ousness", "iveness", "ically", "ements", "ingly")]  # fmt: skip


@pytest.fixture
def switching_often() -> Iterator[None]:
    """Threads take turns after a microsecond, not after five milliseconds: what can go wrong between two of them does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_stems_do_not_depend_on_who_else_is_stemming(switching_often: None) -> None:
    alone = {word: stems_of(word, LANGUAGES) for word in WORDS}
    wrong: list[str] = []

    def work(offset: int) -> None:
        for turn in range(12):
            for place in range(len(WORDS)):
                word = WORDS[(place * (offset + 1) + turn) % len(WORDS)]
                try:
                    made = stems_of(word, LANGUAGES)
                except IndexError as error:
                    wrong.append(f"{word}: {error}")
                else:
                    if made != alone[word]:
                        wrong.append(f"{word}: {made}, not {alone[word]}")

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
