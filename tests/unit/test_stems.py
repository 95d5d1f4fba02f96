"""Stems: what is told without the stemmer is what the stemmer tells."""

from __future__ import annotations

import importlib
import itertools
import random
import re
import string
from pathlib import Path
from typing import Any

import pytest
import snowballstemmer
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from earnest.core.stems import LANGUAGES, stems_of
from earnest.core.stopwords import STOPWORDS

ROOT = Path(__file__).parents[2]


def plain_python(language: str) -> Any:
    """The stemmer of an installation without PyStemmer."""
    module = importlib.import_module(f"snowballstemmer.{language}_stemmer")
    return getattr(module, f"{language.title()}Stemmer")()


ENGLISH = plain_python("english")


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_index_made_with_the_compiled_stemmer_serves_a_process_without_it(language: str) -> None:
    assert isinstance(snowballstemmer.stemmer(language), Stemmer.Stemmer), "it is taken where it is installed"
    compiled, plain = Stemmer.Stemmer(language), plain_python(language)
    files = [*sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("tests/cases/data/**/*.jsonl"))]
    texts = [path.read_text(encoding="utf-8", errors="ignore") for path in files]
    words = sorted({word.lower() for text in texts for word in re.findall(r"[^\W\d_]+", text)})[::5]
    assert len(words) > 800
    assert [word for word in words if compiled.stemWord(word) != plain.stemWord(word)] == []
