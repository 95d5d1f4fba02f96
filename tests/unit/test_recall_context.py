"""Conversations, times and the floor, through the façade."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from earnest import ALL, Memory
from earnest.core.filters import Filter
from earnest.errors import InvalidInput
from earnest.recall.calibration import FEWEST, floor_for, near_for
from earnest.testing.clock import ManualClock, SeededRng


def opened(**more: Any) -> Memory:
    return Memory.open(":memory:", clock=ManualClock(datetime(2026, 1, 15, 12, tzinfo=UTC)), rng=SeededRng(1), **more)


TALK = (
    ("Ann", "Hi Bob, long time no see!"), ("Bob", "Good to see you."), ("Ann", "Where did you take your zebra on holiday?"),
    ("Bob", "We went to the old lighthouse."), ("Ann", "That sounds lovely."), ("Bob", "Yes. My sister sells bread now."),
)  # fmt: skip


def talked(
    memory: Memory, *, session: Any = 1, scope: str = "", day: str = "2025-05-07", turns: Sequence[tuple[str, str]] = TALK
) -> list[str]:
    metadata = {} if session is None else {"session": session}
    return [
        memory.add(f"{who}: {text}", kind="episodic", scope=scope, valid_from=day, metadata={**metadata, "speaker": who}).id
        for who, text in turns
    ]


def test_an_answer_is_found_by_the_question_before_it() -> None:
    memory = opened()
    ids = talked(memory)
    hits = memory.search("Where did Bob take the zebra on holiday?", 6)
    assert [hit.entry.id for hit in hits][:2] in ([ids[2], ids[3]], [ids[3], ids[2]])
    answer = next(hit for hit in hits if hit.entry.id == ids[3])
    assert "neighbour" in answer.why and "speaker" in answer.why and "%" in answer.why


def test_the_day_stands_for_a_session_that_has_no_name() -> None:
    memory = opened()
    ids = talked(memory, session=None)
    found = [hit.entry.id for hit in memory.search("zebra", 6)]
    assert ids[3] in found
    bare = opened()
    for who, text in TALK:
        bare.add(f"{who}: {text}", kind="episodic")
    assert len(bare.search("zebra", 6)) == 1, "what does not say that it is a turn is none"


def test_turns_of_another_session_scope_or_filter_lend_nothing() -> None:
    memory = opened()
    talked(memory, session=1)
    other = talked(memory, session=2, turns=TALK[3:4], day="2025-06-01")
    aside = talked(memory, scope="aside", turns=TALK[3:4])
    found = [hit.entry.id for hit in memory.search("zebra", 50)]
    assert other[0] not in found and aside[0] not in found
    assert aside[0] not in [hit.entry.id for hit in memory.search("zebra", 50, scope=ALL)]
    tagged = opened()
    ids = talked(tagged)
    tagged.update(ids[3], tags=["keep"])
    assert [hit.entry.id for hit in tagged.search("zebra", 50, tags="keep")] == [], "a neighbour that fails the filter lends nothing"


def test_a_dead_turn_is_passed_over_by_those_around_it() -> None:
    memory = opened()
    ids = talked(memory)
    memory.forget(ids[3])
    found = [hit.entry.id for hit in memory.search("zebra", 6)]
    assert ids[3] not in found and ids[4] in found
    with memory._store.read() as reading:
        [place] = reading.placed([row for row in range(1, 7) if row == 3], Filter(), 2)
        assert place.before == (2, 1) and place.after == (5, 6), "the next living turns"


def test_the_order_of_turns_is_by_time_and_then_by_age() -> None:
    memory = opened()
    for number, hour in enumerate((9, 8, 8, 10)):
        memory.add(
            f"zebra {number}",
            kind="episodic",
            metadata={"session": "s", "speaker": "Ann"},
            valid_from=datetime(2025, 5, 7, hour, tzinfo=UTC),
        )
    with memory._store.read() as reading:
        places = {place.row: place for place in reading.placed([1, 2, 3, 4], Filter(), 2)}
    assert places[1].before == (3, 2) and places[1].after == (4,)
    assert places[2].before == () and places[2].after == (3, 1)
    assert places[3].before == (2,) and places[3].after == (1, 4)
    assert places[4].before == (1, 3) and places[4].after == ()


@pytest.mark.parametrize("floor", [0.1, 0.2, 0.3, 0.5, 0.7, 0.9])
def test_a_floor_leaves_out_what_is_less_sure_and_nothing_else(floor: float) -> None:
    said = (
        "Ann: My bicycle is red, a fast bicycle.", "Ann: I left it in Lisbon.", "Bob: Why?", "Ann: It was raining there.",
        "Bob: Rain again.", "Ann: The red one rusts.", "Bob: Was it fast?", "Ann: Fast as rain.",
    )  # fmt: skip
    with Memory.open(":memory:", embedder="none") as memory:
        memory.add_many([{"text": t, "kind": "episodic", "valid_from": "2025-05-07", "metadata": {"session": 1}} for t in said])
        memory.add_many([{"text": f"The {thing} is in the cellar."} for thing in ("wine", "red paint", "ladder")])
        for question in ("Did Ann leave the bicycle in Lisbon?", "Why did the red bicycle rust in the rain?", "How fast is Bob?"):
            every = [(hit.entry.id, hit.sure) for hit in memory.search(question, 50)]
            cleared = [(hit.entry.id, hit.sure) for hit in memory.search(question, 50, floor=floor)]
            assert len(every) > 3 and cleared == [(id, sure) for id, sure in every if sure >= floor]


def test_plain_notes_rank_as_if_there_were_no_context() -> None:
    memory = opened()
    texts = [
        "The zebra lives in Kenya.",
        "A zebra eats grass.",
        "Kenya has lions.",
        "The zebra of Kenya is striped and calm and eats grass.",
    ]
    memory.add_many([{"text": text} for text in texts])
    from earnest.recall import KeywordRetriever

    plain = opened(retriever=KeywordRetriever())
    plain.add_many([{"text": text} for text in texts])
    for query in ("zebra in Kenya", "what does a zebra eat", "Kenya"):
        assert [h.entry.text for h in memory.search(query, 9)] == [h.entry.text for h in plain.search(query, 9)]


def test_scores_lie_between_nought_and_one() -> None:
    memory = opened()
    memory.add("walrus walrus walrus")
    [alone] = memory.search("walrus")
    memory.add("a long text where walrus is one word among very many other words that go on")
    first, second = memory.search("walrus")
    assert 0 < alone.score <= 1 and 1 >= first.score > second.score > 0
    assert first.entry.text.startswith("walrus") and 0 < second.sure <= 1


# time


def test_a_time_in_a_question_lifts_what_is_from_then() -> None:
    memory = opened()
    old = memory.add("Report on the zebra.", valid_from="2023-05-07")
    new = memory.add("Report on the zebra again.", valid_from="2024-05-07")
    assert memory.search("zebra report in May 2023")[0].entry.id == old.id
    assert memory.search("zebra report in May 2024")[0].entry.id == new.id
    assert {hit.entry.id for hit in memory.search("zebra report in May 2023")} == {old.id, new.id}, "a soft prior, no filter"
    assert "time" in memory.search("zebra report in May 2023")[0].why


def test_words_for_times_are_counted_from_the_clock() -> None:
    memory = opened()
    memory.add("Fixed the gate.", valid_from="2025-12-20")
    yesterday = memory.add("Painted the barn.", valid_from="2026-01-14")
    assert [hit.entry.id for hit in memory.search("What was done yesterday?")] == [yesterday.id], "found by its time alone"
    assert memory.search("What was done last month?")[0].entry.text == "Fixed the gate."


def test_a_time_does_not_reach_into_other_scopes() -> None:
    memory = opened()
    memory.add("Painted the barn.", valid_from="2026-01-14", scope="other")
    assert memory.search("What happened yesterday?") == []
    assert len(memory.search("What happened yesterday?", scope=["other", ""])) == 1


# related words


def test_irregular_forms_and_relatives_are_found_and_do_not_outrank_the_word() -> None:
    memory = opened()
    went = memory.add("We went to the dentist.")
    plays = memory.add("Carl plays the violin.")
    assert memory.search("When did we go?")[0].entry.id == went.id
    assert memory.search("Which instruments?")[0].entry.id == plays.id
    own = memory.add("Carl sold his instrument.")
    assert memory.search("Which instruments?")[0].entry.id == own.id
    assert opened(settings={"languages": "german"}).settings.languages == "german"
    german = opened(settings={"languages": "german"})
    german.add("Carl plays the violin.")
    assert german.search("instruments") == [], "a table of English words, for stores that speak English"


# the floor


def test_a_question_about_a_stranger_needs_a_surer_match() -> None:
    memory = opened()
    memory.add("The zebra of the zoo likes hay and sleeps in a barn.")
    [known], [strange] = memory.search("Does the zebra like hay?"), memory.search("Does the zebra like Wolfgang?")
    assert strange.sure < known.sure / 2


def test_nonsense_is_answered_with_silence() -> None:
    memory = opened()
    talked(memory)
    for question in ("What did the flomp brek do with a zungy?", "How many plarf skooze quim?", "Where is the vexlum of kint jarl?"):
        assert memory.answer(question).silent


@pytest.mark.parametrize(
    ("sureness", "share", "floor"),
    [([0.1, 0.2, 0.3, 0.4], 0.25, 0.31), ([0.1, 0.2, 0.3, 0.4], 0.5, 0.21), ([1.0] * 4, 0.1, 1.0), ([], 0.1, 0.01)],
)
def test_a_floor_is_the_lowest_that_no_more_than_a_share_clears(sureness: list[float], share: float, floor: float) -> None:
    assert floor_for(sureness, share) == floor


def test_the_cosine_that_counts_is_what_a_share_of_off_topic_questions_reaches() -> None:
    assert near_for([], 0.1) == 0 and near_for([0.9, 0.1], 0.1) == 0.9 and near_for([0.999], 0.1) == 0.95 and near_for([-1.0], 0.1) == 0.05


def test_a_calibration_sets_the_floor_for_every_process() -> None:
    memory = opened(settings={"floor": 0.01})
    talked(memory)
    memory.add_many(
        [{"text": text} for text in ("The museum opens at nine.", "The best way to clean a pan is with salt.", "Ask Rosa about tea.")]
    )
    tried = memory.calibrate(0.1, apply=False)
    assert memory.settings.floor == 0.01 and not tried.applied
    made = memory.calibrate(0.1)
    assert made.floor == memory.settings.floor > 0.01 and made.near == 0 and made.applied
    assert made.questions >= FEWEST and made.answered <= 0.1 * made.questions <= made.before
    again = memory.calibrate(0.1)
    assert abs(again.floor - made.floor) < 0.1, "other questions of the same kind"


def test_a_calibration_takes_the_questions_that_should_not_be_answered() -> None:
    memory = opened()
    talked(memory)
    made = memory.calibrate(0.05, off_topic=[f"Is the museum number {n} open?" for n in range(FEWEST)])
    assert made.questions == FEWEST and made.answered <= 1
    for bad in ([], ["one"], "a question", 7, [f"{n}" for n in range(FEWEST - 1)]):
        with pytest.raises(InvalidInput, match="off_topic"):
            memory.calibrate(off_topic=bad)  # type: ignore[arg-type]
    for share in (0.0, -0.1, 0.6, True, float("nan"), "0.1"):
        with pytest.raises(InvalidInput, match="false_answers"):
            memory.calibrate(share)  # type: ignore[arg-type]


# a reranker


class Longest:
    """A user's own reranker: the longest text first."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((query, len(texts)))
        return [float(len(text)) for text in texts]


