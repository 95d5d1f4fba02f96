"""What the write gate looks for first, because that is quick, is in every text that holds a secret: nothing is lost by looking for it."""

from __future__ import annotations

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from earnest.core import secrets as gate
from tests.security.secret_corpus import Case, corpus

CASES: Final[list[Case]] = [case for seed in (20, 31, 42) for case in corpus(seed)]
AROUND: Final = st.text(max_size=30)


def thoroughly(text: str) -> set[tuple[int, int, str]]:
    """Every stretch that a pattern fits, with no look for hints before."""
    found = [secret for shape in gate.SHAPES for secret in gate._matches(shape, text)]
    found += gate._private_keys(text)
    return {(secret.start, secret.end, secret.kind) for secret in found}


def held(text: str) -> None:
    spans = [(secret.start, secret.end) for secret in gate.secrets(text)]
    for start, end, kind in thoroughly(text):
        assert any(first <= start and end <= last for first, last in spans), (kind, text[start:end])
    for match in gate._CARD.finditer(text):
        assert gate._DIGIT.search(text), match


def test_no_hint_keeps_a_known_secret_from_being_found() -> None:
    for case in CASES:
        held(case.text)


@given(case=st.sampled_from(CASES), before=AROUND, after=AROUND, glue=st.sampled_from((" ", "\n", ", ", "")))
def test_nor_do_the_words_around_it(case: Case, before: str, after: str, glue: str) -> None:
    held(f"{before}{glue}{case.text}{glue}{after}")


@given(text=st.text(max_size=200))
def test_nor_does_a_text_of_any_script_hold_one_unseen(text: str) -> None:
    held(text)
