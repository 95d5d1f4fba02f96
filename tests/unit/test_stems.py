"""Stems: English ones, by rules written anew, are those that Snowball's own stemmer gives."""

from __future__ import annotations

import itertools
import random
import string

import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from earnest.core import english
from earnest.core.stems import stems_of
from earnest.core.stopwords import STOPWORDS

ENGLISH = snowballstemmer.stemmer("english")


def plainly(word: str) -> tuple[str, ...]:
    stem = ENGLISH.stemWord(word)
    return () if stem == word or not stem else (stem,)


@given(st.text(string.ascii_lowercase, min_size=3, max_size=14) | st.text(string.ascii_lowercase + "éüßøñ'", min_size=3, max_size=10))
def test_a_word_that_the_english_stemmer_leaves_alone_is_left_alone(word: str) -> None:
    if word[0] != "'":
        assert stems_of(word, ["english"]) == plainly(word)


def test_words_of_every_ending_have_the_stem_that_the_stemmer_gives() -> None:
    rng = random.Random(5)
    endings = ("", "ing", "edly", "ational", "iveness", "fulness", "ogist", "ement", "sion", "ies", "eed", "howe", "ish", "ox", "ab", "ku")
    words = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 8))) + rng.choice(endings) for _ in range(4_000)]
    words += [*STOPWORDS, "skis", "skies", "idly", "gently", "ugly", "early", "news", "howe", "atlas", "cosmos", "bias"]
    for word in words:
        if len(word) > 2 and word.isalpha() and word.isascii():
            assert stems_of(word, ["english"]) == plainly(word), word


def test_no_two_letters_end_a_word_that_the_stemmer_changes_unseen() -> None:
    for stem in ("", "b", "commun", "national", "relat", "gener"):
        for ending in itertools.product(string.ascii_lowercase, repeat=3 if len(stem) < 2 else 2):
            word = stem + "".join(ending)
            if len(word) > 2:
                assert stems_of(word, ["english"]) == plainly(word), word


BEGINNINGS = (
    "", "b", "y", "yy", "gr", "add", "eb", "past", "succ", "proc", "exc", "even", "cann", "inn", "out", "ly", "generous", "commun", "inter",
)  # fmt: skip
ENDINGS = (
    "", "s", "ss", "us", "es", "ies", "ied", "sses", "e", "l", "ll", "y", "ing", "ying", "ed", "eed", "edly", "eedly", "ingly", "bled",
    "ated", "ized", "pped", "tional", "ational", "ization", "izer", "ator", "alism", "aliti", "ality", "alli", "fulness", "fully", "ously",
    "ousness", "iveness", "ivity", "ability", "bly", "ogist", "ogy", "logy", "lessly", "ently", "ely", "kly", "alize", "icate", "icity",
    "ical", "ful", "ness", "ative", "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ism", "ate", "ity",
    "ous", "ive", "ize", "ion", "sion", "tion", "rion",
)  # fmt: skip


def test_every_rule_of_the_english_stemmer_holds_in_and_before_each_region() -> None:
    for beginning, middle, end in itertools.product(BEGINNINGS, ("", "a", "ot", "yer", "ibat", "oyy"), ENDINGS):
        word = beginning + middle + end
        if len(word) > 2:
            assert english.stem(word) == ENGLISH.stemWord(word), word


@given(st.lists(st.sampled_from((*ENDINGS, *BEGINNINGS, *string.ascii_lowercase)), min_size=1, max_size=5).map("".join))
def test_words_put_together_from_endings_have_the_stem_that_the_stemmer_gives(word: str) -> None:
    assert english.stem(word) == ENGLISH.stemWord(word)


@given(st.text(string.ascii_lowercase, min_size=1, max_size=30))
def test_a_word_of_any_letters_has_the_stem_that_the_stemmer_gives(word: str) -> None:
    assert english.stem(word) == ENGLISH.stemWord(word)
