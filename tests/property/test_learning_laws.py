"""Laws of learning the meters: folding what is alike once is the same as folding every word of every entry."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earnest.core.baseline import Baseline, Control
from earnest.core.evidence import RULE, Belief, EvidenceRule, Own, Word, WordRow, contributions, heard, judged, sigmoid, tallied, weigh
from earnest.core.learning import Learning, histories, learn

METERS = ("a", "b", "c")
SIZES = (1.0, 0.4, -0.4, -1.0, -3.0, 0.0, 0.01, 2.5, -0.05)
RULES = (
    RULE,
    replace(RULE, leave_one_out=False),
    replace(RULE, learn=False),
    replace(RULE, weigh_sizes=False),
    replace(RULE, passes=1),
    replace(RULE, limit_learning=3.0, limit=2.0),
    replace(RULE, run=0.5, run_most=2),
)


def plainly(
    said: Sequence[Sequence[Word]], known: Mapping[str, Belief], windows: Mapping[str, tuple[int, int]], rule: EvidenceRule
) -> Mapping[str, Belief]:
    """The rule word by word: the expectation of lies under what is believed, then beliefs from those, some passes long."""
    start = {name: replace(Belief(), since=windows[name][0], through=windows[name][1], baseline=known[name].baseline) for name in known}
    told = [one for one in (heard(words, start, rule) for words in said) if one]
    made = {name: Belief(rule.prior_lies, rule.prior_words, baseline=belief.baseline) for name, belief in start.items()}
    for entry in told:
        for one in entry:
            if len(one.said) == 2 and not one.word.borrowed and abs(one.said[0][1]) > rule.silent_effect:
                before = made[one.word.meter]
                lied = one.said[0][1] * one.said[1][1] < 0
                made[one.word.meter] = replace(before, lies=before.lies + lied, words=before.words + 1)
    for step in range(max(1, rule.passes)):
        sums = {name: [Own(rule.prior_lies, rule.prior_words)] for name in made}
        for entry in told:
            tallies = tallied(entry, start, rule)
            odds, _ = judged(entry, tallies if step else {}, made, rule, rule.limit_learning)
            for name, own in contributions(tallies, sigmoid(odds), rule).items():
                sums[name].append(own)
        made = {}
        for name, parts in sums.items():
            sizes = parts[0].sizes
            for own in parts[1:]:
                sizes = sizes.and_(own.sizes)
            words = sum(own.words for own in parts)
            made[name] = replace(
                start[name], lies=sum(own.lies for own in parts), words=words, caught=sum(own.caught for own in parts),
                counted=words - rule.prior_words, sizes=sizes,
            )  # fmt: skip
    for name in made:
        gained = [
            one.size
            for entry in told
            for one in entry
            if one.word.meter == name and one.size > 0 and windows[name][0] <= one.word.event <= windows[name][1]
        ]
        gain = (rule.gain_words * rule.gain_prior + sum(gained)) / (rule.gain_words + len(gained))
        made[name] = replace(made[name], gain=gain)
    return made


def population(seed: int, entries: int, most: int) -> list[list[Word]]:
    """Entries of some words each, few of which are alike and many of which say the same; second looks and borrowed words among them, and
    harms that share a tick."""
    rng = random.Random(seed)
    spread = rng.choice((1, 4, 50))
    number = count(1)
    made = []
    for _ in range(entries):
        words = []
        for _ in range(rng.randint(0, most)):
            event = next(number)
            word = Word(event, event, event // spread, rng.choice(METERS), rng.choice(SIZES), rng.choice((1.0, 1.0, 0.5)))
            if rng.random() < 0.2:
                word = replace(word, second=rng.choice(SIZES), second_meter=rng.choice(METERS), second_event=next(number))
            words.append(replace(word, borrowed=rng.random() < 0.1))
        made.append(words)
    rng.shuffle(made)
    return made


def rows_of(said: Sequence[Sequence[Word]]) -> list[WordRow]:
    return [
        (row, w.place, w.event, w.tick, w.meter, w.size, w.part, w.second, w.second_meter, w.second_event, int(w.borrowed))
        for row, words in enumerate(said)
        for w in words
    ]


def same(one: Mapping[str, Belief], other: Mapping[str, Belief]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        for field in ("lies", "words", "caught", "counted", "gain", "since", "through"):
            assert getattr(one[name], field) == pytest.approx(getattr(other[name], field), rel=1e-9, abs=1e-9), (name, field)
        assert one[name].sizes == pytest.approx(other[name].sizes, rel=1e-9, abs=1e-9)


@given(seed=st.integers(0, 10_000), entries=st.integers(0, 30), most=st.integers(1, 30), rule=st.sampled_from(RULES), based=st.booleans())
@settings(deadline=None)
def test_learning_many_at_once_is_learning_word_by_word(seed: int, entries: int, most: int, rule: EvidenceRule, based: bool) -> None:
    said = population(seed, entries, most)
    last = max((max(w.event, w.second_event) for words in said for w in words), default=0)
    baseline = Baseline([Control(tick, 0.3 * tick, 2) for tick in range(7)], 0.5) if based else Belief().baseline
    known = {name: Belief(baseline=baseline) for name in METERS}
    windows = {"a": (1, last), "b": (last // 2, last), "c": (1, 0)}
    expected = plainly(said, known, windows, rule)
    same(learn(said, known, windows, rule), expected)

    joined = histories(rows_of(said), windows, apart=based)
    assert sorted(row for one in joined for row in one.rows) == [row for row, words in enumerate(said) if words]
    learning = Learning([(one.words, len(one.rows)) for one in joined], known, windows, rule)
    same(learning.beliefs, expected)
    for one, active in zip(joined, learning.active(), strict=True):
        for row in one.rows:
            assert active == weigh(said[row], learning.beliefs, rule).active


def test_histories_that_come_to_the_same_are_folded_once() -> None:
    said = [[Word(10 * row + n, 10 * row + n, row, "a", 1.0) for n in range(3)] for row in range(50)]
    said.append([Word(600, 600, 1, "a", -1.0)])
    windows = {"a": (0, 1_000)}
    assert [len(one.rows) for one in histories(rows_of(said), windows)] == [50, 1]
    assert len(histories(rows_of(said), windows, apart=True)) == 51
    burst = [[Word(1, 1, tick, "a", -1.0), Word(2, 2, 7, "a", -0.5)] for tick in (7, 8)]
    assert [len(one.rows) for one in histories(rows_of(burst), windows)] == [1, 1], "two harms of one tick may be a run"
    outside = histories(rows_of(said), {"a": (5, 1_000)})
    assert [len(one.rows) for one in outside] == [1, 49, 1], "whose words lie outside of the window counts otherwise"
