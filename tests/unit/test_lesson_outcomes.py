"""Outcomes in texts of lessons: a change may learn how a question was asked, and may not say what was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from earnest.core.lesson_merging import foreign
from tests.unit.test_lesson_bases import Fork, read


def changed(fact: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return (*fact[:at], value, *fact[at + 1 :])


def test_how_a_question_was_asked_may_become_known_and_nothing_else_of_an_outcome(tmp_path: Path) -> None:
    base = read(Fork(tmp_path).base)
    assert base.settled and foreign(base, base) == []
    for name, fact in base.settled.items():
        reworded = replace(base, settled={**base.settled, name: (*fact[:-1], {**fact[-1], "asked": "How else?"})})
        assert foreign(base, reworded) == []
        for at, said in enumerate(fact[:-1]):
            other = said + 1 if isinstance(said, int | float) else f"{said}x"
            forged = replace(base, settled={**base.settled, name: changed(fact, at, other)})
            assert f"ticket {name} is settled by the change itself" in foreign(base, forged)
        more = replace(base, settled={**base.settled, name: (*fact[:-1], {**fact[-1], "asked": "How else?", "cited": ["x"]})})
        assert f"ticket {name} is settled by the change itself" in foreign(base, more)


def test_an_end_that_a_change_leaves_out_is_told(tmp_path: Path) -> None:
    base = read(Fork(tmp_path).base)
    unsettled = replace(base, settled={}, ended=dict(base.settled))
    for gone in base.settled:
        left = {name: fact for name, fact in base.settled.items() if name != gone}
        assert [line for line in foreign(base, replace(base, settled=left)) if gone in line] == [f"the outcome of ticket {gone} is gone"]
        told = foreign(unsettled, replace(unsettled, ended=left))
        assert [line for line in told if gone in line] == [f"how ticket {gone} ended is gone"]
