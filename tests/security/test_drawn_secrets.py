"""Tokens without a known shape: what looks drawn at random is masked though nothing names it, and compounds of words are left."""

from __future__ import annotations

import base64
import random
from itertools import pairwise

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


def checked(digits: str) -> str:
    """The digits with the check digit of ISO/IEC 7812 behind them."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = int(digit) * (2 if place % 2 == 0 else 1)
        total += number - 9 if number > 9 else number
    return digits + str(-total % 10)


def printed(digits: str, groups: tuple[int, ...], between: str) -> str:
    places = [sum(groups[:n]) for n in range(len(groups) + 1)]
    return between.join(digits[start:end] for start, end in pairwise(places))


@pytest.mark.parametrize("between", [" ", "-", ""])
@pytest.mark.parametrize(
    ("issuer", "length", "groups"),
    [
        ("4", 16, (4, 4, 4, 4)),
        ("52", 16, (4, 4, 4, 4)),
        ("2221", 16, (4, 4, 4, 4)),
        ("37", 15, (4, 6, 5)),
        ("36", 14, (4, 6, 4)),
        ("6011", 16, (4, 4, 4, 4)),
    ],
)
def test_a_payment_card_is_found_as_it_is_printed_and_with_one_digit_wrong_it_is_a_number(
    issuer: str, length: int, groups: tuple[int, ...], between: str
) -> None:
    rng = random.Random(issuer)
    digits = checked(issuer + "".join(rng.choice("0123456789") for _ in range(length - 1 - len(issuer))))
    card = printed(digits, groups, between)
    text = f"They paid with {card} on Monday."
    assert [(text[found.start : found.end], found.kind) for found in secrets(text)] == [(card, "payment card")]
    for place in range(len(issuer), length):
        wrong = digits[:place] + str((int(digits[place]) + 1) % 10) + digits[place + 1 :]
        assert secrets(f"They paid with {printed(wrong, groups, between)} on Monday.") == []


@pytest.mark.parametrize("issuer", ["9", "10", "56", "2720999"])
def test_a_number_that_no_issuer_gives_out_is_no_payment_card_whatever_its_check_digit_is(issuer: str) -> None:
    rng = random.Random(issuer)
    digits = checked(issuer + "".join(rng.choice("0123456789") for _ in range(15 - len(issuer))))
    expected = ["payment card"] if issuer.startswith("2720") else []
    assert [found.kind for found in secrets(f"Order {digits} came on Monday.")] == expected
