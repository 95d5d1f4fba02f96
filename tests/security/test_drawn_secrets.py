"""Tokens without a known shape: what looks drawn at random is masked though nothing names it, and compounds of words are left."""

from __future__ import annotations

import base64
import random

import pytest

from earnest.core.secrets import secrets


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("length", [40, 48, 64])
def test_a_token_drawn_at_random_is_found_with_nothing_beside_it_that_names_it(seed: int, length: int) -> None:
    rng = random.Random(seed)
    token = base64.b64encode(rng.randbytes(length)).decode("ascii")[:length].replace("/", "x").replace("+", "y")
    text = f"We saw {token} in the second line of the output."
    assert [text[found.start : found.end] for found in secrets(text)] == [token]


@pytest.mark.parametrize(
    "word",
    [
        "deployment-controller-for-the-second-cluster-in-europe",
        "test_that_old_log_files_under_logs_may_be_deleted_later",
        "0000000000000000000000000000000000000000000000001111111",
        "abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc",
        "InternalServerErrorWhileReadingConfigurationFileFromDisk",
    ],
)
def test_a_long_name_made_of_words_and_what_repeats_itself_are_left(word: str) -> None:
    assert secrets(f"We saw {word} in the second line of the output.") == []


@pytest.mark.parametrize(
    ("value", "found"), [("summer2024winter", True), ("summer20win24", True), ("v2beta91", False), ("summerwinter", False)]
)
def test_a_token_in_an_address_is_found_if_it_mixes_letters_and_digits_over_twelve_characters(value: str, found: bool) -> None:
    text = f"Call https://api.example.org/v1/items?key={value}&page=2 again."
    assert [text[one.start : one.end] for one in secrets(text)] == ([value] if found else [])


@pytest.mark.parametrize(
    "text",
    [
        "max tokens: 4096 in each call",
        "The secret: the oven must be hot.",
        "key: value",
        "key: value2",
        "token: deployment-controller",
        "Run it with --password --Verbose-mode and wait.",
        "The password: correct horse battery staple",
        "The password: required for the second login",
        "password = ${DB_PASSWORD}",
    ],
)
def test_a_word_about_a_secret_a_reference_to_one_and_an_option_after_an_option_are_left(text: str) -> None:
    assert secrets(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("token: q8Zr2LkP0sVt7YwX", "q8Zr2LkP0sVt7YwX"),
        ("Run it with --password hunter22 and wait.", "hunter22"),
        ("password: Xk9mPq2vL", "Xk9mPq2vL"),
        ("password = hunterhunter", "hunterhunter"),
        ("password: TrOubadour", "TrOubadour"),
        ("PIN: 4711", "4711"),
    ],
)
def test_a_value_beside_a_name_is_found_and_nothing_around_it(text: str, value: str) -> None:
    assert [text[found.start : found.end] for found in secrets(text)] == [value]
