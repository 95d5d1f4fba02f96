"""Which texts are one, and which are not: trivial variants are joined, values are not touched."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest import Memory
from earnest.core import twins
from earnest.core.twins import exact_digest, plain_form, twin_digest

SAME = [
    ("Server runs on port 8090", "The server runs on port 8090."),
    ("The database server runs on port 8090", "the database server runs on port 8090."),
    ("User prefers dark mode", "user prefers dark mode"),
    ("User prefers dark mode", "  User  prefers\ndark mode "),
    ("Use tabs", "Use tabs!"),
    ("Café opens at 9", "Cafe\u0301 opens at 9"),
    ("缓存可以删除", "缓存可以删除。"),
    ("It rains. The roof leaks.", "it rains. Roof leaks"),
]
DIFFERENT = [
    ("key=abc123", "key=ABC123"),
    ("US law applies", "us law applies"),
    ("The apple price rose", "The Apple price rose"),
    ("Tabs are used", "Tabs are used?"),
    ("10² metres", "102 metres"),
    ("v1.10 is out", "v1.1 is out"),
    ("API_KEY is set", "api_key is set"),
    ("Deploy", "Deploy it"),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_a_trivial_variant_is_joined_and_gets_no_stake(first: str, second: str) -> None:
    with Memory.open() as memory:
        one = memory.add(first, sources=["a"])
        two = memory.add(second, sources=["b"])
        assert two.id == one.id and two.text == first and two.sources == ("a", "b")
        assert memory.stats().alive == 1 and memory.stats().energy == 1_000_000 and memory.check().ok


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_what_could_be_a_value_tells_texts_apart(first: str, second: str) -> None:
    with Memory.open() as memory:
        assert memory.add(first).id != memory.add(second).id
        assert memory.stats().alive == 2


@given(st.text(min_size=1))
def test_the_plain_form_is_stable_and_says_something_where_the_text_does(text: str) -> None:
    made = plain_form(text)
    assert plain_form(made) == made
    assert bool(made) == bool(text.split())


@given(st.text(), st.text())
def test_equal_words_are_twins_by_either_digest(text: str, cue: str) -> None:
    spaced = "  ".join(text.split(" "))
    assert exact_digest(spaced, cue) == exact_digest(text, cue)
    assert twin_digest(spaced, cue) == twin_digest(text, cue)


def test_an_entry_that_an_older_version_wrote_is_whole_and_is_joined_by_its_exact_words(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    with Memory.open(file) as memory:
        old = memory.add("The zebra is striped.", cue="What of the zebra?")
    connection = apsw.Connection(str(file))
    connection.execute("UPDATE entries SET twin = ?", (exact_digest(old.text, old.cue),))
    connection.close()
    with Memory.open(file) as memory:
        assert memory.check().ok
        assert memory.add("The zebra is striped.", cue="What of the zebra?").id == old.id


PIECES = st.sampled_from(
    ["the", "The", "us", "US", "cat", "Cat", "é", "É", "1st", ".", "!", "?", "。", "Paris", "iPhone", " ", "\u3000", "\n"]
)


@given(st.lists(PIECES, max_size=9).map(" ".join) | st.text(max_size=40))
def test_one_sentence_is_folded_as_the_first_of_many(text: str) -> None:
    said = " ".join(unicodedata.normalize("NFC", text).split())
    closed = re.sub(r"[\s.!。！．]+\Z", "", said) or said
    assert plain_form(text) == twins._SENTENCE.sub(lambda match: twins._opening(match.group(1)), closed)
    assert plain_form(plain_form(text)) == plain_form(text)