def test_a_reranker_orders_the_best_hits_and_the_scores_keep_their_meaning() -> None:
    reranker = Longest()
    memory, plain = opened(reranker=reranker), opened()
    for text in ("zebra", "zebra in Kenya", "a zebra that lives in the far north of Kenya"):
        memory.add(text)
        plain.add(text)
    hits = memory.search("zebra", 2)
    assert [hit.entry.text for hit in hits] == ["a zebra that lives in the far north of Kenya", "zebra in Kenya"]
    assert [hit.score for hit in hits] == [hit.score for hit in plain.search("zebra", 2)], "by place"
    assert reranker.asked == [("zebra", 3)] and "reranker" in hits[0].why
    said = memory.answer("zebra")
    assert said.deciding is not None and said.deciding.text.startswith("a zebra that")


@pytest.mark.parametrize(
    "answer", [[1.0], [1.0, float("nan"), 2.0], ["x", 1, 2], None, 7, ValueError("broken"), OSError("gone"), RuntimeError("out of memory")]
)
def test_a_reranker_that_fails_or_answers_nonsense_leaves_the_order_and_is_told(answer: Any) -> None:
    class Broken:
        def rerank(self, query: str, texts: Sequence[str]) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    memory, plain = opened(reranker=Broken()), opened()
    for text in ("zebra", "zebra in Kenya", "a zebra"):
        memory.add(text)
        plain.add(text)
    hits = memory.search("zebra")
    assert [h.entry.text for h in hits] == [h.entry.text for h in plain.search("zebra")] and all("not reranked" in h.why for h in hits)
    assert memory.answer("zebra")
