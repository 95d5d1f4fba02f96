"""Joining rankings, and what surrounds a turn of a conversation: pure rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from earnest.core import context, fusion, thesaurus
from earnest.core.analysis import Analyser
from earnest.core.context import Placed, Surroundings, asks, speaker_of
from earnest.core.cues import Cues, cues, names
from earnest.core.ranking import Candidate, Scored, Statistics, matches, score
from earnest.core.timewords import spans

ANALYSER = Analyser()
NOW = datetime(2026, 11, 30, tzinfo=UTC)


# joining


def test_normalised_values_run_from_zero_to_one_and_are_all_one_where_they_do_not_differ() -> None:
    assert fusion.normalised({1: 2.0, 2: 4.0, 3: 3.0}) == {1: 0.0, 2: 1.0, 3: 0.5}
    assert fusion.normalised({7: 0.3, 8: 0.3}) == {7: 1.0, 8: 1.0}
    assert fusion.normalised({}) == {}


def test_ties_go_to_the_later_row_whatever_the_order_of_coming() -> None:
    assert fusion.in_order({1: 0.5, 3: 0.5, 2: 0.9}) == fusion.in_order({3: 0.5, 2: 0.9, 1: 0.5}) == [2, 3, 1]


def test_reciprocal_ranks_are_those_of_the_paper_over_the_most_there_could_be() -> None:
    made = fusion.reciprocal([[10, 20], [20]])
    assert made[20] == pytest.approx((1 / 62 + 1 / 61) / (2 / 61)) and made[10] == pytest.approx((1 / 61) / (2 / 61))
    assert fusion.reciprocal([[5], [5]])[5] == pytest.approx(1.0), "first everywhere is 1"


def test_beside_what_clears_the_floor_is_told_what_follows_the_best_of_it_closely() -> None:
    clears, close, far, unsure = (0.6, 0.5), (0.45, 0.12), (0.4, 0.19), (0.59, 0.09)
    assert fusion.told([clears, close, far, unsure], 0.2) == [0, 1]
    assert fusion.told([close, clears], 0.2) == [0, 1], "one that ranks before it follows too"
    assert fusion.told([(0.1, 0.2), (0.9, 0.19)], 0.2) == [0, 1], "what clears the floor is told, whatever it scores"


def test_whether_memory_speaks_is_up_to_the_floor_alone() -> None:
    assert fusion.told([], 0.2) == fusion.told([(0.9, 0.199), (0.9, 0.199)], 0.2) == []
    assert fusion.told([(0.9, 0.0)], 0.0) == [0]


def test_what_may_not_lead_makes_nothing_speak_and_guards_by_the_same_measure() -> None:
    assert fusion.told([(0.9, 0.9), (0.9, 0.15)], 0.2, [False, True]) == []
    hits = [(0.9, 0.9), (0.5, 0.3), (0.5, 0.15), (0.5, 0.09), (0.3, 0.15)]
    assert fusion.told(hits, 0.2, [False, True, False, False, False]) == [0, 1, 2], "it stays where it guards its question"


def test_nearness_makes_a_match_surer_and_never_less_sure() -> None:
    assert fusion.sure(0.3, 0.9, 0.0) == 0.3, "nobody knows what is near"
    assert fusion.sure(0.0, 0.5, 0.5) == pytest.approx(fusion.AT_NEAR)
    assert fusion.sure(0.0, 1.0, 0.5) == 1.0 and fusion.sure(0.4, 0.0, 0.5) == 0.4
    for covered in (0.0, 0.2, 0.7, 1.0):
        assert 1.0 >= fusion.sure(covered, 0.6, 0.5) >= covered


# turns


def asked(question: str, texts: dict[int, str], places: dict[int, Placed], **more: Any) -> list[Scored]:
    terms = {row: Candidate(row, ANALYSER.terms(text), ()) for row, text in texts.items()}
    holding = {term: sum(term in c.text_terms for c in terms.values()) for c in terms.values() for term in c.text_terms}
    statistics = Statistics(max(20, len(texts)), 10.0, holding)
    words = matches(ANALYSER.question(question), statistics, list(terms.values()))
    return list(context.ranked(words, Surroundings(places, terms, **more)))


def chain(*speakers: str, asking: frozenset[int] = frozenset()) -> dict[int, Placed]:
    """Turns 1, 2, 3, … of one session."""
    rows = range(1, len(speakers) + 1)
    return {
        row: Placed(
            row, NOW, "s", speakers[row - 1], row in asking,
            tuple(r for r in (row - 1, row - 2) if r in rows), tuple(r for r in (row + 1, row + 2) if r in rows),
        )
        for row in rows
    }  # fmt: skip


TEXTS = {1: "Where did the zebra sleep?", 2: "In the old barn.", 3: "Nice weather today.", 4: "Nothing of note."}


def order(found: list[Scored]) -> list[int]:
    return [each.row for each in found]


def test_a_turn_that_answers_a_matching_question_is_found_by_it() -> None:
    plain = asked("where does the zebra sleep", TEXTS, {})
    assert order(plain) == [1], "by its own words only the question is found"
    around = asked("where does the zebra sleep", TEXTS, chain("A", "B", "A", "B", asking=frozenset({1})))
    assert order(around).index(2) < order(around).index(3) < order(around).index(4), "nearer turns gain more"
    assert dict(around[order(around).index(2)].parts)["neighbour"] > 0


def test_what_follows_a_question_gains_more_than_what_follows_a_statement() -> None:
    def second(asking: frozenset[int]) -> float:
        found = asked("zebra", TEXTS, chain("A", "B", "A", "B", asking=asking))
        return next(each.score for each in found if each.row == 2)

    assert second(frozenset({1})) > second(frozenset())


def test_a_neighbour_lends_only_to_rows_that_passed_the_filter() -> None:
    places = chain("A", "B")
    places = {1: replace(places[1], after=(2, 99))}
    assert order(asked("zebra", TEXTS, places)) == [1]


def test_the_one_who_is_asked_about_ranks_higher_unless_all_are() -> None:
    texts = {1: "Ann: the zebra sleeps", 2: "Bob: the zebra sleeps"}
    places = {1: Placed(1, NOW, "s1", "Ann"), 2: Placed(2, NOW, "s2", "Bob")}
    assert order(asked("zebra Ann", texts, places))[0] == 1 and order(asked("zebra Bob", texts, places))[0] == 2
    both = asked("zebra Ann Bob", texts, places)
    assert not any("speaker" in dict(each.parts) for each in both), "naming everybody tells nothing"


def test_entries_that_are_no_turns_rank_by_their_words_alone() -> None:
    texts = {1: "the zebra sleeps in the barn", 2: "a zebra", 3: "the barn burns"}
    statistics = Statistics(20, 4.0, {"zebra": 2, "barn": 2, "sleeps": 1})
    plain = score(ANALYSER.question("zebra barn"), statistics, [Candidate(row, ANALYSER.terms(text), ()) for row, text in texts.items()])
    found = asked("zebra barn", texts, {row: Placed(row, NOW) for row in texts})
    assert order(found) == order(plain)


def test_scores_lie_between_nought_and_one_and_are_the_sum_of_their_parts() -> None:
    found = asked(
        "When did the zebra of Ann sleep in May 2026?", {1: "Ann: the zebra slept in May?", 2: "Bob: yesterday, zebra"},
        chain("Ann", "Bob", asking=frozenset({1})), cues=Cues(when=True), spans=spans("in May 2026", NOW),
        meaning={1: 0.9, 2: 0.2}, near=0.5,
    )  # fmt: skip
    assert len(found) == 2
    for each in found:
        assert 0 < each.score <= 1 and 0 <= each.covered <= 1
        assert each.score == pytest.approx(sum(part for _, part in each.parts))


def test_a_turn_of_a_session_that_is_near_in_meaning_ranks_higher() -> None:
    texts = {row: "zebra" if row in (1, 5) else "wine" for row in range(1, 9)}
    places = {row: Placed(row, NOW, "first" if row < 5 else "second", "Ann") for row in texts}
    meaning = {1: 0.4, 2: 0.1, 5: 0.4, 6: 0.1, 7: 0.1}
    near = dict.fromkeys((2, 3, 4), 0.3)
    assert order(asked("zebra", texts, places, meaning=meaning))[:2] == [5, 1], "the same, and the later row first"
    found = asked("zebra", texts, places, meaning=meaning | near)
    assert order(found)[:2] == [1, 5] and dict(found[0].parts)["session"] > dict(found[1].parts)["session"]
    for one in asked("zebra", texts | {9: "zebra"}, places, meaning=meaning | near | {9: 1.0}):
        assert 0 < one.score <= 1 and one.score == pytest.approx(sum(part for _, part in one.parts))


def test_a_question_about_a_stranger_is_answered_half_as_surely() -> None:
    texts = {1: "the zebra sleeps"}
    [known], [strange] = asked("zebra", texts, {}), asked("zebra", texts, {}, stranger=True)
    assert strange.covered == pytest.approx(context.STRANGER * known.covered) and strange.score == known.score


def test_what_lies_in_the_time_that_is_asked_for_ranks_higher() -> None:
    texts = {1: "zebra report", 2: "zebra report"}
    places = {1: Placed(1, datetime(2023, 5, 7, tzinfo=UTC)), 2: Placed(2, datetime(2024, 5, 7, tzinfo=UTC))}
    assert order(asked("zebra", texts, places)) == [2, 1]
    assert order(asked("zebra in May 2023", texts, places, spans=spans("zebra in May 2023", NOW))) == [1, 2]


# what a text shows


@pytest.mark.parametrize(
    ("text", "asking"),
    [
        ("Did you?", True), ("Did you? [shares a photo of a cat]", True), ("Really?! 😀", True), ("你呢？", True), ("هل تعلم؟", True),
        ("Did you? Yes.", False), ("No.", False), ("", False), ("[shares a photo?]", False), ("Why? (I wonder) I do not know", False),
    ],
)  # fmt: skip
def test_a_text_asks_by_how_it_ends(text: str, asking: bool) -> None:
    assert asks(text) is asking


@pytest.mark.parametrize(
    ("named", "text", "speaker"),
    [
        ("Ann", "Bob: hello", "Ann"), (None, "Bob: hello", "Bob"), (" ", "Mary Ann Smith: hi", "Mary Ann Smith"), (7, "no one here", ""),
        (None, "at 10:30 we met", ""), (None, "李雷：你好 吗", ""), (None, "李雷： 你好", "李雷"),
    ],
)  # fmt: skip
def test_a_speaker_is_named_or_stands_before_a_colon(named: object, text: str, speaker: str) -> None:
    assert speaker_of(named, text) == speaker


@pytest.mark.parametrize(
    ("question", "when", "count"),
    [
        ("When did she go?", True, False), ("How long ago was that?", True, True), ("In which month was it?", True, False),
        ("How many cats?", False, True), ("Wann war das?", True, False), ("Combien de chats ?", False, True),
        ("когда это было", True, False),
        ("什么时候开会", True, False), ("いつですか", True, False), ("What is it?", False, False), ("Whenever you like", False, False),
    ],
)  # fmt: skip
def test_a_question_says_what_kind_of_answer_it_wants(question: str, when: bool, count: bool) -> None:
    assert (cues(question).when, cues(question).count) == (when, count)


def test_a_kind_of_answer_is_seen_in_the_words() -> None:
    def terms(text: str) -> Candidate:
        return Candidate(1, ANALYSER.terms(text), ())

    assert Cues(when=True).met(terms("I went there yesterday")) and not Cues(when=True).met(terms("I went there"))
    assert Cues(count=True).met(terms("three cats")) and Cues(count=True).met(terms("12 cats")) and not Cues(count=True).met(terms("cats"))
    assert not Cues(when=True).met(None)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What did Calvin say to Mary Ann?", ["calvin", "mary", "ann"]), ("Calvin said what?", []), ("What Did Calvin Do Then", []),
        ("Wo liegen die Sicherungen von Hans?", []), ("What happened in May on Friday?", []), ("Is NASA right?", []),
        ("What is Calvin's dog called?", ["calvin"]), ("ok. Then what?", []), ("", []),
    ],
)  # fmt: skip
def test_names_are_words_with_a_capital_inside_an_english_question(question: str, found: list[str]) -> None:
    assert names(question) == found


# words that belong together


def test_irregular_forms_are_the_word_itself_and_related_ones_are_apart() -> None:
    question, related = thesaurus.widened(ANALYSER.question("When did she go to buy an instrument?"), ANALYSER.terms)
    by_word = {word.terms[0]: (word.terms, others) for word, others in zip(question.words, related, strict=True)}
    assert {"went", "gone"} <= set(by_word["go"][0]) and "went" not in by_word["go"][1]
    assert "bought" in by_word["buy"][0] and "purchas" in by_word["buy"][1]
    assert {"violin", "piano"} <= set(by_word["instrument"][1])


def test_a_regular_form_finds_the_relatives_of_its_base_and_an_unknown_word_has_none() -> None:
    _, related = thesaurus.widened(ANALYSER.question("hobbies instruments running xylograph"), ANALYSER.terms)
    assert all(related[:3]) and related[3] == ()


def test_a_related_word_counts_less_than_the_word_itself() -> None:
    question, related = thesaurus.widened(ANALYSER.question("instrument"), ANALYSER.terms)
    statistics = Statistics(10, 3.0, {"instrument": 1, "violin": 1})
    made = matches(question, statistics, [Candidate(1, ("instrument",), ()), Candidate(2, ("violin",), ())], related, thesaurus.RELATED)
    by_row = {each.row: each for each in made.matched}
    assert by_row[2].total == pytest.approx(thesaurus.RELATED * by_row[1].total) and by_row[2].related and not by_row[1].related
