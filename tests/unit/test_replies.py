"""The reader of what models reply: what can be read for certain is read, the rest is left out and counted, and nothing raises."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from earnest.core import replies

NAMES: Final = ("facts", "statements")
TEXTS: Final = ("text", "fact")
RULE: Final = {"type": "avoid", "trigger": "When a key may have expired", "action": "Check it first"}
SAID: Final = json.dumps(RULE)


def read(reply: Any) -> tuple[Any, ...]:
    return replies.items(reply, ("rules",), ("type", "trigger")).values


@pytest.mark.parametrize(
    "reply",
    [
        SAID,
        f"[{SAID}]",
        f"[[{SAID}]]",
        f"```json\n{SAID}\n```",
        f"```\n[{SAID}]\n```",
        f"```json\n{SAID}",
        f"Here it is, as in [1]:\n{SAID}\nHope it helps!",
        f"In a = [2, 3] nothing is wrong.\n```json\n[{SAID}]\n```\nExplanation: {{one rule}}.",
        f'<think>maybe {{"type": "prefer"}}</think>\n{SAID}',
        f"<thinking>x</thinking>{SAID}",
        f'I should say prefer {{"type": "prefer"}}</think>{SAID}',
        f"◁think▷[]◁/think▷{SAID}",
        f"\ufeff{SAID}",
        json.dumps(SAID),
        json.dumps(json.dumps([RULE])),
        json.dumps({"rules": [RULE]}),
        json.dumps({"success": True, "result": RULE}),
        json.dumps({"result": {"rules": [RULE]}}),
        SAID[:-1] + ",}",
        str(RULE),
        SAID.replace('"', "“"),
        f'[{SAID}, {{"type": "pre',
        f"[]\n{SAID}",
    ],
)
def test_what_can_be_read_is_read(reply: str) -> None:
    assert read(reply) == (RULE,)


@pytest.mark.parametrize(
    ("reply", "cut"),
    [
        ('[{"text": "a"}, {"te', True),
        ('```json\n[{"text": "a"},', True),
        ('Sure: ["a", "b', True),
        ('{"facts": [{"text": "a"}]', True),
        ('[{"text": "a\\" ]"}', True),
        ('[{"text": "a"}]', False),
        ('[{"text": "a [ {"}]', False),
        ('```json\n[{"text": "a"}]\n```', False),
        ('{"text": "a"}\n{"text": "b"}', False),
        ("[{'text': 'a \" b'}]", False),
        ("<think>[</think>[]", False),
        ("Nothing.", False),
        ("", False),
    ],
)
def test_a_list_that_ends_before_it_is_closed_is_known_for_it(reply: str, cut: bool) -> None:
    assert replies.cut_off(reply) == cut


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        (None, "empty"),
        (7, "empty"),
        ("null", "no JSON"),
        ("I could not find a pattern.", "no JSON"),
        ('{"type": "avoid", "trigger": "', "no JSON"),
        ('<think>I never answer {"type": "prefer"}', "thoughts"),
        ("[1] and [2]", "no list"),
        ("{}}{{" * 50 + "[" * 5_000, ""),
        ("[" * 200_000, "no JSON"),
        ('{"a":' * 200_000, "no JSON"),
        ('{"type": "a", "x": ' + "[" * 100 + "]" * 100 + "}", "no JSON"),
    ],
)
def test_what_cannot_be_read_is_nothing(reply: Any, why: str) -> None:
    found = replies.items(reply, ("rules",), ("type", "trigger"))
    assert found.values == ()
    assert why in found.why


@pytest.mark.parametrize("reply", ["[]", "{}", "```json\n[]\n```", "Nothing to remember: []", '{"rules": []}'])
def test_an_empty_list_is_an_answer(reply: str) -> None:
    assert replies.items(reply, ("rules",), ("type",)) == replies.Items((), True)


def test_of_repeated_keys_one_counts_and_no_number_is_none() -> None:
    assert read('{"type": "avoid", "type": "prefer", "trigger": "t", "confidence": NaN}') == (
        {"type": "prefer", "trigger": "t", "confidence": None},
    )
    assert len(read(f"{SAID}\n{SAID.replace('avoid', 'prefer')}")) == 2


def test_texts_are_taken_once_and_what_is_no_text_is_counted() -> None:
    reply = json.dumps({"facts": [{"text": "a"}, {"fact": "b"}, "c", None, "", 3, "A ", ["d"], {"text": "x" * 3_000}]})
    assert replies.texts(reply, NAMES, TEXTS) == (["a", "b", "c"], 5, "")
    assert replies.texts("sorry", NAMES, TEXTS) == ([], 0, "the reply holds no JSON")


def test_a_text_is_clean() -> None:
    assert replies.clean("When a\x00 key\n may \x1b[31mexpire\u202e \ud800 now") == "When a key may [31mexpire ? now"
    assert replies.text_of({"text": "  "}, TEXTS) is None


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), ("3", 3), ("[3]", 3), ("#3", 3), (3.0, 3), (True, None), (3.5, None), (0, None), (9, None), ("three", None), (None, None)],
)
def test_whole_numbers_are_read_in_their_range(value: Any, number: int | None) -> None:
    assert replies.whole(value, 1, 5) == number


def test_lists_of_numbers_lose_what_was_not_shown() -> None:
    assert replies.wholes([1, "2", 2, 9, "x", None], 1, 5) == [1, 2]
    assert replies.wholes("1, 3 and 12", 1, 5) == [1, 3]
    assert replies.wholes(4, 1, 5) == [4]
