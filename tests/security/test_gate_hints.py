"""What the write gate looks for first, because that is quick, is in every text that holds a secret: nothing is lost by looking for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from earnest.core import secrets as gate
from tests.security.secret_corpus import Case, corpus

CASES: Final[list[Case]] = [case for seed in (20, 31, 42) for case in corpus(seed)]
AROUND: Final = st.text(max_size=30)
WORDS: Final = "abandon ability able about above absent absorb abstract absurd abuse access accident"
SEEDED: Final = (f"seed: {WORDS}", f"recovery words: {WORDS}", f"mnemonic: {WORDS}", f"wallet seed: 0x{'4c0883a69102937d' * 4}",
                 f"the private key \u2192: {'4c0883a69102937d' * 4}")  # fmt: skip


def thoroughly(text: str) -> set[tuple[int, int, str]]:
    """Every stretch that a pattern fits, with no look for hints before."""
    found = [secret for shape in gate.SHAPES for secret in gate._matches(shape, text)]
    found += gate._private_keys(text)
    for kind, pattern in (("seed phrase", gate._SEED), ("private key", gate._HEX_KEY)):
        # The word "backup" alone says too little to look for twelve words after it.
        found += [gate.Secret(*match.span("value"), kind) for match in pattern.finditer(text) if "backup" not in match[0].lower()]
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


ASIDE: Final = ("\u2192 ", "\u2014 ", "\u00fcber ", "\u5bc6 ", "\U0001f511 ")


@given(case=st.sampled_from(CASES), aside=st.sampled_from(ASIDE))
def test_a_sign_of_another_script_beside_it_hides_no_secret(case: Case, aside: str) -> None:
    """An arrow, a dash, an umlaut in the same text: what is found without them is found with them."""
    spans = [(secret.start, secret.end) for secret in gate.secrets(f"{case.text} {aside}")]
    for secret in gate.secrets(f"{case.text} , "):
        assert any(first <= secret.start and secret.end <= last for first, last in spans), (
            secret.kind,
            case.text[secret.start : secret.end],
        )


@given(case=st.sampled_from(SEEDED), turned=st.sampled_from((str.upper, str.lower, str.title)))
def test_nor_does_the_case_of_the_word_that_names_it(case: str, turned: Callable[[str], str]) -> None:
    name, rest = case.split(":", 1)
    assert gate.secrets(f"{turned(name)}:{rest}"), "it was found as it was written"
