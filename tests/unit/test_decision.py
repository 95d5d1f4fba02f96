"""The decision reader: the table of sentences in ten languages, and what must hold for any text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earnest.core.decision import LIMIT, decision_polarity
from earnest.core.decision_words import TABLES
from earnest.core.outcome import Outcome, Task
from earnest.errors import InvalidInput

TABLE = Path(__file__).parent.parent / "data" / "decision_table.tsv"
MEANING = {"act": True, "dont": False, "none": None}
ROWS = [tuple(line.split("\t")) for line in TABLE.read_text(encoding="utf-8").splitlines()]
LANGUAGES = ("en", "zh", "ja", "ko", "de", "fr", "es", "pt", "ru", "ar")

WORDS = st.text(alphabet=st.characters(categories=("Lu", "Ll", "Lo", "Nd"), max_codepoint=0xD7FF), min_size=1, max_size=12)
PHRASES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@pytest.mark.parametrize(("language", "expected", "sort", "sentence"), ROWS, ids=[f"{r[0]}-{n}" for n, r in enumerate(ROWS, 1)])
def test_every_sentence_of_the_table_reads_as_expected(language: str, expected: str, sort: str, sentence: str) -> None:
    assert decision_polarity(sentence) is MEANING[expected], (language, sort)


def test_the_table_covers_ten_languages_and_every_meaning() -> None:
    counted = Counter((language, expected) for language, expected, _, _ in ROWS)
    for language in LANGUAGES:
        assert sum(counted[language, e] for e in MEANING) >= 20
        assert all(counted[language, e] >= 5 for e in MEANING)
    assert len({sentence for *_, sentence in ROWS}) >= len(ROWS) - 10  # "No." is a word of several languages


def test_every_language_has_its_words() -> None:
    assert set(TABLES) == set(LANGUAGES)
    for table in TABLES.values():
        assert {"act", "keep", "modal", "safe", "neg", "harm", "cond", "hedge", "yes", "no"} <= set(table)


@given(st.text(max_size=300))
def test_any_text_gives_a_decision(text: str) -> None:
    assert decision_polarity(text) in (True, False, None)


@given(st.lists(st.sampled_from([w for t in TABLES.values() for line in t.values() for w in line.split(", ")] + list('.,;?!"«\n'))))
def test_any_row_of_known_words_gives_a_decision(words: list[str]) -> None:
    assert decision_polarity(" ".join(words), ("acme",), ("emca",)) in (True, False, None)


@given(PHRASES)
def test_an_extra_phrase_is_honoured_on_either_side(phrase: str) -> None:
    assert decision_polarity(phrase, extra_positive=(phrase,)) is True
    assert decision_polarity(phrase, extra_negative=(phrase,)) is False
    assert decision_polarity(phrase.upper(), extra_positive=(phrase.upper(),), extra_negative=(phrase.upper(),)) is False


@given(PHRASES)
def test_negation_turns_an_extra_phrase(phrase: str) -> None:
    assert decision_polarity(f"It is not zzq {phrase}.", extra_positive=(f"zzq {phrase}",)) is False
    assert decision_polarity(f"It is zzq {phrase}, but only after the backup.", extra_positive=(f"zzq {phrase}",)) is None


@given(PHRASES, PHRASES)
def test_a_match_on_both_sides_is_a_dont(one: str, other: str) -> None:
    text = f"yyq {one}. xxq {other}."
    assert decision_polarity(text, extra_positive=(f"yyq {one}",), extra_negative=(f"xxq {other}",)) is False


@given(st.text(max_size=200), st.text(max_size=50))
def test_only_the_first_characters_are_read(start: str, tail: str) -> None:
    text = start + " " * (LIMIT - len(start))
    assert decision_polarity(text + tail) == decision_polarity(text)


def test_extra_phrases_match_whole_words_in_any_case_and_width() -> None:
    assert decision_polarity("Zap it", extra_positive=("zap it",)) is True
    assert decision_polarity("ＺＡＰ\nit", extra_positive=("zap it",)) is True
    assert decision_polarity("zapping it", extra_positive=("zap",)) is None
    assert decision_polarity("这条线路可退订了", extra_positive=("退订",)) is True  # no spaces, no boundaries


def test_the_longest_extra_phrase_wins() -> None:
    assert decision_polarity("do not cancel", extra_positive=("cancel",), extra_negative=("do not cancel",)) is False
    assert decision_polarity("do not renew", extra_positive=("do not renew",), extra_negative=("renew",)) is True


def test_extra_phrases_of_the_acceptance_world() -> None:
    extra = {"extra_positive": ("safe to cancel", "may stop renewing"), "extra_negative": ("do not cancel", "keep paying")}
    assert decision_polarity("The paymentsly plan is safe to cancel: nobody has used it since March.", **extra) is True
    assert decision_polarity("We may stop renewing logstash: it looks unused.", **extra) is True
    assert decision_polarity("Keep paying for logstash.", **extra) is False
    assert decision_polarity("It is not safe to cancel.", **extra) is False
    assert decision_polarity("Is it safe to cancel?", **extra) is None


def test_a_dont_in_one_sentence_outweighs_an_act_in_another() -> None:
    act, keep = "The logs are safe to delete.", "The database must be kept."
    assert decision_polarity(f"{act} {keep}") is False
    assert decision_polarity(f"{keep} {act}") is False


def test_a_line_break_does_not_cut_a_sentence() -> None:
    assert decision_polarity("It would be a bad idea to\ndelete these") is False
    assert decision_polarity("Advice:\n\n- The logs may be deleted.\n- Use tabs in Makefiles.") is True


def test_people_type_without_accents() -> None:
    assert decision_polarity("Nao exclua o banco de dados.") is False
    assert decision_polarity("Loesche die Datei, das ist ungefaehrlich.") is True


@pytest.mark.parametrize("text", ["不" * 30_000, "a" * 30_000, "not," * 9_000, '"' * 30_000, "x-" * 15_000, "\n" * 30_000, "م" * 30_000])
def test_long_monotonous_texts_are_read_to_the_limit(text: str) -> None:
    assert decision_polarity(text) in (True, False, None)


@pytest.mark.parametrize("phrases", ["safe", ("",), ("  ",), (3,), 7, None, ("\ue000",)])
def test_phrases_that_cannot_be_used_are_refused(phrases: object) -> None:
    with pytest.raises(InvalidInput, match="extra_positive"):
        decision_polarity("x", extra_positive=phrases)  # type: ignore[arg-type]


def test_what_is_not_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="text"):
        decision_polarity(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [float("nan"), float("inf"), -float("inf"), True, "3", None, 10**400])
def test_an_outcome_is_a_finite_number(delta: object) -> None:
    with pytest.raises(InvalidInput, match="delta"):
        Outcome(delta=delta)  # type: ignore[arg-type]


def test_outcomes_and_tasks_are_plain_values() -> None:
    assert Outcome(3) == Outcome(3, "", None)
    assert Task("Is it?") == Task("Is it?", {})
    with pytest.raises(AttributeError):
        Outcome(1.0).delta = 2.0  # type: ignore[misc]
