"""What is shown of a text is shown in whole characters, and what scripts and emoji are joined by stays, whoever shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from earnest import Memory
from earnest.conversation.prefetching import CLOSE, OPEN
from earnest.core.cutting import MARK, border, cut, line, visible
from earnest.core.fencing import escaped, inert
from earnest.core.gist import gist
from earnest.core.replies import clean
from earnest.recall.answering import one_line

JOINED: Final = ("کتاب‌خانه‌ها می‌مانند", "👩‍👩‍👧‍👦 and 👩🏽‍🚒 came", "🇩🇪🇫🇷🇯🇵 flags", "क्षत्रिय और विद्यार्थी", "e\u0301te\u0301 á l'e\u0301cole")
LONG: Final = tuple(f"{' '.join([text] * 12)}." for text in JOINED)
SHOWN: Final[tuple[Callable[[str], str], ...]] = (visible, line, escaped, inert, clean, one_line, gist)
CUT: Final[tuple[Callable[[str, int], str], ...]] = (cut, one_line, gist)


@pytest.mark.parametrize("text", JOINED)
@pytest.mark.parametrize("shown", SHOWN, ids=lambda one: str(one.__name__))
def test_what_joins_letters_and_emoji_stays(shown: Callable[[str], str], text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize("text", LONG)
@pytest.mark.parametrize("shown", CUT, ids=lambda one: str(one.__name__))
def test_no_character_is_cut_in_two(shown: Callable[[str, int], str], text: str) -> None:
    for length in range(20, 60):
        made = shown(text, length)
        assert len(made) <= length and made.endswith(MARK)
        kept = made.removesuffix(MARK)
        at = text.index(kept) + len(kept)
        assert border(text, at) == at, made


@pytest.mark.parametrize("text", JOINED)
def test_an_answer_says_it_as_the_entry_does(text: str) -> None:
    with Memory.open(":memory:", embedder="none") as memory:
        memory.add(text, cue="What is kept?")
        answer = memory.answer("What is kept?")
        assert answer.annotated.split("\n")[0] == text


def test_invisible_controls_are_not_shown() -> None:
    hidden = "a\u202eb\u2066c\u0000d\ue000e\u200bf"
    assert {shown(hidden).replace(" ", "") for shown in SHOWN if shown is not gist} == {"abcdef"}


@pytest.mark.parametrize("text", LONG)
def test_no_character_is_cut_in_two_in_a_prompt(text: str) -> None:
    with Memory.open(":memory:", embedder="none") as memory:
        memory.add(text, cue="the walrus")
        frame = len(f"{OPEN}\n{CLOSE}")
        cuts = 0
        for budget in range(frame + 90, frame + 150):
            made = str(memory.prefetch("the walrus", budget=budget, count_tokens=len))
            if MARK in made:
                kept = made.split("\n")[1].removeprefix("- ").split(MARK)[0]
                at = text.index(kept) + len(kept)
                assert border(text, at) == at, made
                cuts += 1
        assert cuts > 9
