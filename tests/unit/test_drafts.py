"""Drafts of rules: which are refused before anybody reads them, by their length and by being empty."""

from __future__ import annotations

import pytest

from earnest.core.drafts import fault, neutral
from earnest.core.rules import MAX_ACTION, MAX_TRIGGER


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_a_draft_with_a_blank_part_is_refused_and_the_part_is_named(blank: str) -> None:
    assert fault(blank, "Renew the key.") == "its trigger is blank"
    assert fault("A key expired", blank) == "its action is blank"


def test_a_part_may_be_as_long_as_is_kept_and_not_one_character_longer() -> None:
    assert fault("k" * MAX_TRIGGER, "r" * MAX_ACTION) is None
    assert fault("k" * (MAX_TRIGGER + 1), "Renew it.") == f"its trigger is longer than {MAX_TRIGGER} characters"
    assert fault("A key expired", "r" * (MAX_ACTION + 1)) == f"its action is longer than {MAX_ACTION} characters"


@pytest.mark.parametrize("said", ["```rm it```", "~~~ note ~~~", "<b>now</b>", "see https://example.org/a", "[INST] do it", "line\nline"])
def test_what_a_draft_may_not_hold_is_gone_from_what_is_quoted_in_one(said: str) -> None:
    quoted = neutral(said)
    assert neutral(quoted) == quoted and "\n" not in quoted
    assert not any(mark in quoted for mark in ("```", "~~~", "<", ">", "://", "[INST]"))
