"""What a ranking counts in joined terms is what is there, cut up one by one."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from earnest.core.analysis import Question, Wanted
from earnest.core.ranking import CUE_WEIGHT, HELPER, K1, STEM_ONLY, B, Candidate, Statistics, Terms, candidates_of, idf, matches

# Forms that hold one another, so that a part of a term is never taken for the term; few, so that the same one often stands twice in a row.
VOCABULARY = ("a", "aa", "ab", "b", "ba", "bab", "-", "a-b", "é")


def expected(
    question: Question, statistics: Statistics, text: Sequence[str], cue: Sequence[str], related: Sequence[Sequence[str]], part: float
) -> tuple[dict[int, float], set[int]]:
    """What each word gives, by the formula that `matches` names, over lists."""
    words = [(word, idf(statistics, word.terms)) for word in question.words]
    whole = sum(max(word.weight, HELPER) * weight for word, weight in words) or 1.0
    norm = K1 * (1 - B + B * (len(text) + len(cue)) / max(statistics.mean_length, 1.0))
    gains, lent = {}, set()
    for place, (word, weight) in enumerate(words):
        gain = max(word.weight, HELPER) * weight / whole
        first, *stems = (text.count(term) + CUE_WEIGHT * cue.count(term) for term in word.terms)
        often = max(first, *(STEM_ONLY * stemmed for stemmed in stems)) if stems else first
        if often:
            gains[place] = gain * often / (often + norm)
        elif not {*text, *cue}.isdisjoint(related[place]):
            gains[place] = part * gain / (1 + norm)
            lent.add(place)
    return gains, lent


@pytest.mark.parametrize("seed", range(40))
def test_joined_terms_are_counted_as_lists_are(seed: int) -> None:
    rng = random.Random(seed)

    def some(least: int, most: int) -> list[str]:
        return rng.choices(VOCABULARY, k=rng.randint(least, most))

    for _ in range(25):
        forms = [tuple(dict.fromkeys(some(1, 3))) for _ in range(rng.randint(1, 4))]
        question = Question(tuple(Wanted(terms, rng.choice((0.0, 0.5, 1.0))) for terms in forms))
        statistics = Statistics(20, rng.uniform(0.5, 9.0), {term: rng.randint(0, 20) for term in VOCABULARY})
        related = [tuple(some(0, 2)) for _ in forms]
        rows = [(row, some(1, 12), some(0, 4)) for row in range(8)]
        lists = [Candidate(row, text, cue) for row, text, cue in rows]
        joined = candidates_of([(row, " ".join(text), " ".join(cue)) for row, text, cue in rows])
        for candidates in (lists, joined):
            made = {each.row: each for each in matches(question, statistics, candidates, related, 0.25).matched}
            for row, text, cue in rows:
                gains, lent = expected(question, statistics, text, cue, related, 0.25)
                assert (made[row].gains if row in made else {}) == gains, (question, text, cue)
                assert (made[row].related if row in made else frozenset()) == lent


@pytest.mark.parametrize("terms", [["a"], ["a", "a"], ["", "b"], [""], ["one", "two", "three"]])
def test_joined_terms_are_the_sequence_that_they_were(terms: list[str]) -> None:
    made = Terms(" ".join(terms))
    assert len(made) == len(terms) and [*made] == terms and made == terms and made == Terms(" ".join(terms))
    assert made[0] == terms[0] and made[-1] == terms[-1] and made[:1] == terms[:1]
    assert made != [*terms, "more"] and made != " ".join(terms) and made.count(terms[0]) == terms.count(terms[0])
    assert repr(made) == f"Terms({' '.join(terms)!r})"
    with pytest.raises(TypeError):
        hash(made)
